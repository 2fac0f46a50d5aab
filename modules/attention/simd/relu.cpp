#include <algorithm>
#include <cstddef>
#include <cstring>

#include "simd.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "relu.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "simd_linear-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace iap::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Some rows at a time, whose additions need not wait for each other.
template <bool kWeighted, int kRows>
HWY_INLINE void add_sums_of_rows(const float* u, std::size_t pitch, int count, const float* weights, float* sums) {
  const Floats d;
  const int n = static_cast<int>(hn::Lanes(d));
  const auto zero = hn::Zero(d);
  hn::Vec<Floats> a[kRows], b[kRows];
  for (int o = 0; o < kRows; ++o) {
    a[o] = hn::LoadU(d, sums + o * lanes);
    b[o] = zero;
  }
  const auto term = [&](int o, int j) HWY_ATTR {
    const auto value = hn::Max(zero, hn::LoadU(d, u + o * pitch + j));
    return kWeighted ? hn::Mul(value, hn::LoadU(d, weights + j)) : value;
  };
  int j = 0;
  for (; j + 2 * n <= count; j += 2 * n) {
    for (int o = 0; o < kRows; ++o) {
      a[o] = hn::Add(a[o], term(o, j));
      b[o] = hn::Add(b[o], term(o, j + n));
    }
  }
  for (; j < count; j += n)
    for (int o = 0; o < kRows; ++o) a[o] = hn::Add(a[o], hn::IfThenElseZero(hn::FirstN(d, count - j), term(o, j)));
  for (int o = 0; o < kRows; ++o) hn::StoreU(hn::Add(a[o], b[o]), d, sums + o * lanes);
}

template <bool kWeighted>
HWY_INLINE void add_sums_of(const float* u, std::size_t pitch, int outputs, int count, const float* weights, float* sums) {
  int o = 0;
  for (; outputs - o >= 4; o += 4) add_sums_of_rows<kWeighted, 4>(u + o * pitch, pitch, count, weights, sums + o * lanes);
  for (; o < outputs; ++o) add_sums_of_rows<kWeighted, 1>(u + o * pitch, pitch, count, weights, sums + o * lanes);
}

void add_sums(const float* u, std::size_t pitch, int outputs, int count, const float* weights, float* sums) {
  if (weights)
    add_sums_of<true>(u, pitch, outputs, count, weights, sums);
  else
    add_sums_of<false>(u, pitch, outputs, count, weights, sums);
}

void scores_of(const float* u, std::size_t pitch, int outputs, int count, const float* weights, float* scores) {
  const Floats d;
  const int n = static_cast<int>(hn::Lanes(d));
  const auto zero = hn::Zero(d);
  for (int j = 0; j < count; j += 2 * n) {
    auto a = zero, b = zero;
    for (int o = 0; o < outputs; ++o) {
      const auto weight = hn::Set(d, weights[o]);
      a = hn::MulAdd(weight, hn::Max(zero, hn::LoadU(d, u + o * pitch + j)), a);
      b = hn::MulAdd(weight, hn::Max(zero, hn::LoadU(d, u + o * pitch + j + n)), b);
    }
    if (j + 2 * n <= count) {
      hn::StoreU(a, d, scores + j);
      hn::StoreU(b, d, scores + j + n);
    } else {
      float last[2 * lanes];
      hn::StoreU(a, d, last);
      hn::StoreU(b, d, last + n);
      std::memcpy(scores + j, last, (count - j) * sizeof(float));
    }
  }
}

}  // namespace iap::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace iap::simd {

HWY_EXPORT(add_sums);
HWY_EXPORT(scores_of);

void add_relu_sums(const float* u, std::size_t pitch, int d, int count, const float* weights, float* sums) {
  HWY_DYNAMIC_DISPATCH(add_sums)(u, pitch, d, count, weights, sums);
}
void relu_scores(const float* u, std::size_t pitch, int d, int count, const float* weights, float* scores) {
  HWY_DYNAMIC_DISPATCH(scores_of)(u, pitch, d, count, weights, scores);
}

}  // namespace iap::simd
#endif
