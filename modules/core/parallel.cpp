module;
#include <locale.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define IAP_PLAIN_THREADS
#endif
#endif
#ifndef IAP_PLAIN_THREADS
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "core/fork_mutex.hpp"
module iap.core;

namespace iap {
namespace {

/// Keeps the exception of the lowest failing index, whatever the order in which threads fail.
class FirstFailure {
 public:
  void capture(std::size_t index) {
    const std::lock_guard lock(mutex_);
    if (index >= index_) return;
    index_ = index;
    error_ = std::current_exception();
    failed_.store(true, std::memory_order_relaxed);
  }
  bool failed() const { return failed_.load(std::memory_order_relaxed); }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::atomic<bool> failed_ = false;
  std::size_t index_ = std::numeric_limits<std::size_t>::max();
  std::exception_ptr error_;
};

/// While it lives, this thread reads and writes numbers in the locale of another. Floating-point modes need no such care: new
/// threads take over the caller's, and so do TBB's by what a loop is started with.
class SameLocale {
 public:
  explicit SameLocale(::locale_t locale) : before_(::uselocale(locale)) {}
  ~SameLocale() { ::uselocale(before_); }
  SameLocale(const SameLocale&) = delete;
  SameLocale& operator=(const SameLocale&) = delete;

 private:
  ::locale_t before_;
};

/// How many of `threads`, this one included, the system gives at the same time.
int startable(int threads) {
  std::mutex gate;
  std::vector<std::jthread> started;
  const std::unique_lock all_at_once(gate);
  try {
    started.reserve(static_cast<std::size_t>(threads));
    for (int worker = 1; worker < threads; ++worker) started.emplace_back([&gate] { const std::lock_guard waits(gate); });
  } catch (const std::exception&) {
    return static_cast<int>(started.size()) + 1;
  }
  return threads;
}

#ifndef IAP_PLAIN_THREADS
/// Whether the process is ending. TBB's own objects go then, before those of a host that made them first and may still call.
std::atomic<bool> ending = false;

/// Registered after TBB's objects, this is told before they go. By on_exit, as the C library keeps its objects from exit() and with
/// them all that is registered by the other ways (engine/host/statics.c).
void watch_for_the_end() {
  [[maybe_unused]] static const int registered = ::on_exit([](int, void*) { ending.store(true); }, nullptr);
}

/// A place for a loop on so many threads, used again by later ones: of those that are made anew TBB keeps some 7 kB each, in a list
/// that it walks through, for as long as it finds its workers busy.
class Arena {
 public:
  explicit Arena(int threads) : arena_(take(threads)) {}
  ~Arena() { give_back(); }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  oneapi::tbb::task_arena* operator->() const { return arena_.get(); }

 private:
  using Owned = std::unique_ptr<oneapi::tbb::task_arena>;
  struct Free {
    std::mutex mutex;
    std::vector<Owned> arenas;
  };

  /// It outlives the process's static objects, some of which may still call.
  static Free& free() {
    static Free& all = *new Free;
    return all;
  }

  static Owned take(int threads) {
    Free& free = Arena::free();
    {
      const std::lock_guard lock(free.mutex);
      const auto found = std::ranges::find(free.arenas, threads, [](const Owned& arena) { return arena->max_concurrency(); });
      if (found != free.arenas.end()) {
        Owned taken = std::move(*found);
        free.arenas.erase(found);
        return taken;
      }
    }
    auto made = std::make_unique<oneapi::tbb::task_arena>(threads);
    made->initialize();  // one whose first use fails at this would have the next wait for it
    return made;
  }

  void give_back() noexcept try {
    Free& free = Arena::free();
    const std::lock_guard lock(free.mutex);
    free.arenas.push_back(std::move(arena_));
  } catch (...) {
    return;  // no memory for the list: TBB has it back
  }

