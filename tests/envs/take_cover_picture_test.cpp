#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <tuple>
#include <utility>
#include <vector>
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
