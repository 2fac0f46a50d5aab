module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>
module iap.envs.take_cover;
import iap.core;

namespace iap::take_cover {
namespace {

// The palette is made of 16 ramps of 16 shades, from dark to light.
constexpr int shades = 16;
enum Ramp : int { grey, brick, mortar, wood, leaf, skin, fur, flame, glow, blood, steel, ramps = 16 };
constexpr std::array<Rgb888, ramps> brightest{{{255, 255, 255},
                                               {190, 90, 60},
                                               {200, 190, 170},
                                               {210, 160, 100},
                                               {120, 200, 100},
                                               {255, 200, 160},
                                               {170, 120, 80},
                                               {255, 120, 30},
                                               {255, 240, 140},
                                               {230, 30, 30},
                                               {150, 170, 200},
                                               {80, 80, 255},
                                               {80, 255, 255},
                                               {255, 80, 255},
                                               {255, 255, 80},
                                               {120, 120, 90}}};

std::uint8_t colour(Ramp ramp, double brightness) {
  return static_cast<std::uint8_t>(ramp * shades + std::clamp(static_cast<int>(brightness * shades), 0, shades - 1));
}

// Noise that is a function of the place alone.
double grain(int x, int y) {
  return Random({.seed = 1, .iteration = static_cast<std::uint32_t>(x), .member = static_cast<std::uint32_t>(y)}).uniform();
}

template <typename Shade>
Texture texture(int width, int height, Shade shade) {
  Texture made{width, height, std::vector<std::uint8_t>(static_cast<std::size_t>(width) * height)};
  for (int x = 0; x < width; ++x)
    for (int y = 0; y < height; ++y) made.texels[static_cast<std::size_t>(x) * height + y] = shade(x, y);
  return made;
}

template <typename Shade>
Sprite sprite(int width, int height, int left, int top, Shade shade) {
  Sprite made{width, height, left, top, std::vector<std::int16_t>(static_cast<std::size_t>(width) * height)};
  for (int x = 0; x < width; ++x)
    for (int y = 0; y < height; ++y) made.texels[static_cast<std::size_t>(x) * height + y] = shade(x, y);
  return made;
}

void make_palette(Art& art) {
  for (std::size_t i = 0; i < 256; ++i)
    for (std::size_t c = 0; c < 3; ++c)
      art.palette[i][c] = static_cast<std::uint8_t>(brightest[i / shades][c] * (i % shades + 1) / shades);
  for (std::size_t map = 0; map < colormaps; ++map)
    for (std::size_t i = 0; i < 256; ++i) {
      const std::size_t shade = (i % shades) * (colormaps - map) / colormaps;
      art.light[map][i] = static_cast<std::uint8_t>(i / shades * shades + shade);
    }
}

std::uint8_t brickwork(int x, int y) {
  constexpr int brick_width = 32, brick_height = 16;
  const int course = y / brick_height, along = (x + course % 2 * brick_width / 2) % brick_width;
  const bool joint = y % brick_height < 2 || along < 2;
  return joint ? colour(mortar, 0.35 + 0.1 * grain(x, y)) : colour(brick, 0.55 + 0.25 * grain(x, y) + 0.05 * (course % 3));
}

std::uint8_t planks(int x, int y, Ramp ramp) {
  constexpr int side = 64, board = 16, frame = 6;
  const bool edge = x < frame || y < frame || x >= side - frame || y >= side - frame;
  if (edge) return colour(ramp, 0.75 + 0.1 * grain(x, y));
  return colour(ramp, y % board == 0 ? 0.25 : 0.45 + 0.15 * grain(x, y / board));
}

// Head, trunk with arms, legs; from behind without eyes. `stride` moves the legs, `raised` the arms.
Sprite draw_imp(int frame, int side) {
  constexpr int width = 44, height = 58, middle = width / 2;
  const bool attacking = frame >= 4;
  const double stride = attacking ? 0 : 3 * std::sin(1.5707963 * frame);
  const double raised = attacking ? 8.0 * (frame - 3) : 0;
  const double turn = 0.7853982 * side, forward = std::cos(turn), sideways = std::sin(turn);
  return sprite(width, height, middle, height - 2, [=](int x, int y) -> std::int16_t {
    const double dx = x + 0.5 - middle;
    const auto inside = [&](double cx, double cy, double rx, double ry) {
      return (dx - cx) * (dx - cx) / (rx * rx) + (y - cy) * (y - cy) / (ry * ry) < 1;
    };
    const double lit = 0.45 + 0.2 * grain(x, y) - 0.004 * y;
    if (forward > 0.3)
      for (const double eye : {-3.0, 3.0})
        if (inside(eye + 2 * sideways, 8, 1.6, 1.6)) return colour(blood, 0.95);
    if (inside(2 * sideways, 9, 7, 8)) return colour(fur, lit + 0.2);
    if (inside(0, 26, 10 + 2 * std::abs(forward), 13)) return colour(fur, lit);
    for (const double arm : {-1.0, 1.0})
      if (inside(arm * 14, 26 - (arm * sideways >= 0 ? raised : raised / 2), 4, 11)) return colour(fur, lit + 0.1);
    for (const double leg : {-1.0, 1.0})
      if (inside(leg * 6 + leg * stride * 0.5, 46 - leg * stride * 0.3, 4.5, 12)) return colour(fur, lit - 0.1);
    return transparent;
  });
}

Sprite draw_fireball(int frame) {
  const bool bursting = frame >= 2;
  const int size = bursting ? 24 + 8 * (frame - 2) : 15;
  return sprite(size, size, size / 2, size / 2, [=](int x, int y) -> std::int16_t {
    const double dx = x + 0.5 - size / 2.0, dy = y + 0.5 - size / 2.0;
    const double angle = std::atan2(dy, dx), reach = size / 2.0 * (0.85 + 0.15 * std::sin(5 * angle + 2 * frame));
    const double distance = std::hypot(dx, dy) / reach;
    if (distance >= 1 || (bursting && distance < 0.2 * (frame - 2))) return transparent;
    return distance < 0.5 ? colour(glow, 1.0 - 0.4 * distance) : colour(flame, 1.2 - 0.7 * distance);
  });
}

// Seven strokes, as on a pocket calculator.
Sprite draw_digit(int value) {
  constexpr int width = 13, height = 16;
  constexpr std::array<std::string_view, 10> strokes{"abcdef", "bc",     "abdeg", "abcdg",   "bcfg",
                                                     "acdfg",  "acdefg", "abc",   "abcdefg", "abcdfg"};
  return sprite(width, height, 0, 0, [=](int x, int y) -> std::int16_t {
    const auto on = [&](char stroke) { return strokes[static_cast<std::size_t>(value)].find(stroke) != std::string_view::npos; };
    const bool row = x >= 2 && x < 11, upper = y >= 1 && y < 9, lower = y >= 7 && y < 15, left = x >= 1 && x < 4,
               right = x >= 9 && x < 12;
    const bool lit = (row && ((on('a') && y >= 1 && y < 4) || (on('g') && y >= 7 && y < 10) || (on('d') && y >= 12 && y < 15))) ||
                     (upper && ((on('f') && left) || (on('b') && right))) || (lower && ((on('e') && left) || (on('c') && right)));
    return lit ? std::int16_t{colour(blood, 0.85)} : std::int16_t{transparent};
  });
}

Sprite draw_face(int level, int glance, bool hurt) {
  constexpr int width = 24, height = 29;
  const double look = glance == 0 ? 0 : glance == 1 ? 2 : -2;
  return sprite(width, height, -5, -2, [=](int x, int y) -> std::int16_t {
    const double dx = x + 0.5 - width / 2.0, dy = y + 0.5 - height / 2.0;
    if (dx * dx / 121 + dy * dy / 196 >= 1) return transparent;
    for (const double eye : {-4.5, 4.5})
      if (std::hypot(dx - eye - look, dy + 3) < 2) return colour(steel, 0.9);
    if (std::abs(dx) < 5 && (hurt ? std::hypot(dx, dy - 7) < 3.5 : std::abs(dy - 7) < 1)) return colour(blood, 0.4);
    if (level > 0 && grain(x, y) < 0.12 * level) return colour(blood, 0.7);
    return colour(skin, y < 8 ? 0.5 : 0.8);
  });
}

}  // namespace

Art procedural_art() {
  constexpr int side = 64, wall_height = 128;
  Art art;
  make_palette(art);
  art.wall = texture(side, wall_height, brickwork);
  art.floor = texture(side, side, [](int x, int y) { return planks(x, y, wood); });
  art.other_floor = texture(side, side, [](int x, int y) { return planks(x, y, leaf); });
  for (int frame = 0; frame < imp_frames; ++frame)
    for (int from = 0; from < sides; ++from) {
      art.imp[static_cast<std::size_t>(frame)][static_cast<std::size_t>(from)] = {art.imps.size(), false};
      art.imps.push_back(draw_imp(frame, from));
    }
  for (int frame = 0; frame < fireball_frames; ++frame) art.fireball[static_cast<std::size_t>(frame)] = draw_fireball(frame);
  art.bar = sprite(bar_width, bar_height, 0, 0, [](int x, int y) -> std::int16_t {
    const bool rim = y < 2 || x % 80 < 2;
    return colour(grey, (rim ? 0.5 : 0.3) + 0.08 * grain(x, y));
  });
  for (int value = 0; value < 10; ++value) art.digit[static_cast<std::size_t>(value)] = draw_digit(value);
  for (int level = 0; level < face_levels; ++level) {
    const auto row = static_cast<std::size_t>(level);
    for (int glance = 0; glance < glances; ++glance)
      art.face[row][static_cast<std::size_t>(glance)] = draw_face(level, glance, false);
    art.hurt_face[row] = draw_face(level, 0, true);
  }
  finish_art(art);
  return art;
}

}  // namespace iap::take_cover
