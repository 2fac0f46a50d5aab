#pragma once

namespace iap {
extern "C++" {

/// While it lives, an interrupt that was asked for is none to what brings its work to an end, such as copies of policies.
class HeldInterrupt {
 public:
  HeldInterrupt() noexcept;
  ~HeldInterrupt();
  HeldInterrupt(const HeldInterrupt&) = delete;
  HeldInterrupt& operator=(const HeldInterrupt&) = delete;

 private:
  const bool asked_;
};

/// Whether an interrupt was asked for, be it held or not: for handlers of signals, to which the next one is the second.
/// Async-signal-safe.
bool interrupt_begun() noexcept;
}
}  // namespace iap
