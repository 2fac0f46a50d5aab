module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attention/simd/rows.hpp"
module iap.attention;
import iap.core;
import :features;
import :internal;
import :projector;

namespace iap {

static_assert(key_padding >= simd::padding);

namespace {

// Features with exponents outside of these lose terms, to infinity or to nothing.
constexpr float highest_safe_exponent = 60, lowest_safe_exponent = -40;
// Pooled features of at most this size have products with keys' features that floats hold.
constexpr double largest_pooled = 1e10;

// In lanes, which compilers turn into vectors.
float sum_of(const float* values, int count) {
  constexpr int lanes = 16;
  std::array<float, lanes> lane{};
  int j = 0;
  for (; j + lanes <= count; j += lanes)
    for (int l = 0; l < lanes; ++l) lane[l] += values[j + l];
  for (int l = 0; j < count; ++j, ++l) lane[l] += values[j];
  for (int width = lanes / 2; width > 0; width /= 2)
    for (int l = 0; l < width; ++l) lane[l] += lane[l + width];
  return lane[0];
}

simd::FeatureMap vectorised_map(const MapOptions& map, int d) {
  return {.d = d,
          .m = map.m,
          .r = map.r,
          .trig = !map.relu && map.kind != FeatureKind::exp,
          .exp = !map.relu && map.kind != FeatureKind::trig,
          .normalised = map.normalised,
          .length = map.factor};
}

FeatureOptions drawing_of(const MapOptions& map) {
  FeatureOptions drawing;
  drawing.kind = map.kind;
  drawing.m = map.m;
  drawing.r = map.r;
  drawing.shape = map.shape;
  drawing.ensemble = map.ensemble;
  drawing.seed = map.seed;
  drawing.redraw = map.redraw;
  return drawing;
}

}  // namespace

MapOptions map_by_features(const KernelEntry& entry, Options& options, int c, int d) {
  const FeatureOptions wanted = read_feature_options(*entry.features, options, c, d);
  const auto refuse = [&](const char* what) { throw OptionError(text(options.owner(), ": ", what)); };
  if (wanted.brute_force) refuse("option 'brute_force' forms the attention matrix, which has no features to keep; leave it out");
  if (wanted.redraw_every > 0)
    refuse(
        "cross and drawn patches keep their projections throughout an episode, so that option 'redraw' takes \"never\" or "
        "\"episode\" here");
  if (wanted.epsilon > 0) refuse("option 'epsilon' is not for kept features; leave it out");
  MapOptions map;
  map.kernel = entry.name;
  map.kind = wanted.kind;
  map.m = wanted.m;
  map.r = wanted.r;
  map.shape = wanted.shape;
  map.ensemble = wanted.ensemble;
  map.seed = wanted.seed;
  map.redraw = wanted.redraw;
  map.normalised = wanted.form.normalised;
  map.factor = wanted.form.factor;
  return map;
}

struct PatchFeatures::Impl {
  Impl(const MapOptions& options, Side which, const PatchGrid& grid, int d)
      : map(options),
        side(which),
        projector(grid, d),
        vectorised(vectorised_map(map, d)),
        inputs(d),
        sums(static_cast<std::size_t>(options.features(d))) {
    scratch = FloatBuffer(simd::feature_rows_scratch(vectorised));
    block = FloatBuffer((sums.size() + 1) * simd::tile);
    columns.resize(static_cast<std::size_t>(d) * (map.r + map.m));
    if (map.relu) return;
    projections.emplace(drawing_of(map), d);
    take_columns();
  }

  void take_columns() {
    const Projections& drawn = projections->now();
    const int d = drawn.d, width = map.r + map.m;
    for (int k = 0; k < d; ++k) {
      for (int j = 0; j < map.r; ++j) columns[static_cast<std::size_t>(k) * width + j] = drawn.xi[j * d + k];
      for (int i = 0; i < map.m; ++i) columns[static_cast<std::size_t>(k) * width + map.r + i] = drawn.omega[i * d + k];
    }
    vectorised.projections = columns.data();
    vectorised.offsets = drawn.offset.empty() ? nullptr : drawn.offset.data();
  }

