module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>
module iap.envs.distraction;
import iap.core;
#include "scenery.hpp"

namespace iap {
namespace {

using namespace painting;

constexpr int side = PaintedVideo::edge, frame_count = PaintedVideo::frames, spare_rows = 24;

// Bytes with their opacity, colours already times it.
struct Sheet {
  int width = 0, height = 0;
  std::vector<std::array<std::uint8_t, 4>> pixels;
  float parallax = 0;  // how much of the camera's pan it takes part in
};

Sheet to_sheet(const Layer& layer, float parallax) {
  Sheet sheet{layer.width, layer.height, {}, parallax};
  sheet.pixels.reserve(layer.pixels.size());
  for (const auto& p : layer.pixels) {
    std::array<std::uint8_t, 4> bytes;
    for (int i = 0; i < 4; ++i) bytes[i] = static_cast<std::uint8_t>(std::clamp(p[i], 0.0f, p[3]) * 255 + 0.5f);
    sheet.pixels.push_back(bytes);
  }
  return sheet;
}

void lay_over(const Sheet& sheet, int left, int top, std::span<std::uint8_t> rgb) {
  const int x0 = std::max(0, left), x1 = std::min(side, left + sheet.width);
  for (int y = std::max(0, top); y < std::min(side, top + sheet.height); ++y) {
    const auto* from = sheet.pixels.data() + static_cast<std::ptrdiff_t>(y - top) * sheet.width - left;
    std::uint8_t* to = rgb.data() + static_cast<std::size_t>(y) * side * 3;
    for (int x = x0; x < x1; ++x) {
      const auto& pixel = from[x];
      if (pixel[3] == 0) continue;
      const unsigned rest = 255u - pixel[3];
      for (int c = 0; c < 3; ++c)
        to[3 * x + c] = static_cast<std::uint8_t>(std::min(255u, pixel[c] + (to[3 * x + c] * rest + 127) / 255));
    }
  }
}

Palette make_palette(Random& random) {
  struct Mood {
    Tint high, low, sun, haze;
    float brightness;
  };
  static constexpr std::array<Mood, 6> moods{{
      {{0.22f, 0.42f, 0.75f}, {0.68f, 0.8f, 0.92f}, {1, 0.97f, 0.88f}, {0.68f, 0.77f, 0.88f}, 1},       // noon
      {{0.25f, 0.3f, 0.5f}, {0.98f, 0.65f, 0.4f}, {1, 0.6f, 0.3f}, {0.8f, 0.6f, 0.5f}, 0.8f},           // evening
      {{0.55f, 0.58f, 0.62f}, {0.8f, 0.81f, 0.82f}, {0.9f, 0.9f, 0.88f}, {0.75f, 0.77f, 0.78f}, 0.8f},  // grey
      {{0.1f, 0.25f, 0.6f}, {0.5f, 0.68f, 0.85f}, {1, 0.95f, 0.85f}, {0.55f, 0.65f, 0.8f}, 0.95f},      // clear
      {{0.45f, 0.5f, 0.68f}, {0.95f, 0.82f, 0.72f}, {1, 0.85f, 0.7f}, {0.85f, 0.78f, 0.75f}, 0.9f},     // morning
      {{0.3f, 0.36f, 0.4f}, {0.6f, 0.64f, 0.62f}, {0.8f, 0.82f, 0.7f}, {0.58f, 0.62f, 0.6f}, 0.7f},     // before rain
  }};
  static constexpr std::array<Tint, 5> leaves{
      {{0.2f, 0.36f, 0.12f}, {0.3f, 0.42f, 0.12f}, {0.16f, 0.3f, 0.18f}, {0.55f, 0.4f, 0.12f}, {0.42f, 0.2f, 0.1f}}};
  const Mood& mood = moods[random.below(moods.size())];
  Palette palette{mood.high, mood.low, mood.sun, mood.haze, {}, {}, {}};
  palette.leaf = mix(leaves[random.below(leaves.size())], random_colour(random, 0.1f, 0.5f), 0.15f);
  palette.grass = mix(Tint{0.38f, 0.5f, 0.18f}, Tint{0.6f, 0.55f, 0.3f}, between(random, 0, 1));
  palette.stone = mix(Tint{0.5f, 0.47f, 0.43f}, Tint{0.55f, 0.4f, 0.3f}, between(random, 0, 1));
  palette.sun_side = random.below(2) ? 1.0f : -1.0f;
  palette.brightness = mood.brightness * between(random, 0.9, 1.05);
  palette.horizon = static_cast<int>(between(random, 0.42, 0.64) * side);
  palette.ground = static_cast<int>(random.below(4));
  return palette;
}

}  // namespace

struct PaintedVideo::Impl {
  std::vector<Sheet> sheets;
  std::vector<Sheet> poses;  // of all movers, one after another
  struct Walker {
    int first_pose, poses;
    float start, velocity, foot, bounce;
  };
  std::vector<Walker> walkers;
  std::size_t ground_sheet = 0;  // movers stand on this one
  float pan = 0, shake = 0;
  std::uint32_t grain = 0;

