module;
#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
module iap.attention;
import iap.core;

namespace iap {
namespace {

void refuse_nan(std::span<const float> scores, int index, std::string_view what) {
  if (std::isnan(scores[index]))
    throw Error(
        text(what, ": score ", index,
             " is NaN and cannot be ranked; look for a value that is not finite in the frame, the parameters or the query"));
}

}  // namespace

void select_top(std::span<const float> scores, std::span<int> selected, std::string_view what) {
  const auto better = [&](int a, int b) { return scores[a] > scores[b] || (scores[a] == scores[b] && a < b); };
  // `selected` is a heap whose front is the worst patch kept so far: one comparison for most patches, no other memory.
  const int wanted = static_cast<int>(selected.size()), count = static_cast<int>(scores.size());
  for (int i = 0; i < wanted; ++i) {
    refuse_nan(scores, i, what);
    selected[i] = i;
  }
  if (wanted == 0) return;
  std::ranges::make_heap(selected, better);
  float worst = scores[selected.front()];
  for (int i = wanted; i < count; ++i) {
    // A later patch displaces another only with a larger score; NaN is neither larger nor not.
    if (scores[i] <= worst) continue;
    refuse_nan(scores, i, what);
    std::ranges::pop_heap(selected, better);
    selected.back() = i;
    std::ranges::push_heap(selected, better);
    worst = scores[selected.front()];
  }
  std::ranges::sort_heap(selected, better);
}

}  // namespace iap
