#include <catch2/catch_test_macros.hpp>
import iap.attention;

using namespace iap;

TEST_CASE("measured rates are those of a computer") {
  const MachineRates rates = measure_rates(0.04);
  CHECK(rates.fma > 1e8);
  CHECK(rates.fma < 1e12);
  // An exponential is several multiply-adds, a pair of sine and cosine more.
  CHECK(rates.exp < rates.fma);
  CHECK(rates.sine_cosine < rates.fma);
  CHECK(rates.exp > rates.fma / 1000);
  CHECK(rates.sine_cosine > rates.fma / 1000);
  CHECK(rates.bytes > 1e8);
}
