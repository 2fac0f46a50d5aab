#include <catch2/catch_test_macros.hpp>
#include <csignal>
import iap.core;
#include "core/held_interrupt.hpp"

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

TEST_CASE("an interrupt that is held is none to the work, but one to whoever asks whether it was begun") {
  CHECK_FALSE(interrupt_begun());
  request_interrupt(SIGTERM);
  {
    const HeldInterrupt outer;
    CHECK_NOTHROW(check_interrupt());
    CHECK(interrupt_begun());
    request_interrupt(SIGINT);
    {
      const HeldInterrupt inner;
      CHECK_NOTHROW(check_interrupt());
    }
    CHECK(interrupt_begun());
    CHECK_THROWS_AS(check_interrupt(), Interrupted);
  }
  CHECK(interrupt_requested());
  clear_interrupt();
  CHECK_FALSE(interrupt_begun());
  const HeldInterrupt nothing;
  request_interrupt(SIGINT);
  CHECK_THROWS_AS(check_interrupt(), Interrupted);
  clear_interrupt();
}
