module;
#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
export module iap.core:interrupt;

export namespace iap {

/// Thrown where a user's interrupt (Ctrl-C) is noticed. No Error: what deals with errors lets it pass, up to who began the work.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

/// Asks every running rollout to stop, because of `signal` where that is not 0. Async-signal-safe: a host's signal handler may call
/// it.
void request_interrupt(int signal = 0) noexcept;
void clear_interrupt() noexcept;
bool interrupt_requested() noexcept;
/// The signal of the last request that was the first to ask; 0: of none.
int interrupt_signal() noexcept;
/// "SIGTERM"; "signal 40" where it has no name.
std::string signal_name(int signal);
/// @throws Interrupted if an interrupt was requested.
void check_interrupt();

/// Multiply-adds, or what takes as long, between two looks (check_interrupt) of a loop over what a file made large: some hundredths
/// of a second. Nothing else ends a forward of a policy.
inline constexpr std::size_t work_between_looks = std::size_t{1} << 26;

/// How many things that cost `work` each make up so much; at least 1.
constexpr std::size_t things_between_looks(std::size_t work) {
  return std::max<std::size_t>(1, work_between_looks / std::max<std::size_t>(1, work));
}

/// For loops whose bodies are too short to look each time.
class Looks {
 public:
  /// Whether it is time to look again, once so much more is done.
  bool due(std::size_t work) {
    done_ += work;
    if (done_ < work_between_looks) return false;
    done_ = 0;
    return true;
  }

 private:
  std::size_t done_ = 0;
};

}  // namespace iap