  const float* projected(int chunk) { return side == Side::query ? projector.queries() : projector.keys(chunk); }

  // Calls body(first patch, count, u) for the frame's patches in order, at most a tile at a time.
  template <typename Body>
  void each_tile(const ImageView& image, float pixel_offset, Body body) {
    projector.begin(image, pixel_offset);
    for (int chunk = 0; chunk < projector.chunks(); ++chunk) {
      projector.project(chunk);
      const int total = projector.count(chunk);
      for (int first = 0; first < total; first += simd::tile) {
        check_interrupt();
        body(projector.first(chunk) + first, std::min(simd::tile, total - first), projected(chunk) + first);
      }
    }
  }

  float tile_features(int count, const float* u, float shift, float* out, std::size_t pitch) {
    if (!map.relu)
      return simd::feature_rows(vectorised, side == Side::query, u, projector.pitch(), count, shift, scratch.data(), out, pitch);
    for (int o = 0; o < projector.d(); ++o)
      for (int j = 0; j < count; ++j) {
        const float value = u[o * projector.pitch() + j];
        out[o * pitch + j] = value < 0 ? 0 : value;
      }
    return 0;
  }

  // Runs pass(shift) -> largest exponent, and once more with that exponent as the shift where floats were too narrow.
  template <typename Pass>
  static void within_floats(Pass pass) {
    const float largest = pass(0.0F);
    if (std::isfinite(largest) && (largest > highest_safe_exponent || largest < lowest_safe_exponent)) pass(largest);
  }

  float sum_features(const ImageView& image, float pixel_offset, float shift) {
    std::ranges::fill(sums, 0.0);
    float largest = std::numeric_limits<float>::lowest();
    each_tile(image, pixel_offset, [&](int first, int count, const float* u) {
      largest = std::max(largest, tile_features(count, u, shift, block.data(), simd::tile));
      const float* p = query_weights.from(first);
      for (std::size_t f = 0; f < sums.size(); ++f) {
        float* row = block.data() + f * simd::tile;
        for (int j = 0; p && j < count; ++j) row[j] *= p[j];
        sums[f] += sum_of(row, count);
      }
    });
    return largest;
  }

  void sum_inputs(const ImageView& image, float pixel_offset) {
    std::ranges::fill(inputs, 0.0);
    const int d = projector.d();
    const std::size_t pitch = projector.pitch();
    each_tile(image, pixel_offset, [&](int first, int count, const float* u) {
      std::array<float, simd::tile> factor, scaled;
      factor.fill(map.normalised ? 0.0F : 1.0F);
      if (map.normalised) {
        for (int o = 0; o < d; ++o)
          for (int j = 0; j < count; ++j) factor[j] += u[o * pitch + j] * u[o * pitch + j];
        for (int j = 0; j < count; ++j) factor[j] = factor[j] == 0 ? 0 : map.factor / std::sqrt(factor[j]);
      }
      if (const float* p = query_weights.from(first))
        for (int j = 0; j < count; ++j) factor[j] *= p[j];
      for (int o = 0; o < d; ++o) {
        for (int j = 0; j < count; ++j) scaled[j] = factor[j] * u[o * pitch + j];
        inputs[o] += sum_of(scaled.data(), count);
      }
    });
  }

  // phi of the sum or mean of the queries. Its logarithms are known, so that nothing overflows: the proof's sum of L queries is
  // long.
  void map_pooled_input(Pooling pooling, std::span<float> z) {
    const double divisor = pooling == Pooling::mean ? projector.grid().count() : 1;
    for (double& input : inputs) input /= divisor;
    if (map.relu) {
      for (std::size_t o = 0; o < inputs.size(); ++o) z[o] = static_cast<float>(inputs[o] < 0 ? 0 : inputs[o]);
      return;
    }
    const Projections& drawn = projections->now();
    double largest = std::numeric_limits<double>::lowest();
    for (int i = 0; i < map.m; ++i) {
      sums[i] = drawn.offset.empty() ? 0.0 : drawn.offset[i];
      for (int k = 0; k < drawn.d; ++k) sums[i] += drawn.omega[i * drawn.d + k] * inputs[k];
      largest = std::max(largest, sums[i]);
    }
    for (int i = 0; i < map.m; ++i) z[i] = static_cast<float>(std::exp(sums[i] - largest));
  }

