module;
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
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
  Played played;
};

/// Why an episode failed, as far as there is memory to say so; what takes its place needs none.
std::string words_of(const std::exception& error) {
  try {
    return error.what();
  } catch (const std::bad_alloc&) {
    return "out of memory";
  }
}

/// The tasks of one round on their way, each in what was allocated when it was given: to book its result takes no memory.
class Queue final : public TaskFeed {
 public:
  void give(Given given) {
    std::list<Given> one;
    one.push_back(std::move(given));
    const std::lock_guard lock(mutex_);
    waiting_.splice(waiting_.end(), one);
    more_.notify_one();
  }

  std::vector<Played> take() {
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
    std::vector<Played> ended;
    ended.reserve(ended_.size());
    for (auto& given : ended_) ended.push_back(std::move(given.played));
    ended_.clear();
    return ended;
  }

  void wait(std::chrono::microseconds most) {
    std::unique_lock lock(mutex_);
    result_.wait_for(lock, most, [this] { return !ended_.empty() || failure_; });
  }

  /// Nobody plays any more, because of what is being handled.
  void give_up() {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
    result_.notify_one();
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
    at_work_.splice(at_work_.begin(), waiting_, waiting_.begin());
    at_work_.front().begin = Clock::now();
    return at_work_.front().task;
  }

  void played(std::size_t number, Episode episode) override { end({.number = number, .episode = std::move(episode)}); }

  void failed(std::size_t number) override {
    Played played{.number = number};
    try {
      throw;
    } catch (const Interrupted&) {
      played.interrupted = true;
    } catch (const std::exception& error) {
      played.error = words_of(error);
    }
    end(std::move(played));
  }

  bool wanted() const override { return wanted_.load(std::memory_order_relaxed); }

 private:
  void end(Played played) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(at_work_, played.number, [](const Given& given) { return given.task.number; });
    played.seconds = seconds_since(found->begin);
    found->played = std::move(played);
    ended_.splice(ended_.end(), at_work_, found);
    result_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable more_, result_;
  std::list<Given> waiting_, at_work_, ended_;
  std::exception_ptr failure_;
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
  impl_->thread = std::jthread([this] {
    try {
      impl_->pool.serve(*impl_->queue);
    } catch (...) {
      impl_->queue->give_up();
    }
  });
}

void Players::give(NumberedTask task, std::shared_ptr<const std::vector<float>> vector) {
  impl_->queue->give({task, std::move(vector), {}, {}});
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
