#include <time.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <numeric>
#include <vector>
import iap.bench;

using namespace iap;

TEST_CASE("what takes less than its clock is timed without it") {
  std::vector<float> values(50, 1.0f);
  volatile float sum = 0;
  int bodies = 0;
  const auto body = [&] {
    ++bodies;
    sum = std::accumulate(values.begin(), values.end(), sum);
  };
  const auto processor_milliseconds = [] {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
  };
  // The mean of many calls between two readings, which is no less than the least of them.
  constexpr int many = 20000;
  const double before = processor_milliseconds();
  for (int i = 0; i < many; ++i) body();
  const double mean = (processor_milliseconds() - before) / many;
  bodies = 0;
  const Timing timing = measure(0.05, body);
  CHECK(timing.calls > 5);
  CHECK(timing.calls <= bodies);
  CHECK(timing.processor > 0);
  CHECK(timing.processor < 1.5 * mean);
  CHECK(timing.median <= timing.p99);

  // What takes long is called one by one.
  const Timing slow = measure(0, [&] {
    for (int i = 0; i < many; ++i) body();
  });
  CHECK(slow.calls == 5);
}

TEST_CASE("measured rates are those of a computer") {
  // The best of several: whatever else the machine does takes time from some of them.
  MachineRates rates;
  for (int i = 0; i < 6; ++i) {
    const MachineRates measured = measure_rates(0.02);
    for (auto member : {&MachineRates::fma, &MachineRates::exp, &MachineRates::sine_cosine, &MachineRates::bytes})
      rates.*member = std::max(rates.*member, measured.*member);
  }
  for (const double rate : {rates.fma, rates.exp, rates.sine_cosine, rates.bytes}) {
    CHECK(std::isfinite(rate));
    CHECK(rate > 0);
  }
  // An exponential is several multiply-adds, a sine and cosine more, and neither is a thousand of them.
  CHECK(rates.exp < rates.fma);
  CHECK(rates.sine_cosine < rates.fma);
  CHECK(rates.exp > rates.fma / 1000);
  CHECK(rates.sine_cosine > rates.fma / 1000);
}
