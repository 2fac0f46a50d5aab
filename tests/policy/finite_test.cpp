#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "helpers.hpp"
import iap.attention;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

enum class Painting { dark, white, random };

Frame frame_of(const Policy& policy, Painting painting, std::uint64_t seed) {
  Frame frame(policy.observation(), seed);
  if (painting != Painting::random)
    std::ranges::fill(frame.image().bytes(), painting == Painting::dark ? std::uint8_t{0} : std::uint8_t{255});
  return frame;
}

/// Parameters of one size, or each of a size of its own.
void spread(Policy& policy, double magnitude, bool mixed, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> parameters(policy.size());
  for (float& parameter : parameters) {
    const double size = mixed ? std::pow(10.0, random.uniform() * 13 - 13) * magnitude : magnitude;
    parameter = static_cast<float>(size * std::clamp(random.normal(), -1.0, 1.0));
  }
  policy.set_parameters(parameters);
}

void require_finite(const std::string& options, int patch, int pixels, int outputs) {
  for (const char* offset : {"-0.5", "0"}) {
    const std::string whole = "{" + options + ", 'patch': " + std::to_string(patch) + ", 'pixel_offset': " + offset + "}";
    INFO(whole);
    Policy policy(config(whole), image_spec(pixels, pixels), outputs);
    for (const double magnitude : {0.0, 1.0, 30.0, 1e3, 1e6, 1e10})
      for (const bool mixed : {false, true})
        for (const Painting painting : {Painting::dark, Painting::white, Painting::random}) {
          INFO("parameters up to " << magnitude << (mixed ? " of all sizes" : "") << ", painting " << static_cast<int>(painting));
          spread(policy, magnitude, mixed, 7);
          policy.reset(3);
          for (int step = 0; step < 2; ++step)
            for (const float value : act(policy, frame_of(policy, painting, 11))) REQUIRE(std::isfinite(value));
          for (const auto& view : policy.views())
            for (const float score : view.scores) REQUIRE(std::isfinite(score));
        }
  }
}

struct Grid {
  int patch, pixels;
};
const Grid grids[] = {{1, 12}, {4, 20}, {16, 48}};

// What a kernel's options may be, beside its name.
std::vector<std::string> variants(const std::string& kernel, bool exact_too) {
  const std::string name = "'kernel': '" + kernel + "'";
  if (kernel == "relu" && exact_too) return {name, name + ", 'epsilon': 0.001", name + ", 'brute_force': true"};
  if (kernel == "relu") return {name};
  std::vector<std::string> all;
  for (const std::string input : {"plain", "normalised"}) {
    const std::string both = name + ", 'input': '" + input + "'";
    all.push_back(both);
    all.push_back(both + ", 'temperature': 0.001");
    if (exact_too && kernel != "softmax") all.push_back(both + ", 'brute_force': true");
    if (exact_too && kernel == "exp") all.push_back(both + ", 'epsilon': 0.0001");
    if (exact_too && kernel == "softmax") all.push_back(both + ", 'normalise_rows': false");
  }
  return all;
}

}  // namespace

TEST_CASE("scores and outputs of rank are finite for any parameters") {
  for (const auto& entry : kernel_catalog())
    for (const std::string& kernel : variants(entry.name, true))
      for (const auto& [patch, pixels] : grids)
        require_finite(
            "'kind': 'rank', 'd': 6, 'top': 3, 'bias': true, 'query_weights': 'learned', 'values': ['position', 'centroid'], " +
                kernel,
            patch, pixels, 10);
}

TEST_CASE("importances and outputs of trans are finite for any parameters") {
  for (const auto& entry : kernel_catalog())
    for (const std::string& kernel : variants(entry.name, true))
      for (const auto& [patch, pixels] : grids) {
        const std::string block = "'kind': 'trans', 'd': 6, 'tokens': 3, 'dv': 2, 'bias': true, " + kernel;
        require_finite(block, patch, pixels, 6);
        require_finite(block + ", 'layer_norm': true, 'values': ['content', 'projection', 'convolution']", patch, pixels,
                       3 * (patch * patch * 3 + 2 + 4));
        if (entry.name == "softmax" || kernel.find("brute_force") != std::string::npos) continue;
        for (const std::string order : {"values_first", "queries_first"})
          for (const std::string rows : {"true", "false"})
            if (rows == "false" || entry.name == "relu" || entry.name == "exp")
              require_finite(block + ", 'order': '" + order + "', 'normalise_rows': " + rows, patch, pixels, 6);
      }
}

