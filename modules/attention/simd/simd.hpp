// Vectorised loops of this module, dispatched at run time to the best instruction set. Rows are structure-of-arrays: element j of
// row v stands at base[v * pitch + j]. Every row may be read and written `simd::padding` floats past its last element.
#pragma once
#include <cstddef>
#include <cstdint>

namespace iap::simd {

inline constexpr int padding = 32;
inline constexpr int tile = 64;   ///< patches that feature maps work on at a time
inline constexpr int lanes = 16;  ///< at most so many floats a vector; sums are kept a lane

/// How image rows become planes of floats: channel `channel` of columns phase, phase + stride, ... of row y at
/// planes[(y % slots) * slot_pitch + (phase * channels + channel) * plane_pitch + y / slots * step].
struct PlaneLayout {
  int width = 0, channels = 0, stride = 1;
  int phases = 1;  ///< planes are made for columns whose remainder modulo the stride is below this
  std::size_t plane_pitch = 0, slot_pitch = 0;
  int slots = 1;  ///< rows of a patch
  int step = 0;   ///< where the planes of one row of patches follow those of another: patches in a row; else 0
  int rows = 1;   ///< at most so many are loaded at a time

  /// Elements of scratch memory: the rows split by channel, then one channel split by phase.
  std::size_t scratch() const { return channels * channel_pitch() + stride * phase_pitch(); }
  std::size_t channel_pitch() const { return static_cast<std::size_t>(rows) * width + 4 * lanes; }
  std::size_t phase_pitch() const { return channel_pitch() / stride + 4 * lanes; }
};

/// Loads rows first, first + 1, ... from `pixels`, where they follow one another; reads nothing outside them. Values of bytes stay
/// 0 ... 255.
void load_rows(const PlaneLayout& layout, const std::uint8_t* pixels, int first, int rows, std::uint8_t* scratch, float* planes);
void load_rows(const PlaneLayout& layout, const float* pixels, int first, int rows, float* scratch, float* planes);

/// out[o][j] = bias[o] + sum_v weights[v * weight_pitch + o] in[v][j], j < count.
void linear(const float* const* in, int inputs, const float* weights, int weight_pitch, const float* bias, int outputs, int count,
            float* const* out);

/// out[o][j] = bias[o] for those j < count all of whose in[v][j] are `value`, give or take `slack`.
void replace_constant(const float* const* in, int inputs, float value, float slack, const float* bias, int outputs, int count,
                      float* const* out);

/// sums[o * lanes + l] += sum over patches of lane l of their weight (null: 1) times max(u_o, 0); u is d rows of `count` patches.
void add_relu_sums(const float* u, std::size_t pitch, int d, int count, const float* weights, float* sums);
/// scores[j] = sum_o weights[o] max(u_o(j), 0). Writes nothing past `count`.
void relu_scores(const float* u, std::size_t pitch, int d, int count, const float* weights, float* scores);

/// A random feature map over rows of projections u. The features of an input are sin and cos (if `trig`) and exp (if `exp`) of its
/// m projections, each also multiplied by its r signs.
struct FeatureMap {
  int d = 0, m = 0, r = 0;
  bool trig = false, exp = false;
  bool normalised = false;  ///< x = length u / ||u||; else x = u
  float length = 1;
  const float* projections = nullptr;  ///< d x (r + m): column j is xi_j, column r + i is omega_i
  const float* offsets = nullptr;      ///< m numbers that are added to the exponents of exp; null: none

  int unsigned_features() const { return m * ((trig ? 2 : 0) + (exp ? 1 : 0)); }
  int feature_rows() const { return 1 + r + m + unsigned_features() + 2; }
  /// Floats of scratch memory that the functions below need.
  std::size_t scratch() const { return static_cast<std::size_t>(feature_rows()) * tile; }
};

/// sums[(f (1 + r) + s) lanes + l] += sum over patches of lane l of their weight (null: 1) times feature f times sign s (s = 0:
/// times 1), for features scaled by exp(-shift), without 1 / sqrt(m). Returns the largest ||x||^2 / 2.
float add_feature_sums(const FeatureMap& map, const float* u, std::size_t pitch, int count, const float* weights, float shift,
                       float* scratch, float* sums);
/// scores[j] = sum_f sum_s weights[f (1 + r) + s] feature f times sign s, features scaled by exp(-shift). Writes nothing past
/// `count`. Returns the largest ||x||^2 / 2.
float feature_scores(const FeatureMap& map, const float* u, std::size_t pitch, int count, float shift, float* scratch,
                     const float* weights, float* scores);
/// The largest logarithm of a feature's scale over all patches: of exp features themselves, of 1 / Lambda for trigonometric ones.
float largest_exponent(const FeatureMap& map, const float* u, std::size_t pitch, int count, float* scratch);

/// Exact attention, some query rows (of d values each) at a time, against all keys: d rows of `count` floats.
/// Largest x.y of one query.
float largest_product(const float* keys, std::size_t pitch, int d, int count, const float* query);
/// scores[j] += sum over queries of weight exp(x.y_j) / sum_k exp(x.y_k), computed with exp(x.y - shift of the query).
/// `scratch` and `scores` hold `query_block` times and once `pitch` floats.
inline constexpr int query_block = 4;
void add_softmax_rows(const float* keys, std::size_t pitch, int d, int count, const float* queries, int rows, const float* shifts,
                      const float* weights, float* scratch, float* scores);
/// scores[j] += sum over queries of weight exp(x.y_j - shift), or of weight x.y_j.
void add_kernel_rows(bool exponential, const float* keys, std::size_t pitch, int d, int count, const float* queries, int rows,
                     const float* weights, float shift, float* scores);

}  // namespace iap::simd
