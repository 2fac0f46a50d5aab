#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

#include "core/fork_mutex.hpp"
import iap.core;

using namespace iap;

namespace {

constexpr unsigned patience = 20;  // seconds until a child that waits is ended

/// How a child of fork() ended that does `work`, which says whether all is well: 0 if so.
template <typename Work>
int child_status(Work work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(patience);
    ::_exit(work() ? 0 : 1);
  }
  int status = -1;
  return ::waitpid(child, &status, 0) == child ? status : -1;
}

bool is_free(ForkMutex& mutex) {
  const bool taken = mutex.try_lock();
  if (taken) mutex.unlock();
  return taken;
}

}  // namespace

TEST_CASE("a child of fork finds every mutex free and what it guards whole, however they are nested") {
  static ForkMutex outer, inner;
  static int left = 0, right = 0;  // the same whenever `inner` is free
  std::atomic<bool> enough = false;
  std::vector<std::thread> others;
  others.reserve(3);
  for (int i = 0; i < 3; ++i)
    others.emplace_back([&, i] {
      while (!enough) {
        std::unique_lock first(outer, std::defer_lock);
        if (i > 0) first.lock();
        const std::lock_guard second(inner);
        ++left;
        std::this_thread::sleep_for(std::chrono::microseconds(100 * i));
        ++right;
      }
    });
  for (int i = 0; i < 100; ++i) {
    CAPTURE(i);
    CHECK(child_status([] { return is_free(outer) && is_free(inner) && left == right; }) == 0);
  }
  enough = true;
  for (auto& other : others) other.join();
  CHECK(left == right);
}

TEST_CASE("a thread that holds a mutex forks without waiting for those that wait for it") {
  static ForkMutex held, other;
  std::unique_lock mine(held);
  std::thread waiting([] { const std::lock_guard lock(held); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const auto goes_on = [&] {
    mine.unlock();
    // The child is as any process now: its own children wait for nobody.
    return is_free(held) && is_free(other) && child_status([] { return is_free(held) && is_free(other); }) == 0;
  };
  CHECK(child_status(goes_on) == 0);
  mine.unlock();
  waiting.join();
  CHECK(is_free(held));
  CHECK(child_status([] { return is_free(held); }) == 0);
}

TEST_CASE("fork waits for what must not be cut in two, and for several forks at once") {
  std::atomic<int> inside = 0;
  std::atomic<bool> enough = false;
  std::thread other([&] {
    while (!enough) {
      const Unforked whole;
      inside = 1;
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      inside = 0;
    }
  });
  std::atomic<int> wrong = 0;
  const auto fork_often = [&] {
    for (int i = 0; i < 40; ++i) wrong += child_status([&] { return inside == 0; }) != 0;
  };
  std::thread second(fork_often);
  fork_often();
  second.join();
  enough = true;
  other.join();
  CHECK(wrong == 0);
}

#if !defined(__has_feature) || !__has_feature(thread_sanitizer)  // which ends a child that starts threads
TEST_CASE("loops of a child have threads of its own") {
  const auto sums = [] {
    std::atomic<std::size_t> sum = 0;
    parallel_for(1000, 3, [&](std::size_t index, int) { sum += index; });
    return sum == 499500;
  };
  std::atomic<bool> enough = false;
  CHECK(sums());
  std::vector<std::thread> others;
  others.reserve(2);
  for (int i = 0; i < 2; ++i)
    others.emplace_back([&] {
      while (!enough) sums();
    });
  int ended = 0;
  for (int i = 0; i < 400 && ended == 0; ++i) {
    CAPTURE(i);
    ended = child_status(sums);
    CHECK(ended == 0);
    std::this_thread::sleep_for(std::chrono::microseconds(10 * (i % 50)));
  }
  enough = true;
  for (auto& other : others) other.join();
}
#endif
