#include <cstddef>

#include "simd.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exact.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "simd_linear-inl.hpp"
#include "simd_math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace iap::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using Vector = hn::Vec<Floats>;

// x.y of kRows queries with the keys of one vector.
template <int kRows>
HWY_INLINE void products(const float* keys, std::size_t pitch, int size, const float* queries, Vector* out) {
  const Floats d;
  for (int i = 0; i < kRows; ++i) out[i] = hn::Zero(d);
  for (int o = 0; o < size; ++o) {
    const auto key = hn::LoadU(d, keys + o * pitch);
    for (int i = 0; i < kRows; ++i) out[i] = hn::MulAdd(hn::Set(d, queries[i * size + o]), key, out[i]);
  }
}

float largest_of(const float* keys, std::size_t pitch, int size, int count, const float* query) {
  const Floats d;
  const int n = static_cast<int>(hn::Lanes(d));
  Vector product, largest;
  largest = hn::Set(d, hwy::LowestValue<float>());
  for (int j = 0; j < count; j += n) {
    products<1>(keys + j, pitch, size, query, &product);
    largest = hn::Max(largest, hn::IfThenElse(hn::FirstN(d, count - j), product, largest));
  }
  return hn::GetLane(hn::MaxOfLanes(d, largest));
}

template <int kRows>
HWY_INLINE void softmax_block(const float* keys, std::size_t pitch, int size, int count, const float* queries, const float* shifts,
                              const float* weights, float* scratch, float* scores) {
  const Floats d;
  const int n = static_cast<int>(hn::Lanes(d));
  Vector product[kRows], sum[kRows];
  for (int i = 0; i < kRows; ++i) sum[i] = hn::Zero(d);
  for (int j = 0; j < count; j += n) {
    products<kRows>(keys + j, pitch, size, queries, product);
    const auto valid = hn::FirstN(d, count - j);
    for (int i = 0; i < kRows; ++i) {
      const auto value = hn::IfThenElseZero(valid, exponential(d, hn::Sub(product[i], hn::Set(d, shifts[i]))));
      sum[i] = hn::Add(sum[i], value);
      hn::StoreU(value, d, scratch + i * pitch + j);
    }
  }
  for (int i = 0; i < kRows; ++i) sum[i] = hn::Set(d, weights[i] / sum_of_lanes(d, sum[i]));
  for (int j = 0; j < count; j += n) {
    auto score = hn::LoadU(d, scores + j);
    for (int i = 0; i < kRows; ++i) score = hn::MulAdd(hn::LoadU(d, scratch + i * pitch + j), sum[i], score);
    hn::StoreU(score, d, scores + j);
  }
}

void softmax_rows(const float* keys, std::size_t pitch, int size, int count, const float* queries, int rows, const float* shifts,
                  const float* weights, float* scratch, float* scores) {
  int i = 0;
  for (; i + query_block <= rows; i += query_block)
    softmax_block<query_block>(keys, pitch, size, count, queries + i * size, shifts + i, weights + i, scratch, scores);
  for (; i < rows; ++i) softmax_block<1>(keys, pitch, size, count, queries + i * size, shifts + i, weights + i, scratch, scores);
}

template <bool kExponential, int kRows>
HWY_INLINE Vector kernel_sum(const float* keys, std::size_t pitch, int size, const float* queries, const float* weights,
                             Vector shift) {
  const Floats d;
  Vector product[kRows], sum = hn::Zero(d);
  products<kRows>(keys, pitch, size, queries, product);
  for (int i = 0; i < kRows; ++i)
    sum = hn::MulAdd(hn::Set(d, weights[i]), kExponential ? exponential(d, hn::Sub(product[i], shift)) : product[i], sum);
  return sum;
}

template <bool kExponential>
HWY_INLINE void kernel_rows_of(const float* keys, std::size_t pitch, int size, int count, const float* queries, int rows,
                               const float* weights, float shift, float* scores) {
  const Floats d;
  const int n = static_cast<int>(hn::Lanes(d));
  const auto constant = hn::Set(d, shift);
  for (int j = 0; j < count; j += n) {
    auto sum = hn::Zero(d);
    int i = 0;
    for (; i + 4 <= rows; i += 4)
      sum = hn::Add(sum, kernel_sum<kExponential, 4>(keys + j, pitch, size, queries + i * size, weights + i, constant));
    for (; i < rows; ++i)
      sum = hn::Add(sum, kernel_sum<kExponential, 1>(keys + j, pitch, size, queries + i * size, weights + i, constant));
    hn::StoreU(hn::Add(hn::LoadU(d, scores + j), sum), d, scores + j);
  }
}

void kernel_rows(bool with_exponential, const float* keys, std::size_t pitch, int size, int count, const float* queries, int rows,
                 const float* weights, float shift, float* scores) {
  if (with_exponential)
    kernel_rows_of<true>(keys, pitch, size, count, queries, rows, weights, shift, scores);
  else
    kernel_rows_of<false>(keys, pitch, size, count, queries, rows, weights, shift, scores);
}

}  // namespace iap::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace iap::simd {

HWY_EXPORT(largest_of);
HWY_EXPORT(softmax_rows);
HWY_EXPORT(kernel_rows);

float largest_product(const float* keys, std::size_t pitch, int d, int count, const float* query) {
  return HWY_DYNAMIC_DISPATCH(largest_of)(keys, pitch, d, count, query);
}
void add_softmax_rows(const float* keys, std::size_t pitch, int d, int count, const float* queries, int rows, const float* shifts,
                      const float* weights, float* scratch, float* scores) {
  HWY_DYNAMIC_DISPATCH(softmax_rows)(keys, pitch, d, count, queries, rows, shifts, weights, scratch, scores);
}
void add_kernel_rows(bool exponential, const float* keys, std::size_t pitch, int d, int count, const float* queries, int rows,
                     const float* weights, float shift, float* scores) {
  HWY_DYNAMIC_DISPATCH(kernel_rows)(exponential, keys, pitch, d, count, queries, rows, weights, shift, scores);
}

}  // namespace iap::simd
#endif
