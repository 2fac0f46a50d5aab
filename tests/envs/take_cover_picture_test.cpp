#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>
import iap.core;
import iap.env;
import iap.envs;
import iap.envs.take_cover;

using namespace iap::take_cover;

namespace {

using Bytes = std::vector<std::uint8_t>;

World played(std::uint64_t seed, int tics, Move move) {
  World world(false);
  world.reset(seed);
  for (int n = 0; n < tics; ++n) world.step(move);
  return world;
}

Bytes full_picture(const Stage& stage, const World& world, Condition condition = {}) {
  Bytes rgb(static_cast<std::size_t>(screen_width) * screen_height * 3);
  FullPainter(stage).draw(world, condition, rgb);
  return rgb;
}

// Pillow's bilinear resize from its definition: a triangle as wide as two pixels of the result, along the rows and then the
// columns.
std::vector<double> shrunk(const Bytes& rgb, int height, int width) {
  const auto shrink = [](const std::vector<double>& in, int lines, int from, int to, int line_step, int step, int out_line_step,
                         int out_step) {
    std::vector<double> out(static_cast<std::size_t>(lines) * to * 3);
    const double scale = static_cast<double>(from) / to;
    for (int line = 0; line < lines; ++line)
      for (int o = 0; o < to; ++o)
        for (int c = 0; c < 3; ++c) {
          double sum = 0, total = 0;
          for (int i = 0; i < from; ++i) {
            const double weight = std::max(0.0, 1 - std::abs((i + 0.5) / scale - (o + 0.5)));
            if (weight == 0) continue;
            sum += weight * in[static_cast<std::size_t>(line * line_step + i * step + c)];
            total += weight;
          }
          out[static_cast<std::size_t>(line * out_line_step + o * out_step + c)] = sum / total;
        }
    return out;
  };
  const std::vector<double> values(rgb.begin(), rgb.end());
  const auto narrow = shrink(values, screen_height, screen_width, width, screen_width * 3, 3, width * 3, 3);
  return shrink(narrow, width, screen_height, height, 3, width * 3, 3, width * 3);
}

struct Difference {
  double mean = 0, most = 0;
};

Difference difference(const Stage& stage, const World& world, int height, int width) {
  Bytes small(static_cast<std::size_t>(height) * width * 3);
  SmallPainter painter(stage, height, width);
  painter.draw(world, {}, small);
  const auto expected = shrunk(full_picture(stage, world), height, width);
  Difference result;
  for (std::size_t i = 0; i < small.size(); ++i) {
    const double off = std::abs(small[i] - expected[i]);
    result.mean += off / static_cast<double>(small.size());
    result.most = std::max(result.most, off);
  }
  return result;
}

// One colour for each thing, in any light.
Art plain_art() {
  Art art = procedural_art();
  for (auto& light : art.light)
    for (std::size_t i = 0; i < 256; ++i) light[i] = static_cast<std::uint8_t>(i);
  const auto fill = [](Texture& texture, std::uint8_t colour) { std::ranges::fill(texture.texels, colour); };
  fill(art.wall, 1);
  fill(art.floor, 2);
  fill(art.other_floor, 3);
  art.palette[1] = {255, 0, 0};
  art.palette[2] = {0, 255, 0};
  art.palette[3] = {0, 0, 255};
  return art;
}

}  // namespace

TEST_CASE("the room stands where the projection puts it") {
  const World world = played(1, 0, Move::stay);
  const double away = 128 + 416;
  for (const bool high : {false, true}) {
    const Stage stage(plain_art(), {.high_walls = high, .other_floor = true}, false);
    const auto rgb = full_picture(stage, world);
    const auto colour = [&](int row, int column) {
      const auto* pixel = &rgb[(static_cast<std::size_t>(row) * screen_width + column) * 3];
      return pixel[0] == 255 ? 'w' : pixel[1] == 255 ? 'c' : pixel[2] == 255 ? 'f' : '?';
    };
    // Between two imps: ceiling, wall, floor; half a pixel's rounding either way.
    const double top = 201 - ((high ? 404 : 104) - 41) * 384 / away, bottom = 201 + 41 * 384 / away;
    for (int row = 0; row < view_height; ++row) {
      if (std::abs(row + 0.5 - top) < 1 || std::abs(row + 0.5 - bottom) < 1) continue;
      CHECK(colour(row, 470) == (row + 0.5 < top ? 'c' : row + 0.5 < bottom ? 'w' : 'f'));
    }
    // The side wall stands 384 units to the left; at column c it is 384 / |slope| away.
    for (const int column : {4, 40, 80}) {
      const double slope = (320 - column - 0.5) / 320, depth = std::min(away, 384 / slope), foot = 201 + 41 * 384 / depth;
      CHECK(colour(static_cast<int>(foot) - 2, column) == 'w');
      CHECK(colour(static_cast<int>(foot) + 2, column) == 'f');
    }
  }
}

