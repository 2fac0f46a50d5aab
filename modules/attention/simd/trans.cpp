#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "simd.hpp"
#include "trans.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "trans.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "simd_feature_map-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace iap::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE int rounded(int count) { return (count + lanes - 1) / lanes * lanes; }

void clear_rows(float* rows, int count_rows, int count) {
  const int whole = rounded(count);
  for (int i = 0; i < count_rows && count < whole; ++i) std::fill(rows + i * block + count, rows + i * block + whole, 0.0F);
}

void relu_rows(const float* x, std::size_t pitch, int size, int count, float more, float* features) {
  const Floats d;
  const int n = static_cast<int>(hn::Lanes(d));
  const auto epsilon = hn::Set(d, more);
  for (int v = 0; v < size; ++v)
    for (int j = 0; j < rounded(count); j += n)
      // The second operand of Max is the one that x86 returns for NaN.
      hn::StoreU(hn::Add(hn::Max(hn::Zero(d), hn::LoadU(d, x + v * pitch + j)), epsilon), d, features + v * block + j);
  clear_rows(features, size, count);
}

// The exponent of a patch's largest feature, but for ||x||^2 / 2.
HWY_INLINE hn::Vec<Floats> largest_exponent_at(const FeatureMap& map, const float* projections, hn::Vec<Floats> inverse) {
  auto largest = exponent_at(map, projections, block, 0, inverse);
  for (int i = 1; i < map.m; ++i) largest = hn::Max(largest, exponent_at(map, projections, block, i, inverse));
  return largest;
}

void features_of(const FeatureMap& map, const float* x, std::size_t pitch, int count, float shift, float more, bool own_scale,
                 float* scratch, float* features, float* signs) {
  const Floats d;
  const int n = static_cast<int>(hn::Lanes(d));
  project_rows(map, x, pitch, count, scratch, block);
  const float* projections = scratch + map.r * block;
  const auto one = hn::Set(d, 1.0F), minus_one = hn::Set(d, -1.0F), constant = hn::Set(d, shift);
  // Where there is no epsilon, exp(-shift) may be infinite.
  const auto epsilon = hn::Set(d, more == 0 ? 0.0F : more * std::exp(-shift));
  for (int j = 0; j < rounded(count); j += n) {
    for (int s = 0; s < map.r; ++s)
      hn::StoreU(hn::IfThenElse(hn::Lt(hn::LoadU(d, scratch + s * block + j), hn::Zero(d)), minus_one, one), d,
                 signs + s * block + j);
    const Lengths lengths = lengths_of(map, x, pitch, j);
    const auto below =
        own_scale ? largest_exponent_at(map, projections + j, lengths.inverse) : hn::Add(lengths.half_square, constant);
    write_features(
        map, projections + j, block, lengths, shift, one, [&](hn::Vec<Floats> y) HWY_ATTR { return hn::Sub(y, below); },
        [&](hn::Vec<Floats> feature) HWY_ATTR { return hn::Add(feature, epsilon); }, features + j, block);
  }
  clear_rows(features, map.unsigned_features(), count);
}

float exponent_of(const FeatureMap& map, const float* x, std::size_t pitch, int count, float* scratch) {
  const Floats d;
  const int n = static_cast<int>(hn::Lanes(d));
  project_rows(map, x, pitch, count, scratch, block);
  const auto nothing = hn::Set(d, std::numeric_limits<float>::lowest());
  auto largest = nothing;
  for (int j = 0; j < count; j += n) {
    const Lengths lengths = lengths_of(map, x, pitch, j);
    auto exponent = map.trig ? lengths.half_square : nothing;
    if (map.exp)
      exponent =
          hn::Max(exponent, hn::Sub(largest_exponent_at(map, scratch + map.r * block + j, lengths.inverse), lengths.half_square));
    largest = hn::Max(largest, hn::IfThenElse(hn::FirstN(d, count - j), exponent, nothing));
  }
  return hn::GetLane(hn::MaxOfLanes(d, largest));
}

// kA x kB sums stay in registers for a whole block.
template <int kA, int kB>
HWY_INLINE void product_tile(const float* a, std::size_t a_pitch, const float* b, std::size_t b_pitch, int b_rows, int count,
                             double* sums) {
  const Floats d;
  const int n = static_cast<int>(hn::Lanes(d));
  hn::Vec<Floats> sum[kA][kB];
  for (int i = 0; i < kA; ++i)
    for (int k = 0; k < kB; ++k) sum[i][k] = hn::Zero(d);
  for (int j = 0; j < rounded(count); j += n) {
    hn::Vec<Floats> right[kB];
    for (int k = 0; k < kB; ++k) right[k] = hn::LoadU(d, b + k * b_pitch + j);
    for (int i = 0; i < kA; ++i) {
      const auto left = hn::LoadU(d, a + i * a_pitch + j);
      for (int k = 0; k < kB; ++k) sum[i][k] = hn::MulAdd(left, right[k], sum[i][k]);
    }
  }
  for (int i = 0; i < kA; ++i)
    for (int k = 0; k < kB; ++k) sums[static_cast<std::size_t>(i) * b_rows + k] += sum_of_lanes(d, sum[i][k]);
}

