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

constexpr int poses = 4;

struct Coat {
  Tint main, second, skin;
};

void car(Layer& layer, float s, const Coat& coat, float turn, const Palette& palette) {
  const auto foot = static_cast<float>(layer.height - 2);
  shadow(layer, 1.3f * s, foot, 1.25f * s, 0.14f * s, 0.7f);
  const Tint glass = mix(Tint{0.12f, 0.15f, 0.2f}, palette.sky_low, 0.35f);
  each_pixel(layer, 0, foot - 0.95f * s, 2.6f * s, foot - 0.15f * s, [&](int px, int py) {
    const float x = static_cast<float>(px) / s, y = (foot - static_cast<float>(py)) / s;
    const float body = 0.52f - 0.05f * std::pow(std::abs(x - 1.3f), 3.0f);
    const float roof = 0.93f - 1.1f * std::pow(std::max(std::abs(x - 1.25f) - 0.32f, 0.0f), 1.3f);
    const float curve = 0.75f + 0.5f * smooth(0.2f, 0.9f, y);
    if (x > 0.06f && x < 2.54f && y < body) {
      const bool seam = std::abs(x - 1.25f) < 0.012f || std::abs(x - 1.85f) < 0.012f || std::abs(y - 0.36f) < 0.01f;
      const bool lamp = (x > 2.4f || x < 0.15f) && y > 0.32f && y < 0.44f;
      layer.put(px, py, lamp ? Tint{0.95f, 0.85f, 0.6f} : coat.main * (curve * (seam ? 0.6f : 1)), 1);
    } else if (y >= body && y < roof) {
      const bool frame = y > roof - 0.06f || std::abs(x - 1.25f) < 0.03f;
      layer.put(px, py, frame ? coat.main * curve : glass * (0.7f + 0.8f * (y - 0.4f) + 0.3f * std::sin(9 * x)), 1);
    }
  });
  for (const float x : {0.55f, 2.05f}) {
    ball(layer, x * s, foot - 0.2f * s, 0.22f * s, 0.22f * s, {0.1f, 0.1f, 0.1f}, palette, 0.2f, 3);
    ball(layer, x * s, foot - 0.2f * s, 0.12f * s, 0.12f * s, {0.6f, 0.6f, 0.62f}, palette, 0.1f, 3);
    const float c = 0.11f * s * std::cos(turn), d = 0.11f * s * std::sin(turn);
    stroke(layer, x * s - c, foot - 0.2f * s - d, x * s + c, foot - 0.2f * s + d, 1.5f, 1.5f, {0.25f, 0.25f, 0.25f});
  }
}

void person(Layer& layer, float s, const Coat& coat, float phase, const Palette& palette) {
  const auto foot = static_cast<float>(layer.height - 2);
  const float x = 0.5f * static_cast<float>(layer.width), swing = std::sin(phase);
  shadow(layer, x, foot, 0.35f * s, 0.06f * s, 0.6f);
  for (const float side : {-1.0f, 1.0f}) {
    const float step = 0.2f * s * swing * side, tone = side < 0 ? 0.75f : 1;
    stroke(layer, x, foot - 0.48f * s, x + 0.6f * step, foot - 0.25f * s, 0.11f * s, 0.09f * s, coat.second * tone);
    stroke(layer, x + 0.6f * step, foot - 0.25f * s, x + step, foot - 0.02f * s, 0.09f * s, 0.08f * s, coat.second * (0.9f * tone));
    stroke(layer, x, foot - 0.78f * s, x - step, foot - 0.5f * s, 0.08f * s, 0.06f * s, coat.main * (0.8f * tone));
  }
  ball(layer, x, foot - 0.64f * s, 0.14f * s, 0.22f * s, coat.main, palette, 0.6f, 5);
  ball(layer, x + 0.01f * s, foot - 0.92f * s, 0.075f * s, 0.09f * s, coat.skin, palette, 0.2f, 6);
  ball(layer, x - 0.01f * s, foot - 0.96f * s, 0.08f * s, 0.06f * s, coat.second * 0.5f, palette, 0.8f, 7);
}

