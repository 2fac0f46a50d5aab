module;
#include <string_view>
/// Refusing what would not fit, before it is allocated.
module iap.optim:memory;
import iap.core;

namespace iap {

/// @throws Error "`owner`: `what` needs ... GiB, ...; `remedy`" if this process may use less memory than `bytes`.
void require_memory(std::string_view owner, std::string_view what, double bytes, std::string_view remedy);

}  // namespace iap