template <int kB>
HWY_INLINE void product_columns(const float* a, std::size_t a_pitch, int a_rows, const float* b, std::size_t b_pitch, int b_rows,
                                int count, double* sums) {
  int i = 0;
  for (; i + 4 <= a_rows; i += 4)
    product_tile<4, kB>(a + i * a_pitch, a_pitch, b, b_pitch, b_rows, count, sums + static_cast<std::size_t>(i) * b_rows);
  for (; i < a_rows; ++i)
    product_tile<1, kB>(a + i * a_pitch, a_pitch, b, b_pitch, b_rows, count, sums + static_cast<std::size_t>(i) * b_rows);
}

void products_of(const float* a, std::size_t a_pitch, int a_rows, const float* b, std::size_t b_pitch, int b_rows, int count,
                 double* sums) {
  int k = 0;
  for (; k + 3 <= b_rows; k += 3) product_columns<3>(a, a_pitch, a_rows, b + k * b_pitch, b_pitch, b_rows, count, sums + k);
  for (; k < b_rows; ++k) product_columns<1>(a, a_pitch, a_rows, b + k * b_pitch, b_pitch, b_rows, count, sums + k);
}

void mix_of(const float* in, std::size_t in_pitch, int inputs, const float* weights, int outputs, int count, float* out) {
  linear_rows(Strided<const float>{in, in_pitch}, inputs, weights, outputs, nullptr, outputs, count, Strided<float>{out, block});
}

void spread_of(const float* in, std::size_t pitch, int rows, const float* signs, int r, int count, float* out) {
  const int whole = rounded(count);
  for (int k = 0; k < rows; ++k) std::copy_n(in + k * pitch, whole, out + k * block);
  for (int s = 0; s < r; ++s)
    for (int k = 0; k < rows; ++k) {
      float* to = out + ((s + 1) * rows + k) * block;
      for (int j = 0; j < whole; ++j) to[j] = in[k * pitch + j] * signs[s * block + j];
    }
}

void fold_of(float* in, int rows, const float* signs, int r, int count) {
  const int whole = rounded(count);
  for (int s = 0; s < r; ++s)
    for (int k = 0; k < rows; ++k) {
      const float* from = in + ((s + 1) * rows + k) * block;
      for (int j = 0; j < whole; ++j) in[k * block + j] += from[j] * signs[s * block + j];
    }
}

void normalise_of(float* x, std::size_t pitch, int size, int count, float length) {
  const Floats d;
  const int n = static_cast<int>(hn::Lanes(d));
  for (int j = 0; j < rounded(count); j += n) {
    auto square = hn::Zero(d);
    for (int v = 0; v < size; ++v) {
      const auto value = hn::LoadU(d, x + v * pitch + j);
      square = hn::MulAdd(value, value, square);
    }
    // Not `square > 0`: NaN has to stay NaN.
    const auto factor = hn::IfThenZeroElse(hn::Eq(square, hn::Zero(d)), hn::Div(hn::Set(d, length), hn::Sqrt(square)));
    for (int v = 0; v < size; ++v) {
      float* at = x + v * pitch + j;
      hn::StoreU(hn::Mul(hn::LoadU(d, at), factor), d, at);
    }
  }
}

float largest_square_of(const float* x, std::size_t pitch, int size, int count) {
  float largest = 0;
  for (int j = 0; j < count; ++j) {
    float square = 0;
    for (int v = 0; v < size; ++v) square += x[v * pitch + j] * x[v * pitch + j];
    largest = std::max(largest, square);
  }
  return largest;
}

// NaN stays NaN.
HWY_INLINE float clamped(float value, float most) { return value > most ? most : value < -most ? -most : value; }

void divide_of(const float* in, std::size_t pitch, int rows, const float* divisor, int count, float* out) {
  constexpr float most = 1e27F;
  for (int k = 0; k < rows; ++k)
    for (int j = 0; j < count; ++j) out[k * block + j] = divisor[j] == 0 ? 0.0F : clamped(in[k * pitch + j] / divisor[j], most);
}

void scale_of(float* rows, int count_rows, float scale, int count) {
  constexpr float most = 1e30F;
  for (int k = 0; k < count_rows; ++k)
    for (int j = 0; j < rounded(count); ++j) rows[k * block + j] = clamped(rows[k * block + j] * scale, most);
}

