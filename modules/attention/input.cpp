module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "simd.hpp"
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
  return static_cast<int>(options.integer_in("threads", 1, most, 1));
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

void QueryWeights::bind(std::span<const float> weights, int patches) {
  given_ = !weights.empty();
  total_ = given_ ? 0 : patches;
  if (!given_) return;
  values_.resize(weights.size() + simd::padding);
  std::ranges::copy(weights, values_.begin());
  for (const float weight : weights) total_ += weight;
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
