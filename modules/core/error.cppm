module;
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>
export module iap.core:error;
export import :text;

export namespace iap {

/// The exception of everything that fails in the engine. Its message names the thing, the bad value and the remedy.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The candidate with the smallest edit distance to `name`, or "" when none is close enough to be a plausible typo.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

/// "; did you mean 'x'?" for a plausible typo, else "; known: a, b, c".
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace iap
