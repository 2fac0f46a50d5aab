#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "attention_reference.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::Message;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;
using Catch::Matchers::WithinAbs;

namespace {

/// A policy of one rank block on a random image: its parameters, what it did, and what is known of the frame.
struct Played {
  Played(const std::string& options, ImageShape shape, int patch, int stride, std::uint64_t seed)
      : spec{{{"pixels", shape}}, 0}, policy(make(options, spec, patch, stride)), frame(spec, seed) {
    randomise(policy, seed + 1, 0.3);
    const auto action = policy.act(frame.observation());
    out.assign(action.begin(), action.end());
    x = reference::patches(frame.image(), patch, stride, -0.5);
    rows = (shape.height - patch) / stride + 1;
    columns = (shape.width - patch) / stride + 1;
  }
  static Policy make(const std::string& options, const ObservationSpec& spec, int patch, int stride) {
    const Config block = config(text("{'kind': 'rank', 'patch': ", patch, ", 'stride': ", stride, ", ", options, "}"));
    ParameterLayout layout;
    const int outputs = make_block(block, {&spec, 1, 0, false, "policy"}, layout)->outputs();
    return Policy(block, spec, outputs);
  }

  std::vector<int> selected(std::size_t head = 0) const {
    const auto chosen = policy.views().at(head).selected;
    return {chosen.begin(), chosen.end()};
  }
  std::vector<float> scores(std::size_t head = 0) const {
    const auto given = policy.views().at(head).scores;
    return {given.begin(), given.end()};
  }
  /// r = (1/L) P A of the head whose arrays end in `suffix`.
  std::vector<double> wanted_scores(const reference::Rows& encoded, const std::string& suffix, int d,
                                    const reference::Kernel& kernel = reference::relu, bool learned = false,
                                    bool normalise = false) const {
    const auto q = reference::product(encoded, reference::matrix(policy, "policy.query" + suffix, d));
    const auto k = reference::product(encoded, reference::matrix(policy, "policy.key" + suffix, d));
    const auto a = reference::attention(q, k, kernel, normalise);
    const auto p = learned ? slice(policy, "policy.query_weights" + suffix) : std::vector<double>(x.size(), 1.0);
    std::vector<double> scores(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t j = 0; j < x.size(); ++j) scores[j] += p[i] * a[i][j] / (normalise ? static_cast<double>(x.size()) : 1);
    return scores;
  }

  ObservationSpec spec;
  Policy policy;
  Frame frame;
  std::vector<float> out;
  reference::Rows x;
  int rows = 0, columns = 0;
};

void check_close(const std::vector<float>& got, const std::vector<double>& wanted, double tolerance = 2e-5) {
  REQUIRE(got.size() == wanted.size());
  double scale = 0;
  for (const double value : wanted) scale = std::max(scale, std::abs(value));
  for (std::size_t i = 0; i < got.size(); ++i) REQUIRE_THAT(got[i], WithinAbs(wanted[i], tolerance * scale));
}

constexpr ImageShape odd_shapes[] = {
    {17, 23, 1, PixelType::uint8}, {13, 19, 3, PixelType::uint8}, {11, 9, 4, PixelType::float32}, {24, 7, 2, PixelType::float32}};

}  // namespace

TEST_CASE("a learned P weighs the votes of queries, negative ones included, in every kernel") {
  const int d = 4;
  const std::string kernels[] = {"'kernel': 'relu'", "'kernel': 'softmax'", "'kernel': 'softmax', 'normalise_rows': false",
                                 "'kernel': 'exp', 'm': 9, 'feature_seed': 3", "'kernel': 'trig', 'm': 9, 'feature_seed': 3"};
  const reference::Kernel values[] = {reference::relu, reference::softmax, reference::softmax,
                                      reference::estimate(FeatureKind::exp, d, 9, 0, 3),
                                      reference::estimate(FeatureKind::trig, d, 9, 0, 3)};
  for (std::size_t i = 0; i < std::size(kernels); ++i)
    for (const auto& shape : odd_shapes) {
      INFO(kernels[i] << " on " << shape.height << " x " << shape.width << " x " << shape.channels);
      const Played played("'d': 4, 'top': 3, 'query_weights': 'learned', " + kernels[i], shape, 3, 2, 40 + i);
      CHECK(played.policy.size() == 2u * 9 * shape.channels * d + played.x.size());
      check_close(played.scores(), played.wanted_scores(played.x, "", d, values[i], true, i == 1), 1e-4);
    }
}

