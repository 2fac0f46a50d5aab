#pragma once
#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>

import iap.script;

namespace iap::cli {

/// The handler runs at the signal from now on, and calls that it interrupts go on; but for SIGHUP where that is ignored: under
/// nohup the terminal may go and the work goes on. Returns what stood there before.
struct sigaction catch_signal(int signal, void (*handler)(int));

/// Ends the process at once, by the signal where the system lets that end it, else with the exit code that shells give it then. For
/// handlers, too.
[[noreturn]] void end_by(int signal);

/// From now on Ctrl-C asks the running work to stop in good order; a second one while it is still stopping ends the process.
/// `script` (may be null) is the one to stop.
void catch_interrupts(Script* script);

inline constexpr std::array terminating{SIGTERM, SIGUSR1, SIGXCPU, SIGPIPE, SIGHUP};

/// From now on SIGTERM, SIGUSR1 by which batch systems announce a time limit, SIGXCPU (the limit on processor time), SIGPIPE
/// (nobody reads any more what is printed) and SIGHUP (the terminal is gone; not where it was ignored) do what the first Ctrl-C
/// does, however often they come; but a SIGTERM that comes 5 s or more after the first, while what it ended is not done yet,
/// ends the process as the second Ctrl-C does. After `catch_interrupts`.
void catch_termination();

/// For handlers of SIGTERM: schedulers and `timeout` send it to a process and once more to its group, which is one request.
class FirstTermination {
 public:
  void forget() noexcept { at_ = 0; }
  /// Whether the first one came 5 s ago or earlier. Where there was none, this is it.
  bool long_ago() noexcept;

 private:
  std::atomic<std::int64_t> at_ = 0;  // ms of the monotonic clock
};

/// The same for as long as it lives.
class CaughtTermination {
 public:
  CaughtTermination();
  ~CaughtTermination();
  CaughtTermination(const CaughtTermination&) = delete;
  CaughtTermination& operator=(const CaughtTermination&) = delete;
  /// Whether one of them came.
  bool came() const;

 private:
  std::array<struct sigaction, terminating.size()> before_;
};

/// Waits for input on the terminal, while no work runs. Returns false if Ctrl-C came first, or since the work ended.
bool wait_for_key(int descriptor);

}  // namespace iap::cli
