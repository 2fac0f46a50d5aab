export module iap.core:interrupt;
import :error;

export namespace iap {

/// Thrown where a user's interrupt (Ctrl-C) is noticed.
class Interrupted : public Error {
 public:
  Interrupted() : Error("interrupted") {}
};

/// Asks every running rollout to stop. Async-signal-safe: a host's signal handler may call it.
void request_interrupt() noexcept;
void clear_interrupt() noexcept;
bool interrupt_requested() noexcept;
/// @throws Interrupted if an interrupt was requested.
void check_interrupt();

}  // namespace iap