TEST_CASE("a learned P begins as all ones") {
  Policy learned = Played::make("'d': 4, 'top': 3, 'query_weights': 'learned'", image_spec(16, 16), 4, 4);
  Policy ones = Played::make("'d': 4, 'top': 3", image_spec(16, 16), 4, 4);
  learned.initialise(1);
  ones.initialise(1);
  const Frame frame(ones.observation(), 1);
  CHECK(act(learned, frame) == act(ones, frame));
}

TEST_CASE("masking keeps every row's place and leaves zeros where a patch was not chosen") {
  for (const auto& shape : odd_shapes)
    for (const auto& [patch, stride] : {std::pair{1, 1}, std::pair{2, 3}, std::pair{4, 2}}) {
      const std::string options = "'d': 3, 'top': 2, 'values': ['position', 'content', 'projection'], 'dv': 5";
      const Played plain(options, shape, patch, stride, 50), masked(options + ", 'masked': true", shape, patch, stride, 50);
      CHECK(plain.policy.size() == masked.policy.size());
      CHECK(plain.selected() == masked.selected());
      const auto patches = masked.x.size();
      CHECK(masked.out.size() == patches * (7 + masked.x.front().size()));
      std::size_t from = 0, at = 0;
      for (const std::size_t size : {std::size_t{2}, masked.x.front().size(), std::size_t{5}}) {
        for (std::size_t patch_index = 0; patch_index < patches; ++patch_index)
          for (std::size_t v = 0; v < size; ++v, ++at) {
            const auto chosen = masked.selected();
            const auto rank = std::ranges::find(chosen, static_cast<int>(patch_index)) - chosen.begin();
            const float wanted = rank < 2 ? plain.out[from + static_cast<std::size_t>(rank) * size + v] : 0.0F;
            REQUIRE(masked.out[at] == wanted);
          }
        from += 2 * size;
      }
    }
}

TEST_CASE("masked rows hold nothing of the frame before") {
  const std::string options = "'d': 3, 'top': 2, 'values': ['position', 'content'], 'masked': true";
  Policy used = Played::make(options, image_spec(12, 16), 4, 4), fresh = Played::make(options, image_spec(12, 16), 4, 4);
  randomise(used, 51);
  fresh.set_parameters(used.parameters());
  const Frame first(used.observation(), 1), second(used.observation(), 2);
  const auto before = act(used, first), after = act(used, second);
  CHECK(after == act(fresh, second));
  CHECK(after != before);
}

TEST_CASE("projected values are X' W_V of the chosen patches") {
  for (const auto& shape : odd_shapes)
    for (const std::string encoding : {"none", "sinusoidal", "learned"}) {
      const Played played("'d': 3, 'top': 4, 'values': 'projection', 'dv': 3, 'encoding': '" + encoding + "'", shape, 2, 1, 60);
      const int c = 4 * shape.channels;
      auto encoded = played.x;
      if (encoding == "sinusoidal") encoded = reference::add(encoded, reference::sinusoidal(played.rows, played.columns, c, 1));
      if (encoding == "learned") encoded = reference::add(encoded, reference::matrix(played.policy, "policy.encoding", c));
      check_close(played.scores(), played.wanted_scores(encoded, "", 3), 1e-4);
      const auto v = reference::product(encoded, reference::matrix(played.policy, "policy.value", 3));
      std::vector<double> wanted;
      for (const int patch : played.selected()) wanted.insert(wanted.end(), v[patch].begin(), v[patch].end());
      check_close(played.out, wanted);
      CHECK(played.policy.size() == 2u * c * 3 + 3u * c + (encoding == "learned" ? played.x.size() * c : 0));
    }
}

