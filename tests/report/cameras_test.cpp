#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../core/temporary_folder.hpp"
#include "../render/moving_pictures.hpp"
import iap.core;
import iap.env;
import iap.envs;
import iap.policy;
import iap.render;
import iap.report;
import iap.rollout;
import iap.train;
#include "films.hpp"
#include "small_runs.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

/// What is white in pictures of a depth camera that saw `pictures`: of each, one value in twenty may lie beyond.
double white_for(const std::vector<std::vector<float>>& pictures) {
  double white = 1;
  for (auto values : pictures) {
    std::ranges::sort(values, std::greater());
    white = std::max(white, std::min(5.0, std::ceil(2.0 * values[values.size() / 20]) / 2));
  }
  return white;
}

int grey_of(float metres, double white) { return static_cast<int>(std::lround(255 * std::min(metres / white, 1.0))); }

std::vector<float> floats_of(const ImageView& image) { return {image.floats(), image.floats() + image.shape.count()}; }

/// The red of a pixel.
int at(const Image& image, int row, int column) {
  return image.bytes()[3 * (static_cast<std::size_t>(row) * image.shape().width + column)];
}

/// A policy of Laikago's two cameras, and the second moment of the episode of seed 8, which has two.
struct TwoCameras {
  Config env = parse_json(R"({"name": "laikago-stepstones"})", "env");
  Policy policy = some_policy(parse_json(R"({"kind": "sequence", "blocks": [{"kind": "concat", "blocks": [
      {"kind": "rank", "image": "front", "patch": 4, "top": 3}, {"kind": "rank", "image": "belly", "patch": 4, "top": 2}]},
      {"kind": "linear"}]})",
                                         "policy"),
                              env);
  std::array<std::vector<float>, 2> metres;
  std::array<double, 2> white{};
  std::array<std::vector<int>, 2> chosen;

  TwoCameras() {
    std::array<std::vector<std::vector<float>>, 2> all;
    run_episode(*time_limit(make_env(env), 2), policy, 8,
                [&](const Observation& observation, std::span<const float>, const Policy& acting) {
                  const auto views = acting.views();
                  for (std::size_t i = 0; i < 2; ++i) {
                    metres[i] = floats_of(observation.images[i]);
                    all[i].push_back(metres[i]);
                    chosen[i].assign(views[i].selected.begin(), views[i].selected.end());
                  }
                });
    for (std::size_t i = 0; i < 2; ++i) white[i] = white_for(all[i]);
  }

  Image frame(PictureView view) {
    return film(policy, env, {.view = view, .seed = 8, .steps = 2, .scale = 6, .most_fps = 1000}).frames.at(1);
  }
  int grey(std::size_t i, int row, int column) const {
    return grey_of(metres[i][static_cast<std::size_t>(row * 32 + column)], white[i]);
  }
  bool attends(std::size_t i, int row, int column) const {
    return std::ranges::find(chosen[i], row / 4 * 8 + column / 4) != chosen[i].end();
  }
};

}  // namespace

