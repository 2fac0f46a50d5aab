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

void ball(Layer& layer, float x, float y, float rx, float ry, Tint colour, const Palette& palette, float roughness,
          std::uint32_t seed) {
  each_pixel(layer, x - rx - 1, y - ry - 1, x + rx + 2, y + ry + 2, [&](int px, int py) {
    const float u = (static_cast<float>(px) + 0.5f - x) / rx, v = (static_cast<float>(py) + 0.5f - y) / ry;
    const float d = u * u + v * v;
    const float edge = smooth(1.0f + 1.5f / std::min(rx, ry), 1.0f - 1.5f / std::min(rx, ry), d);
    if (edge <= 0) return;
    const float z = std::sqrt(std::max(0.0f, 1 - d));
    const float light = 0.45f + 0.65f * std::max(0.0f, 0.5f * u * palette.sun_side - 0.65f * v + 0.55f * z);
    const float grain = 1 + roughness * (fractal(static_cast<float>(px) * 0.35f, static_cast<float>(py) * 0.35f, 2, seed) - 0.5f);
    layer.put(px, py, colour * (light * grain), edge);
  });
}

void slab(Layer& layer, float left, float top, float right, float bottom, Tint colour, float roughness, std::uint32_t seed) {
  each_pixel(layer, left, top, right, bottom, [&](int x, int y) {
    const float grain = 1 + roughness * (fractal(static_cast<float>(x) * 0.3f, static_cast<float>(y) * 0.3f, 3, seed) - 0.5f);
    layer.put(x, y, colour * grain, 1);
  });
}

void stroke(Layer& layer, float x0, float y0, float x1, float y1, float width, float end_width, Tint colour) {
  const float dx = x1 - x0, dy = y1 - y0, square = std::max(dx * dx + dy * dy, 1e-6f), reach = std::max(width, end_width);
  each_pixel(layer, std::min(x0, x1) - reach, std::min(y0, y1) - reach, std::max(x0, x1) + reach + 1, std::max(y0, y1) + reach + 1,
             [&](int px, int py) {
               const float x = static_cast<float>(px) + 0.5f - x0, y = static_cast<float>(py) + 0.5f - y0;
               const float t = std::clamp((x * dx + y * dy) / square, 0.0f, 1.0f);
               const float away = std::hypot(x - t * dx, y - t * dy), half = 0.5f * (width + (end_width - width) * t);
               const float side = (x * dy - y * dx) > 0 ? 0.9f : 1.08f;
               layer.put(px, py, colour * side, std::clamp(half - away + 0.5f, 0.0f, 1.0f));
             });
}

void shadow(Layer& layer, float x, float y, float rx, float ry, float strength) {
  each_pixel(layer, x - rx, y - ry, x + rx, y + ry, [&](int px, int py) {
    const float u = (static_cast<float>(px) - x) / rx, v = (static_cast<float>(py) - y) / ry;
    layer.put(px, py, {0.03f, 0.03f, 0.05f}, strength * smooth(1, 0.2f, u * u + v * v));
  });
}

void paint_sky(Layer& layer, const Palette& palette, Random& random) {
  const std::uint32_t seed = random.bits();
  const float cover = between(random, 0.35, 0.62), scale = between(random, 0.005, 0.011);
  const float sun_x = between(random, 0, layer.width), sun_y = between(random, 0.1, 0.9) * static_cast<float>(palette.horizon);
  each_pixel(layer, 0, 0, static_cast<float>(layer.width), static_cast<float>(layer.height), [&](int px, int py) {
    const float x = static_cast<float>(px), y = static_cast<float>(py);
    const float depth = std::clamp(y / static_cast<float>(palette.horizon), 0.0f, 1.0f);
    Tint colour = mix(palette.sky_high, palette.sky_low, std::pow(depth, 1.4f));
    const float glow = std::exp(-0.012f * std::hypot(x - sun_x, y - sun_y));
    colour = colour + palette.sun * (0.35f * glow);
    // Clouds lie in a plane overhead: they shrink and flatten toward the horizon.
    const float far = 1 / (1.15f - depth);
    const float cx = (x - 0.5f * static_cast<float>(layer.width)) * scale * far, cy = 3 * far;
    const float here = fractal(cx, cy, 5, seed), toward_sun = fractal(cx + 0.15f * palette.sun_side, cy - 0.12f, 4, seed);
    const float cloud = smooth(cover, cover + 0.22f, here);
    const float lit = std::clamp(0.72f + 2.2f * (here - toward_sun), 0.35f, 1.1f);
    const Tint white = mix(Tint{1, 1, 1}, palette.sun, 0.3f) * lit;
    layer.put(px, py, mix(colour, white, 0.85f * cloud) * palette.brightness, 1);
  });
}

void paint_ridge(Layer& layer, const Palette& palette, float top, float height, float distance, Random& random) {
  const std::uint32_t seed = random.bits(), surface = random.bits();
  const float scale = between(random, 0.004, 0.012), woods = between(random, 0, 1);
  const Tint ground = mix(mix(palette.stone, palette.leaf, woods), palette.grass, between(random, 0, 0.4));
  std::vector<float> line(layer.width + 1);
  for (int x = 0; x <= layer.width; ++x) {
    const float at = static_cast<float>(x);
    line[x] = top + height * (1 - fractal(at * scale, 0.5f, 5, seed));
    if (woods > 0.5f) line[x] -= 7 * (1 - 0.6f * distance) * fractal(at * 0.16f, 0.5f, 3, surface);  // tree tops
  }
  for (int x = 0; x < layer.width; ++x) {
    const float slope = line[x] - line[x + 1];
    for (int y = std::max(0, static_cast<int>(line[x])); y < layer.height; ++y) {
      const float px = static_cast<float>(x), py = static_cast<float>(y), below = py - line[x];
      // Slopes face the light by turns; crowns or stones cover them.
      const float fold = fractal(px * 0.02f + 0.004f * py, py * 0.035f, 4, surface) - 0.5f;
      const float cover = fractal(px * 0.17f, py * 0.22f, 3, surface + 9) - 0.5f;
      const float light =
          0.72f + 0.9f * fold + (0.35f + 0.4f * woods) * cover + 0.06f * palette.sun_side * std::clamp(slope, -3.0f, 3.0f);
      const Tint lit = ground * (std::clamp(light, 0.25f, 1.3f) * palette.brightness);
      const float air = distance * (0.75f + 0.25f * smooth(0, 2 * height, below));
      layer.put(x, y, mix(lit, palette.haze * palette.brightness, air), std::clamp(below + 1, 0.0f, 1.0f));
    }
  }
}