TEST_CASE("an encoding moves no value that the controller gets") {
  const Played played("'d': 3, 'top': 4, 'values': 'content', 'encoding': 'sinusoidal', 'encoding_scale': 0.25", {15, 17, 3}, 3, 3,
                      61);
  check_close(played.scores(), played.wanted_scores(reference::add(played.x, reference::sinusoidal(5, 5, 27, 0.25)), "", 3), 1e-4);
  std::vector<double> wanted;
  for (const int patch : played.selected()) wanted.insert(wanted.end(), played.x[patch].begin(), played.x[patch].end());
  check_close(played.out, wanted, 1e-6);
}

TEST_CASE("histogram values are the shares of intensities") {
  for (const auto& shape : odd_shapes) {
    const Played played("'d': 3, 'top': 3, 'values': 'histogram', 'bins': 5", shape, 3, 2, 70);
    std::vector<double> wanted;
    for (const int patch : played.selected()) {
      std::vector<double> bins(5);
      for (int pixel = 0; pixel < 9; ++pixel) {
        double intensity = 0;
        const int colours = std::min(shape.channels, 3);
        for (int channel = 0; channel < colours; ++channel) intensity += played.x[patch][pixel * shape.channels + channel] + 0.5;
        bins[std::min(4, static_cast<int>(std::floor(5 * intensity / colours)))] += 1.0 / 9;
      }
      wanted.insert(wanted.end(), bins.begin(), bins.end());
    }
    check_close(played.out, wanted);
  }
  Policy dark = Played::make("'d': 1, 'top': 1, 'values': 'histogram', 'bins': 4", image_spec(4, 4, 1), 2, 2);
  Frame frame(dark.observation(), 1);
  for (const auto& [byte, bin] : {std::pair{0, 0}, std::pair{63, 0}, std::pair{64, 1}, std::pair{128, 2}, std::pair{255, 3}}) {
    std::ranges::fill(frame.image().bytes(), static_cast<std::uint8_t>(byte));
    for (int i = 0; i < 4; ++i) CHECK(act(dark, frame)[i] == (i == bin ? 1.0F : 0.0F));
  }
}

TEST_CASE("learned convolutions see a window around the patch, with zeros outside the image") {
  for (const auto& shape : odd_shapes)
    for (const int size : {1, 3, 4, 7}) {
      const int patch = 3;
      const Played played(text("'d': 2, 'top': 5, 'values': 'convolution', 'convolution_channels': 2, 'convolution_size': ", size),
                          shape, patch, 2, 80);
      const auto filters =
          reference::matrix(played.policy, "policy.convolution", static_cast<std::size_t>(size) * size * shape.channels);
      const auto pixels = reference::patches(played.frame.image(), 1, 1, -0.5);
      std::vector<double> wanted;
      for (const int index : played.selected()) {
        // The window's middle is the patch's, or half a pixel up and left of it.
        const int top = index / played.columns * 2 + (size > patch ? -((size - patch + 1) / 2) : (patch - size) / 2);
        const int left = index % played.columns * 2 + (size > patch ? -((size - patch + 1) / 2) : (patch - size) / 2);
        for (const auto& filter : filters) {
          double sum = 0;
          for (int y = 0; y < size; ++y)
            for (int x = 0; x < size; ++x)
              for (int channel = 0; channel < shape.channels; ++channel) {
                const int row = top + y, column = left + x;
                if (row < 0 || column < 0 || row >= shape.height || column >= shape.width) continue;
                sum += filter[(y * size + x) * shape.channels + channel] * pixels[row * shape.width + column][channel];
              }
          wanted.push_back(sum);
        }
      }
      check_close(played.out, wanted);
    }
}