TEST_CASE("a robot is shown from outside, with what its camera sees in a corner, marked where it attends") {
  const Config env = Config::Map{{"name", "a1-obstacle-course"}, {"pixels", Config::List{16, 16}}};
  const Config blocks = parse_json(R"({"kind": "sequence", "blocks": [{"kind": "rank", "patch": 4, "stride": 4, "top": 3},
                                      {"kind": "linear"}]})",
                                   "policy");
  Policy policy = some_policy(blocks, env);
  const int height = 96, width = 153, factor = 2, frame = 2, steps = 3;
  const auto outside = make_env(with(with(env, "pixels", "[96, 153]"), "view", "behind"));
  const Moving shown = film(policy, env, {.view = PictureView::outside, .seed = 8, .steps = steps, .scale = 6, .most_fps = 1000});
  REQUIRE(shown.frames.size() == steps);
  std::size_t next = 0;
  outside->reset(8);
  run_episode(*time_limit(make_env(env), steps), policy, 8,
              [&](const Observation& observation, std::span<const float> action, const Policy& acting) {
                const Image& picture = shown.frames.at(next++);
                REQUIRE((picture.shape() == ImageShape{height, width, 3, PixelType::uint8}));
                const auto chosen = acting.views()[0].selected;
                const auto attended = [&](int row, int column) {
                  const int y = (row - frame) / factor, x = (column - frame) / factor;
                  return row >= frame && column >= frame && y < 16 && x < 16 &&
                         std::ranges::find(chosen, y / 4 * 4 + x / 4) != chosen.end();
                };
                const auto* behind = outside->observe().images[0].bytes();
                for (int row = 0; row < height; ++row)
                  for (int column = 0; column < width; ++column) {
                    const int y = (row - frame) / factor, x = (column - frame) / factor;
                    const bool inset = row >= frame && column >= frame && y < 16 && x < 16;
                    const bool framed = row < 32 + 2 * frame && column < 32 + 2 * frame;
                    bool beside = false;
                    for (int dy = -1; dy <= 1; ++dy)
                      for (int dx = -1; dx <= 1; ++dx) beside = beside || attended(row + dy, column + dx);
                    for (int channel = 0; channel < 3; ++channel) {
                      const int now = picture.bytes()[3 * (static_cast<std::size_t>(row) * width + column) + channel];
                      const int before = inset    ? observation.images[0].bytes()[3 * (y * 16 + x) + channel]
                                         : framed ? 255
                                                  : behind[3 * (row * width + column) + channel];
                      // White as in the overlay, with a dark line around, on walls of any colour.
                      if (attended(row, column))
                        REQUIRE(now >= before + 0.24 * (255 - before) - 1);
                      else if (inset && beside)
                        REQUIRE(now <= before + 0.6 * (16 - before) + 1);
                      else
                        REQUIRE(now == before);
                    }
                  }
                outside->step(action);
              });
  CHECK(next == steps);
  Policy other = some_policy(small_policy(), small_env());
  CHECK_THROWS_MATCHES(film(other, small_env(), {.view = PictureView::outside}), Error,
                       MessageMatches(ContainsSubstring("has no view from outside")));
}

TEST_CASE("a patch of one pixel has a frame in the corner of a picture from outside") {
  const Config env = Config::Map{{"name", "a1-obstacle-course"}, {"pixels", Config::List{16, 16}}};
  const Config blocks = parse_json(R"({"kind": "sequence", "blocks": [{"kind": "rank", "patch": 1, "stride": 1, "top": 1},
                                      {"kind": "linear"}]})",
                                   "policy");
  Policy policy = some_policy(blocks, env);
  int chosen = -1;
  run_episode(*time_limit(make_env(env), 1), policy, 8,
              [&](const Observation&, std::span<const float>, const Policy& acting) { chosen = acting.views()[0].selected[0]; });
  const Image shown = film(policy, env, {.view = PictureView::outside, .seed = 8, .steps = 1, .scale = 6}).frames.at(0);
  // Of its two pixels in the inset the line stays three away.
  const int top = 2 + chosen / 16 * 2 - 3, left = 2 + chosen % 16 * 2 - 3;
  int line = 0;
  for (int row = std::max(2, top); row < std::min(34, top + 8); ++row)
    for (int column = std::max(2, left); column < std::min(34, left + 8); ++column) {
      if (row != top && row != top + 7 && column != left && column != left + 7) continue;
      for (int channel = 0; channel < 3; ++channel)
        CHECK(shown.bytes()[3 * (static_cast<std::size_t>(row) * 153 + column) + channel] == 255);
      ++line;
    }
  CHECK(line >= 9);
}

