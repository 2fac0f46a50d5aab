#pragma once
// Included after `import iap.ranks;`.
#include <exception>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

/// A job whose ranks are threads of this process; while it lives, rollouts of known environments are dealt to all of them.
class JobHere {
 public:
  explicit JobHere(int size) {
    auto ranks = iap::thread_ranks(size);
    for (int rank = 1; rank < size; ++rank)
      others_.emplace_back(
          [own = std::move(ranks[static_cast<std::size_t>(rank)])]() mutable { iap::Job(std::move(own)).serve(); });
    job_ = std::make_unique<iap::Job>(std::move(ranks[0]));
    job_->take_rollouts();
  }
  iap::Job& job() { return *job_; }

 private:
  std::vector<std::jthread> others_;
  std::unique_ptr<iap::Job> job_;  // ends before they are waited for
};