TEST_CASE("light falls off with distance as in ZDoom") {
  CHECK(light_at(210, 480) == 5);  // 8.5 - 1280 / 480
  CHECK(light_at(226, 544) == 2);
  CHECK(light_at(194, 300) == 8);
  CHECK(light_at(210, 50) == 0);
  CHECK(light_at(0, 1e9) == colormaps - 1);
}

TEST_CASE("sprites have the size and the place of what they show") {
  const Art art = procedural_art();
  View view(art, {});
  view.look(played(1, 0, Move::stay));
  // At the start the imps stand 364 to the right, 106 to the right and 268 to the left, 480 ahead, on the floor.
  REQUIRE(view.billboards().size() == 3);
  for (const Billboard& board : view.billboards()) {
    CHECK(std::abs(board.depth - 480) < 1e-9);
    CHECK(std::abs(board.texel_width - 320.0 / 480) < 1e-9);
    CHECK(std::abs(board.texel_height - 384.0 / 480) < 1e-9);
    CHECK(board.light == 5);
    const double foot = board.top + board.sprite->top * board.texel_height;
    CHECK(std::abs(foot - (201 + 41 * 384.0 / 480)) < 1e-9);
  }
  const auto centre = [&](std::size_t i) {
    const Billboard& board = view.billboards()[i];
    return board.left + board.sprite->left * board.texel_width;
  };
  CHECK(std::abs(centre(0) - (320 - 268 * 320.0 / 480)) < 1e-9);
  CHECK(std::abs(centre(1) - (320 + 106 * 320.0 / 480)) < 1e-9);
  CHECK(std::abs(centre(2) - (320 + 364 * 320.0 / 480)) < 1e-9);
}

TEST_CASE(
    "imps show the side that they turn to the player, mirrored ones around their anchor, and fireballs stay above the floor") {
  Art art = procedural_art();
  const Sprite one = art.imps.front();
  art.imps.assign(sides, one);
  for (auto& sprite : art.imps) sprite.left = sprite.width / 4;
  for (auto& frame : art.imp)
    for (std::size_t side = 0; side < sides; ++side) frame[side] = {side, side % 2 == 1};
  View view(art, {});
  std::array<int, sides> seen{};
  int mirrored = 0, fireballs = 0;
  for (int tics = 0; tics < 200; ++tics) {
    const World world = played(1, tics, Move::stay);
    const Player& player = world.player();
    view.look(world);
    for (const Billboard& board : view.billboards()) {
      if (board.glowing) {
        ++fireballs;
        const double foot = board.top + board.sprite->top * board.texel_height;
        CHECK(std::abs(foot - (201 + (player.eye - 32) * 384 / board.depth)) < 1e-9);
        continue;
      }
      const int anchor = board.mirrored ? board.sprite->width - board.sprite->left - 1 : board.sprite->left;
      const double centre = board.left + anchor * board.texel_width;
      const auto imp = std::ranges::find_if(
          world.imps(), [&](const Imp& other) { return std::abs(320 + (player.y - other.y) * 320 / board.depth - centre) < 1e-6; });
      REQUIRE(imp != world.imps().end());
      // Sides count eighths of a turn, by which the imp faces to its right of the player.
      const double to_player = std::atan2(player.y - imp->y, player.x - imp_x) * 180 / M_PI;
      const auto side = static_cast<std::size_t>(board.sprite - art.imps.data());
      ++seen[side];
      CHECK(std::abs(std::remainder(to_player - imp->facing - 45.0 * static_cast<double>(side), 360)) <= 22.5 + 1e-9);
      REQUIRE(board.mirrored == (side % 2 == 1));
      mirrored += board.mirrored;
      for (const int texels : {-2, 0, 3}) {
        const int column = static_cast<int>(std::floor(centre + (texels + 0.5) * board.texel_width));
        const double middle = column + 0.5 - board.left;
        const int across = static_cast<int>(middle / board.texel_width) - anchor;
        CHECK(board.column_at(column) == board.sprite->left + (board.mirrored ? -across : across));
      }
    }
  }
  CHECK((seen[0] > 0 && mirrored > 0 && fireballs > 0));
}