TEST_CASE("a robot with two cameras is shown from outside with both pictures") {
  TwoCameras truth;
  const Image shown = truth.frame(PictureView::outside);
  REQUIRE((shown.shape() == ImageShape{144, 230, 3, PixelType::uint8}));
  // Two pictures of 24 x 32, enlarged twice, in frames of 2; attended patches are brighter than what they lie on.
  for (std::size_t i = 0; i < 2; ++i)
    for (int row = 0; row < 24; ++row)
      for (int column = 0; column < 32; ++column)
        if (truth.attends(i, row, column))
          CHECK(at(shown, 2 + 2 * row, 2 + static_cast<int>(i) * 66 + 2 * column) >=
                truth.grey(i, row, column) + 0.24 * (255 - truth.grey(i, row, column)) - 2);
}

TEST_CASE("all that a policy with two cameras sees is shown, with its attention to each") {
  TwoCameras truth;
  // What it sees, and not a film of it, is what patches are drawn on: each picture six times as large, 4 pixels between them.
  const Image raw = truth.frame(PictureView::raw), overlay = truth.frame(PictureView::overlay),
              heat = truth.frame(PictureView::heatmap);
  for (const Image* image : {&raw, &overlay, &heat}) REQUIRE((image->shape() == ImageShape{144, 2 * 192 + 4, 3, PixelType::uint8}));
  for (std::size_t i = 0; i < 2; ++i) {
    const int left = static_cast<int>(i) * 196;
    int attended = 0, coloured = 0;
    for (int row = 0; row < 24; ++row)
      for (int column = 0; column < 32; ++column) {
        const int y = 6 * row + 3, x = left + 6 * column + 3;
        const int grey = truth.grey(i, row, column);
        REQUIRE(std::abs(at(raw, y, x) - grey) <= 1);
        attended += truth.attends(i, row, column);
        if (truth.attends(i, row, column)) REQUIRE(at(overlay, y, x) >= grey + 0.24 * (255 - grey) - 2);
        if (!truth.attends(i, row, column)) REQUIRE(at(overlay, y, x) == at(raw, y, x));
        const auto* pixel = &heat.bytes()[3 * (static_cast<std::size_t>(y) * 388 + x)];
        coloured += pixel[0] != pixel[2];
      }
    CHECK(attended == 16 * (i == 0 ? 3 : 2));
    CHECK(coloured > 700);
    // A stone that is right below is no black one.
    CHECK(truth.white[i] == 1.5);
    CHECK(truth.grey(i, 12, 16) > 50);
  }
  for (int row = 0; row < 144; ++row)
    for (int column = 192; column < 196; ++column) REQUIRE(at(overlay, row, column) == 255);
  const std::array<Image, 2> both{raw, overlay};
  CHECK(same(truth.frame(PictureView::side_by_side), side_by_side(both, 12)));

  const TemporaryFolder folder;
  const auto strip = [&](PictureView view) {
    return write_strip(folder.path() / "s.png", truth.policy, truth.env,
                       {.view = view, .seed = 8, .frames = 2, .steps = 2, .scale = 1, .captions = false});
  };
  CHECK(strip(PictureView::overlay).width == 2 * 68 + 16);
  CHECK(strip(PictureView::side_by_side).width == 2 * (68 + 12 + 68) + 24);
  // Too large is what all of them are together.
  CHECK_THROWS_MATCHES(write_video(folder.path() / "v.webp", truth.policy, truth.env, {.steps = 1, .scale = 256}), Error,
                       MessageMatches(ContainsSubstring("6144 x 16388")));
}

TEST_CASE("patches matter of the image that a policy attends to, be it the second") {
  const Config env = parse_json(R"({"name": "laikago-stepstones", "time_limit": 2})", "env");
  Policy policy = some_policy(parse_json(R"({"kind": "sequence", "blocks": [
      {"kind": "rank", "image": "belly", "patch": 4, "top": 2}, {"kind": "linear"}]})",
                                         "policy"),
                              env);
  const TemporaryFolder folder;
  const ImportanceInfo info = write_importance(folder.path() / "i.png", policy, env, 1, 8);
  CHECK(info.frames == 2);
  CHECK(info.patches == 48);
  CHECK(info.chosen == 2);
}

