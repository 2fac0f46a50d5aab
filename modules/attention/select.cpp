module;
#include <algorithm>
#include <cmath>
#include <span>
module iap.attention;

namespace iap {

void select_top(std::span<const float> scores, std::span<int> selected) {
  const auto better = [&](int a, int b) {
    const float x = scores[a], y = scores[b];
    const bool x_nan = std::isnan(x), y_nan = std::isnan(y);
    if (x_nan != y_nan) return y_nan;
    return x > y || (!(y > x) && a < b);
  };
  // `selected` is a heap whose front is the worst patch kept so far: one comparison for most patches, no other memory.
  const int wanted = static_cast<int>(selected.size()), count = static_cast<int>(scores.size());
  if (wanted == 0) return;
  for (int i = 0; i < wanted; ++i) selected[i] = i;
  std::ranges::make_heap(selected, better);
  for (int i = wanted; i < count; ++i) {
    // The common case in one comparison: a later patch displaces a number only with a larger one.
    const float worst = scores[selected.front()];
    if (!(scores[i] > worst) && !(std::isnan(worst) && better(i, selected.front()))) continue;
    std::ranges::pop_heap(selected, better);
    selected.back() = i;
    std::ranges::push_heap(selected, better);
  }
  std::ranges::sort_heap(selected, better);
}

}  // namespace iap
