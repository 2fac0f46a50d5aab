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

/// The chosen patches of each step, best first, and the pictures of the same episode at height x width.
struct Truth {
  Truth(Policy& policy, const Config& env, std::uint64_t seed, int height, int width) {
    const auto played = make_env(env), shown = make_env(with(env, "pixels", text("[", height, ",", width, "]").c_str()));
    shown->reset(seed);
    episode = run_episode(*played, policy, seed, [&](const Observation&, std::span<const float> action, const Policy& acting) {
      Image image({height, width, 3, PixelType::uint8});
      std::copy_n(shown->observe().images[0].bytes(), image.shape().count(), image.bytes().begin());
      pictures.push_back(std::move(image));
      const auto views = acting.views();
      chosen.emplace_back(views[0].selected.begin(), views[0].selected.end());
      shown->step(action);
    });
  }
  std::vector<Image> pictures;
  std::vector<std::vector<int>> chosen;
  Episode episode;
};

}  // namespace

TEST_CASE("a video shows the episode that the policy plays, drawn larger, with the patches that it chooses") {
  const Config env = small_env();
  Policy policy = some_policy(small_policy(), env);
  const Truth truth(policy, env, 8, 72, 96);
  const Moving raw = film(policy, env, {.view = PictureView::raw, .seed = 8, .scale = 3, .most_fps = 1000});
  REQUIRE(raw.frames.size() == truth.pictures.size());
  REQUIRE(raw.frames.size() == 12);
  for (std::size_t i = 0; i < raw.frames.size(); ++i) REQUIRE(same(raw.frames[i], truth.pictures[i]));
  CHECK(raw.durations[0] == 20);  // two steps of 0.01 s

  const Moving overlay = film(policy, env, {.seed = 8, .scale = 3, .most_fps = 1000});
  for (std::size_t i = 0; i < overlay.frames.size(); ++i) {
    const auto& chosen = truth.chosen[i];
    const auto patch_at = [&](int y, int x) {
      return y < 0 || x < 0 || y >= 72 || x >= 96 ? chosen.end() : std::ranges::find(chosen, y / 12 * 8 + x / 12);
    };
    for (int y = 0; y < 72; ++y)
      for (int x = 0; x < 96; ++x) {
        const auto found = patch_at(y, x);
        int covered = 0;  // of the pixel and its eight neighbours
        for (int dy = -1; dy <= 1; ++dy)
          for (int dx = -1; dx <= 1; ++dx) covered += patch_at(y + dy, x + dx) != chosen.end();
        const auto* before = &truth.pictures[i].bytes()[3 * (static_cast<std::size_t>(y) * 96 + x)];
        const auto* now = &overlay.frames[i].bytes()[3 * (static_cast<std::size_t>(y) * 96 + x)];
        for (int channel = 0; channel < 3; ++channel) {
          const double opacity = before[channel] == 255 ? 1 : (now[channel] - before[channel]) / (255.0 - before[channel]);
          if (covered == 0) REQUIRE(now[channel] == before[channel]);
          // The best patch is three quarters white.
          if (found == chosen.begin() && covered == 9 && before[channel] < 200) REQUIRE(std::abs(opacity - 0.75) < 0.02);
          if (found != chosen.end()) REQUIRE(opacity > 0.2);
          // Around what is chosen runs a line, white inside and dark outside.
          if (found != chosen.end() && covered < 9) REQUIRE(opacity > 0.6);
          if (found == chosen.end() && covered > 0) REQUIRE(now[channel] <= before[channel] + 0.6 * (16 - before[channel]) + 1);
        }
      }
  }
}

TEST_CASE("views of a video") {
  const Config env = small_env();
  Policy policy = some_policy(small_policy(), env);
  const VideoOptions base{.seed = 2, .steps = 2, .scale = 2};
  const auto frame = [&](PictureView view, bool redraw) {
    VideoOptions options = base;
    options.view = view;
    options.redraw = redraw;
    return film(policy, env, options).frames.at(1);
  };
  const Image raw = frame(PictureView::raw, true), overlay = frame(PictureView::overlay, true);
  const std::array<Image, 2> both{raw, overlay};
  CHECK(same(frame(PictureView::side_by_side, true), side_by_side(both, 4)));
  CHECK_FALSE(same(raw, overlay));
  CHECK_FALSE(same(frame(PictureView::heatmap, true), raw));
  // The policy's own pixels, every one of them 2 x 2.
  const Image seen = frame(PictureView::raw, false);
  REQUIRE((seen.shape() == raw.shape()));
  const Truth truth(policy, env, 2, 24, 32);
  CHECK(same(seen, enlarge(truth.pictures[1].view(), 2)));
  CHECK(picture_view("side-by-side") == PictureView::side_by_side);
  CHECK_THROWS_MATCHES(picture_view("heatmop"), Error, MessageMatches(ContainsSubstring("did you mean 'heatmap'")));
}

