#include <catch2/catch_test_macros.hpp>
#include <cmath>
import iap.bench;

using namespace iap;

TEST_CASE("measured rates are those of a computer") {
  const MachineRates rates = measure_rates(0.04);
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
