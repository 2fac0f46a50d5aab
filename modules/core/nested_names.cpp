module;
#include <utility>
module iap.core;
#include "core/nested_names.hpp"

namespace iap {
namespace {
thread_local bool nested_names_judged = false;
}

extern "C++" bool judges_nested_names() noexcept { return nested_names_judged; }

extern "C++" bool judge_nested_names(bool judges) noexcept { return std::exchange(nested_names_judged, judges); }

}  // namespace iap
