module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <vector>
module iap.render;
import iap.core;

namespace iap {
namespace {

void check_image(const Image& image) {
  const ImageShape& shape = image.shape();
  if (shape.type == PixelType::uint8 && shape.channels == 3) return;
  throw Error(text("patches are shown on an 8-bit RGB image, got ", shape.height, " x ", shape.width, " x ", shape.channels,
                   shape.type == PixelType::uint8 ? " bytes" : " floats"));
}

std::uint8_t mix(std::uint8_t from, std::uint8_t to, double weight) {
  return static_cast<std::uint8_t>(from + (to - from) * weight + 0.5);
}

/// Scores stretched to [0, 1].
std::vector<double> stretched(std::span<const float> scores) {
  float low = std::numeric_limits<float>::infinity(), high = -low;
  for (const float score : scores)
    if (std::isfinite(score)) low = std::min(low, score), high = std::max(high, score);
  const double range = high > low ? double{high} - low : 1;
  std::vector<double> values;
  for (const float score : scores) values.push_back(std::isfinite(score) ? (double{score} - low) / range : 0);
  return values;
}

/// Means over rectangles of a grid, each in constant time.
class RectangleMeans {
 public:
  RectangleMeans(std::span<const double> values, int rows, int columns)
      : width_(static_cast<std::size_t>(columns) + 1), sums_((static_cast<std::size_t>(rows) + 1) * width_) {
    for (int row = 0; row < rows; ++row)
      for (int column = 0; column < columns; ++column)
        sums_[at(row + 1, column + 1)] = values[static_cast<std::size_t>(row) * columns + column] + sums_[at(row, column + 1)] +
                                         sums_[at(row + 1, column)] - sums_[at(row, column)];
  }
  /// Of rows [top, bottom] and columns [left, right].
  double mean(int top, int bottom, int left, int right) const {
    const double sum =
        sums_[at(bottom + 1, right + 1)] - sums_[at(top, right + 1)] - sums_[at(bottom + 1, left)] + sums_[at(top, left)];
    return sum / ((bottom - top + 1.0) * (right - left + 1.0));
  }

