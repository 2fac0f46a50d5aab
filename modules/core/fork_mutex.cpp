#include "core/fork_mutex.hpp"

#include <pthread.h>

#include <atomic>

namespace iap {
namespace {

/// How many threads hold a ForkMutex or wait for one that another holds; with `forking` in it, those that hold none stay out. A
/// count instead of a list of all mutexes: fork() need not take them in any order, and none can be made or go while it does.
constinit std::atomic<unsigned> inside = 0;
constexpr unsigned forking = 1U << 31;

/// How many this thread holds or waits for. It is in once: were it to stay out at a second one, it would keep the first for ever.
constinit thread_local int held = 0;

constinit std::atomic<bool> tbb_used = false, tbb_gone = false;

void enter() {
  if (held++ > 0) return;
  for (unsigned seen = inside.load(std::memory_order_relaxed);;) {
    if (seen & forking) {
      inside.wait(seen, std::memory_order_relaxed);
      seen = inside.load(std::memory_order_relaxed);
    } else if (inside.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire, std::memory_order_relaxed)) {
      return;
    }
  }
}

void leave() noexcept {
  if (--held == 0 && inside.fetch_sub(1, std::memory_order_release) == forking + 1) inside.notify_all();
}

void before_fork() {
  if (held > 0) return;
  unsigned seen = inside.load(std::memory_order_relaxed);
  while ((seen & forking) || !inside.compare_exchange_weak(seen, seen | forking, std::memory_order_relaxed)) {
    if (!(seen & forking)) continue;
    inside.wait(seen, std::memory_order_relaxed);  // for another thread's fork
    seen = inside.load(std::memory_order_relaxed);
  }
  while ((seen = inside.load(std::memory_order_acquire)) != forking) inside.wait(seen, std::memory_order_relaxed);
}

void in_parent() {
  if (held > 0) return;
  inside.store(0, std::memory_order_release);
  inside.notify_all();
}

/// The child has this thread alone.
void in_child() {
  inside.store(held > 0 ? 1 : 0, std::memory_order_relaxed);
  if (tbb_used.load()) tbb_gone.store(true);
}

/// When the library is loaded: before any of them can be locked. Without memory for it forks are as they would be without.
[[maybe_unused]] const int registered = ::pthread_atfork(before_fork, in_parent, in_child);

}  // namespace

Unforked::Unforked() { enter(); }
Unforked::~Unforked() { leave(); }

void note_tbb() noexcept { tbb_used.store(true); }
bool tbb_left_behind() noexcept { return tbb_gone.load(); }

void ForkMutex::lock() {
  enter();
  try {
    mutex_.lock();
  } catch (...) {
    leave();
    throw;
  }
}

bool ForkMutex::try_lock() {
  enter();
  if (mutex_.try_lock()) return true;
  leave();
  return false;
}

void ForkMutex::unlock() noexcept {
  mutex_.unlock();
  leave();
}

}  // namespace iap
