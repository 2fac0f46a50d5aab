#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "objects.hpp"
import iap.core;
import iap.env;
import iap.envs;

// Pictures for people against an environment that has their size itself.

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::Equals;

namespace {

/// Steps both, `own` being the engine's at the size that is drawn.
void step_both(iap_env* env, iap::Env& own, int number) {
  const float action = number % 2 ? 0.8F : -0.4F;
  iap_step step{.size = sizeof(iap_step)};
  REQUIRE(iap_env_step(env, &action, 1, &step) == IAP_OK);
  CHECK(step.reward == own.step({&action, 1}).reward);
}

void check_drawn(iap_env* env, iap::Env& own) {
  const auto& shape = own.spec().observation.images.front().shape;
  std::vector<std::uint8_t> drawn(shape.count());
  REQUIRE(iap_env_draw(env, shape.height, shape.width, drawn.data(), 0) == IAP_OK);
  CHECK(std::memcmp(drawn.data(), own.observe().images[0].data, drawn.size()) == 0);
}

}  // namespace

TEST_CASE("a picture for people is the environment's own at that size, begun at any step and in any later episode") {
  for (const std::string& pixels : {std::string(R"("pixels": [12, 16])"), std::string(R"("action_repeat": 1)")}) {
    const auto env = make_env("{\"name\": \"cartpole-swingup\", " + pixels + "}");
    const auto own = iap::make_env(iap::parse_json(R"({"name": "cartpole-swingup", "pixels": [40, 56]})", "test"));
    const auto other = iap::make_env(iap::parse_json(R"({"name": "cartpole-swingup", "pixels": [20, 30]})", "test"));
    for (const std::uint64_t seed : {3U, 8U, 9U}) {
      REQUIRE(iap_env_reset(env.get(), seed) == IAP_OK);
      own->reset(seed);
      for (int i = 0; i < 4; ++i) step_both(env.get(), *own, i);
      check_drawn(env.get(), *own);
      for (int i = 4; i < 7; ++i) step_both(env.get(), *own, i);
      check_drawn(env.get(), *own);
    }
    // Another size in the middle of the episode.
    other->reset(9);
    for (int i = 0; i < 7; ++i) {
      const float action = i % 2 ? 0.8F : -0.4F;
      other->step({&action, 1});
    }
    check_drawn(env.get(), *other);
    // An episode without a drawing, then one with.
    REQUIRE(iap_env_reset(env.get(), 1) == IAP_OK);
    REQUIRE(iap_env_reset(env.get(), 2) == IAP_OK);
    own->reset(2);
    step_both(env.get(), *own, 0);
    check_drawn(env.get(), *own);
  }
}

TEST_CASE("wide and high pictures are drawn at their size, whatever is observed") {
  const auto check = [](const char* observed, const std::string& options, std::int32_t height, std::int32_t width) {
    INFO(observed << ' ' << height << " x " << width);
    const auto env = make_env(observed);
    const auto own = iap::make_env(
        iap::parse_json("{" + options + ", \"pixels\": [" + std::to_string(height) + ", " + std::to_string(width) + "]}", "test"));
    REQUIRE(iap_env_reset(env.get(), 3) == IAP_OK);
    own->reset(3);
    check_drawn(env.get(), *own);
  };
  for (const char* observed : {"cartpole-swingup", R"({"name": "cartpole-swingup", "pixels": [16, 16]})"}) {
    check(observed, R"("name": "cartpole-swingup")", 6, 4097);
    check(observed, R"("name": "cartpole-swingup")", 16384, 2);
  }
  check("a1-obstacle-course", R"("name": "a1-obstacle-course")", 2, 16384);
  check("car-racing", R"("name": "car-racing")", 6, 4097);
  check("take-cover", R"("name": "take-cover", "art": "auto")", 490, 20);
}

