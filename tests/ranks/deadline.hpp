#pragma once
// Included after `import iap.core;`.
#include <chrono>
#include <stop_token>
#include <thread>

/// Interrupts what hangs.
class Deadline {
 public:
  static constexpr std::chrono::seconds seconds{20};
  ~Deadline() {
    watch_ = {};
    iap::clear_interrupt();
  }

 private:
  std::jthread watch_{[](const std::stop_token& stop) {
    const auto end = std::chrono::steady_clock::now() + seconds;
    while (!stop.stop_requested() && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (!stop.stop_requested()) iap::request_interrupt();
  }};
};