void animal(Layer& layer, float s, const Coat& coat, float phase, const Palette& palette) {
  const auto foot = static_cast<float>(layer.height - 2);
  const float x = 0.5f * static_cast<float>(layer.width);
  shadow(layer, x, foot, 0.6f * s, 0.09f * s, 0.6f);
  for (int leg = 0; leg < 4; ++leg) {
    const float swing = 0.14f * s * std::sin(phase + 1.6f * static_cast<float>(leg)), hip = x + (leg < 2 ? -0.32f : 0.3f) * s;
    stroke(layer, hip, foot - 0.4f * s, hip + swing, foot - 0.02f * s, 0.1f * s, 0.06f * s, coat.main * (leg % 2 ? 0.95f : 0.65f));
  }
  ball(layer, x, foot - 0.48f * s, 0.46f * s, 0.2f * s, coat.main, palette, 1.2f, 11);
  ball(layer, x - 0.1f * s, foot - 0.52f * s, 0.16f * s, 0.1f * s, coat.second, palette, 1, 12);
  stroke(layer, x + 0.36f * s, foot - 0.52f * s, x + 0.55f * s, foot - 0.75f * s, 0.16f * s, 0.12f * s, coat.main);
  ball(layer, x + 0.6f * s, foot - 0.78f * s, 0.14f * s, 0.1f * s, coat.main * 1.1f, palette, 0.6f, 13);
  ball(layer, x + 0.7f * s, foot - 0.76f * s, 0.06f * s, 0.05f * s, coat.second * 0.5f, palette, 0.2f, 14);
  stroke(layer, x - 0.42f * s, foot - 0.55f * s, x - 0.62f * s, foot - 0.5f * s + 0.1f * s * std::sin(phase), 0.06f * s, 0.03f * s,
         coat.main * 0.8f);
}

void bird(Layer& layer, float s, const Coat& coat, float phase, const Palette& palette) {
  const float x = 0.5f * static_cast<float>(layer.width), y = 0.5f * static_cast<float>(layer.height),
              wing = 0.3f * s * std::sin(phase);
  for (const float side : {-1.0f, 1.0f}) {
    stroke(layer, x, y, x + side * 0.3f * s, y - wing, 0.12f * s, 0.09f * s, coat.second);
    stroke(layer, x + side * 0.3f * s, y - wing, x + side * 0.55f * s, y - 0.6f * wing, 0.09f * s, 0.02f * s, coat.second * 0.8f);
  }
  ball(layer, x, y, 0.18f * s, 0.09f * s, coat.main, palette, 0.5f, 17);
}

void flip(Layer& layer) {
  for (int y = 0; y < layer.height; ++y) {
    const auto row = layer.pixels.begin() + static_cast<std::ptrdiff_t>(y) * layer.width;
    std::reverse(row, row + layer.width);
  }
}

}  // namespace

Mover make_mover(const Palette& palette, float foot, float size, Random& random) {
  static constexpr std::array<float, 4> paces{9, 4, 5, 7};  // body lengths in a video, about
  const bool wheels = palette.ground == 1 || palette.ground == 3;
  const std::uint32_t kind = random.below(wheels ? 4 : 3) + (wheels ? 0 : 1);
  Coat coat{random_colour(random, 0.05f, 0.9f) * palette.brightness, random_colour(random, 0.05f, 0.8f) * palette.brightness,
            Tint{0.85f, 0.65f, 0.5f} * (between(random, 0.4, 1) * palette.brightness)};
  if (kind > 1) {  // fur and feathers
    coat.main = mix(coat.main, mix(Tint{0.35f, 0.25f, 0.17f}, Tint{0.75f, 0.7f, 0.62f}, between(random, 0, 1)), 0.85f);
    coat.second = mix(coat.second, mix(Tint{0.2f, 0.17f, 0.15f}, Tint{0.85f, 0.82f, 0.78f}, between(random, 0, 1)), 0.85f);
  }
  const bool leftwards = random.below(2) == 0;
  const float s = size * (kind == 0 ? 0.7f : kind == 1 ? 1.2f : kind == 2 ? 0.8f : 0.5f);
  Mover mover;
  for (int i = 0; i < poses; ++i) {
    const float phase = 6.2832f * static_cast<float>(i) / poses;
    Layer& pose = mover.poses.emplace_back(static_cast<int>(s * (kind == 0   ? 2.6f
                                                                 : kind == 1 ? 0.8f
                                                                             : 1.7f)) +
                                               2,
                                           static_cast<int>(s * (kind == 3 ? 0.9f : 1.1f)) + 4);
    if (kind == 0) car(pose, s, coat, phase, palette);
    if (kind == 1) person(pose, s, coat, phase, palette);
    if (kind == 2) animal(pose, s, coat, phase, palette);
    if (kind == 3) bird(pose, s, coat, phase, palette);
    if (leftwards) flip(pose);
  }
  mover.foot = kind == 3 ? between(random, 0.1, 0.8) * static_cast<float>(palette.horizon) : foot;
  mover.velocity = (leftwards ? -1 : 1) * paces[kind] * s * between(random, 0.4, 1);
  mover.start = between(random, -0.2, 1.2);
  mover.bounce = kind == 0 ? 0.3f : 0.04f * s;
  return mover;
}

}  // namespace iap::painting
