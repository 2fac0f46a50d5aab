#include <catch2/catch_test_macros.hpp>
#include <csignal>
import iap.core;

using namespace iap;

TEST_CASE("an interrupt is the first signal's until it is cleared") {
  request_interrupt(SIGTERM);
  request_interrupt(SIGINT);
  CHECK(interrupt_signal() == SIGTERM);
  CHECK_THROWS_AS(check_interrupt(), Interrupted);
  clear_interrupt();
  CHECK_FALSE(interrupt_requested());
  CHECK_NOTHROW(check_interrupt());
  request_interrupt(SIGHUP);
  CHECK(interrupt_signal() == SIGHUP);
  clear_interrupt();
}
