module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>
module iap.envs.distraction;
import iap.core;
#include "scenery.hpp"

namespace iap::painting {
namespace {

void window(Layer& layer, float left, float top, float right, float bottom, Tint frame, const Palette& palette, Random& random) {
  slab(layer, left - 1, top - 1, right + 1, bottom + 2, frame, 0.1f, 1);
  const bool lamp = random.below(9) == 0;
  const float shine = between(random, 0.1, 0.7);
  const std::uint32_t seed = random.bits();
  each_pixel(layer, left, top, right, bottom, [&](int x, int y) {
    const float down = (static_cast<float>(y) - top) / (bottom - top);
    const float reflection =
        shine * smooth(0.3f, 0.7f, fractal(static_cast<float>(x) * 0.1f, static_cast<float>(y) * 0.15f, 3, seed));
    const Tint glass = mix(Tint{0.1f, 0.12f, 0.15f}, palette.sky_low, reflection * (1 - 0.5f * down));
    layer.put(x, y, lamp ? mix(glass, {1.0f, 0.8f, 0.45f}, 0.8f) : glass * palette.brightness, 1);
  });
  const float middle = 0.5f * (left + right);
  if (right - left > 5) slab(layer, middle - 0.5f, top, middle + 0.5f, bottom, frame, 0, 1);
  if (random.below(3) == 0) {
    const Tint curtain = random_colour(random, 0.3f, 0.8f) * palette.brightness;
    slab(layer, left, top, left + 0.3f * (right - left), bottom, curtain, 0.3f, seed);
  }
}

void shop(Layer& layer, float left, float right, float top, float foot, const Palette& palette, Random& random) {
  slab(layer, left, top, right, foot, Tint{0.16f, 0.16f, 0.18f} * palette.brightness, 0.6f, random.bits());
  for (int i = 0; i < 14; ++i) {  // what the window shows
    const float x = between(random, left + 3, right - 3), y = between(random, top + 6, foot - 3);
    ball(layer, x, y, between(random, 2, 6), between(random, 2, 8), random_colour(random, 0.15f, 0.8f) * palette.brightness,
         palette, 0.5f, random.bits());
  }
  const Tint cloth = random_colour(random, 0.2f, 0.9f) * palette.brightness, white = Tint{0.85f, 0.84f, 0.8f} * palette.brightness;
  each_pixel(layer, left, top - 2, right, top + 8, [&](int x, int y) {
    const float fall = (static_cast<float>(y) - top + 2) / 10;
    layer.put(x, y, ((x / 5) % 2 ? cloth : white) * (1.05f - 0.4f * fall), 1);
  });
}

}  // namespace

void paint_house(Layer& layer, const Palette& palette, float left, float right, float top, float foot, float distance,
                 Random& random) {
  static constexpr std::array<Tint, 7> plasters{{{0.75f, 0.62f, 0.45f},
                                                 {0.62f, 0.36f, 0.28f},
                                                 {0.78f, 0.76f, 0.7f},
                                                 {0.5f, 0.52f, 0.55f},
                                                 {0.72f, 0.55f, 0.5f},
                                                 {0.45f, 0.5f, 0.45f},
                                                 {0.82f, 0.75f, 0.55f}}};
  const Tint wall = mix(plasters[random.below(plasters.size())], random_colour(random, 0.3f, 0.8f), between(random, 0, 0.3));
  const std::uint32_t seed = random.bits();
  const bool bricks = random.below(2) == 0;
  each_pixel(layer, left, top, right, foot, [&](int px, int py) {
    const float x = static_cast<float>(px), y = static_cast<float>(py);
    float tone = 0.8f + 0.35f * fractal(x * 0.05f, y * 0.03f, 4, seed);
    tone *= 1 - 0.25f * smooth(foot - 60, foot, y);  // dirt and the neighbours' shade
    const float across = (x - left) / (right - left);
    tone *= 1 + 0.12f * palette.sun_side * (across - 0.5f);
    if (bricks)
      tone *= (py % 4 == 0 || (px + (py / 4 % 2) * 4) % 8 == 0) ? 0.82f
                                                                : 0.92f + 0.16f * lattice((px + py / 4 % 2 * 4) / 8, py / 4, seed);
    layer.put(px, py, wall * (tone * palette.brightness), 1);
  });
  const Tint trim = mix(wall, {0.9f, 0.88f, 0.84f}, 0.6f) * palette.brightness;
  const float step_x = between(random, 13, 22), step_y = between(random, 22, 34), width = step_x * between(random, 0.4, 0.62);
  const float ground_floor = foot - between(random, 26, 34);
  for (float y = top + 12; y + 0.6f * step_y < ground_floor; y += step_y) {
    slab(layer, left, y + step_y - 6, right, y + step_y - 4, trim, 0.2f, seed);
    for (float x = left + 0.5f * (step_x - width) + 2; x + width < right - 2; x += step_x)
      window(layer, x, y, x + width, y + 0.58f * step_y, trim, palette, random);
  }
  if (random.below(3)) {
    shop(layer, left + 4, right - 4, ground_floor + 4, foot, palette, random);
  } else {
    const float door = between(random, left + 6, std::max(left + 7, right - 16));
    slab(layer, door, ground_floor + 6, door + 11, foot, random_colour(random, 0.1f, 0.45f) * palette.brightness, 0.4f, seed);
    for (float x = door + 18; x + width < right - 2; x += step_x)
      window(layer, x, ground_floor + 7, x + width, foot - 9, trim, palette, random);
  }
  if (random.below(2)) {  // a pitched roof
    const Tint tiles = mix(Tint{0.5f, 0.25f, 0.18f}, Tint{0.3f, 0.3f, 0.33f}, between(random, 0, 1)) * palette.brightness;
    const float rise = between(random, 12, 34);
    each_pixel(layer, left - 4, top - rise, right + 4, top + 3, [&](int px, int py) {
      const float up = (top - static_cast<float>(py)) / rise;
      const float inset = 0.3f * (right - left) * up;
      if (static_cast<float>(px) < left - 4 + inset || static_cast<float>(px) > right + 4 - inset) return;
      const float rows = 0.75f + 0.25f * static_cast<float>((py / 3 + px / 5) % 2);
      layer.put(px, py,
                tiles * (rows * (0.8f + 0.4f * fractal(static_cast<float>(px) * 0.2f, static_cast<float>(py) * 0.2f, 2, seed))), 1);
    });
  } else {
    slab(layer, left - 2, top - 3, right + 2, top + 2, trim, 0.3f, seed);
  }
  for (int i = 0; i < 2; ++i) {
    const float x = between(random, left + 4, right - 4);
    slab(layer, x, top - between(random, 14, 30), x + between(random, 3, 8), top, wall * (0.6f * palette.brightness), 0.4f, seed);
  }
  each_pixel(layer, left - 6, top - 45, right + 6, foot, [&](int x, int y) {
    if (layer.pixels[static_cast<std::size_t>(y) * layer.width + x][3] > 0.5f)
      layer.put(x, y, palette.haze * palette.brightness, distance);
  });
}

void paint_street_things(Layer& layer, const Palette& palette, float foot, Random& random) {
  for (float x = between(random, 10, 90); x < static_cast<float>(layer.width); x += between(random, 60, 160)) {
    const Tint metal = mix(Tint{0.15f, 0.17f, 0.18f}, Tint{0.4f, 0.42f, 0.4f}, between(random, 0, 1)) * palette.brightness;
    switch (random.below(4)) {
      case 0: {  // a lamp
        const float height = between(random, 110, 170), arm = between(random, -18, 18);
        stroke(layer, x, foot, x, foot - height, 4, 2.5f, metal);
        stroke(layer, x, foot - height, x + arm, foot - height - 5, 2.5f, 2, metal);
        ball(layer, x + arm, foot - height - 2, 6, 3.5f, {0.95f, 0.92f, 0.8f}, palette, 0.1f, 1);
        break;
      }
      case 1: {  // a sign
        const float height = between(random, 55, 85), size = between(random, 8, 13);
        stroke(layer, x, foot, x, foot - height, 3, 3, metal);
        ball(layer, x, foot - height, size, size, random_colour(random, 0.1f, 0.95f), palette, 0.1f, 1);
        ball(layer, x, foot - height, 0.7f * size, 0.7f * size, random_colour(random, 0.3f, 1), palette, 0.1f, 1);
        slab(layer, x - 0.5f * size, foot - height - 1.5f, x + 0.5f * size, foot - height + 1.5f, random_colour(random, 0, 1), 0,
             1);
        break;
      }
      case 2: {  // crates
        const int count = 2 + static_cast<int>(random.below(4));
        for (int i = 0; i < count; ++i) {
          const float left = x + 16 * static_cast<float>(i % 3), bottom = foot - 14 * static_cast<float>(i / 3);
          const Tint wood = mix(Tint{0.5f, 0.36f, 0.2f}, random_colour(random, 0.2f, 0.7f), 0.4f) * palette.brightness;
          slab(layer, left, bottom - 14, left + 15, bottom, wood, 0.8f, random.bits());
          for (int k = 0; k < 3; ++k) {
            const float y = bottom - 12 + 4.5f * static_cast<float>(k);
            slab(layer, left, y, left + 15, y + 1, wood * 0.5f, 0, 1);
          }
        }
        break;
      }
      default: {  // a bin and what lies around it
        slab(layer, x, foot - 26, x + 15, foot, metal, 0.7f, random.bits());
        slab(layer, x - 2, foot - 29, x + 17, foot - 25, metal * 1.4f, 0.2f, 1);
        for (int i = 0; i < 5; ++i)
          ball(layer, x + between(random, -20, 35), foot + between(random, -2, 3), between(random, 1.5, 4), between(random, 1, 2.5),
               random_colour(random, 0.3f, 0.95f) * palette.brightness, palette, 0.3f, random.bits());
      }
    }
  }
}

void paint_fence(Layer& layer, const Palette& palette, float foot, float size, Random& random) {
  const Tint wood = mix(Tint{0.55f, 0.42f, 0.28f}, random_colour(random, 0.4f, 0.9f), between(random, 0, 0.6)) * palette.brightness;
  const float step = between(random, 0.35, 1.2) * size, tilt = between(random, -0.03, 0.03);
  const auto at = [&](float x) { return foot + tilt * x; };
  const auto width = static_cast<float>(layer.width);
  for (const float height : {0.35f, 0.75f})
    stroke(layer, 0, at(0) - height * size, width, at(width) - height * size, 0.1f * size, 0.1f * size, wood * 0.85f);
  for (float x = between(random, 0, step); x < width; x += step)
    stroke(layer, x, at(x) + 2, x + between(random, -1, 1), at(x) - size * between(random, 0.9, 1.05), 0.12f * size, 0.1f * size,
           wood * between(random, 0.8, 1.15));
}

}  // namespace iap::painting