void add_of(float* rows, int count_rows, const float* more, std::size_t pitch, int count) {
  for (int k = 0; k < count_rows; ++k)
    for (int j = 0; j < rounded(count); ++j) rows[k * block + j] += more[k * pitch + j];
}

void exponentiate_of(float* rows, int count_rows, const float* row_shifts, const float* column_shifts, int count) {
  const Floats d;
  const int n = static_cast<int>(hn::Lanes(d));
  for (int i = 0; i < count_rows; ++i)
    for (int j = 0; j < rounded(count); j += n) {
      const auto shift = row_shifts ? hn::Set(d, row_shifts[i]) : hn::LoadU(d, column_shifts + j);
      hn::StoreU(exponential(d, hn::Sub(hn::LoadU(d, rows + i * block + j), shift)), d, rows + i * block + j);
    }
  clear_rows(rows, count_rows, count);
}

}  // namespace iap::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace iap::simd {

HWY_EXPORT(relu_rows);
HWY_EXPORT(features_of);
HWY_EXPORT(exponent_of);
HWY_EXPORT(products_of);
HWY_EXPORT(mix_of);
HWY_EXPORT(spread_of);
HWY_EXPORT(fold_of);
HWY_EXPORT(normalise_of);
HWY_EXPORT(largest_square_of);
HWY_EXPORT(divide_of);
HWY_EXPORT(scale_of);
HWY_EXPORT(add_of);
HWY_EXPORT(exponentiate_of);
HWY_EXPORT(clear_rows);

void relu_features(const float* x, std::size_t pitch, int d, int count, float epsilon, float* features) {
  HWY_DYNAMIC_DISPATCH(relu_rows)(x, pitch, d, count, epsilon, features);
}
void trans_features(const FeatureMap& map, const float* x, std::size_t pitch, int count, float shift, float epsilon, bool own_scale,
                    float* scratch, float* features, float* signs) {
  HWY_DYNAMIC_DISPATCH(features_of)(map, x, pitch, count, shift, epsilon, own_scale, scratch, features, signs);
}
float trans_exponent(const FeatureMap& map, const float* x, std::size_t pitch, int count, float* scratch) {
  return HWY_DYNAMIC_DISPATCH(exponent_of)(map, x, pitch, count, scratch);
}
void add_products(const float* a, std::size_t a_pitch, int a_rows, const float* b, std::size_t b_pitch, int b_rows, int count,
                  double* sums) {
  HWY_DYNAMIC_DISPATCH(products_of)(a, a_pitch, a_rows, b, b_pitch, b_rows, count, sums);
}
void mix(const float* in, std::size_t in_pitch, int inputs, const float* weights, int outputs, int count, float* out) {
  HWY_DYNAMIC_DISPATCH(mix_of)(in, in_pitch, inputs, weights, outputs, count, out);
}
void spread_signs(const float* in, std::size_t pitch, int rows, const float* signs, int r, int count, float* out) {
  HWY_DYNAMIC_DISPATCH(spread_of)(in, pitch, rows, signs, r, count, out);
}
void fold_signs(float* in, int rows, const float* signs, int r, int count) {
  HWY_DYNAMIC_DISPATCH(fold_of)(in, rows, signs, r, count);
}
void normalise_columns(float* x, std::size_t pitch, int d, int count, float length) {
  HWY_DYNAMIC_DISPATCH(normalise_of)(x, pitch, d, count, length);
}
float largest_square(const float* x, std::size_t pitch, int d, int count) {
  return HWY_DYNAMIC_DISPATCH(largest_square_of)(x, pitch, d, count);
}
void divide_rows(const float* in, std::size_t pitch, int rows, const float* divisor, int count, float* out) {
  HWY_DYNAMIC_DISPATCH(divide_of)(in, pitch, rows, divisor, count, out);
}
void scale_rows(float* rows, int count_rows, float scale, int count) {
  HWY_DYNAMIC_DISPATCH(scale_of)(rows, count_rows, scale, count);
}
void add_rows(float* rows, int count_rows, const float* more, std::size_t pitch, int count) {
  HWY_DYNAMIC_DISPATCH(add_of)(rows, count_rows, more, pitch, count);
}
void exponentiate(float* rows, int count_rows, const float* row_shifts, const float* column_shifts, int count) {
  HWY_DYNAMIC_DISPATCH(exponentiate_of)(rows, count_rows, row_shifts, column_shifts, count);
}
void clear_tail(float* rows, int count_rows, int count) { HWY_DYNAMIC_DISPATCH(clear_rows)(rows, count_rows, count); }

}  // namespace iap::simd
#endif
