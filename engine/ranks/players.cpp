module;
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>
module iap.ranks;
import iap.core;
import iap.policy;
import iap.rollout;
import :players;

namespace iap {
namespace {

struct Given {
  NumberedTask task;
  std::shared_ptr<const std::vector<float>> vector;
  Clock::time_point begin;
};

/// The tasks of one round on their way.
class Queue final : public TaskFeed {
 public:
  void give(Given given) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(given));
    more_.notify_one();
  }

  std::vector<Played> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(ended_, {});
  }

  void wait(std::chrono::microseconds most) {
    std::unique_lock lock(mutex_);
    result_.wait_for(lock, most, [this] { return !ended_.empty(); });
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    wanted_.store(false, std::memory_order_relaxed);
    waiting_.clear();
    more_.notify_all();
  }

  std::optional<NumberedTask> next() override {
    std::unique_lock lock(mutex_);
    more_.wait(lock, [this] { return !waiting_.empty() || !wanted(); });
    if (!wanted()) return {};
    Given given = std::move(waiting_.front());
    waiting_.pop_front();
    given.begin = Clock::now();
    const NumberedTask task = given.task;
    at_work_.emplace(task.number, std::move(given));
    return task;
  }

  void played(std::size_t number, Episode episode) override { end({.number = number, .episode = std::move(episode)}); }

  void failed(std::size_t number) override {
    Played played{.number = number};
    try {
      throw;
    } catch (const std::exception& error) {
      played.error = error.what();
    }
    end(std::move(played));
  }

  bool wanted() const override { return wanted_.load(std::memory_order_relaxed); }

 private:
  void end(Played played) {
    const std::lock_guard lock(mutex_);
    const auto found = at_work_.find(played.number);
    played.seconds = seconds_since(found->second.begin);
    at_work_.erase(found);
    ended_.push_back(std::move(played));
    result_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable more_, result_;
  std::deque<Given> waiting_;
  std::unordered_map<std::size_t, Given> at_work_;
  std::vector<Played> ended_;
  std::atomic<bool> wanted_ = true;
};

}  // namespace

struct Players::Impl {
  RolloutPool pool;
  std::optional<Queue> queue;
  std::jthread thread;
};

Players::Players(EnvFactory make_env, Policy prototype, int threads, const Safeguards& safeguards, const Config& env)
    : impl_(new Impl{RolloutPool(std::move(make_env), std::move(prototype), threads, safeguards, env), {}, {}}) {}

Players::~Players() { end(); }

int Players::threads() const { return impl_->pool.threads(); }

void Players::begin() {
  end();
  impl_->queue.emplace();
  impl_->thread = std::jthread([this] { impl_->pool.serve(*impl_->queue); });
}

void Players::give(NumberedTask task, std::shared_ptr<const std::vector<float>> vector) {
  impl_->queue->give({task, std::move(vector), {}});
}

std::vector<Played> Players::take() { return impl_->queue->take(); }

void Players::wait(std::chrono::microseconds most) { impl_->queue->wait(most); }

void Players::end() {
  if (!impl_->queue) return;
  impl_->queue->stop();
  if (impl_->thread.joinable()) impl_->thread.join();
  impl_->queue.reset();
}

}  // namespace iap
