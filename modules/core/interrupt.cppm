module;
#include <stdexcept>
export module iap.core:interrupt;

export namespace iap {

/// Thrown where a user's interrupt (Ctrl-C) is noticed. No Error: what deals with errors lets it pass, up to who began the work.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

/// Asks every running rollout to stop. Async-signal-safe: a host's signal handler may call it.
void request_interrupt() noexcept;
void clear_interrupt() noexcept;
bool interrupt_requested() noexcept;
/// @throws Interrupted if an interrupt was requested.
void check_interrupt();

}  // namespace iap
