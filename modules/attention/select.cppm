module;
#include <span>
export module iap.attention:select;

export namespace iap {

/// Writes the indices of the `selected.size()` largest scores, best first; equal scores go to the lower index. NaN ranks last.
void select_top(std::span<const float> scores, std::span<int> selected);

}  // namespace iap
