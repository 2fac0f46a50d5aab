#pragma once
#include <limits>
#include <string>
#include <string_view>
#include <vector>

// Include it after `import iap.core`.
namespace iap {
extern "C++" {

/// One question that a reader of options asked.
struct OptionRead {
  std::string owner, key;
  std::string_view type;  ///< "number", "integer", "boolean", "string", "integers", "list" or "any"
  Config fallback;        ///< null where there is none
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  std::vector<std::string> names;  ///< of a choice
};

/// From now on every `Options` of this thread notes in `log` what it is asked for; null ends that. Returns the log of before. What
/// documentation says of options is compared with it, and it tells which table an option belongs to.
std::vector<OptionRead>* log_options(std::vector<OptionRead>* log) noexcept;
}
}  // namespace iap
