#pragma once
// Included after `import iap.ranks;`.
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

/// Ranks that pass all on to others; who derives from them listens in or meddles.
class RanksBetween : public iap::Ranks {
 public:
  explicit RanksBetween(std::unique_ptr<iap::Ranks> others) : others_(std::move(others)) {}
  int rank() const override { return others_->rank(); }
  int size() const override { return others_->size(); }
  void send(int to, std::string bytes) override { others_->send(to, std::move(bytes)); }
  std::optional<Message> receive() override { return others_->receive(); }
  void announce(const std::string& bytes) override { others_->announce(bytes); }
  std::optional<std::string> announced() override { return others_->announced(); }
  iap::Traffic traffic() const override { return others_->traffic(); }
  void leave() override { others_->leave(); }

 private:
  std::unique_ptr<iap::Ranks> others_;
};

/// A job whose ranks are threads of this process; while it lives, rollouts of known environments are dealt to all of them.
class JobHere {
 public:
  using Between = std::function<std::unique_ptr<iap::Ranks>(std::unique_ptr<iap::Ranks>)>;
  /// `between` may put something between rank 0 and the others.
  explicit JobHere(int size, const Between& between = [](auto ranks) { return ranks; }) {
    auto ranks = iap::thread_ranks(size);
    for (int rank = 1; rank < size; ++rank)
      others_.emplace_back(
          [own = std::move(ranks[static_cast<std::size_t>(rank)])]() mutable { iap::Job(std::move(own)).serve(); });
    job_ = std::make_unique<iap::Job>(between(std::move(ranks[0])));
    job_->take_rollouts();
  }
  iap::Job& job() { return *job_; }

 private:
  std::vector<std::jthread> others_;
  std::unique_ptr<iap::Job> job_;  // ends before they are waited for
};
