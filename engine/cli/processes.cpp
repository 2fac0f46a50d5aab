#include "cli/processes.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/interrupts.hpp"
import iap.core;
import iap.process;

namespace iap::cli {
namespace {

constexpr std::array handled{SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGXCPU, SIGCHLD};
std::array<struct sigaction, handled.size()> before;
std::array<int, 2> wake{-1, -1};  // a pipe: what the handler writes ends the wait, whichever thread it ran in
std::atomic<int> requests = 0;
FirstTermination first_termination;

void on_signal(int signal) {
  const int kept = errno;
  if (requests.load() == 0) first_termination.forget();
  const bool late_termination = signal == SIGTERM && first_termination.long_ago();
  // A terminal that goes may be told more than once, and the limit of processor time is told every second.
  const bool insists = signal == SIGINT || late_termination;
  if (signal != SIGCHLD && (insists || requests.load() == 0)) requests.fetch_add(1);
  const char byte = 0;
  [[maybe_unused]] const auto written = write(wake[1], &byte, 1);
  errno = kept;
}

std::string reason(int code) { return std::generic_category().message(code); }

}  // namespace

Processes::Processes() {
  if (pipe2(wake.data(), O_CLOEXEC | O_NONBLOCK) != 0) throw Error(text("cannot make a pipe: ", reason(errno)));
  requests = 0;
  for (std::size_t i = 0; i < handled.size(); ++i) before[i] = catch_signal(handled[i], on_signal);
}

Processes::~Processes() {
  ask_to_end();
  while (!running_.empty()) wait(1000);
  for (std::size_t i = 0; i < handled.size(); ++i) sigaction(handled[i], &before[i], nullptr);
  for (int& end : wake) close(std::exchange(end, -1));
}

bool Processes::stopping() const { return requests.load() > 0; }

void Processes::stop() { requests.fetch_add(1); }

void Processes::pass_on(int signal) const {
  for (const auto& [child, id] : running_) kill(-child, signal);
}

/// One that was stopped hears it, too.
void Processes::ask_to_end() const {
  pass_on(SIGTERM);
  pass_on(SIGCONT);
}

void Processes::start(std::size_t id, const std::vector<std::string>& words, const std::filesystem::path& log) {
  // The program as it runs now, whatever has become of its file.
  const pid_t child = start_process({.program = "/proc/self/exe", .words = words, .log = log});
  running_.emplace(child, id);
}

std::vector<Processes::Ended> Processes::wait(int milliseconds) {
  pollfd news = {wake[0], POLLIN, 0};
  poll(&news, 1, milliseconds);
  std::array<char, 64> bytes;
  while (read(wake[0], bytes.data(), bytes.size()) > 0) {
  }
  for (; passed_on_ < requests.load(); ++passed_on_)
    if (passed_on_ == 0)
      ask_to_end();
    else
      pass_on(SIGKILL);  // while a run waits for a program, it is deaf to Ctrl-C
  std::vector<Ended> ended;
  for (auto child = running_.begin(); child != running_.end();) {
    int status = 0;
    const pid_t found = waitpid(child->first, &status, WNOHANG);
    if (found == 0 || (found < 0 && errno == EINTR)) {
      ++child;
      continue;
    }
    const bool killed = found > 0 && WIFSIGNALED(status);
    ended.push_back({child->second, found > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1, killed ? WTERMSIG(status) : 0});
    child = running_.erase(child);
  }
  return ended;
}

bool end_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  return getppid() == parent;
}

}  // namespace iap::cli
