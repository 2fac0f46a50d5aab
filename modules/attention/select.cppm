module;
#include <span>
#include <string_view>
export module iap.attention:select;

export namespace iap {

/// Writes the indices of the `selected.size()` largest scores, best first; equal scores go to the lower index. `what` made them.
/// @throws Error if a score is NaN.
void select_top(std::span<const float> scores, std::span<int> selected, std::string_view what = "attention");

}  // namespace iap
