#pragma once
#include <array>
#include <csignal>

import iap.script;

namespace iap::cli {

/// The handler runs at the signal from now on, and calls that it interrupts go on; but for SIGHUP where that is ignored: under
/// nohup the terminal may go and the work goes on. Returns what stood there before.
struct sigaction catch_signal(int signal, void (*handler)(int));

/// From now on Ctrl-C asks the running work to stop in good order; a second one while it is still stopping ends the process.
/// `script` (may be null) is the one to stop.
void catch_interrupts(Script* script);

inline constexpr std::array terminating{SIGTERM, SIGUSR1, SIGXCPU, SIGPIPE, SIGHUP};

/// From now on SIGTERM, SIGUSR1 by which batch systems announce a time limit, SIGXCPU (the limit on processor time), SIGPIPE
/// (nobody reads any more what is printed) and SIGHUP (the terminal is gone; not where it was ignored) do what the first Ctrl-C
/// does, however often they come. After `catch_interrupts`.
void catch_termination();

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

/// Waits for input on the terminal. Returns false if Ctrl-C came first.
bool wait_for_key(int descriptor);

}  // namespace iap::cli
