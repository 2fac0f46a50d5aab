#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <string>
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
import iap.script;
import iap.train;
#include "base64.hpp"
#include "films.hpp"
#include "pages.hpp"
#include "small_runs.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;

// Pages and films of worlds that are made so that what is right is known.

namespace {

Config world(const std::filesystem::path& file, const std::string& text) {
  register_lua();
  write_file_atomic(file, text);
  return Config::Map{{"name", file.string()}};
}

/// 16 x 16 pixels, black but for one white square of 4 x 4 that is elsewhere in every step.
Config blinking(const std::filesystem::path& folder) {
  return world(folder / "blink.lua", R"(
local function picture(place)
  local rows, white, black = {}, ("\255"):rep(12), ("\0"):rep(12)
  for row = 0, 3 do
    local line = ""
    for column = 0, 3 do line = line .. (row * 4 + column == place and white or black) end
    rows[#rows + 1] = line:rep(4)
  end
  return table.concat(rows)
end
return function()
  local env = { spec = { action_size = 1, max_steps = 32, images = { eye = { height = 16, width = 16 } } } }
  function env:reset() self.t = math.random(0, 15) end
  function env:step() self.t = self.t + 1 return 1 end
  function env:observe() return nil, { eye = picture(self.t * 5 % 16) } end
  return env
end
)");
}

/// A level that sees the white square of every eighth step, and gives no other patch a score above 0.
Config rare_looks() {
  return parse_json(R"({"kind": "hierarchy", "duration": 8, "latent": 2,
      "high": {"kind": "sequence", "blocks": [{"kind": "rank", "patch": 4, "d": 1, "top": 1, "pixel_offset": 0}, {"kind": "linear"}]},
      "low": {"kind": "linear"}})",
                    "policy");
}

Config two_places() {
  return parse_json(R"({"kind": "sequence", "blocks": [{"kind": "rank", "patch": 2, "top": 2}, {"kind": "linear"}]})", "policy");
}

void set_all(Policy& policy, float value) { policy.set_parameters(std::vector<float>(policy.size(), value)); }

/// The number that stands in `words` before a per cent sign.
double part_of(const std::string& words) { return std::stod(words) / 100; }

struct Example {
  Image image;
  double left, top, size;
};

/// The examples of a page's four ranges.
std::vector<std::vector<Example>> examples_of(const std::string& html) {
  std::vector<std::vector<Example>> ranges;
  const TemporaryFolder folder;
  for (const auto& range : between(html, "<div class=\"patches\">", "</div>")) {
    ranges.emplace_back();
    for (const auto& span : between(range, "<span>", "</span>")) {
      write_file_atomic(folder.path() / "example.png", decode_base64(between(span, "base64,", "\"").at(0)));
      ranges.back().push_back({read_png(folder.path() / "example.png"), part_of(between(span, "left:", "%").at(0)),
                               part_of(between(span, "top:", "%").at(0)), part_of(between(span, "width:", "%").at(0))});
    }
  }
  return ranges;
}

int red(const Image& image, int row, int column) {
  return image.bytes()[3 * (static_cast<std::size_t>(row) * static_cast<std::size_t>(image.shape().width) +
                            static_cast<std::size_t>(column))];
}

}  // namespace

TEST_CASE("what a level that looks rarely finds important is cut out of what it saw, a look counted once") {
  const TemporaryFolder folder;
  const auto run = folder.path() / "run";
  make_run(run, 1, rare_looks(), blinking(folder.path()));
  PolicyFile file = open_policy(run);
  set_all(file.policy, .1F);
  write_policy_file(run / "best.iap", file.policy, file.metadata);
  const std::string html = report({run}, {.episodes = 4});
  CHECK_THAT(html, ContainsSubstring("pixels in 16 frames of 4 episodes") &&
                       ContainsSubstring("Those of a level that was not asked in a step show the frame that it saw last") &&
                       ContainsSubstring("The same steps, in the frames that were scored."));
  const auto ranges = examples_of(html);
  REQUIRE(ranges.size() == 4);
  for (std::size_t range = 0; range < ranges.size(); ++range) {
    REQUIRE_FALSE(ranges[range].empty());
    for (const auto& [image, left, top, size] : ranges[range]) {
      const int side = image.shape().height, row = static_cast<int>((top + size / 2) * side),
                column = static_cast<int>((left + size / 2) * side);
      // White patches are 16 of 256, more than the highest 4% and those around the top 5%.
      CHECK(red(image, row, column) == (range < 2 ? 255 : 0));
    }
  }
}

TEST_CASE("a heat map of what was looked at before lies over what was seen then, and its patches show that") {
  const TemporaryFolder folder;
  const Config env = blinking(folder.path());
  Policy policy = some_policy(rare_looks(), env);
  set_all(policy, .1F);
  const auto frames = [&](PictureView view) {
    const auto film_of = film(policy, env, {.view = view, .seed = 3, .scale = 1, .most_fps = 1000});
    REQUIRE(film_of.frames.size() == 32);
    return film_of.frames;
  };
  const auto heat = frames(PictureView::heatmap), marked = frames(PictureView::overlay), raw = frames(PictureView::raw);
  for (std::size_t step = 0; step < 32; ++step) {
    CAPTURE(step);
    CHECK(same(heat[step], heat[step / 8 * 8]));
    if (step % 8 > 0) CHECK_FALSE(same(raw[step], raw[step - 1]));
    // The only chosen patch is white, as it was when it was looked at, wherever the square is by now.
    for (int place = 0; place < 16; ++place)
      if (red(raw[step / 8 * 8], place / 4 * 4 + 1, place % 4 * 4 + 1) == 255)
        CHECK(red(marked[step], place / 4 * 4 + 1, place % 4 * 4 + 1) == 255);
  }
}