  Owned arena_;
};
#endif

void run_on_plain_threads(int threads, const std::function<void(int worker)>& work) {
  std::vector<std::jthread> pool;
  try {
    for (int worker = 1; worker < threads; ++worker) pool.emplace_back([&work, worker] { work(worker); });
  } catch (const std::exception&) {  // the system gives fewer by now
  }
  work(0);
}

#ifndef IAP_PLAIN_THREADS
void run_on_tbb(int threads, const std::function<void(int worker)>& work) {
  // Left alone, TBB starts no more workers than there are hardware threads and complains on stderr about the rest.
  std::optional<oneapi::tbb::global_control> more_workers;
  if (threads > hardware_threads())
    more_workers.emplace(oneapi::tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
  // One task a worker, isolated so that a nested parallel_for never runs another worker's task on top of this one's state.
  using Context = oneapi::tbb::task_group_context;
  Context caller(Context::isolated, Context::default_traits | Context::fp_settings);
  const Arena arena(threads);
  arena->execute([&] {
    oneapi::tbb::parallel_for(
        oneapi::tbb::blocked_range<int>(0, threads, 1),
        [&](const oneapi::tbb::blocked_range<int>& range) {
          for (int worker = range.begin(); worker < range.end(); ++worker)
            oneapi::tbb::this_task_arena::isolate([&] { work(worker); });
        },
        oneapi::tbb::simple_partitioner(), caller);
  });
}
#endif

/// Runs `body` for ever-increasing indices on each of `threads` workers. Handing indices out in order (rather than as ranges)
/// balances episodes of different lengths and makes "lowest failing index" independent of the number of threads.
void run_workers(int threads, const std::function<void(int worker)>& work) {
#ifdef IAP_PLAIN_THREADS
  // Debian's TBB is not instrumented: under the thread sanitizer plain threads avoid its false reports.
  run_on_plain_threads(threads, work);
#else
  if (tbb_left_behind()) {
    run_on_plain_threads(threads, work);
    return;
  }
  note_tbb();
  watch_for_the_end();
  if (ending.load()) {
    work(0);
    return;
  }
  try {
    run_on_tbb(threads, work);
  } catch (const std::bad_alloc&) {
    work(0);  // what TBB needs for itself: no work throws
  }
#endif
}

/// Returns once all of `threads` workers are in one loop, so that TBB has started them; not where it gives fewer, as other loops
/// need them or a limit of the host says so: then all give up together.
void gather(int threads) {
  constexpr std::chrono::seconds patience(1);
  std::mutex mutex;
  std::condition_variable changed;
  int there = 0;
  bool given_up = false;
  run_workers(threads, [&](int) {
    std::unique_lock lock(mutex);
    if (++there == threads) changed.notify_all();
    while (there < threads && !given_up) {
      const int seen = there;
      changed.wait_for(lock, patience, [&] { return there == threads || given_up; });
      if (there > seen || given_up) continue;
      given_up = true;
      changed.notify_all();
    }
  });
}

/// TBB ends the process where it cannot start a worker, so it is tried out, once for each larger number: where the system gives
/// fewer threads, those that there are do the work. TBB starts its own then, where it gives so many, as the system may give fewer
/// later on.
int available(int threads) {
  static std::atomic<int> tried = 1;
  if (threads <= tried.load()) return threads;
  const int most = startable(threads);
  if (most < threads) return most;
  gather(threads);
  tried.store(threads);
  return threads;
}

}  // namespace

int hardware_threads() {
#ifdef IAP_PLAIN_THREADS
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
#else
  const Unforked whole;  // the first call finds out, and others wait for it
  return oneapi::tbb::info::default_concurrency();
#endif
}

void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t, int)>& body) {
  if (threads <= 0) threads = hardware_threads();
  threads = static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(threads), count));
  FirstFailure failure;
  std::atomic<std::size_t> next = 0;
  const auto work = [&, locale = ::uselocale(nullptr)](int worker) {
    const SameLocale same(locale);
    while (!failure.failed()) {
      const std::size_t index = next.fetch_add(1, std::memory_order_relaxed);
      if (index >= count) return;
      try {
        body(index, worker);
      } catch (...) {
        failure.capture(index);
      }
    }
  };
  threads = available(threads);
  if (threads <= 1)
    work(0);
  else
    run_workers(threads, std::ref(work));  // a function object that holds a reference lives without the heap
  failure.rethrow();
}

}  // namespace iap
