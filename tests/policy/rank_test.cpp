#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "attention_reference.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Message;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinAbs;

namespace {

struct Setup {
  int patch, stride, d, top;
  double offset = -0.5;
};

std::vector<std::vector<double>> patches_of(const Image& image, const Setup& setup) {
  return reference::patches(image, setup.patch, setup.stride, setup.offset);
}

std::vector<double> features(const std::vector<double>& patch, const std::vector<double>& weight, const std::vector<double>& bias,
                             int d) {
  std::vector<double> out(bias);
  out.resize(static_cast<std::size_t>(d));
  for (std::size_t v = 0; v < patch.size(); ++v)
    for (std::size_t o = 0; o < out.size(); ++o) out[o] += patch[v] * weight[v * out.size() + o];
  for (double& x : out) x = std::max(x, 0.0);
  return out;
}

/// Scores by the definition: r_j = (1/L) sum_i relu(q_i) . relu(k_j), every pair visited.
std::vector<double> slow_scores(const std::vector<std::vector<double>>& patches, const Policy& policy, const std::string& path,
                                bool bias, int d) {
  const auto wq = slice(policy, path + ".query"), wk = slice(policy, path + ".key");
  const auto bq = bias ? slice(policy, path + ".query_bias") : std::vector<double>{};
  const auto bk = bias ? slice(policy, path + ".key_bias") : std::vector<double>{};
  std::vector<double> scores;
  for (const auto& key_patch : patches) {
    const auto k = features(key_patch, wk, bk, d);
    double sum = 0;
    for (const auto& query_patch : patches) {
      const auto q = features(query_patch, wq, bq, d);
      sum += std::inner_product(q.begin(), q.end(), k.begin(), 0.0);
    }
    scores.push_back(sum / static_cast<double>(patches.size()));
  }
  return scores;
}

/// (row, column) centre of a patch in [-1, 1].
std::pair<double, double> centre(int index, const ImageShape& shape, const Setup& setup) {
  const int columns = (shape.width - setup.patch) / setup.stride + 1;
  const double row = index / columns * setup.stride + setup.patch / 2.0,
               column = index % columns * setup.stride + setup.patch / 2.0;
  return {2 * row / shape.height - 1, 2 * column / shape.width - 1};
}

}  // namespace

TEST_CASE("rank hands over centres, pixels and motion of the best patches in rank order") {
  const Setup setup{.patch = 4, .stride = 3, .d = 6, .top = 5, .offset = -0.25};
  const int pixels = 4 * 4 * 3;
  for (const bool bias : {false, true}) {
    const std::string options =
        "{'kind': 'rank', 'patch': 4, 'stride': 3, 'd': 6, 'top': 5, 'pixel_offset': -0.25, 'values': ['content', 'position'],"
        "'motion': true, 'bias': " +
        std::string(bias ? "true" : "false") + "}";
    Policy policy(config(options), image_spec(20, 27), 5 * (2 + pixels + 2));
    randomise(policy, 1, 0.2);
    CHECK(policy.size() == (bias ? 2u * (48 * 6 + 6) : 2u * 48 * 6));
    std::vector<int> before;
    for (std::uint64_t step = 0; step < 4; ++step) {
      const Frame frame(policy.observation(), 10 + step);
      const auto& shape = frame.image().shape();
      const auto patches = patches_of(frame.image(), setup);
      const auto scores = slow_scores(patches, policy, "policy", bias, setup.d);
      const auto expected = reference::best(scores, setup.top);
      const auto values = act(policy, frame);
      const auto view = policy.views().at(0);
      CHECK(view.block == "policy");
      CHECK(view.image == "pixels");
      CHECK(view.rows == 6);
      CHECK(view.columns == 8);
      CHECK(view.patch == 4);
      CHECK(view.stride == 3);
      CHECK(std::vector<int>(view.selected.begin(), view.selected.end()) == expected);
      REQUIRE(view.scores.size() == scores.size());
      for (std::size_t i = 0; i < scores.size(); ++i)
        CHECK_THAT(view.scores[i], WithinAbs(scores[i], 1e-5 * (1 + std::abs(scores[i]))));
      std::size_t at = 0;
      for (const int index : expected) {
        const auto [row, column] = centre(index, shape, setup);
        CHECK_THAT(values[at++], WithinAbs(row, 1e-6));
        CHECK_THAT(values[at++], WithinAbs(column, 1e-6));
      }
      for (const int index : expected)
        for (const double pixel : patches[static_cast<std::size_t>(index)]) CHECK_THAT(values[at++], WithinAbs(pixel, 1e-6));
      for (std::size_t rank = 0; rank < expected.size(); ++rank) {
        const auto [row, column] = centre(expected[rank], shape, setup);
        const auto [row_before, column_before] = centre(before.empty() ? expected[rank] : before[rank], shape, setup);
        CHECK_THAT(values[at++], WithinAbs(row - row_before, 1e-6));
        CHECK_THAT(values[at++], WithinAbs(column - column_before, 1e-6));
      }
      CHECK(at == values.size());
      before = expected;
    }
  }
}