TEST_CASE("scores and outputs of cross and of drawn patches are finite for any parameters") {
  for (const auto& entry : kernel_catalog()) {
    if (entry.name == "softmax") continue;
    for (const std::string& kernel : variants(entry.name, false))
      for (const auto& [patch, pixels] : grids) {
        const std::string cross = "'kind': 'cross', 'd': 6, 'top': 3, 'bias': true, " + kernel;
        require_finite(cross + ", 'query_weights': 'learned'", patch, pixels, 6);
        require_finite(cross + ", 'ranking': 'hash', 'bits': 64", patch, pixels, 6);
        if (entry.name != "exp") continue;
        for (const std::string pooling : {"mean", "sum", "features"}) {
          require_finite(cross + ", 'ranking': 'sample', 'pooling': '" + pooling + "'", patch, pixels, 6);
          require_finite("'kind': 'rank', 'd': 6, 'top': 3, 'selection': 'sample', 'pooling': '" + pooling + "', " + kernel, patch,
                         pixels, 6);
        }
      }
  }
}

TEST_CASE("scores and outputs are finite for encodings of any size") {
  for (const std::string block : {"'kind': 'rank', 'top': 3", "'kind': 'trans', 'tokens': 2, 'dv': 3", "'kind': 'cross', 'top': 3"})
    for (const std::string kernel : {"relu", "exp", "trig", "softmax"}) {
      if (kernel == "softmax" && block.find("cross") != std::string::npos) continue;
      for (const PixelType type : {PixelType::uint8, PixelType::float32}) {
        const ObservationSpec spec{{{"pixels", {16, 16, 3, type}}}, 0};
        Policy policy(config("{" + block + ", 'kernel': '" + kernel + "', 'd': 6, 'patch': 4, 'encoding': 'learned'}"), spec, 6);
        for (const float size : {1e10F, 1e25F, 3e38F}) {
          CAPTURE(block, kernel, static_cast<int>(type), size);
          std::vector<float> parameters(policy.size(), 1);
          Random random(12);
          for (const auto& slice : policy.layout().slices())
            if (slice.name.ends_with("encoding"))
              for (std::size_t i = 0; i < slice.size; ++i) parameters[slice.offset + i] = size * (random.below(3) == 0 ? -1 : 1);
          policy.set_parameters(parameters);
          policy.reset(1);
          for (const float value : act(policy, Frame(spec, 4))) REQUIRE(std::isfinite(value));
          for (const auto& view : policy.views())
            for (const float score : view.scores) REQUIRE(std::isfinite(score));
        }
      }
    }
}

TEST_CASE("many projections along the weights themselves stay finite") {
  // In large dimensions the projections are long, and short queries along one of them have large exponents.
  for (const std::string block : {"'kind': 'rank', 'top': 3", "'kind': 'trans', 'tokens': 2, 'dv': 3", "'kind': 'cross', 'top': 3"})
    for (const std::string kernel : {"exp", "hybrid"}) {
      Policy policy(config("{" + block + ", 'kernel': '" + kernel + "', 'm': 300, 'd': 300, 'patch': 4, 'bias': true}"),
                    image_spec(20, 20), 6);
      const auto drawn = draw_projections(Ensemble::orthogonal, 300, 300, kernel == "hybrid" ? 5 : 0, 0);
      for (const float length : {0.4F, 1.0F, 3.0F, 10.0F}) {
        std::vector<float> parameters(policy.size(), 0.01F);
        // Both biases along the first projection, of a length in x.
        for (const auto& slice : policy.layout().slices())
          if (slice.name.ends_with("_bias"))
            for (int k = 0; k < 300; ++k) parameters[slice.offset + k] = length * drawn.omega[k];
        policy.set_parameters(parameters);
        policy.reset(1);
        INFO(block << ", " << kernel << ", " << length);
        for (const float value : act(policy, Frame(policy.observation(), 4))) REQUIRE(std::isfinite(value));
        for (const auto& view : policy.views())
          for (const float score : view.scores) REQUIRE(std::isfinite(score));
      }
    }
}

TEST_CASE("a frame that is not finite is an error that names the block and the kernel") {
  const ObservationSpec spec{{{"depth", {12, 12, 1, PixelType::float32}}}, 0};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const auto& entry : kernel_catalog()) {
    Policy policy(config("{'kind': 'sequence', 'blocks': [{'kind': 'rank', 'patch': 4, 'top': 3, 'kernel': '" + entry.name +
                         "'}, {'kind': 'linear'}]}"),
                  spec, 2);
    policy.initialise(1);
    Frame frame(spec, 1);
    std::ranges::fill(frame.image().floats(), nan);
    CHECK_THROWS_MATCHES(act(policy, frame), Error,
                         MessageMatches(ContainsSubstring("block '1.rank'") && ContainsSubstring("kernel " + entry.name) &&
                                        ContainsSubstring("NaN")));
  }
  Policy cross(config("{'kind': 'cross', 'patch': 4, 'top': 3, 'kernel': 'exp'}"), spec, 6);
  cross.initialise(1);
  Frame frame(spec, 1);
  std::ranges::fill(frame.image().floats(), nan);
  CHECK_THROWS_MATCHES(act(cross, frame), Error,
                       MessageMatches(ContainsSubstring("cross-attention, kernel exp") && ContainsSubstring("NaN")));
}
