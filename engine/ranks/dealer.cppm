module;
#include <cstddef>
#include <span>
#include <utility>
#include <vector>
/// Who plays what.
export module iap.ranks:dealer;
import iap.core;

export namespace iap {

/// Deals tasks to ranks: a task for each thread and, as long as there is plenty, one more for each rank, so that it need not wait
/// for the next message; towards the end only to threads that are free, so that nothing waits behind an episode while another rank
/// has nothing to do.
class Dealer {
 public:
  /// `expected` seconds of each task: the longest are dealt first, equal ones in their order. Empty: all are alike.
  Dealer(std::size_t tasks, std::span<const double> expected, std::vector<int> threads);

  /// Tasks to be given away now, as (rank, task).
  std::vector<std::pair<int, std::size_t>> deal();
  /// `task` is back from `rank`. @throws Error if that has not got it.
  void back(int rank, std::size_t task);
  /// Task `task` has failed: no later one is dealt any more.
  void failed(std::size_t task);
  /// Whether nothing is left to deal, and all are back that come before the first failure.
  bool done() const;

 private:
  bool wanted(std::size_t task) const { return task < end_; }

  std::vector<int> threads_;
  std::vector<std::size_t> held_;     // by each rank
  std::vector<std::size_t> waiting_;  // the next one last
  std::vector<int> holder_;           // of each task; none: -1
  std::size_t end_;                   // tasks from here on are not wanted
};

}  // namespace iap
