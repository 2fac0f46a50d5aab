module;
#include <atomic>
#include <cstring>
#include <string>
module iap.core;
#include "core/held_interrupt.hpp"

namespace iap {
namespace {
std::atomic<bool> requested = false;
std::atomic<int> signal_of_request = 0, held = 0;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);
}  // namespace

void request_interrupt(int signal) noexcept {
  if (interrupt_requested()) return;
  signal_of_request.store(signal, std::memory_order_relaxed);
  requested.store(true, std::memory_order_relaxed);
}
void clear_interrupt() noexcept { requested.store(false, std::memory_order_relaxed); }
bool interrupt_requested() noexcept { return requested.load(std::memory_order_relaxed); }
void check_interrupt() {
  if (interrupt_requested()) throw Interrupted();
}

int interrupt_signal() noexcept { return signal_of_request.load(std::memory_order_relaxed); }

extern "C++" HeldInterrupt::HeldInterrupt() noexcept : asked_(interrupt_requested()) {
  if (!asked_) return;
  ++held;
  clear_interrupt();
}
extern "C++" HeldInterrupt::~HeldInterrupt() {
  if (!asked_) return;
  request_interrupt(interrupt_signal());
  --held;
}

extern "C++" bool interrupt_begun() noexcept { return interrupt_requested() || held > 0; }

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name ? text("SIG", name) : text("signal ", signal);
}

}  // namespace iap
