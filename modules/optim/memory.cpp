module;
#include <unistd.h>

#include <cmath>
#include <string_view>
module iap.optim;
import iap.core;
import :memory;

namespace iap {
namespace {

double in_gib(double bytes) { return std::round(bytes / (1 << 30) * 10) / 10; }

double machine_memory() { return static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE)); }

}  // namespace

void require_memory(std::string_view owner, std::string_view what, double bytes, std::string_view remedy) {
  const double available = machine_memory();
  if (bytes > available)
    throw Error(
        text(owner, ": ", what, " needs ", in_gib(bytes), " GiB of memory, this machine has ", in_gib(available), "; ", remedy));
}

}  // namespace iap