namespace {

Tint meadow(float x, float z, std::uint32_t seed, const Palette& palette) {
  const float patches = fractal(x * 0.9f, z * 0.9f, 4, seed), tufts = fractal(x * 9, z * 4, 3, seed + 5);
  const Tint dry{0.62f, 0.55f, 0.28f}, soil{0.38f, 0.28f, 0.18f};
  Tint colour = mix(palette.grass, dry, smooth(0.45f, 0.7f, patches));
  colour = mix(colour, soil, 0.8f * smooth(0.36f, 0.26f, patches));
  return colour * (0.55f + 0.85f * tufts);
}

Tint road(float x, float z, std::uint32_t seed, const Palette& palette) {
  const float middle = 0.25f * std::sin(0.35f * z), across = x - middle;
  const float grain = 0.8f + 0.4f * fractal(x * 14, z * 7, 3, seed);
  if (std::abs(across) > 2.6f) return meadow(x, z, seed, palette);
  if (std::abs(across) > 2.2f) return Tint{0.62f, 0.6f, 0.57f} * (grain * (std::fmod(z + 100, 1.4f) < 0.08f ? 0.6f : 1.0f));
  const bool dash = std::abs(across) < 0.06f && std::fmod(z + 100, 2.4f) < 1.3f;
  const bool line = std::abs(std::abs(across) - 2.0f) < 0.05f;
  const float patch = 0.85f + 0.3f * fractal(x * 0.8f, z * 0.8f, 3, seed + 3);
  return dash || line ? Tint{0.82f, 0.8f, 0.7f} * grain : Tint{0.31f, 0.31f, 0.33f} * (grain * patch);
}

Tint shore(float x, float z, std::uint32_t seed, const Palette& palette) {
  const float edge = 4.2f + 0.7f * std::sin(0.7f * x) + 1.2f * fractal(x * 0.6f, 0.5f, 3, seed);
  if (z > edge) {
    const float waves = fractal(x * 2 + 0.4f * std::sin(z), z * 3.2f, 4, seed + 2);
    const float foam = smooth(0.5f, 0.0f, z - edge) * smooth(0.35f, 0.6f, waves) + 0.8f * smooth(0.72f, 0.8f, waves);
    const Tint water = mix(Tint{0.1f, 0.33f, 0.36f}, palette.sky_low, 0.25f + 0.75f * smooth(0.35f, 0.75f, waves));
    return mix(water, {0.95f, 0.95f, 0.93f}, std::min(foam, 1.0f));
  }
  const float ripples = 0.8f + 0.3f * fractal(x * 3 + z, z * 8, 4, seed);
  const float prints = smooth(0.3f, 0.2f, fractal(x * 5, z * 5, 2, seed + 8));
  const Tint sand = mix(Tint{0.83f, 0.73f, 0.53f}, Tint{0.5f, 0.42f, 0.3f}, smooth(0.9f, 0.1f, edge - z));
  return sand * (ripples * (1 - 0.3f * prints));
}

Tint paving(float x, float z, std::uint32_t seed) {
  const float row = std::floor(z * 1.6f), shift = std::fmod(row, 2.0f) * 0.5f, column = std::floor(x * 1.1f + shift);
  const float u = x * 1.1f + shift - column, v = z * 1.6f - row;
  const float joint = smooth(0.0f, 0.06f, std::min(std::min(u, 1 - u), std::min(v, 1 - v)));
  const float tone = 0.75f + 0.35f * lattice(static_cast<int>(column), static_cast<int>(row), seed);
  const float wear = 0.8f + 0.4f * fractal(x * 3, z * 3, 4, seed + 1);
  return Tint{0.6f, 0.55f, 0.5f} * (tone * wear * (0.55f + 0.45f * joint));
}

}  // namespace

void paint_ground(Layer& layer, const Palette& palette, Random& random) {
  const std::uint32_t seed = random.bits();
  const float centre = between(random, 0.35, 0.65) * static_cast<float>(layer.width);
  const auto top = static_cast<float>(palette.horizon);
  each_pixel(layer, 0, top, static_cast<float>(layer.width), static_cast<float>(layer.height), [&](int px, int py) {
    const float below = static_cast<float>(py) - top + 1.5f;
    const float z = 260 / below, x = (static_cast<float>(px) - centre) * z * 0.006f;
    const Tint colour = palette.ground == 1   ? road(x, z, seed, palette)
                        : palette.ground == 2 ? shore(x, z, seed, palette)
                        : palette.ground == 3 ? paving(x, z, seed)
                                              : meadow(x, z, seed, palette);
    const float clouds = 0.8f + 0.35f * fractal(x * 0.3f, z * 0.3f, 2, seed + 11);
    const float air = smooth(22, 0, below) * 0.75f;
    layer.put(px, py, mix(colour * clouds, palette.haze, air) * palette.brightness, std::min(1.0f, below / 3));
  });
}

}  // namespace iap::painting
