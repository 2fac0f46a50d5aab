#include <poll.h>
#include <unistd.h>

#include "cli/sweep.hpp"

namespace iap::cli {

Launcher::Launcher() : process_(getppid()) {}

bool Launcher::is_gone() const {
  pollfd errors = {STDERR_FILENO, 0, 0};
  return getppid() != process_ || (poll(&errors, 1, 0) > 0 && (errors.revents & POLLERR) != 0);
}

}  // namespace iap::cli
