module;
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>
#include <vector>
module iap.ranks;
import iap.core;
import :dealer;

namespace iap {
namespace {
constexpr int nobody = -1;
}

Dealer::Dealer(std::size_t tasks, std::span<const double> expected, std::vector<int> threads)
    : threads_(std::move(threads)), held_(threads_.size()), waiting_(tasks), holder_(tasks, nobody), end_(tasks) {
  std::iota(waiting_.begin(), waiting_.end(), std::size_t{0});
  if (!expected.empty())
    std::ranges::sort(waiting_,
                      [&](std::size_t a, std::size_t b) { return std::pair(expected[b], a) < std::pair(expected[a], b); });
  std::ranges::reverse(waiting_);
}

std::vector<std::pair<int, std::size_t>> Dealer::deal() {
  std::vector<std::pair<int, std::size_t>> dealt;
  const auto all = static_cast<std::size_t>(std::accumulate(threads_.begin(), threads_.end(), 0));
  // Round by round, so that few tasks reach many ranks.
  for (std::size_t level = 1;; ++level) {
    bool room = false;
    for (std::size_t rank = 0; rank < threads_.size(); ++rank) {
      const std::size_t spare = waiting_.size() > all ? 1 : 0;
      if (held_[rank] >= static_cast<std::size_t>(threads_[rank]) + spare) continue;
      room = true;
      if (held_[rank] >= level) continue;
      while (!waiting_.empty() && !wanted(waiting_.back())) waiting_.pop_back();
      if (waiting_.empty()) return dealt;
      const std::size_t task = waiting_.back();
      waiting_.pop_back();
      holder_[task] = static_cast<int>(rank);
      ++held_[rank];
      dealt.emplace_back(rank, task);
    }
    if (!room) return dealt;
  }
}

void Dealer::back(int rank, std::size_t task) {
  if (task >= holder_.size() || holder_[task] != rank)
    throw Error(text("rank ", rank, " gives back task ", task, ", which it has not got"));
  holder_[task] = nobody;
  --held_[static_cast<std::size_t>(rank)];
}

void Dealer::failed(std::size_t task) { end_ = std::min(end_, task); }

bool Dealer::done() const {
  const auto open = [this](std::size_t task) { return wanted(task); };
  if (std::ranges::any_of(waiting_, open)) return false;
  for (std::size_t task = 0; task < end_; ++task)
    if (holder_[task] != nobody) return false;
  return true;
}

}  // namespace iap