TEST_CASE("a depth camera has one white on a page, in its film and in its examples") {
  const TemporaryFolder folder;
  const auto run = folder.path() / "run";
  make_run(run, 1, two_places(), world(folder.path() / "far.lua", R"(
return function()
  local depth = { height = 8, width = 8, channels = 1, type = "float32" }
  local env = { spec = { action_size = 1, max_steps = 3, images = { depth = depth } } }
  local far
  function env:reset() far = math.random() < 0.5 and 1.0 or 4.6 end
  function env:step() return far end
  function env:observe() return nil, { depth = string.pack("<ffffffff", .9, .9, .9, .9, far, far, far, far):rep(8) } end
  return env
end
)"));
  bool near = false, far = false;
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    const std::string html = report({run}, {.episodes = 6, .seed = seed});
    const bool ends_near = html.find("episode of return 3,") != std::string::npos;
    (ends_near ? near : far) = true;
    // Of 6 episodes, some see 4.6 metres; 5 are white.
    const int expected = static_cast<int>(std::lround(255 * .9 / 5));
    for (const auto& range : examples_of(html))
      for (const Example& example : range) CHECK(red(example.image, 4, 1) == expected);
    const Moving video = decode_webp(decode_base64(between(html, "src=\"data:image/webp;base64,", "\"").at(0)));
    for (const Image& frame : video.frames) {
      std::vector<int> left;
      for (int row = 0; row < frame.shape().height; ++row)
        for (int column = 0; column < frame.shape().width / 2; ++column) left.push_back(red(frame, row, column));
      // Marks cover 8 of 32 pixels at most.
      std::ranges::nth_element(left, left.begin() + std::ssize(left) / 2);
      CHECK(std::abs(left[left.size() / 2] - expected) < 8);
    }
  }
  CHECK(near);
  CHECK(far);
}

TEST_CASE("an episode that fails among those of importance leaves a page its film") {
  const TemporaryFolder folder;
  const auto run = folder.path() / "run";
  make_run(run, 1, two_places(), world(folder.path() / "failing.lua", R"(
return function(options)
  local env = { spec = { action_size = 1, vector = 1, max_steps = 6, images = { eye = { height = 8, width = 8 } } } }
  local episodes = 0
  function env:reset() episodes = episodes + 1 end
  function env:step()
    if options.fragile and episodes == 3 then error("<b>boom</b>") end
    return 1
  end
  function env:observe() return { 0 }, { eye = ("abc"):rep(64) } end
  return env
end
)"));
  PolicyFile file = open_policy(run);
  file.metadata["env"]["fragile"] = true;
  write_policy_file(run / "best.iap", file.policy, file.metadata);
  // The film's world plays its episode twice, that of importance four of them.
  const std::string html = report({run}, {.episodes = 4});
  CHECK_THAT(html, ContainsSubstring("alt=\"Video of an episode of return 6, 6 steps\"") && ContainsSubstring("The same frames.") &&
                       !ContainsSubstring("There are none"));
  for (const char* heading : {"From scores to patches", "What it knows of the state"}) {
    const auto told = between(html, std::string("<h2>") + heading + "</h2>", "</section>");
    REQUIRE(told.size() == 1);
    CHECK_THAT(told[0], ContainsSubstring("<p>Not measured: environment &#39;") && ContainsSubstring("&lt;b&gt;boom&lt;/b&gt;"));
  }
}

TEST_CASE("a page says of all images that a policy looks at how large they are") {
  const TemporaryFolder folder;
  const auto run = folder.path() / "run";
  make_run(run, 1,
           parse_json(R"({"kind": "sequence", "blocks": [{"kind": "concat", "blocks": [
      {"kind": "rank", "patch": 3, "top": 2, "image": "a"}, {"kind": "rank", "patch": 4, "top": 2, "heads": 2, "image": "z"}]},
      {"kind": "linear"}]})",
                      "policy"),
           world(folder.path() / "two.lua", R"(
return function()
  local images = { a = { height = 6, width = 9, channels = 1 }, z = { height = 20, width = 12 }, unseen = { height = 5, width = 5 } }
  local env = { spec = { action_size = 1, max_steps = 3, images = images } }
  function env:reset() end
  function env:step() return 1 end
  function env:observe()
    return nil, { a = ("a"):rep(54), z = ("abc"):rep(240), unseen = ("abc"):rep(25) }
  end
  return env
end
)"));
  const std::string html = report({run}, {.episodes = 1});
  CHECK_THAT(html, ContainsSubstring("trained by es from 6 × 9 and 20 × 12 pixels."));
  CHECK_THAT(html, ContainsSubstring("the more opaque, the higher their score in the frame. Each block or head has a colour, and "
                                     "stripes of several stand where they meet: white 1.concat.1.rank and "
                                     "1.concat.2.rank.head_1, amber 1.concat.2.rank.head_2."));
}
