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

// Leaves in clumps: dark ones behind and below, bright ones in front and toward the light.
void crown(Layer& layer, const Palette& palette, float x, float y, float rx, float ry, Tint leaf, float distance, Random& random) {
  const int clumps = static_cast<int>(std::clamp(rx * ry * 0.09f, 14.0f, 170.0f));
  for (int i = 0; i < clumps; ++i) {
    const float depth = static_cast<float>(i) / static_cast<float>(clumps);
    const float angle = between(random, 0, 6.2832), out = std::sqrt(between(random, 0, 1)) * (1 - 0.25f * depth);
    const float u = out * std::cos(angle), v = out * std::sin(angle);
    const float light = 0.3f + 0.5f * depth + 0.3f * (0.5f * palette.sun_side * u - 0.7f * v) + between(random, -0.1, 0.1);
    const Tint tone = mix(leaf, {leaf.r + 0.2f, leaf.g + 0.18f, leaf.b}, between(random, 0, 0.5));
    const float size = std::min(rx, ry) * between(random, 0.1, 0.28) + 1.2f;
    const Tint seen = mix(tone * (std::max(light, 0.1f) * 1.7f * palette.brightness), palette.haze * palette.brightness, distance);
    ball(layer, x + u * rx, y + v * ry, size * between(random, 0.8, 1.3), size * between(random, 0.6, 1), seen, palette,
         1.3f * (1 - distance), random.bits());
  }
}

void conifer(Layer& layer, const Palette& palette, float x, float foot, float height, Tint leaf, float distance, Random& random) {
  const int tiers = 7 + static_cast<int>(random.below(5));
  for (int i = 0; i < tiers; ++i) {
    const float share = static_cast<float>(i) / static_cast<float>(tiers), y = foot - height * (1 - 0.88f * share);
    const float reach = height * (0.05f + 0.24f * share);
    for (int k = 0; k < 9; ++k) {
      const float side = (static_cast<float>(k) - 4) / 4;
      const float light = 0.6f + 0.3f * side * palette.sun_side + between(random, -0.15, 0.15);
      const Tint seen = mix(leaf * (light * palette.brightness), palette.haze * palette.brightness, distance);
      stroke(layer, x, y - 0.06f * height, x + side * reach, y + 0.05f * height * between(random, 0.5, 1.5), 0.03f * height,
             0.008f * height, seen);
    }
  }
}

}  // namespace

void paint_tree(Layer& layer, const Palette& palette, float x, float foot, float height, float distance, Random& random) {
  const Tint bark = mix(mix(Tint{0.35f, 0.26f, 0.18f}, Tint{0.6f, 0.57f, 0.52f}, between(random, 0, 0.7)) * palette.brightness,
                        palette.haze, 0.8f * distance);
  const Tint leaf = mix(palette.leaf, random_colour(random, 0.1f, 0.6f), between(random, 0, 0.25));
  const float lean = between(random, -0.12, 0.12) * height, width = std::max(1.5f, 0.06f * height);
  if (random.below(4) == 0) {
    stroke(layer, x, foot, x, foot - 0.3f * height, width, 0.7f * width, bark);
    return conifer(layer, palette, x, foot - 0.08f * height, 0.95f * height, leaf, distance, random);
  }
  stroke(layer, x, foot, x + lean, foot - 0.6f * height, width, 0.5f * width, bark);
  const int branches = 2 + static_cast<int>(random.below(4));
  for (int i = 0; i < branches; ++i)
    stroke(layer, x + 0.7f * lean, foot - between(random, 0.3, 0.5) * height, x + lean + between(random, -0.3, 0.3) * height,
           foot - between(random, 0.6, 0.85) * height, 0.4f * width, 0.8f, bark * 0.9f);
  crown(layer, palette, x + lean, foot - 0.66f * height, height * between(random, 0.22, 0.38), height * between(random, 0.24, 0.36),
        leaf, distance, random);
}

void paint_bush(Layer& layer, const Palette& palette, float x, float foot, float size, Random& random) {
  shadow(layer, x, foot, 1.2f * size, 0.25f * size, 0.5f);
  const Tint leaf = mix(palette.leaf, random_colour(random, 0.1f, 0.5f), between(random, 0, 0.3));
  crown(layer, palette, x, foot - 0.45f * size, size, 0.55f * size, leaf, 0, random);
  if (random.below(2)) return;
  const Tint petal = random_colour(random, 0.35f, 1);
  for (int i = 0; i < 40; ++i)
    ball(layer, x + between(random, -0.9, 0.9) * size, foot - between(random, 0.15, 0.9) * size, 1.8f, 1.6f,
         petal * palette.brightness, palette, 0, 0);
}

void paint_blades(Layer& layer, const Palette& palette, float x, float foot, float size, Random& random) {
  const int count = 18 + static_cast<int>(random.below(30));
  for (int i = 0; i < count; ++i) {
    const Tint tone =
        mix(palette.grass, Tint{0.75f, 0.68f, 0.35f}, between(random, 0, 0.6)) * (between(random, 0.5, 1.2) * palette.brightness);
    const float at = x + between(random, -0.6, 0.6) * size;
    stroke(layer, at, foot, at + between(random, -0.35, 0.35) * size, foot - between(random, 0.3, 1) * size, 2.4f, 0.6f, tone);
  }
}

void paint_rock(Layer& layer, const Palette& palette, float x, float foot, float size, Random& random) {
  shadow(layer, x, foot, 1.2f * size, 0.22f * size, 0.5f);
  const Tint stone = mix(palette.stone, random_colour(random, 0.3f, 0.6f), 0.4f) * palette.brightness;
  for (int i = 0; i < 3; ++i)
    ball(layer, x + between(random, -0.4, 0.4) * size, foot - 0.35f * size + between(random, -0.1, 0.1) * size,
         size * between(random, 0.4, 0.75), size * between(random, 0.3, 0.5), stone, palette, 1.2f, random.bits());
}

}  // namespace iap::painting