TEST_CASE("motion is zero on the first frame of each episode") {
  Policy policy(config("{'kind': 'rank', 'patch': 2, 'top': 3, 'motion': true}"), image_spec(16, 16), 12);
  randomise(policy, 2);
  const auto moved = [&](std::uint64_t seed) {
    const auto values = act(policy, Frame(policy.observation(), seed));
    return std::any_of(values.begin() + 6, values.end(), [](float x) { return x != 0; });
  };
  for (int episode = 0; episode < 2; ++episode) {
    policy.reset();
    CHECK_FALSE(moved(1));
    CHECK(moved(2));
    CHECK_FALSE(moved(2));
  }
}

TEST_CASE("positions can be fractions of the frame") {
  const std::string options = "{'kind': 'rank', 'patch': 4, 'top': 4, 'position_range': '";
  Policy unit(config(options + "unit'}"), image_spec(12, 20), 8), both(config(options + "signed'}"), image_spec(12, 20), 8);
  randomise(unit, 3);
  both.set_parameters(unit.parameters());
  const Frame frame(unit.observation(), 4);
  const auto fractions = act(unit, frame), signs = act(both, frame);
  for (std::size_t i = 0; i < 8; ++i) CHECK(signs[i] == 2 * fractions[i] - 1);
  for (const float x : fractions) CHECK((x > 0 && x < 1));
}

TEST_CASE("a bright patch in a dark frame is found where it is") {
  Policy policy(config("{'kind': 'rank', 'patch': 4, 'd': 1, 'top': 1, 'pixel_offset': 0}"), image_spec(40, 40), 2);
  policy.set_parameters(std::vector<float>(policy.size(), 1.0f));
  Frame frame(policy.observation(), 5);
  for (int index = 0; index < 100; ++index) {
    std::ranges::fill(frame.image().bytes(), std::uint8_t{10});
    for (int row = 0; row < 4; ++row)
      for (int column = 0; column < 12; ++column)
        frame.image().bytes()[static_cast<std::size_t>((index / 10 * 4 + row) * 120 + index % 10 * 12 + column)] = 250;
    const auto values = act(policy, frame);
    CHECK_THAT(values[0], WithinAbs(0.1 * (2 * (index / 10) + 1) - 1, 1e-6));
    CHECK_THAT(values[1], WithinAbs(0.1 * (2 * (index % 10) + 1) - 1, 1e-6));
  }
}

TEST_CASE("rank looks at the image that it is told to, and at float images") {
  const ObservationSpec spec{{{"pixels", {8, 8, 3, PixelType::uint8}}, {"depth", {12, 12, 1, PixelType::float32}}}, 0};
  Policy policy(config("{'kind': 'rank', 'image': 'depth', 'patch': 3, 'd': 4, 'top': 2, 'values': 'content', 'pixel_offset': 0}"),
                spec, 18);
  randomise(policy, 6);
  const Frame frame(spec, 7);
  const auto patches = patches_of(frame.image(1), {.patch = 3, .stride = 3, .d = 4, .top = 2, .offset = 0});
  const auto values = act(policy, frame);
  const auto view = policy.views().at(0);
  CHECK(view.image == "depth");
  for (std::size_t i = 0; i < 18; ++i)
    CHECK(values[i] == static_cast<float>(patches[static_cast<std::size_t>(view.selected[i / 9])][i % 9]));
}