TEST_CASE("patches that are too small to be seen get rings") {
  const Config env = with(small_env(), "pixels", "[48, 64]");
  const Config blocks = with(with(small_policy(), "blocks.1.patch", "1"), "blocks.1.stride", "1");
  Policy policy = some_policy(with(blocks, "blocks.1.top", "1"), env);
  const Truth truth(policy, env, 4, 192, 256);
  const Image frame = film(policy, env, {.seed = 4, .steps = 1, .scale = 4}).frames.at(0);
  // A patch of 4 x 4 pixels, three quarters white, room for a pixel around it, then a white line and a dark one.
  const int x = truth.chosen[0][0] % 64 * 4 + 2, y = truth.chosen[0][0] / 64 * 4 + 2;
  for (int row = 0; row < 192; ++row)
    for (int column = 0; column < 256; ++column) {
      const int away = std::max(std::abs(2 * (row - y) + 1), std::abs(2 * (column - x) + 1));  // in half pixels: 1, 3, 5 ...
      const std::size_t at = 3 * (static_cast<std::size_t>(row) * 256 + column);
      const int before = truth.pictures[0].bytes()[at];
      double truth_here = before;
      if (away < 4) truth_here = before + 0.75 * (255 - before);
      if (away == 7 || (away < 7 && std::min({row, column, 191 - row, 255 - column}) == 0)) truth_here = 255;
      if (away == 9) truth_here = 16;
      REQUIRE(std::abs(frame.bytes()[at] - truth_here) < 1);
    }
}

TEST_CASE("length and speed of a video") {
  const TemporaryFolder folder;
  const Config env = with(small_env(), "action_repeat", "1");  // 100 steps a second
  Policy policy = some_policy(small_policy(), env);
  const auto write = [&](VideoOptions options) {
    options.scale = 1;
    return write_video(folder.path() / "v.webp", policy, env, options);
  };
  const VideoInfo real = write({});
  CHECK(real.fps == 50);
  CHECK(real.frames == 12);
  CHECK(real.episode.steps == 24);
  const Truth truth(policy, env, 0, 24, 32);
  CHECK(real.episode.total == truth.episode.total);
  CHECK(write({.steps = 7}).episode.steps == 7);
  CHECK(write({.steps = 7}).frames == 4);
  CHECK(write({.fps = 20}).frames == 24);
  CHECK(write({.fps = 20}).fps == 20);
  CHECK_THROWS_MATCHES(write({.fps = -1}), Error, MessageMatches(ContainsSubstring("fps must not be negative, got -1")));
  const VideoInfo standard = write_video(folder.path() / "v.webp", policy, env, {.steps = 1});
  CHECK(standard.height == 408);  // the first multiple of 24 from 400 on
  CHECK(standard.width == 544);
}

TEST_CASE("a policy without pictures is shown from the environment's camera") {
  const Config env = parse_json(R"({"name": "cartpole-swingup", "state": true, "time_limit": 6})", "test");
  Policy policy = some_policy(parse_json(R"({"kind": "linear", "activation": "tanh"})", "test"), env);
  const Moving moving = film(policy, env, {.most_fps = 1000});
  CHECK(moving.frames.size() == 6);
  CHECK((moving.frames[0].shape() == ImageShape{400, 400, 3, PixelType::uint8}));
  CHECK_FALSE(same(moving.frames[0], moving.frames[5]));
}

