#pragma once
#include <mutex>

namespace iap {

/// A mutex that no child of fork() finds locked: what is one for the whole process is guarded by it. fork() waits until no thread
/// is between lock and unlock of any of them, and lets none in meanwhile, so that what they guard is whole in the child, too. They
/// may be nested as other mutexes may; who holds one waits for no other thread in any other way. A thread that itself holds one
/// forks at once, since others may be waiting for it: its child goes on with what it holds, but may wait for ever for what others
/// held.
class ForkMutex {
 public:
  constexpr ForkMutex() noexcept = default;
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;

  void lock();
  /// Waits for no holder, but for a fork that is under way.
  bool try_lock();
  void unlock() noexcept;

 private:
  std::mutex mutex_;
};

/// While it lives, fork() waits as for a ForkMutex: around calls of libraries that have locks of their own.
class Unforked {
 public:
  Unforked();
  ~Unforked();
  Unforked(const Unforked&) = delete;
  Unforked& operator=(const Unforked&) = delete;
};

/// TBB has threads and locks that a child of fork() lacks: to be called before it is used.
void note_tbb() noexcept;
/// Whether this is the child of a process that used TBB, so that it must do without.
bool tbb_left_behind() noexcept;

}  // namespace iap
