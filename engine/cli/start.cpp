#include "cli/start.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <new>

#include "cli/commands.hpp"

namespace iap::cli {
namespace {

class OutOfMemory : public std::bad_alloc {
 public:
  const char* what() const noexcept override { return "out of memory"; }
};

void open_streams() {
  int descriptor = 0;
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) descriptor = ::open("/dev/null", O_RDWR);
  if (descriptor > STDERR_FILENO) ::close(descriptor);
}

}  // namespace

void prepare_process() {
  open_streams();
  // A handler rather than SIG_IGN, which the programs that this one starts would inherit.
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGXFSZ, &action, nullptr);
  std::set_new_handler([] { throw OutOfMemory(); });
}

int end_process(int code) {
  std::cout.flush();
  const bool flushed = std::fflush(stdout) == 0;
  const int error = errno;
  if ((flushed && !std::ferror(stdout) && std::cout) || code != Exit::success) return code;
  std::cerr << "cannot write to the standard output: " << (flushed ? "a part of it was lost" : std::strerror(error)) << "\n";
  return Exit::failure;
}

}  // namespace iap::cli