TEST_CASE("a depth camera that shows what a blind policy does is as bright in all frames") {
  /// Sees nothing where it is not drawn; then all is half a metre away, and further with each step.
  class Leaving final : public Env {
   public:
    explicit Leaving(Options& options) {
      spec_ = {.name = "leaving.lua", .observation = {.images = {}, .vector = 1}, .action_size = 1};
      if (!options.has("pixels")) return;
      const auto size = options.integers("pixels");
      picture_ = Image({static_cast<int>(size[0]), static_cast<int>(size[1]), 1, PixelType::float32});
      spec_.observation.images = {{"pixels", picture_.shape()}};
    }
    const EnvSpec& spec() const override { return spec_; }
    void reset(std::uint64_t) override { steps_ = 0; }
    StepResult step(std::span<const float>) override {
      ++steps_;
      return {};
    }
    Observation observe() override {
      if (spec_.observation.images.empty()) return {.images = {}, .vector = vector_};
      std::ranges::fill(picture_.floats(), 0.5F + static_cast<float>(steps_));
      view_ = picture_.view();
      return {.images = {&view_, 1}, .vector = vector_};
    }

   private:
    EnvSpec spec_;
    Image picture_;
    ImageView view_;
    std::array<float, 1> vector_{};
    int steps_ = 0;
  };
  register_script_envs([](Options& options) -> std::unique_ptr<Env> { return std::make_unique<Leaving>(options); });
  const Config env = Config::Map{{"name", "leaving.lua"}};
  Policy policy = some_policy(parse_json(R"({"kind": "sequence", "blocks": [{"kind": "linear"}]})", "policy"), env);
  const Moving shown = film(policy, env, {.view = PictureView::raw, .seed = 8, .steps = 4, .most_fps = 1000});
  REQUIRE(shown.frames.size() == 4);
  // The last is 3.5 metres away, which is white.
  for (std::size_t i = 0; i < 4; ++i) CHECK(at(shown.frames[i], 200, 200) == grey_of(0.5F + static_cast<float>(i), 3.5));
}

TEST_CASE("what a depth camera sees is black where it is near, and as bright in all frames") {
  const Config env = parse_json(R"({"name": "a1-indoor", "pixels": [16, 16], "state": false})", "env");
  Policy policy = some_policy(
      parse_json(R"({"kind": "sequence", "blocks": [{"kind": "rank", "patch": 4, "top": 3}, {"kind": "linear"}]})", "policy"), env);
  const int steps = 3;
  const Moving shown = film(policy, env, {.view = PictureView::raw, .seed = 8, .steps = steps, .scale = 1, .most_fps = 1000});
  REQUIRE(shown.frames.size() == steps);
  std::vector<std::vector<float>> seen;
  run_episode(*time_limit(make_env(env), steps), policy, 8,
              [&](const Observation& observation, std::span<const float>, const Policy&) {
                seen.push_back(floats_of(observation.images[0]));
              });
  const double white = white_for(seen);
  CHECK(white > 2);
  std::size_t next = 0;
  int greys = 0, whites = 0;
  run_episode(*time_limit(make_env(env), steps), policy, 8,
              [&](const Observation& observation, std::span<const float>, const Policy&) {
                const Image& picture = shown.frames.at(next++);
                REQUIRE((picture.shape() == ImageShape{16, 16, 3, PixelType::uint8}));
                for (std::size_t i = 0; i < 256; ++i) {
                  const int grey = grey_of(observation.images[0].floats()[i], white);
                  greys += grey > 10 && grey < 245;
                  whites += grey == 255;
                  for (std::size_t channel = 0; channel < 3; ++channel)
                    REQUIRE(std::abs(picture.bytes()[3 * i + channel] - grey) <= 1);
                }
              });
  CHECK(next == steps);
  CHECK(greys > 300);
  CHECK(whites < 600);
}
