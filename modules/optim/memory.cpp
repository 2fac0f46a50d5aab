module;
#include <cmath>
#include <string_view>
module iap.optim;
import iap.core;
import :memory;

namespace iap {
namespace {

double in_gib(double bytes) { return std::round(bytes / (1 << 30) * 10) / 10; }

}  // namespace

void require_memory(std::string_view owner, std::string_view what, double bytes, std::string_view remedy) {
  const double usable = usable_memory();
  if (bytes > usable)
    throw Error(
        text(owner, ": ", what, " needs ", in_gib(bytes), " GiB of memory, this process may use ", in_gib(usable), "; ", remedy));
}

}  // namespace iap