TEST_CASE("a strip shows the first frame first and the last one last") {
  const TemporaryFolder folder;
  const Config env = small_env();
  Policy policy = some_policy(small_policy(), env);
  const auto draw = [&](const StripOptions& options) {
    const StripInfo info = write_strip(folder.path() / "s.png", policy, env, options);
    Image strip = read_png(folder.path() / "s.png");
    CHECK(info.height == strip.shape().height);
    CHECK(info.width == strip.shape().width);
    return std::pair{info, std::move(strip)};
  };
  const auto [info, strip] = draw({.view = PictureView::raw, .seed = 8, .frames = 4, .min_height = 48, .captions = false});
  const Truth truth(policy, env, 8, 48, 64);
  CHECK(info.episode.total == truth.episode.total);
  REQUIRE((strip.shape() == ImageShape{48, 4 * 64 + 3 * 4, 3, PixelType::uint8}));
  const auto cut = [](const Image& from, int left, int height, int width) {
    Image part({height, width, 3, PixelType::uint8});
    for (int y = 0; y < height; ++y)
      std::copy_n(&from.bytes()[3 * (static_cast<std::size_t>(y) * from.shape().width + left)], 3 * width,
                  &part.bytes()[static_cast<std::size_t>(3) * y * width]);
    return part;
  };
  CHECK(same(cut(strip, 0, 48, 64), truth.pictures.front()));
  CHECK(same(cut(strip, 3 * 68, 48, 64), truth.pictures.back()));

  // It ends where it is told to, and has no more pictures than there are steps.
  const auto [few, short_strip] =
      draw({.view = PictureView::raw, .seed = 8, .frames = 9, .steps = 3, .min_height = 48, .captions = false});
  CHECK(few.pictures == 3);
  CHECK(few.episode.steps == 3);
  for (int i = 0; i < 3; ++i) CHECK(same(cut(short_strip, i * 68, 48, 64), truth.pictures[static_cast<std::size_t>(i)]));

  // Captions stand below the pictures, which they leave alone; those of later times differ.
  const auto [told, captioned] = draw({.view = PictureView::raw, .seed = 8, .frames = 4, .min_height = 48});
  REQUIRE(told.width == info.width);
  CHECK(same(cut(captioned, 0, 48, info.width), strip));
  const auto caption = [&](int i) {
    Image words({told.height - 48, 64, 3, PixelType::uint8});
    for (int y = 48; y < told.height; ++y)
      std::copy_n(&captioned.bytes()[3 * (static_cast<std::size_t>(y) * told.width + i * 68)], 3 * 64,
                  &words.bytes()[static_cast<std::size_t>(3 * 64) * (y - 48)]);
    return words;
  };
  for (int i = 0; i < 4; ++i) CHECK(std::ranges::count_if(caption(i).bytes(), [](int byte) { return byte < 100; }) > 30);
  CHECK_FALSE(same(caption(0), caption(3)));

  // The view, the scale and the policy's own pixels.
  const auto [seen, own] = draw({.view = PictureView::raw, .seed = 8, .frames = 1, .scale = 2, .redraw = false, .captions = false});
  CHECK(same(own, enlarge(Truth(policy, env, 8, 24, 32).pictures[0].view(), 2)));
  const auto [pair, both] = draw({.view = PictureView::side_by_side, .seed = 8, .frames = 2, .scale = 2, .captions = false});
  CHECK(pair.width == 2 * (64 + 4 + 64) + 16);
  CHECK(same(cut(both, 0, 48, 64), truth.pictures.front()));
  CHECK_FALSE(same(cut(both, 68, 48, 64), truth.pictures.front()));
  const auto [hot, heat] = draw({.view = PictureView::heatmap, .seed = 8, .frames = 4, .scale = 2});
  CHECK(hot.height > told.height);  // the row with the colours
  CHECK_THROWS_MATCHES(write_strip(folder.path() / "s.webp", policy, env, {}), Error,
                       MessageMatches(ContainsSubstring("s.webp") && ContainsSubstring("must end in .png")));
}

TEST_CASE("captions of a strip tell its pictures apart, however close they are") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "s.png";
  const Config env = with(small_env(), "action_repeat", "1");
  Policy policy = some_policy(small_policy(), env);
  // Ten milliseconds from one to the next, in which a pole that hangs earns next to nothing.
  const StripInfo info = write_strip(path, policy, env, {.view = PictureView::raw, .frames = 12, .steps = 12, .scale = 4});
  REQUIRE(info.pictures == 12);
  const Image strip = read_png(path);
  const auto caption = [&](int i) {
    std::vector<int> words;
    for (int y = 96; y < info.height; ++y)
      for (int x = 0; x < 3 * 128; ++x)
        words.push_back(strip.bytes()[3 * (static_cast<std::size_t>(y) * info.width + static_cast<std::size_t>(i) * 132) + x]);
    return words;
  };
  for (int i = 0; i + 1 < 12; ++i) CHECK(caption(i) != caption(i + 1));
}

