#pragma once
#include <cstddef>
#include <string>
#include <string_view>

// Include it after `import iap.core`.
namespace iap {
extern "C++" {

/// What the keys that a window of episodes keeps for itself do there, for the person at it.
extern const std::string_view window_help;

/// What is wrong with a table `keys` for an environment of `actions` actions, in the words of an error; "" if a window takes it.
/// `owner` names the table.
std::string keys_flaw(const std::string& owner, const Config& table, std::size_t actions);
}
}  // namespace iap
