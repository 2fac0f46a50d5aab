#include <cstddef>
#include <cstdint>

#include "simd_rows.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd_hash.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace iap::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void distances_of(const std::uint64_t* codes, std::size_t pitch, int words, int count, const std::uint64_t* query,
                  std::uint64_t* distances) {
  const hn::CappedTag<std::uint64_t, lanes> d;
  const int n = static_cast<int>(hn::Lanes(d));
  for (int j = 0; j < count; j += 2 * n) {
    auto a = hn::Zero(d), b = hn::Zero(d);
    for (int w = 0; w < words; ++w) {
      const auto word = hn::Set(d, query[w]);
      const std::uint64_t* row = codes + w * pitch + j;
      a = hn::Add(a, hn::PopulationCount(hn::Xor(word, hn::LoadU(d, row))));
      b = hn::Add(b, hn::PopulationCount(hn::Xor(word, hn::LoadU(d, row + n))));
    }
    hn::StoreU(a, d, distances + j);
    hn::StoreU(b, d, distances + j + n);
  }
}

}  // namespace iap::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace iap::simd {

HWY_EXPORT(distances_of);

void hamming_distances(const std::uint64_t* codes, std::size_t pitch, int words, int count, const std::uint64_t* query,
                       std::uint64_t* distances) {
  HWY_DYNAMIC_DISPATCH(distances_of)(codes, pitch, words, count, query, distances);
}

}  // namespace iap::simd
#endif
