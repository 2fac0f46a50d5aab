#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
import iap.bench;

using namespace iap;

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