TEST_CASE("the status bar shows the health's digits and the face of that health, hurt or not") {
  const Art art = procedural_art();
  StatusBar bar(art);
  const int width = art.digit[0].width;
  for (const bool hurt : {false, true}) {
    Sprite expected = art.bar;
    paste(expected, art.digit[1], 90 - 2 * width, 3);
    paste(expected, art.digit[6], 90 - width, 3);
    paste(expected, hurt ? art.hurt_face[4] : art.face[4][1], 143, 0);
    const auto shown = bar.draw({.health = 16, .glance = 1, .hurt = hurt});
    int wrong = 0;
    for (int row = 0; row < screen_height - view_height; ++row)
      for (int column = 0; column < screen_width; ++column) {
        const int from = std::clamp(static_cast<int>((row + view_height + 0.5) / 2.4 - 168), 0, bar_height - 1);
        wrong += shown[static_cast<std::size_t>(row * screen_width + column)] != std::max<int>(0, expected.at(column / 2, from));
      }
    CAPTURE(hurt);
    CHECK(wrong == 0);
  }
}

TEST_CASE("the face is hurt for 35 tics after a hit, and never before the first") {
  const auto env = iap::make_env(
      iap::Config::Map{{"name", "take-cover"}, {"art", "procedural"}, {"pixels", iap::Config::List{screen_height, screen_width}}});
  const Art art = procedural_art();
  StatusBar bar(art);
  World world(false);
  env->reset(2);
  world.reset(2);
  int hits = 0, last_hit = 0, over = 0;
  for (int tic = 1; world.player().health > 0 && over < 40; ++tic) {
    const int health = world.player().health;
    env->step(std::array{hits > 0 ? 1.0F : 0.0F});
    world.step(hits > 0 ? Move::right : Move::stay);
    if (world.player().health < health) {
      ++hits;
      last_hit = tic;
    }
    if (hits == 0 && tic % 8 != 0) continue;
    const auto* rgb = env->observe().images[0].bytes() + static_cast<std::size_t>(view_height) * screen_width * 3;
    const auto shows = [&](bool hurt) {
      for (int glance = 0; glance < glances; ++glance) {
        const auto indices = bar.draw({.health = world.player().health, .glance = glance, .hurt = hurt});
        bool same = true;
        for (std::size_t i = 0; same && i < indices.size(); ++i)
          same = std::equal(art.palette[indices[i]].begin(), art.palette[indices[i]].end(), rgb + 3 * i);
        if (same) return true;
      }
      return false;
    };
    const bool hurt = hits > 0 && tic - last_hit < 35;
    over += hits > 0 && !hurt;
    CAPTURE(tic, last_hit, hits);
    CHECK(shows(hurt));
    CHECK_FALSE(shows(!hurt));
  }
  CHECK(hits > 0);
  CHECK(over == 40);
}

TEST_CASE("the small picture is the full one shrunk") {
  std::vector<Stage> stages;
  stages.emplace_back(procedural_art(), Scenery{}, false);
  stages.emplace_back(procedural_art(), Scenery{.high_walls = true}, true);
  stages.emplace_back(procedural_art(), Scenery{.other_floor = true}, false);
  if (const auto wad = find_wad()) stages.emplace_back(wad_art(*wad), Scenery{}, true);
  for (std::size_t i = 0; i < stages.size(); ++i)
    for (const auto& [seed, tics, move] : {std::tuple{1, 140, Move::stay}, {2, 35, Move::left}, {3, 120, Move::right}}) {
      const World world = played(static_cast<std::uint64_t>(seed), tics, move);
      const auto square = difference(stages[i], world, 96, 96), wide = difference(stages[i], world, 60, 107);
      CAPTURE(i, seed, square.mean, square.most, wide.mean, wide.most);
      CHECK(square.mean < 1.0);
      CHECK(square.most < 32);
      CHECK(wide.mean < 1.0);
      CHECK(wide.most < 32);
    }
}

