#include <cstddef>

#include "simd_rates.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd_rates.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "simd_linear-inl.hpp"
#include "simd_math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace iap::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// As many chains as hide the latency of a multiply-add and leave room for its factors among 16 registers.
constexpr int chains = 12;

double multiply_adds_of(int steps) { return static_cast<double>(steps) * chains * static_cast<double>(hn::Lanes(Floats())); }

float run_chains(int steps) {
  const Floats d;
  const auto factor = hn::Set(d, 0.999F), term = hn::Set(d, 0.001F);
  hn::Vec<Floats> sum[chains];
  for (int i = 0; i < chains; ++i) sum[i] = hn::Iota(d, static_cast<float>(i));
  for (int step = 0; step < steps; ++step)
    for (int i = 0; i < chains; ++i) sum[i] = hn::MulAdd(sum[i], factor, term);
  auto total = sum[0];
  for (int i = 1; i < chains; ++i) total = hn::Add(total, sum[i]);
  return hn::GetLane(hn::SumOfLanes(d, total));
}

void exponentials_of(const float* in, int count, float* out) {
  const Floats d;
  const int n = static_cast<int>(hn::Lanes(d));
  for (int j = 0; j < count; j += n) hn::StoreU(exponential(d, hn::LoadU(d, in + j)), d, out + j);
}

void sines_cosines_of(const float* in, int count, float* out) {
  const Floats d;
  const int n = static_cast<int>(hn::Lanes(d));
  for (int j = 0; j < count; j += n) {
    hn::Vec<Floats> sine, cosine;
    sine_cosine(d, hn::LoadU(d, in + j), sine, cosine);
    hn::StoreU(sine, d, out + j);
    hn::StoreU(cosine, d, out + count + j);
  }
}

float sum_of(const float* in, int count) {
  const Floats d;
  const int n = static_cast<int>(hn::Lanes(d));
  hn::Vec<Floats> sum[4];
  for (auto& part : sum) part = hn::Zero(d);
  for (int j = 0; j < count; j += 4 * n)
    for (int i = 0; i < 4; ++i) sum[i] = hn::Add(sum[i], hn::LoadU(d, in + j + i * n));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3]))));
}

}  // namespace iap::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace iap::simd {

HWY_EXPORT(multiply_adds_of);
HWY_EXPORT(run_chains);
HWY_EXPORT(exponentials_of);
HWY_EXPORT(sines_cosines_of);
HWY_EXPORT(sum_of);

double multiply_adds(int steps) { return HWY_DYNAMIC_DISPATCH(multiply_adds_of)(steps); }
float multiply_add_chains(int steps) { return HWY_DYNAMIC_DISPATCH(run_chains)(steps); }
void exponentials(const float* in, int count, float* out) { HWY_DYNAMIC_DISPATCH(exponentials_of)(in, count, out); }
void sines_cosines(const float* in, int count, float* out) { HWY_DYNAMIC_DISPATCH(sines_cosines_of)(in, count, out); }
float sum(const float* in, int count) { return HWY_DYNAMIC_DISPATCH(sum_of)(in, count); }

}  // namespace iap::simd
#endif