  MapOptions map;
  Side side;
  PatchProjector projector;
  QueryWeights query_weights;
  std::optional<DrawnProjections> projections;  // none for relu
  simd::FeatureMap vectorised;
  std::vector<float> columns;  // d x (r + m): xi, omega
  std::vector<double> inputs, sums;
  FloatBuffer scratch, block;
};

// What Impl's constructor makes.
double PatchFeatures::bytes(const MapOptions& map, const PatchGrid& grid, int d, bool encoded) {
  const double features = map.features(d), scratch = static_cast<double>(simd::feature_rows_scratch(vectorised_map(map, d)));
  return PatchProjector::bytes(grid, d, 0, 1, encoded) + (map.relu ? 0.0 : DrawnProjections::bytes(drawing_of(map), d)) +
         sizeof(float) * (scratch + (features + 1) * simd::tile + (map.r + static_cast<double>(map.m)) * d) +
         sizeof(double) * (features + d);
}

PatchFeatures::PatchFeatures(const MapOptions& map, Side side, const PatchGrid& grid, int d)
    : impl_(std::make_unique<Impl>(map, side, grid, d)) {}
PatchFeatures::PatchFeatures(PatchFeatures&&) noexcept = default;
PatchFeatures& PatchFeatures::operator=(PatchFeatures&&) noexcept = default;
PatchFeatures::~PatchFeatures() = default;

const PatchGrid& PatchFeatures::grid() const { return impl_->projector.grid(); }
int PatchFeatures::features() const { return static_cast<int>(impl_->sums.size()); }

void PatchFeatures::bind(std::span<const float> weights, std::span<const float> bias, std::span<const float> encoding,
                         std::span<const float> query_weights) {
  const HeadWeights both{weights, weights, bias, bias, query_weights, encoding};
  check_weights(both, grid(), impl_->projector.d());
  impl_->projector.bind(both, impl_->map.relu || impl_->map.normalised ? 1.0F : impl_->map.factor);
  impl_->query_weights.bind(query_weights, grid().count());
}

void PatchFeatures::new_episode(std::uint64_t episode_seed) {
  if (impl_->projections && impl_->projections->new_episode(episode_seed)) impl_->take_columns();
}

void PatchFeatures::pool(Pooling pooling, const ImageView& image, float pixel_offset, std::span<float> z) {
  check_frame(grid(), impl_->projector.bound(), image);
  if (pooling != Pooling::features && !impl_->map.positive())
    throw Error("attention: only positive features (kernels relu, exp and favor++) can be pooled before the feature map");
  if (pooling != Pooling::features) {
    impl_->sum_inputs(image, pixel_offset);
    impl_->map_pooled_input(pooling, z);
    return;
  }
  Impl::within_floats([&](float shift) { return impl_->sum_features(image, pixel_offset, shift); });
  double largest = 0;
  for (const double sum : impl_->sums) largest = std::max(largest, std::abs(sum / grid().count()));
  const double scale = scale_down(largest, largest_pooled);
  for (std::size_t f = 0; f < z.size(); ++f) z[f] = static_cast<float>(scale * (impl_->sums[f] / grid().count()));
}

void PatchFeatures::rows(const ImageView& image, float pixel_offset, std::span<float> rows, std::size_t pitch) {
  check_frame(grid(), impl_->projector.bound(), image);
  if (pitch < grid().count() + key_padding || rows.size() < pitch * impl_->sums.size())
    throw Error(text("attention: room for ", rows.size(), " features at pitch ", pitch, ", wanted ", impl_->sums.size(),
                     " rows of ", grid().count() + key_padding));
  Impl::within_floats([&](float shift) {
    float largest = std::numeric_limits<float>::lowest();
    impl_->each_tile(image, pixel_offset, [&](int first, int count, const float* u) {
      largest = std::max(largest, impl_->tile_features(count, u, shift, rows.data() + first, pitch));
    });
    return largest;
  });
}

}  // namespace iap