TEST_CASE("a strip of many or of narrow pictures has captions within their width") {
  const TemporaryFolder folder;
  const Config env = with(small_env(), "time_limit", "200");
  Policy policy = some_policy(small_policy(), env);
  const auto path = folder.path() / "s.png";
  for (const int frames : {62, 100}) {
    const StripInfo info = write_strip(path, policy, env, {.view = PictureView::raw, .frames = frames, .scale = 2});
    CHECK(info.pictures == frames);
    CHECK(info.width == frames * 64 + (frames - 1) * 4);
    const Image strip = read_png(path);
    // A caption below each picture, and white between them.
    for (int i = 0; i < frames; ++i) {
      int dark = 0;
      for (int y = 48; y < info.height; ++y)
        for (int x = i * 68; x < i * 68 + 68; ++x) {
          const int red = strip.bytes()[3 * (static_cast<std::size_t>(y) * info.width + std::min(x, info.width - 1))];
          dark += red < 120;
          if (x >= i * 68 + 63 && red < 250) FAIL("captions of " << i << " and its neighbour touch");
        }
      CHECK(dark > 20);
    }
  }
  const Config narrow = with(env, "pixels", "[20,10]");
  Policy other = some_policy(small_policy(), narrow);
  const StripInfo info = write_strip(path, other, narrow, {.view = PictureView::heatmap, .frames = 1, .steps = 2, .scale = 1});
  CHECK(info.width == 10);
  CHECK(info.attention);
  const Config state = parse_json(R"({"name": "cartpole-swingup", "state": true, "time_limit": 6})", "test");
  Policy blind = some_policy(parse_json(R"({"kind": "linear"})", "test"), state);
  CHECK_FALSE(write_strip(path, blind, state, {.view = PictureView::heatmap, .frames = 1}).attention);
}

TEST_CASE("pictures that are too large are refused before anything is drawn") {
  const TemporaryFolder folder;
  const Config env = small_env();
  Policy policy = some_policy(small_policy(), env);
  CHECK_THROWS_MATCHES(write_strip(folder.path() / "s.png", policy, env, {.frames = 100, .scale = 11}), Error,
                       MessageMatches(ContainsSubstring("would be 35596 pixels wide") && ContainsSubstring("--strip") &&
                                      ContainsSubstring("--scale") && ContainsSubstring("--view")));
  const Config wide = with(env, "pixels", "[4,400]");
  Policy other = some_policy(small_policy(), wide);
  const auto film = folder.path() / "v.webp";
  CHECK_THROWS_MATCHES(write_video(film, other, wide, {.steps = 1, .scale = 64}), Error,
                       MessageMatches(ContainsSubstring("--scale 64 makes pictures of 256 x 25600 pixels") &&
                                      ContainsSubstring("choose a smaller --scale")));
  CHECK_THROWS_MATCHES(write_video(film, other, wide, {.view = PictureView::side_by_side, .steps = 1, .scale = 21}), Error,
                       MessageMatches(ContainsSubstring("84 x 16804")));
  CHECK_FALSE(std::filesystem::exists(film));
  const VideoInfo info = write_video(film, other, wide, {.view = PictureView::raw, .steps = 1});
  CHECK(info.height == 160);
  CHECK(info.width == 16000);
  // Of a single picture a strip could hold more than an environment can be drawn in.
  const auto strip = folder.path() / "s.png";
  CHECK_THROWS_MATCHES(
      write_strip(strip, other, wide, {.frames = 1, .scale = 50}), Error,
      MessageMatches(ContainsSubstring("cannot be drawn in 200 x 20000 pixels: ") && ContainsSubstring("at most {16384, 16384}")));
  CHECK(write_strip(strip, other, wide, {.view = PictureView::raw, .frames = 1, .steps = 1, .captions = false}).width == 16000);
}

TEST_CASE("a wide picture is drawn anew rather than enlarged") {
  const TemporaryFolder folder;
  const Config wide = with(small_env(), "pixels", "[4,400]");
  Policy policy = some_policy(small_policy(), wide);
  const auto drawn = [&](bool redraw) {
    const auto path = folder.path() / "s.png";
    write_strip(path, policy, wide,
                {.view = PictureView::raw, .frames = 1, .steps = 1, .scale = 12, .redraw = redraw, .captions = false});
    return read_png(path);
  };
  const auto anew = make_env(with(wide, "pixels", "[48,4800]"));
  anew->reset(0);
  const Image picture = drawn(true);
  REQUIRE(picture.shape() == anew->spec().observation.images[0].shape);
  CHECK(std::ranges::equal(picture.bytes(), std::span(anew->observe().images[0].bytes(), picture.shape().count())));
  CHECK_FALSE(std::ranges::equal(picture.bytes(), drawn(false).bytes()));
}