TEST_CASE("rank works with every kernel, and an episode repeats itself") {
  for (const auto& kernel : kernel_catalog()) {
    INFO(kernel.name);
    Policy policy(config("{'kind': 'rank', 'patch': 4, 'stride': 2, 'd': 4, 'top': 3, 'kernel': '" + kernel.name + "'}"),
                  image_spec(16, 16), 6);
    policy.initialise(1);
    const auto episode = [](Policy& player) {
      std::vector<std::vector<float>> actions;
      player.reset(9);
      for (std::uint64_t step = 0; step < 4; ++step) actions.push_back(act(player, Frame(player.observation(), step)));
      return actions;
    };
    const auto first = episode(policy);
    CHECK(episode(policy) == first);
    Policy copy = policy.clone();
    CHECK(episode(copy) == first);
    CHECK_THAT(policy.summary(), ContainsSubstring("kernel " + kernel.name));
  }
}

TEST_CASE("initial projections are N(0, 1/c) and biases zero") {
  Policy policy(config("{'kind': 'rank', 'patch': 7, 'd': 16, 'top': 1, 'bias': true}"), image_spec(30, 30), 2);
  policy.initialise(1);
  for (const std::string name : {"policy.query", "policy.key"}) {
    double square = 0;
    const auto values = slice(policy, name);
    for (const double x : values) square += x * x;
    CHECK_THAT(square / static_cast<double>(values.size()) * 147,
               WithinAbs(1, 4 * std::sqrt(2.0 / static_cast<double>(values.size()))));
  }
  CHECK(slice(policy, "policy.query") != slice(policy, "policy.key"));
  CHECK(slice(policy, "policy.query_bias") == std::vector<double>(16));
}

TEST_CASE("impossible options of rank are errors that name the block and the remedy") {
  const auto build = [](const std::string& options, const ObservationSpec& spec) {
    Policy(config("{'kind': 'sequence', 'blocks': [{'kind': 'rank', " + options + "}, {'kind': 'linear'}]}"), spec, 2);
  };
  const auto spec = image_spec(20, 20);
  CHECK_THROWS_MATCHES(build("'patch': 4", vector_spec(3)), Error,
                       Message("policy.1.rank: the environment draws no images; make it with pixels = {height, width}"));
  CHECK_THROWS_MATCHES(build("'patch': 4, 'image': 'pixel'", spec), Error,
                       Message("policy.1.rank: unknown image 'pixel'; did you mean 'pixels'?"));
  CHECK_THROWS_MATCHES(
      build("'patch': 4, 'top': 26", spec), Error,
      Message("policy.1.rank: option 'top' is 26, but a 20 x 20 image has only 25 patches of size 4 and stride 4"));
  CHECK_THROWS_MATCHES(build("'patch': 21", spec), Error, MessageMatches(ContainsSubstring("policy.1.rank")));
  CHECK_THROWS_MATCHES(build("'stride': 4", spec), Error, Message("policy.1.rank: option 'patch' is missing"));
  CHECK_THROWS_MATCHES(build("'patch': 4, 'values': 'colour'", spec), Error,
                       MessageMatches(ContainsSubstring("policy.1.rank: option 'values' takes \"position\"")));
  CHECK_THROWS_MATCHES(build("'patch': 4, 'values': []", spec), Error,
                       MessageMatches(ContainsSubstring("policy.1.rank: option 'values'")));
  CHECK_THROWS_MATCHES(build("'patch': 4, 'kernel': 'rleu'", spec), Error,
                       MessageMatches(ContainsSubstring("policy.1.rank") && ContainsSubstring("did you mean 'relu'?")));
  CHECK_THROWS_MATCHES(build("'patch': 4, 'stryde': 2", spec), Error,
                       Message("policy.1.rank: unknown option 'stryde'; did you mean 'stride'?"));
}