 private:
  std::size_t at(int row, int column) const { return static_cast<std::size_t>(row) * width_ + column; }
  std::size_t width_;
  std::vector<double> sums_;
};

/// The patches along one axis that cover pixel `at`; none if first > last.
struct Cover {
  Cover(int at, int count, const PatchPlaces& places)
      : first(at < places.patch ? 0 : (at - places.patch) / places.stride + 1), last(std::min(count - 1, at / places.stride)) {}
  int first, last;
};

}  // namespace

void check_patches(const Image& image, const PatchPlaces& places, std::span<const int> selected, std::span<const float> opacities) {
  check_image(image);
  const int columns = places.columns, patch = places.patch, stride = places.stride;
  if (columns < 1 || patch < 1 || stride < 1)
    throw Error(text("cannot show patches of ", patch, " pixels every ", stride, " pixels in ", columns, " columns"));
  if (opacities.size() != selected.size())
    throw Error(text("got ", opacities.size(), " opacities for ", selected.size(), " patches; give one for each"));
  const ImageShape& shape = image.shape();
  for (const std::int64_t chosen : selected)
    if (chosen < 0 || chosen % columns * stride + patch > shape.width || chosen / columns * stride + patch > shape.height)
      throw Error(text("patch ", chosen, " does not lie on an image of ", shape.height, " x ", shape.width, " pixels"));
}

void overlay_patches(Image& image, const PatchPlaces& places, std::span<const int> selected, std::span<const float> opacities,
                     const Rgb8& colour) {
  check_patches(image, places, selected, opacities);
  const int width = image.shape().width;
  std::set<int> painted;  // draws may repeat
  for (std::size_t i = 0; i < selected.size(); ++i) {
    if (!painted.insert(selected[i]).second) continue;
    const int left = selected[i] % places.columns * places.stride, top = selected[i] / places.columns * places.stride;
    for (int y = top; y < top + places.patch; ++y) {
      std::uint8_t* row = image.bytes().data() + 3 * (static_cast<std::size_t>(y) * width + left);
      for (int j = 0; j < 3 * places.patch; ++j) row[j] = mix(row[j], colour[static_cast<std::size_t>(j) % 3], opacities[i]);
    }
  }
}

std::vector<float> importance_opacities(std::span<const float> scores, std::span<const int> selected) {
  float low = std::numeric_limits<float>::infinity(), high = -low;
  for (const int patch : selected)
    if (const float score = scores[static_cast<std::size_t>(patch)]; std::isfinite(score))
      low = std::min(low, score), high = std::max(high, score);
  const auto height = [&](float score) {
    if (high > low) return std::isfinite(score) ? (double{score} - low) / (double{high} - low) : 0.0;
    return std::isfinite(score) || !std::isfinite(high) ? 1.0 : 0.0;
  };
  std::vector<float> opacities;
  for (const int patch : selected)
    opacities.push_back(static_cast<float>(0.25 + 0.5 * height(scores[static_cast<std::size_t>(patch)])));
  return opacities;
}

void overlay_scores(Image& image, const PatchPlaces& places, std::span<const float> scores) {
  check_image(image);
  const ImageShape& shape = image.shape();
  const auto& [rows, columns, patch, stride] = places;
  const auto end = [&](std::int64_t count) { return (count - 1) * stride + patch; };
  if (rows < 1 || columns < 1 || patch < 1 || stride < 1 || end(rows) > shape.height || end(columns) > shape.width)
    throw Error(text(rows, " x ", columns, " patches of ", patch, " pixels every ", stride, " pixels do not lie on an image of ",
                     shape.height, " x ", shape.width, " pixels"));
  if (scores.size() != static_cast<std::size_t>(rows) * columns)
    throw Error(text("got ", scores.size(), " scores for ", rows, " x ", columns, " patches; give one for each"));
  constexpr double opacity = 0.62;
  const RectangleMeans means(stretched(scores), rows, columns);
  for (int y = 0; y < shape.height; ++y) {
    const Cover vertical(y, rows, places);
    std::uint8_t* pixel = image.bytes().data() + 3 * static_cast<std::size_t>(y) * shape.width;
    for (int x = 0; x < shape.width; ++x, pixel += 3) {
      const Cover across(x, columns, places);
      const auto grey = static_cast<std::uint8_t>((77 * pixel[0] + 150 * pixel[1] + 29 * pixel[2]) >> 8);
      std::fill_n(pixel, 3, grey);
      if (vertical.first > vertical.last || across.first > across.last) continue;
      const Rgb8 colour = heat_colour(means.mean(vertical.first, vertical.last, across.first, across.last));
      for (std::size_t i = 0; i < 3; ++i) pixel[i] = mix(grey, colour[i], opacity);
    }
  }
}

Rgb8 heat_colour(double value) {
  // Of each channel the coefficients of 1, t, t^2 ... t^6.
  constexpr std::array<std::array<double, 7>, 3> fit{
      {{0.2777273272234177, 0.1050930431085774, -0.3308618287255563, -4.634230498983486, 6.228269936347081, 4.776384997670288,
        -5.435455855934631},
       {0.005407344544966578, 1.404613529898575, 0.214847559468213, -5.799100973351585, 14.17993336680509, -13.74514537774601,
        4.645852612178535},
       {0.3340998053353061, 1.384590162594685, 0.09509516302823659, -19.33244095627987, 56.69055260068105, -65.35303263337234,
        26.3124352495832}}};
  const double t = std::clamp(value, 0.0, 1.0);
  Rgb8 colour{};
  for (std::size_t channel = 0; channel < 3; ++channel) {
    double sum = 0;
    for (std::size_t power = fit[channel].size(); power-- > 0;) sum = sum * t + fit[channel][power];
    colour[channel] = static_cast<std::uint8_t>(std::lround(255 * std::clamp(sum, 0.0, 1.0)));
  }
  return colour;
}

}  // namespace iap