TEST_CASE("fixed convolutions are smoothing, derivatives and the Laplacian") {
  const ObservationSpec spec{{{"pixels", {32, 32, 1, PixelType::float32}}}, 0};
  const auto respond = [&](int size, auto intensity) {
    Policy policy = Played::make(text("'d': 1, 'top': 1, 'values': 'convolution', 'convolution': 'fixed', 'pixel_offset': 0, "
                                      "'convolution_size': ",
                                      size),
                                 spec, 1, 32);
    CHECK(policy.size() == 2);
    Frame frame(spec, 1);
    for (int y = 0; y < 32; ++y)
      for (int x = 0; x < 32; ++x) frame.image().floats()[y * 32 + x] = static_cast<float>(intensity(y, x));
    return widen(act(policy, frame));
  };
  // Only patch (0, 0) exists, so that half of the window lies outside: intensities that continue oddly there give the full
  // response.
  const auto response = respond(3, [](int y, int x) { return 1 + 10 * y + 100 * x; });
  CHECK_THAT(response[0], WithinAbs((4 * 1 + 2 * 11 + 2 * 101 + 111) / 16.0, 1e-4));
  CHECK_THAT(response[1], WithinAbs((2 * 11 + 111) / 8.0, 1e-4));
  CHECK_THAT(response[2], WithinAbs((2 * 101 + 111) / 8.0, 1e-4));
  CHECK_THAT(response[3], WithinAbs((-2 * 2 * 2 * 1 + (2 - 2) * 11 + (2 - 2) * 101 + 2 * 111) / 4.0, 1e-4));
  // Inside the image: what the filters are for. They see colours, not the depth beside them.
  for (const int channels : {3, 4})
    for (const int size : {3, 5, 7}) {
      const ObservationSpec inner{{{"pixels", {11, 11, channels, PixelType::float32}}}, 0};
      Policy policy = Played::make(text("'d': 1, 'top': 1, 'values': 'convolution', 'convolution': 'fixed', 'pixel_offset': 0, "
                                        "'convolution_size': ",
                                        size),
                                   inner, 11, 11);
      Frame frame(inner, 1);
      for (int y = 0; y < 11; ++y)
        for (int x = 0; x < 11; ++x)
          for (int channel = 0; channel < 3; ++channel) {
            const double row = y - 5, column = x - 5;
            frame.image().floats()[(y * 11 + x) * channels + channel] =
                static_cast<float>(2 + 3 * row - 4 * column + row * row + 0.5 * column * column);
          }
      const auto response_inside = act(policy, frame);
      CHECK_THAT(response_inside[1], WithinAbs(3, 1e-4));
      CHECK_THAT(response_inside[2], WithinAbs(-4, 1e-4));
      CHECK_THAT(response_inside[3], WithinAbs(3, 1e-4));
      // A binomial window of `size` has variance (size - 1) / 4.
      CHECK_THAT(response_inside[0], WithinAbs(2 + 1.5 * (size - 1) / 4.0, 1e-4));
    }
}

TEST_CASE("heads choose on their own and their outputs follow each other") {
  const Played played("'d': 3, 'top': 2, 'heads': 3, 'values': ['position', 'content'], 'motion': true, 'query_weights': 'learned'",
                      {14, 18, 3, PixelType::uint8}, 3, 2, 90);
  const std::size_t patches = played.x.size(), each = 2 * (2 + 27 + 2);
  CHECK(played.policy.size() == 3 * (2 * 27 * 3 + patches));
  CHECK(played.out.size() == 3 * each);
  const auto views = played.policy.views();
  REQUIRE(views.size() == 3);
  for (int head = 0; head < 3; ++head) {
    const std::string suffix = text("_", head + 1);
    CHECK(views[head].block == "policy.head" + suffix);
    const auto wanted = played.wanted_scores(played.x, suffix, 3, reference::relu, true);
    check_close(played.scores(head), wanted, 1e-4);
    CHECK(played.selected(head) == reference::best(wanted, 2));
    for (int rank = 0; rank < 2; ++rank)
      for (std::size_t v = 0; v < 27; ++v)
        CHECK_THAT(played.out[head * each + 4 + rank * 27 + v], WithinAbs(played.x[played.selected(head)[rank]][v], 1e-6));
  }
  CHECK(played.scores(0) != played.scores(1));
}

TEST_CASE("each head's motion is that of its own patches") {
  Policy policy = Played::make("'d': 3, 'top': 3, 'heads': 2, 'motion': true", image_spec(20, 20), 4, 2);
  randomise(policy, 91);
  constexpr std::size_t numbers = 2 * 3, each = 2 * numbers;  // rows and columns of places, then of motion
  std::vector<float> before;
  for (std::uint64_t step = 0; step < 4; ++step) {
    const auto out = act(policy, Frame(policy.observation(), step));
    for (std::size_t head = 0; head < 2; ++head)
      for (std::size_t i = head * each; i < head * each + numbers; ++i)
        CHECK(out[i + numbers] == (before.empty() ? 0 : out[i] - before[i]));
    before = out;
  }
}

