#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "simd.hpp"
#include "simd_trans.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd_trans.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "simd_linear-inl.hpp"
#include "simd_math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace iap::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE int rounded(int count) { return (count + lanes - 1) / lanes * lanes; }

void clear_rows(float* rows, int count_rows, int count) {
  const int whole = rounded(count);
  for (int i = 0; i < count_rows && count < whole; ++i) std::fill(rows + i * block + count, rows + i * block + whole, 0.0F);
}

// Scratch: xi . x (r rows), omega . x (m rows), ||x||^2 / 2.
HWY_INLINE void project(const TransMap& map, const float* x, std::size_t pitch, int count, float* scratch) {
  const Floats d;
  const int n = static_cast<int>(hn::Lanes(d));
  linear_rows(Strided<const float>{x, pitch}, map.d, map.projections, map.r + map.m, nullptr, map.r + map.m, count,
              Strided<float>{scratch, block});
  float* half_square = scratch + (map.r + map.m) * block;
  for (int j = 0; j < rounded(count); j += n) {
    auto square = hn::Zero(d);
    for (int v = 0; v < map.d; ++v) {
      const auto value = hn::LoadU(d, x + v * pitch + j);
      square = hn::MulAdd(value, value, square);
    }
    hn::StoreU(hn::Mul(square, hn::Set(d, 0.5F)), d, half_square + j);
  }
}

void relu_rows(const TransMap& map, const float* x, std::size_t pitch, int count, float* features) {
  const Floats d;
  const int n = static_cast<int>(hn::Lanes(d));
  const auto epsilon = hn::Set(d, map.epsilon);
  for (int v = 0; v < map.d; ++v)
    for (int j = 0; j < rounded(count); j += n)
      // The second operand of Max is the one that x86 returns for NaN.
      hn::StoreU(hn::Add(hn::Max(hn::Zero(d), hn::LoadU(d, x + v * pitch + j)), epsilon), d, features + v * block + j);
}

// The exponent of a patch's largest feature.
HWY_INLINE hn::Vec<Floats> largest_projection(const TransMap& map, const float* projections, int j) {
  const Floats d;
  auto largest = hn::LoadU(d, projections + j);
  for (int i = 1; i < map.m; ++i) largest = hn::Max(largest, hn::LoadU(d, projections + i * block + j));
  return largest;
}

void features_of(const TransMap& map, const float* x, std::size_t pitch, int count, float shift, bool own_scale, float* scratch,
                 float* features, float* signs) {
  const Floats d;
  const int n = static_cast<int>(hn::Lanes(d));
  if (map.relu) {
    relu_rows(map, x, pitch, count, features);
    clear_rows(features, map.d, count);
    return;
  }
  project(map, x, pitch, count, scratch);
  const float* projections = scratch + map.r * block;
  const float* half_squares = projections + map.m * block;
  float* exp_features = features + (map.trig ? 2 * map.m * block : 0);
  const auto one = hn::Set(d, 1.0F), minus_one = hn::Set(d, -1.0F), constant = hn::Set(d, shift);
  // Where there is no epsilon, exp(-shift) may be infinite.
  const auto epsilon = hn::Set(d, map.epsilon == 0 ? 0.0F : map.epsilon * std::exp(-shift)), most = most_exponent(d, shift);
  for (int j = 0; j < rounded(count); j += n) {
    for (int s = 0; s < map.r; ++s)
      hn::StoreU(hn::IfThenElse(hn::Lt(hn::LoadU(d, scratch + s * block + j), hn::Zero(d)), minus_one, one), d,
                 signs + s * block + j);
    const auto half_square = hn::LoadU(d, half_squares + j);
    const auto below = own_scale ? largest_projection(map, projections, j) : hn::Add(half_square, constant);
    const auto scale = map.trig ? exponential(d, hn::Sub(half_square, constant), most) : one;
    const bool long_ones = map.trig && are_long(d, half_square);
    for (int i = 0; i < map.m; ++i) {
      const auto y = hn::LoadU(d, projections + i * block + j);
      if (map.exp) hn::StoreU(hn::Add(exponential(d, hn::Sub(y, below), most), epsilon), d, exp_features + i * block + j);
      if (map.trig) {
        hn::Vec<Floats> sine, cosine;
        sine_cosine(d, long_ones ? short_enough(d, y) : y, sine, cosine);
        hn::StoreU(hn::Mul(sine, scale), d, features + i * block + j);
        hn::StoreU(hn::Mul(cosine, scale), d, features + (map.m + i) * block + j);
      }
    }
  }
  clear_rows(features, map.features(), count);
}

float exponent_of(const TransMap& map, const float* x, std::size_t pitch, int count, float* scratch) {
  if (map.relu) return 0;
  project(map, x, pitch, count, scratch);
  const float* projections = scratch + map.r * block;
  const float* half_squares = projections + map.m * block;
  float largest = std::numeric_limits<float>::lowest();
  for (int j = 0; j < count; ++j) {
    if (map.trig) largest = std::max(largest, half_squares[j]);
    for (int i = 0; i < map.m && map.exp; ++i) largest = std::max(largest, projections[i * block + j] - half_squares[j]);
  }
  return largest;
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
    for (int k = 0; k < kB; ++k) sums[static_cast<std::size_t>(i) * b_rows + k] += hn::GetLane(hn::SumOfLanes(d, sum[i][k]));
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

void trans_features(const TransMap& map, const float* x, std::size_t pitch, int count, float shift, bool own_scale, float* scratch,
                    float* features, float* signs) {
  HWY_DYNAMIC_DISPATCH(features_of)(map, x, pitch, count, shift, own_scale, scratch, features, signs);
}
float trans_exponent(const TransMap& map, const float* x, std::size_t pitch, int count, float* scratch) {
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
