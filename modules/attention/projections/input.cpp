module;
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attention/simd/simd.hpp"
module iap.attention;
import iap.core;
import :internal;

namespace iap {

InputForm read_input_form(Options& options, int c, int d) {
  const bool normalised = options.choice("input", {"plain", "normalised"}, "plain") == "normalised";
  const double dimension = options.choice("scale", {"d", "c"}, "d") == "d" ? d : c;
  const double temperature = options.number_in("temperature", 1e-6, 1e6, 1.0);
  const double root = std::pow(dimension, 0.25);
  return {normalised, static_cast<float>((normalised ? root : 1 / root) / std::sqrt(temperature))};
}

int read_threads(Options& options) {
  constexpr int most = 1024;
  // A policy out of a file may ask for more than there are here.
  return std::min(static_cast<int>(options.integer_in("threads", 1, most, 1)), hardware_threads());
}

void check_weights(const HeadWeights& weights, const PatchGrid& grid, int d) {
  const auto check = [](std::span<const float> values, std::size_t wanted, const char* name) {
    if (values.size() != wanted)
      throw Error(text("attention: the ", name, " holds ", values.size(), " values where ", wanted, " were expected"));
  };
  const std::size_t matrix = static_cast<std::size_t>(grid.values()) * d;
  check(weights.query, matrix, "query matrix (c x d)");
  check(weights.key, matrix, "key matrix (c x d)");
  if (!weights.query_bias.empty()) check(weights.query_bias, d, "query bias (d)");
  if (!weights.key_bias.empty()) check(weights.key_bias, d, "key bias (d)");
  if (!weights.query_weights.empty()) check(weights.query_weights, grid.count(), "query weights P (one a patch)");
  if (!weights.encoding.empty())
    check(weights.encoding, static_cast<std::size_t>(grid.count()) * grid.values(), "position encoding (L x c)");
}

double scale_down(double largest, double most) { return largest > most ? std::exp2(std::floor(std::log2(most / largest))) : 1.0; }

float largest_magnitude(std::span<const float> values) {
  // As whole numbers, which compilers compare in vectors: without the sign they are ordered as floats are, with NaN on top.
  std::uint32_t largest = 0;
  for (const float value : values) largest = std::max(largest, std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFU);
  return std::bit_cast<float>(largest);
}

void restore_size(std::span<float> scores, double log_factor) {
  // Floats end at exp(88). Scores that would become smaller than exp(-60) keep their size, or the small ones among them would
  // vanish.
  constexpr double least = -60, most = 85;
  if (log_factor == 0) return;
  const double size = std::log(largest_magnitude(scores)) + log_factor;
  if (!(size >= least && size <= most)) return;
  const double factor = std::exp(log_factor);
  for (float& value : scores) value = static_cast<float>(value * factor);
}

void QueryWeights::bind(std::span<const float> weights, int patches) {
  given_ = !weights.empty();
  total_ = given_ ? 0 : patches;
  scale_ = 1;
  if (!given_) return;
  constexpr double most = 1e12;
  scale_ = scale_down(largest_magnitude(weights), most);
  values_.resize(weights.size() + simd::padding);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    values_[i] = static_cast<float>(scale_ * weights[i]);
    total_ += values_[i];
  }
}

void check_frame(const PatchGrid& grid, bool bound, const ImageView& image) {
  if (!bound) throw Error("attention: no weights are bound; call bind before score");
  if (image.shape != grid.image())
    throw Error(text("attention: got an image of ", image.shape.height, " x ", image.shape.width, " x ", image.shape.channels,
                     image.shape.type == PixelType::uint8 ? " uint8" : " float", ", built for ", grid.image().height, " x ",
                     grid.image().width, " x ", grid.image().channels,
                     grid.image().type == PixelType::uint8 ? " uint8" : " float"));
}

void check_frame(const PatchGrid& grid, bool bound, const ImageView& image, std::span<const float> scores) {
  check_frame(grid, bound, image);
  if (scores.size() != static_cast<std::size_t>(grid.count()))
    throw Error(text("attention: room for ", scores.size(), " scores, the grid has ", grid.count(), " patches"));
}

}  // namespace iap