TEST_CASE("heads with equal weights draw different projections") {
  Policy policy = Played::make("'d': 4, 'top': 1, 'heads': 3, 'kernel': 'exp', 'm': 4", image_spec(16, 16), 4, 4);
  std::vector<float> parameters(policy.size());
  for (std::size_t i = 0; i < parameters.size(); ++i)
    parameters[i] = 0.1F * static_cast<float>(std::sin(static_cast<double>(i % (parameters.size() / 3))));
  policy.set_parameters(parameters);
  act(policy, Frame(policy.observation(), 2));
  const auto views = policy.views();
  for (const auto& [a, b] : {std::pair{0, 1}, std::pair{0, 2}, std::pair{1, 2}})
    CHECK_FALSE(std::ranges::equal(views.at(a).scores, views.at(b).scores));
}

TEST_CASE("the hybrid kernel ranks as its estimate does") {
  const Played played("'d': 4, 'top': 3, 'kernel': 'hybrid', 'm': 5, 'r': 3, 'feature_seed': 8", {15, 13, 3}, 3, 2, 95);
  check_close(played.scores(), played.wanted_scores(played.x, "", 4, reference::estimate(FeatureKind::hybrid, 4, 5, 3, 8)), 1e-4);
}

TEST_CASE("rank's options that do not fit are errors that name the block and the remedy") {
  const auto build = [](const std::string& options) { Played::make(options, image_spec(20, 20), 4, 4); };
  CHECK_THROWS_MATCHES(build("'masked': true, 'motion': true"), Error,
                       MessageMatches(ContainsSubstring("policy: option 'motion' follows patches by rank")));
  CHECK_THROWS_MATCHES(build("'values': ['position', 'histogramm']"), Error,
                       MessageMatches(StartsWith("policy: option 'values' takes \"position\", \"content\", \"projection\"") &&
                                      EndsWith(", \"centroid\" or a list of them, handed over in this order, got \"histogramm\"")));
  CHECK_THROWS_MATCHES(build("'values': 'convolution', 'convolution': 'fixed', 'convolution_channels': 5"), Error,
                       MessageMatches(ContainsSubstring("only 4 fixed filters")));
  CHECK_THROWS_MATCHES(build("'values': 'convolution', 'convolution': 'fixed', 'convolution_size': 4"), Error,
                       MessageMatches(ContainsSubstring("odd size of at least 3")));
  CHECK_THROWS_MATCHES(build("'bins': 4"), Error,
                       MessageMatches(ContainsSubstring("option 'bins' goes with values = \"histogram\"")));
  CHECK_THROWS_MATCHES(build("'m': 4"), Error,
                       MessageMatches(ContainsSubstring("option 'm' is none of kernel 'relu'; it goes with exp, favor++")));
  CHECK_THROWS_MATCHES(build("'kernel': 'exp', 'r': 4"), Error,
                       MessageMatches(ContainsSubstring("option 'r' is none of kernel 'exp'; it goes with hybrid")));
  CHECK_THROWS_MATCHES(build("'kernel': 'exp', 'selection': 'sample', 'threads': 2"), Error,
                       MessageMatches(ContainsSubstring("option 'threads' goes with selection = \"top\"")));
  CHECK_THROWS_MATCHES(build("'rbnd': 4"), Error,
                       MessageMatches(ContainsSubstring("; known: ") && !ContainsSubstring(" m,") && !ContainsSubstring(" r,") &&
                                      !ContainsSubstring(" dv,")));
  CHECK_THROWS_MATCHES(build("'selection': 'sample', 'kernel': 'exp', 'redraw': 2"), OptionError,
                       MessageMatches(ContainsSubstring("drawn patches keep their projections throughout an episode")));
  CHECK_THROWS_MATCHES(build("'query_weights': 'learnt'"), Error, MessageMatches(ContainsSubstring("did you mean 'learned'?")));
  CHECK_THROWS_MATCHES(build("'heads': 0"), Error, MessageMatches(ContainsSubstring("'heads' must be in [1, 64]")));
  CHECK_THROWS_MATCHES(build("'encoding': 'sinus'"), Error, MessageMatches(ContainsSubstring("unknown encoding 'sinus'")));
}
