#include "cli/start.hpp"

#include <fcntl.h>
#include <oneapi/tbb/global_control.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"
#include "cli/interrupts.hpp"
import iap.core;

namespace iap::cli {
namespace {

class OutOfMemory : public std::bad_alloc {
 public:
  const char* what() const noexcept override { return "out of memory"; }
};

std::terminate_handler others_terminate = nullptr;

// A library that promises not to throw may allocate all the same (CLI11's lookups of options): the message in place of an abort.
void end_without_memory() {
  try {
    if (const auto thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    constexpr std::string_view message = "iap: out of memory\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, message.data(), message.size());
    ::_exit(Exit::failure);
  } catch (...) {
    // Told by the handler of before.
  }
  others_terminate();
}

void open_streams() {
  int descriptor = 0;
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) descriptor = ::open("/dev/null", O_RDWR);
  if (descriptor > STDERR_FILENO) ::close(descriptor);
}

// Limits are whole seconds; of a single one, half is told by a timer. Programs that this one starts do not inherit it.
void limit_to_half_a_second() {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGXCPU;
  timer_t timer{};
  const itimerspec half{.it_interval = {}, .it_value = {.tv_sec = 0, .tv_nsec = 500'000'000}};
  if (timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) == 0) timer_settime(timer, TIMER_ABSTIME, &half, nullptr);
}

// Shells set both limits of processor time to the same (ulimit -t), and at the hard one the kernel kills without a word: keeps back
// what it takes to end in good order.
void limit_processor_time() {
  constexpr rlim_t kept_back = 5;  // seconds
  rlimit limit{};
  if (getrlimit(RLIMIT_CPU, &limit) != 0 || limit.rlim_max == RLIM_INFINITY || limit.rlim_cur < limit.rlim_max) return;
  if (limit.rlim_max <= 1) return limit_to_half_a_second();
  limit.rlim_cur = std::max(limit.rlim_max / 2, limit.rlim_max - std::min(limit.rlim_max, kept_back));
  setrlimit(RLIMIT_CPU, &limit);
}

constexpr const char* instructions_variable = "IAP_INSTRUCTIONS";
constexpr const char* tunables_variable = "GLIBC_TUNABLES";
// Of the functions of glibc's libm that exist several times, these choose the ones that fuse multiplications with additions.
constexpr std::string_view plain_libm = "glibc.cpu.hwcaps=-FMA,-FMA4";

/// TBB's threads would end while the process's objects go, and both free what belongs to the driver of a GPU.
void await_threads() {
  try {
    oneapi::tbb::task_scheduler_handle workers(oneapi::tbb::attach{});
    oneapi::tbb::finalize(workers, std::nothrow);
  } catch (const std::bad_alloc&) {
    // What takes the memory is what TBB makes where nothing ran in parallel: there are no threads then.
  }
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

void prepare_process() {
  open_streams();
  // A handler rather than SIG_IGN, which the programs that this one starts would inherit.
  catch_signal(SIGXFSZ, [](int) {});
  // Ignored, as a parent may leave it, it would keep from us how our own children end.
  std::signal(SIGCHLD, SIG_DFL);
  limit_processor_time();
  std::set_new_handler([] { throw OutOfMemory(); });
  others_terminate = std::set_terminate(end_without_memory);
}

std::string follow_instructions(const std::string& instructions, const std::string& program,
                                const std::vector<std::string>& words) {
  const std::string wanted = instructions.empty() ? variable(instructions_variable) : instructions;
  if (wanted.empty()) return wanted;
  choose_instructions(wanted);
  ::setenv(instructions_variable, wanted.c_str(), 1);
  if (wanted != portable_instructions) return wanted;
  // The C library reads its variable before the program begins.
  std::string tunables = variable(tunables_variable);
  // Of several values of a name it takes the last.
  if (tunables == plain_libm || tunables.ends_with(text(":", plain_libm))) return wanted;
  tunables += (tunables.empty() ? "" : ":") + std::string(plain_libm);
  ::setenv(tunables_variable, tunables.c_str(), 1);
  std::vector<char*> again{const_cast<char*>(program.c_str())};
  for (const auto& word : words) again.push_back(const_cast<char*>(word.c_str()));
  again.push_back(nullptr);
  ::execv("/proc/self/exe", again.data());
  throw Error(text("instructions: cannot begin anew for 'portable': ", std::strerror(errno)));
}

int end_process(int code) {
  await_threads();
  std::cout.flush();
  const bool flushed = std::fflush(stdout) == 0;
  const int error = errno;
  if ((flushed && !std::ferror(stdout) && std::cout) || code != Exit::success) return code;
  std::cerr << "cannot write to the standard output: " << (flushed ? "a part of it was lost" : std::strerror(error)) << "\n";
  return Exit::failure;
}

}  // namespace iap::cli
