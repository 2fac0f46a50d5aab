module;
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "simd_rates.hpp"
module iap.bench;
import iap.core;

namespace iap {
namespace {

// The best of many repeats within `seconds`, as calls of `body` a second.
template <class Body>
double best_rate(double seconds, const Body& body) {
  const auto begin = Clock::now();
  double shortest = 1e9;
  do {
    check_interrupt();
    const auto start = Clock::now();
    body();
    shortest = std::min(shortest, seconds_since(start));
  } while (seconds_since(begin) < seconds);
  return 1 / shortest;
}

}  // namespace

MachineRates measure_rates(double seconds) {
  constexpr int steps = 20000, count = 1024, repeats = 16;
  std::vector<float> values(count), results(2 * count), large((8U << 20) / sizeof(float), 1.0F);
  // Arguments like those of features: exponents and angles of moderate size.
  std::iota(values.begin(), values.end(), -count / 2.0F);
  for (float& value : values) value *= 10.0F / count;
  MachineRates rates;
  float kept = 0;
  rates.fma = best_rate(seconds / 4, [&] { kept += simd::multiply_add_chains(steps); }) * simd::multiply_adds(steps);
  rates.exp = best_rate(seconds / 4,
                        [&] {
                          for (int i = 0; i < repeats; ++i) simd::exponentials(values.data(), count, results.data());
                        }) *
              repeats * count;
  rates.sine_cosine = best_rate(seconds / 4,
                                [&] {
                                  for (int i = 0; i < repeats; ++i) simd::sines_cosines(values.data(), count, results.data());
                                }) *
                      repeats * count;
  rates.bytes = best_rate(seconds / 4, [&] { kept += simd::sum(large.data(), static_cast<int>(large.size())); }) *
                static_cast<double>(large.size() * sizeof(float));
  // A result that nobody reads need not be computed.
  if (kept == 0) rates.fma = 0;
  return rates;
}

}  // namespace iap
