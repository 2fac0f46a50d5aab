// A small matrix times rows of patches. Included once an instruction set, after foreach_target.h.
#if defined(IAP_SIMD_LINEAR_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef IAP_SIMD_LINEAR_INL
#undef IAP_SIMD_LINEAR_INL
#else
#define IAP_SIMD_LINEAR_INL
#endif
#include <cstddef>
#include <type_traits>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace iap::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;

/// Rows at one distance from each other.
template <typename T>
struct Strided {
  T* base;
  std::size_t pitch;
  T* operator[](int v) const { return base + v * pitch; }
  Strided from(int v) const { return {base + v * pitch, pitch}; }
};

/// Rows anywhere.
template <typename T>
struct Scattered {
  T* const* rows;
  T* operator[](int v) const { return rows[v]; }
  Scattered from(int v) const { return {rows + v}; }
};

// kOutputs x kVectors accumulators stay in registers; each weight is loaded once for kVectors vectors of patches.
template <int kOutputs, int kVectors, class In, class Out>
HWY_INLINE void linear_block(In in, int inputs, const float* weights, int weight_pitch, const float* bias, int j, Out out) {
  const Floats d;
  const int n = static_cast<int>(hn::Lanes(d));
  hn::Vec<Floats> sum[kOutputs][kVectors];
  for (int o = 0; o < kOutputs; ++o)
    for (int v = 0; v < kVectors; ++v) sum[o][v] = bias ? hn::Set(d, bias[o]) : hn::Zero(d);
  for (int i = 0; i < inputs; ++i) {
    hn::Vec<Floats> x[kVectors];
    for (int v = 0; v < kVectors; ++v) x[v] = hn::LoadU(d, in[i] + j + v * n);
    for (int o = 0; o < kOutputs; ++o) {
      const auto weight = hn::Set(d, weights[static_cast<std::size_t>(i) * weight_pitch + o]);
      for (int v = 0; v < kVectors; ++v) sum[o][v] = hn::MulAdd(weight, x[v], sum[o][v]);
    }
  }
  for (int o = 0; o < kOutputs; ++o)
    for (int v = 0; v < kVectors; ++v) hn::StoreU(sum[o][v], d, out[o] + j + v * n);
}

template <int kOutputs, class In, class Out>
HWY_INLINE void linear_group(In in, int inputs, const float* weights, int weight_pitch, const float* bias, int count, Out out) {
  const int n = static_cast<int>(hn::Lanes(Floats()));
  int j = 0;
  for (; j + n < count; j += 2 * n) linear_block<kOutputs, 2>(in, inputs, weights, weight_pitch, bias, j, out);
  if (j < count) linear_block<kOutputs, 1>(in, inputs, weights, weight_pitch, bias, j, out);
}

/// As simd::linear; `bias` may be null.
template <class In, class Out>
HWY_INLINE void linear_rows(In in, int inputs, const float* weights, int weight_pitch, const float* bias, int outputs, int count,
                            Out out) {
  int o = 0;
  const auto group = [&](auto size) {
    linear_group<size()>(in, inputs, weights + o, weight_pitch, bias ? bias + o : nullptr, count, out.from(o));
  };
#if HWY_TARGET <= HWY_AVX3
  // 32 registers.
  for (; outputs - o >= 8; o += 8) group(std::integral_constant<int, 8>());
#endif
  for (; outputs - o >= 4; o += 4) group(std::integral_constant<int, 4>());
  if (outputs - o >= 2) {
    group(std::integral_constant<int, 2>());
    o += 2;
  }
  if (outputs - o >= 1) group(std::integral_constant<int, 1>());
}

}  // namespace iap::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
