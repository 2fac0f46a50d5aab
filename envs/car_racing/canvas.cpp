module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
module iap.envs.car_racing;

namespace iap {
namespace {

// Number of pixel centres before `x` on an axis of `size` pixels.
int centres_before(double x, int size) { return static_cast<int>(std::ceil(std::clamp(x - 0.5, 0.0, static_cast<double>(size)))); }

}  // namespace

Rgb to_rgb(double red, double green, double blue) {
  const auto level = [](double value) { return static_cast<std::uint8_t>(std::lround(255 * std::clamp(value, 0.0, 1.0))); };
  return {level(red), level(green), level(blue)};
}

Canvas::Canvas(int height, int width) : height_(height), width_(width), pixels_(static_cast<std::size_t>(height) * width) {}

void Canvas::clear(Rgb colour) { std::ranges::fill(pixels_, pack(colour)); }

void Canvas::fill(std::span<const std::array<double, 2>> convex, Rgb colour) {
  double left = std::numeric_limits<double>::infinity(), right = -left, top = left, bottom = -left;
  for (const auto& [x, y] : convex) {
    if (!std::isfinite(x) || !std::isfinite(y)) return;
    left = std::min(left, x);
    right = std::max(right, x);
    top = std::min(top, y);
    bottom = std::max(bottom, y);
  }
  if (right < 0 || left > width_) return;
  const std::uint32_t value = pack(colour);
  const int last_row = centres_before(bottom, height_);
  for (int row = centres_before(top, height_); row < last_row; ++row) {
    const double y = row + 0.5;
    double begin = std::numeric_limits<double>::infinity(), end = -begin;
    for (std::size_t i = 0; i < convex.size(); ++i) {
      // Always from the upper to the lower corner: two polygons that share an edge must find the same crossing.
      const auto* upper = &convex[i];
      const auto* lower = &convex[i + 1 < convex.size() ? i + 1 : 0];
      if ((*upper)[1] > (*lower)[1]) std::swap(upper, lower);
      if (!((*upper)[1] <= y && y < (*lower)[1])) continue;
      const double x = (*upper)[0] + (y - (*upper)[1]) * ((*lower)[0] - (*upper)[0]) / ((*lower)[1] - (*upper)[1]);
      begin = std::min(begin, x);
      end = std::max(end, x);
    }
    const int first = centres_before(begin, width_), last = centres_before(end, width_);
    if (first < last) std::fill(&pixels_[index(row, first)], &pixels_[index(row, 0)] + last, value);
  }
}

Rgb Canvas::at(int row, int column) const {
  const std::uint32_t value = pixels_[index(row, column)];
  return {static_cast<std::uint8_t>(value), static_cast<std::uint8_t>(value >> 8), static_cast<std::uint8_t>(value >> 16)};
}

void Canvas::copy_to(std::span<std::uint8_t> rgb) const {
  std::uint8_t* out = rgb.data();
  for (const std::uint32_t value : pixels_) {
    *out++ = static_cast<std::uint8_t>(value);
    *out++ = static_cast<std::uint8_t>(value >> 8);
    *out++ = static_cast<std::uint8_t>(value >> 16);
  }
}

}  // namespace iap