TEST_CASE("an environment in Lua that takes no such size is drawn enlarged") {
  const Folder folder;
  const auto env = make_env(folder.file("small.lua", R"(return function(options)
    local height = (options.pixels or { 2 })[1]
    if height > 8 then error("at most 8 rows", 0) end
    local self = { spec = { action_size = 1, images = { grey = { height = height, width = 2, channels = 1 } } } }
    function self:reset() end
    function self:step() return 0, false, false end
    function self:observe() return nil, { grey = ("a"):rep(2 * height) } end
    return self
  end)"));
  REQUIRE(iap_env_reset(env.get(), 1) == IAP_OK);
  std::vector<std::uint8_t> rgb(20 * 2 * 3);
  CHECK(iap_env_draw(env.get(), 8, 2, rgb.data(), 0) == IAP_OK);
  // Its option `pixels` may be its own.
  CHECK(iap_env_draw(env.get(), 20, 2, rgb.data(), 0) == IAP_OK);
  CHECK(rgb == std::vector<std::uint8_t>(rgb.size(), 'a'));
}

TEST_CASE("a drawing that is of another episode is an error, not a picture") {
  const Folder folder;
  const auto env = make_env(folder.file("sized.lua", R"(return function(options)
    local height = (options.pixels or { 2 })[1]
    local self = { spec = { action_size = 1, images = { grey = { height = height, width = 2, channels = 1 } } } }
    function self:reset() end
    function self:step() return height, false, false end
    function self:observe() return nil, { grey = ("a"):rep(2 * height) } end
    return self
  end)"));
  std::vector<std::uint8_t> rgb(4 * 2 * 3);
  const float action = 0;
  iap_step step{.size = sizeof(iap_step)};
  REQUIRE(iap_env_reset(env.get(), 1) == IAP_OK);
  CHECK(iap_env_draw(env.get(), 4, 2, rgb.data(), 0) == IAP_OK);  // nothing was paid yet
  REQUIRE(iap_env_step(env.get(), &action, 1, &step) == IAP_OK);
  CHECK(iap_env_draw(env.get(), 4, 2, rgb.data(), 0) == IAP_FAILED);
  CHECK_THAT(iap_env_error(env.get()),
             Equals("drawn in this size, the environment pays another reward, so that it is not the same episode"));
  CHECK(iap_env_draw(env.get(), 2, 2, rgb.data(), 0) == IAP_OK);
}

TEST_CASE("a drawing that fails or ends before the episode takes nothing from it") {
  const Folder folder;
  const auto env = make_env(folder.file("short.lua", R"(return function(options)
    local height, kind = (options.pixels or { 2 })[1], options.kind
    local self = { spec = { action_size = 1, max_steps = 6, images = { grey = { height = height, width = 2, channels = 1 } } } }
    function self:reset() self.steps = 0 end
    function self:step()
      self.steps = self.steps + 1
      if height == 8 and self.steps == 2 then error("no room") end
      return 1, height == 4 and self.steps == 2
    end
    function self:observe() return nil, { grey = ("a"):rep(2 * height) } end
    return self
  end)"));
  std::vector<std::uint8_t> rgb(8 * 2 * 3);
  const float action = 0;
  iap_step step{.size = sizeof(iap_step)};
  const auto wrong = [&](std::int32_t height, const char* way) {
    CHECK(iap_env_draw(env.get(), height, 2, rgb.data(), 0) == IAP_FAILED);
    CHECK_THAT(iap_env_error(env.get()), ContainsSubstring(way) && EndsWith(", so that it is not the same episode"));
  };
  for (const std::int32_t begun : {4, 8}) {
    REQUIRE(iap_env_reset(env.get(), 1) == IAP_OK);
    CHECK(iap_env_draw(env.get(), begun, 2, rgb.data(), 0) == IAP_OK);
    for (int i = 1; i <= 6; ++i) {
      REQUIRE(iap_env_step(env.get(), &action, 1, &step) == IAP_OK);
      CHECK(step.reward == 1);
      CHECK_FALSE(step.terminated);
      CHECK(step.truncated == (i == 6));
      if (i == 1) continue;
      // The one that was drawn before, and others that begin here.
      const char *ends = "the environment ends at another step", *fails = "short.lua:7: no room";
      wrong(begun, begun == 4 ? ends : fails);
      wrong(12 - begun, begun == 8 ? ends : fails);
      CHECK(iap_env_draw(env.get(), 2, 2, rgb.data(), 0) == IAP_OK);
      CHECK(iap_env_draw(env.get(), begun, 2, rgb.data(), 0) == IAP_FAILED);
    }
  }
}

TEST_CASE("a drawing that shows things elsewhere is an error, noise and other sides are none") {
  const Folder folder;
  const auto env = make_env(folder.file("stars.lua", R"(return function(options)
    local pixels = options.pixels or { 16, 16 }
    local self = { spec = { action_size = 1, images = { sky = { height = pixels[1], width = pixels[2], channels = 1 } } } }
    function self:reset() self.star = 2 end
    function self:step(action) self.star = action[1] > 0 and pixels[1] > 16 and 10 or 2 return 0, false, false end
    function self:observe()
      local rows = {}
      for y = 0, pixels[1] - 1 do
        local row = {}
        for x = 0, pixels[2] - 1 do
          local column, line = x * 16 // pixels[2], y * 16 // pixels[1]
          local there = math.abs(column - self.star) < 2 and math.abs(line - 8) < 2
          row[#row + 1] = string.char(there and 200 or math.random(0, 90))
        end
        rows[#rows + 1] = table.concat(row)
      end
      return nil, { sky = table.concat(rows) }
    end
    return self
  end)"));
  std::vector<std::uint8_t> rgb(64 * 96 * 3);
  iap_step step{.size = sizeof(iap_step)};
  const auto drawn = [&](std::int32_t height, std::int32_t width) { return iap_env_draw(env.get(), height, width, rgb.data(), 0); };
  REQUIRE(iap_env_reset(env.get(), 1) == IAP_OK);
  for (const float action : {0.F, 1.F}) {
    REQUIRE(iap_env_step(env.get(), &action, 1, &step) == IAP_OK);
    const iap_status expected = action > 0 ? IAP_FAILED : IAP_OK;
    CHECK(drawn(64, 64) == expected);
    CHECK(drawn(40, 40) == expected);
    CHECK(drawn(57, 56) == expected);
    // What is seen may not be in it.
    CHECK(drawn(8, 8) == IAP_OK);
    CHECK(drawn(64, 96) == IAP_OK);
  }
  CHECK(drawn(64, 64) == IAP_FAILED);
  CHECK_THAT(iap_env_error(env.get()), ContainsSubstring("the environment shows something else"));
}

TEST_CASE("rows are drawn as far apart as asked, and nothing between them is written") {
  const auto env = make_env("cartpole-balance");
  REQUIRE(iap_env_reset(env.get(), 1) == IAP_OK);
  std::vector<std::uint8_t> tight(8 * 10 * 3), wide(8 * 40, 7);
  REQUIRE(iap_env_draw(env.get(), 8, 10, tight.data(), 0) == IAP_OK);
  REQUIRE(iap_env_draw(env.get(), 8, 10, wide.data(), 40) == IAP_OK);
  for (std::size_t y = 0; y < 8; ++y) {
    CHECK(std::memcmp(wide.data() + 40 * y, tight.data() + 30 * y, 30) == 0);
    CHECK(std::all_of(wide.begin() + static_cast<std::ptrdiff_t>(40 * y + 30),
                      wide.begin() + static_cast<std::ptrdiff_t>(40 * (y + 1)), [](std::uint8_t value) { return value == 7; }));
  }
}

TEST_CASE("an environment that draws one size only is shown resized, one that draws nothing is an error") {
  const Folder folder;
  const auto drawing = make_env(folder.file("grey.lua", R"(return function()
    local self = { spec = { action_size = 1, images = { grey = { height = 2, width = 2, channels = 1 } } } }
    function self:reset() end
    function self:step() return 0, false, false end
    function self:observe() return nil, { grey = { 10, 20, 30, 40 } } end
    return self
  end)"));
  REQUIRE(iap_env_reset(drawing.get(), 1) == IAP_OK);
  std::vector<std::uint8_t> rgb(4 * 4 * 3);
  REQUIRE(iap_env_draw(drawing.get(), 4, 4, rgb.data(), 0) == IAP_OK);
  for (std::size_t y = 0; y < 4; ++y)
    for (std::size_t x = 0; x < 4; ++x) CHECK(rgb[(4 * y + x) * 3 + 1] == 10 + 20 * (y / 2) + 10 * (x / 2));
  const auto blind = make_env(folder.file("world.lua", lua_world(false)));
  REQUIRE(iap_env_reset(blind.get(), 1) == IAP_OK);
  CHECK(iap_env_draw(blind.get(), 4, 4, rgb.data(), 0) == IAP_FAILED);
  CHECK_THAT(iap_env_error(blind.get()), ContainsSubstring("draws no pictures"));
  const float action = 0;
  iap_step step{.size = sizeof(iap_step)};
  CHECK(iap_env_step(blind.get(), &action, 1, &step) == IAP_OK);
}

TEST_CASE("drawing names each argument that is wrong") {
  const auto owned = make_env("cartpole-balance");
  iap_env* env = owned.get();
  std::uint8_t byte = 0;
  const auto refused = [&](int height, int width, std::uint8_t* rgb, std::size_t stride) {
    CHECK(iap_env_draw(env, height, width, rgb, stride) == IAP_BAD_ARGUMENT);
    return std::string(iap_env_error(env));
  };
  CHECK_THAT(refused(1, 1, &byte, 0), Equals("iap_env_draw: no episode has begun; call iap_env_reset first"));
  REQUIRE(iap_env_reset(env, 1) == IAP_OK);
  CHECK_THAT(refused(0, 1, &byte, 0), Equals("iap_env_draw: 'height' is 0; give 1 to 16384"));
  CHECK_THAT(refused(1, 20000, &byte, 0), Equals("iap_env_draw: 'width' is 20000; give 1 to 16384"));
  CHECK_THAT(refused(2, 3, nullptr, 0), Equals("iap_env_draw: 'rgb' is null; it receives 2 x 3 x 3 bytes"));
  CHECK_THAT(refused(2, 3, &byte, 8), Equals("iap_env_draw: 'row_stride' is 8; a row has 9 bytes"));
  for (const std::size_t stride : {SIZE_MAX, SIZE_MAX / 2, static_cast<std::size_t>(PTRDIFF_MAX / 2 + 1)})
    CHECK_THAT(refused(2, 3, &byte, stride), ContainsSubstring("'row_stride' is " + std::to_string(stride) + "; 2 rows of it"));
}

TEST_CASE("what a picture of depth shows follows from its episode, whatever was drawn before") {
  const Folder folder;
  const std::string world = folder.file("depth.lua", R"(return function()
  local far
  return { spec = { action_size = 1, vector = 0, max_steps = 9,
      images = { depth = { height = 4, width = 4, channels = 1, type = "float32" } } },
    reset = function(_, seed) far = seed end,
    step = function() return 0, false, false end,
    observe = function() local d = {} for i = 1, 16 do d[i] = i / 4 * far end return nil, { depth = d } end }
end)");
  const auto draw = [](iap_env* env, std::uint64_t seed) {
    std::vector<std::uint8_t> rgb(8 * 8 * 3);
    REQUIRE(iap_env_reset(env, seed) == IAP_OK);
    REQUIRE(iap_env_draw(env, 8, 8, rgb.data(), 0) == IAP_OK);
    return rgb;
  };
  const auto env = make_env(world), other = make_env(world);
  draw(env.get(), 10);
  CHECK(draw(env.get(), 1) == draw(other.get(), 1));
}
