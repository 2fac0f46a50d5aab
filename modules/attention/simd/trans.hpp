// Vectorised loops of IAP-trans, dispatched at run time. Rows are structure-of-arrays as in simd.hpp. Work goes in blocks of at
// most `block` patches, and every loop runs to the next multiple of `lanes` past `count`: what it reads there must be allocated.
#pragma once
#include <cstddef>

#include "simd.hpp"

namespace iap::simd {

inline constexpr int block = 256;

/// Writes d rows of max(x, 0) + epsilon, zero past `count`.
void relu_features(const float* x, std::size_t pitch, int d, int count, float epsilon, float* features);
/// Floats of scratch memory that the next two need.
inline std::size_t trans_scratch(const FeatureMap& map) { return static_cast<std::size_t>(map.r + map.m) * block; }
/// Writes the map's features without signs and r sign rows (+1, -1), each `block` floats; features are zero past `count`. They are
/// scaled by exp(-shift), and `epsilon` times that is added to exponential ones; with `own_scale` (exp only) every patch is scaled
/// by what makes its largest feature 1 instead.
void trans_features(const FeatureMap& map, const float* x, std::size_t pitch, int count, float shift, float epsilon, bool own_scale,
                    float* scratch, float* features, float* signs);
/// The largest logarithm of a feature's size: w . x - ||x||^2 / 2 for exp, ||x||^2 / 2 for sin and cos.
float trans_exponent(const FeatureMap& map, const float* x, std::size_t pitch, int count, float* scratch);

/// sums[i * b_rows + k] += sum_j a_i(j) b_k(j); one of the two is zero past `count`.
void add_products(const float* a, std::size_t a_pitch, int a_rows, const float* b, std::size_t b_pitch, int b_rows, int count,
                  double* sums);
/// out_o(j) = sum_i weights[i * outputs + o] in_i(j).
void mix(const float* in, std::size_t in_pitch, int inputs, const float* weights, int outputs, int count, float* out);

/// out row s * rows + k = in_k times sign s, for s = 0 (no sign) to r.
void spread_signs(const float* in, std::size_t pitch, int rows, const float* signs, int r, int count, float* out);
/// in_k += sum_s sign s times row s * rows + k.
void fold_signs(float* in, int rows, const float* signs, int r, int count);

/// x_k(j) *= length / ||x(j)||, or 0.
void normalise_columns(float* x, std::size_t pitch, int d, int count, float length);
/// The largest ||x(j)||^2; NaN is skipped.
float largest_square(const float* x, std::size_t pitch, int d, int count);
/// out_k(j) = in_k(j) / divisor(j), clamped to +-1e27, or 0 where the divisor is 0.
void divide_rows(const float* in, std::size_t pitch, int rows, const float* divisor, int count, float* out);
/// rows_k(j) times scale, clamped to +-1e30.
void scale_rows(float* rows, int count_rows, float scale, int count);
/// rows_k(j) += more_k(j).
void add_rows(float* rows, int count_rows, const float* more, std::size_t pitch, int count);
/// rows_i(j) = exp(rows_i(j) - row_shifts[i]), or - column_shifts[j] where there are no row shifts; zero past `count`.
void exponentiate(float* rows, int count_rows, const float* row_shifts, const float* column_shifts, int count);
/// Sets `rows` to zero past `count`.
void clear_tail(float* rows, int count_rows, int count);

}  // namespace iap::simd