TEST_CASE("who shows the same shares a stage and its tables, which go with the last of them") {
  auto stage = shared_stage({}, {}, false);
  CHECK(shared_stage({}, {}, false) == stage);
  CHECK(shared_stage({}, {.high_walls = true}, false) != stage);
  CHECK(shared_stage({}, {.other_floor = true}, false) != stage);
  CHECK(shared_stage({}, {}, true) != stage);
  for (int i = 0; i < 2; ++i) CHECK_THROWS_AS(shared_stage("/nowhere/doom.wad", {}, false), iap::Error);

  std::optional<SmallPainter> square(std::in_place, *stage, 96, 96), low(std::in_place, *stage, 48, 96);
  const SmallPainter wide(*stage, 96, 107);
  const auto tables = stage->small_tables.at(96);
  CHECK(tables.use_count() == 2);
  CHECK(tables.lock() != stage->small_tables.at(107).lock());
  square.reset();
  CHECK_FALSE(tables.expired());
  low.reset();
  CHECK(tables.expired());
}

TEST_CASE("a shared stage goes with its last user") {
  std::weak_ptr<const Stage> stage;
  {
    const auto env = iap::make_env(iap::Config::Map{{"name", "take-cover"}, {"art", "procedural"}});
    stage = shared_stage({}, {}, false);
    CHECK(stage.use_count() == 1);
  }
  CHECK(stage.expired());
}

TEST_CASE("threads that make painters of one stage draw what a painter of its own draws") {
  const World world = played(1, 140, Move::stay);
  const auto picture = [&](const Stage& stage) {
    Bytes rgb(std::size_t{96} * 96 * 3);
    SmallPainter(stage, 96, 96).draw(world, {}, rgb);
    return rgb;
  };
  const Stage own(procedural_art(), Scenery{}, false);
  const Bytes expected = picture(own);
  std::vector<Bytes> drawn(4);
  {
    std::vector<std::jthread> threads;
    for (Bytes& rgb : drawn) threads.emplace_back([&] { rgb = picture(*shared_stage({}, {}, false)); });
  }
  for (const Bytes& rgb : drawn) CHECK((rgb == expected));
}

TEST_CASE("weights of the triangle filter are those of its definition") {
  for (const auto& [from, to] : {std::pair{640, 96}, {480, 96}, {640, 640}, {480, 7}, {640, 1}}) {
    const Shrink shrink(from, to);
    std::vector<std::uint32_t> totals(static_cast<std::size_t>(to));
    const double scale = static_cast<double>(from) / to;
    for (int i = 0; i < from; ++i) {
      const auto tap = shrink.taps()[static_cast<std::size_t>(i)];
      if (tap.output >= 0) totals[static_cast<std::size_t>(tap.output)] += tap.weight;
      if (tap.output + 1 < to) totals[static_cast<std::size_t>(tap.output) + 1] += tap.next_weight;
      if (tap.output < 1 || tap.output + 2 >= to) continue;  // cut off at the border, they have more weight inside
      const double expected = 1 - std::abs((i + 0.5) / scale - (tap.output + 0.5));
      CHECK(std::abs(tap.weight / 8192.0 - expected / scale) < 0.01 / scale + 2.0 / 8192);
    }
    for (const auto total : totals) CHECK(total == 8192);
  }
}

TEST_CASE("a glow is added in five bits a channel and comes from the palette") {
  const Art art = procedural_art();
  const auto index = add_glow(art, {255, 255, 255}, {200, 100, 0});
  CHECK(art.palette[index] == Rgb888{255, 255, 255});
  const auto dark = add_glow(art, {0, 0, 0}, art.palette[255]);
  for (std::size_t c = 0; c < 3; ++c) CHECK(std::abs(art.palette[dark][c] - art.palette[255][c]) <= 16);
}