  Layer layer(float parallax) const { return {side + static_cast<int>(parallax * (std::abs(pan) + 24)) + 2, side + spare_rows}; }
  void add(const Layer& painted, float parallax) { sheets.push_back(to_sheet(painted, parallax)); }

  void build_far(const Palette& palette, Random& random);
  void build_middle(const Palette& palette, Random& random);
  void build_ground(const Palette& palette, Random& random);
  void build_near(const Palette& palette, Random& random);
};

void PaintedVideo::Impl::build_far(const Palette& palette, Random& random) {
  Layer sky = layer(0.05f);
  paint_sky(sky, palette, random);
  add(sky, 0.05f);
  Layer far = layer(0.2f);
  const auto horizon = static_cast<float>(palette.horizon);
  const int ridges = palette.ground == 2 ? 1 : 2 + static_cast<int>(random.below(2));
  for (int i = 0; i < ridges; ++i) {
    const float share = static_cast<float>(i + 1) / static_cast<float>(ridges),
                height = between(random, 40, 150) * (1.1f - 0.5f * share);
    paint_ridge(far, palette, horizon - height, height, 0.75f - 0.5f * share, random);
  }
  add(far, 0.2f);
}

void PaintedVideo::Impl::build_middle(const Palette& palette, Random& random) {
  Layer middle = layer(0.55f);
  const auto foot = static_cast<float>(palette.horizon) + 10;
  const auto width = static_cast<float>(middle.width);
  const bool town = palette.ground == 3 || random.below(3) == 0;
  if (town)
    for (float x = between(random, -60, 0); x < width;) {
      const float right = x + between(random, 45, 120);
      paint_house(middle, palette, x, right, foot - between(random, 80, 260), foot, between(random, 0.05, 0.25), random);
      x = right + (random.below(3) ? 0 : between(random, 4, 40));
    }
  const int trees = (palette.ground == 2 ? 4 : 12) + static_cast<int>(random.below(14)) - (town ? 8 : 0);
  for (int i = 0; i < trees; ++i)
    paint_tree(middle, palette, between(random, 0, width), foot + between(random, -3, 6), between(random, 60, 190),
               between(random, 0.05, 0.3), random);
  add(middle, 0.55f);
}

void PaintedVideo::Impl::build_ground(const Palette& palette, Random& random) {
  Layer ground = layer(1);
  paint_ground(ground, palette, random);
  const auto horizon = static_cast<float>(palette.horizon), width = static_cast<float>(ground.width);
  const auto depth = static_cast<float>(side) - horizon;
  if (palette.ground == 3 || random.below(3) == 0) paint_street_things(ground, palette, horizon + 0.12f * depth, random);
  if (random.below(3) == 0)
    paint_fence(ground, palette, horizon + between(random, 0.06, 0.2) * depth, between(random, 18, 40), random);
  const int things = 10 + static_cast<int>(random.below(16));
  for (int i = 0; i < things; ++i) {  // from far to near
    const float share = 0.06f + 0.6f * static_cast<float>(i) / static_cast<float>(things), foot = horizon + share * depth;
    const float x = between(random, 0, width), size = (10 + 60 * share) * between(random, 0.5, 1.2);
    const std::uint32_t kind = random.below(palette.ground == 2 ? 2 : 5);
    if (kind == 0) paint_rock(ground, palette, x, foot, size, random);
    if (kind == 1 || kind == 3) paint_blades(ground, palette, x, foot, size, random);
    if (kind == 2) paint_bush(ground, palette, x, foot, size, random);
    if (kind == 4) {
      shadow(ground, x + 0.5f * size * -palette.sun_side, foot, 1.6f * size, 0.25f * size, 0.5f);
      paint_tree(ground, palette, x, foot, size * between(random, 3, 5.5), 0, random);
    }
  }
  ground_sheet = sheets.size();
  add(ground, 1);
}

void PaintedVideo::Impl::build_near(const Palette& palette, Random& random) {
  Layer near = layer(1.5f);
  const auto width = static_cast<float>(near.width);
  const auto low = static_cast<float>(side + spare_rows);
  for (float x = between(random, -30, 60); x < width; x += between(random, 25, 150)) {
    const std::uint32_t kind = random.below(5);
    if (kind < 2) paint_blades(near, palette, x, low, between(random, 50, 110), random);
    if (kind == 2) paint_bush(near, palette, x, low + 10, between(random, 40, 85), random);
    if (kind == 3) paint_rock(near, palette, x, low, between(random, 25, 60), random);
  }
  if (random.below(3) == 0) paint_tree(near, palette, between(random, 0, width), low, between(random, 330, 560), 0, random);
  add(near, 1.5f);
}

PaintedVideo::PaintedVideo(std::uint64_t seed) : impl_(std::make_unique<Impl>()) {
  Random random({.seed = seed, .member = 1, .purpose = Purpose::user});
  Impl& it = *impl_;
  it.pan = between(random, 40, 230) * (random.below(2) ? 1.0f : -1.0f);
  it.shake = between(random, 0.3, 3.5);
  it.grain = random.bits();
  const Palette palette = make_palette(random);
  it.build_far(palette, random);
  it.build_middle(palette, random);
  it.build_ground(palette, random);
  const int movers = 2 + static_cast<int>(random.below(5));
  for (int i = 0; i < movers; ++i) {
    const float share = 0.12f + 0.65f * static_cast<float>(i) / static_cast<float>(movers);
    const float foot = static_cast<float>(palette.horizon) + share * static_cast<float>(side - palette.horizon);
    const Mover mover = make_mover(palette, foot, 22 + 110 * share, random);
    it.walkers.push_back({static_cast<int>(it.poses.size()), static_cast<int>(mover.poses.size()), mover.start, mover.velocity,
                          mover.foot, mover.bounce});
    for (const Layer& pose : mover.poses) it.poses.push_back(to_sheet(pose, 1));
  }
  it.build_near(palette, random);
}

PaintedVideo::~PaintedVideo() = default;
PaintedVideo::PaintedVideo(PaintedVideo&&) noexcept = default;
PaintedVideo& PaintedVideo::operator=(PaintedVideo&&) noexcept = default;

std::size_t PaintedVideo::bytes() const {
  std::size_t sum = 0;
  for (const auto* sheets : {&impl_->sheets, &impl_->poses})
    for (const Sheet& sheet : *sheets) sum += sheet.pixels.size() * sizeof sheet.pixels[0];
  return sum;
}

void PaintedVideo::paint(int index, std::span<std::uint8_t> rgb) const {
  if (index < 0 || index >= frame_count || rgb.size() != std::size_t{3} * side * side)
    throw Error(text("scenery: frame ", index, " into ", rgb.size(), " bytes; frames are 0 to ", frame_count - 1, ", of ",
                     3 * side * side, " bytes"));
  const float time = static_cast<float>(index) / (frame_count - 1);
  const float travelled = std::abs(impl_->pan) * (impl_->pan > 0 ? time : 1 - time);
  const auto now = static_cast<float>(index);
  const float shake_x = impl_->shake * (std::sin(0.9f * now) + 0.6f * std::sin(2.1f * now + 1)),
              shake_y = impl_->shake * (std::sin(0.7f * now + 2) + 0.5f * std::sin(1.9f * now));
  const auto offset = [&](float parallax) {
    const float bounded = std::clamp(travelled + 12 + shake_x, 0.0f, std::abs(impl_->pan) + 24);
    return static_cast<int>(parallax * bounded);
  };
  const int rows = std::clamp(static_cast<int>(0.5f * spare_rows + shake_y), 0, spare_rows);
  for (std::size_t i = 0; i < impl_->sheets.size(); ++i) {
    const Sheet& sheet = impl_->sheets[i];
    lay_over(sheet, -offset(sheet.parallax), -rows, rgb);
    if (i != impl_->ground_sheet) continue;
    const auto width = static_cast<float>(sheet.width);
    for (const auto& walker : impl_->walkers) {
      const Sheet& pose = impl_->poses[walker.first_pose + index / 2 % walker.poses];
      const float far = walker.start * width + walker.velocity * time, span = width + static_cast<float>(pose.width);
      const float x = far - span * std::floor((far + static_cast<float>(pose.width)) / span);
      const float y = walker.foot - static_cast<float>(pose.height) - walker.bounce * std::abs(std::sin(0.8f * now));
      lay_over(pose, static_cast<int>(x) - offset(1), static_cast<int>(y) - rows, rgb);
    }
  }
  // A lens darkens its corners, and a sensor has noise.
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      const float u = static_cast<float>(x) / side - 0.5f, v = static_cast<float>(y) / side - 0.5f;
      const float lens = 1.02f - 0.45f * (u * u + v * v),
                  spot = 7 * (lattice(x, y, impl_->grain + static_cast<std::uint32_t>(index)) - 0.5f);
      std::uint8_t* pixel = &rgb[(static_cast<std::size_t>(y) * side + x) * 3];
      for (int c = 0; c < 3; ++c) pixel[c] = static_cast<std::uint8_t>(std::clamp(lens * pixel[c] + spot, 0.0f, 255.0f));
    }
}

}  // namespace iap
