#include <unistd.h>

#include <array>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
import iap.core;

using namespace iap;

TEST_CASE("parallel_for visits every index once, for any number of threads") {
  for (const int threads : {0, 1, 2, 3, 8, 100})
    for (const std::size_t count : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> visits(count);
      parallel_for(count, threads, [&](std::size_t index, int) { ++visits[index]; });
      for (const auto& visit : visits) CHECK(visit == 1);
    }
  CHECK(hardware_threads() >= 1);
}

TEST_CASE("workers are in range and never overlap themselves") {
  constexpr int threads = 6;
  std::array<std::atomic<int>, threads> active{};
  std::atomic<int> overlaps = 0, out_of_range = 0;
  parallel_for(600, threads, [&](std::size_t, int worker) {
    if (worker < 0 || worker >= threads) return void(++out_of_range);
    if (++active[static_cast<std::size_t>(worker)] != 1) ++overlaps;
    std::this_thread::yield();
    // A nested loop is where a thread that waits could pick up another outer index under the same worker.
    std::atomic<int> sum = 0;
    parallel_for(16, 3, [&](std::size_t i, int inner) {
      if (inner < 0 || inner >= 3) ++out_of_range;
      sum += static_cast<int>(i);
      std::this_thread::yield();
    });
    if (sum != 120) ++overlaps;
    --active[static_cast<std::size_t>(worker)];
  });
  CHECK(overlaps == 0);
  CHECK(out_of_range == 0);
}

TEST_CASE("nested loops visit every pair, three levels deep") {
  constexpr std::size_t n = 6;
  std::vector<std::atomic<int>> visits(n * n * n);
  parallel_for(n, 4, [&](std::size_t i, int) {
    parallel_for(n, 4, [&](std::size_t j, int) { parallel_for(n, 4, [&](std::size_t k, int) { ++visits[(i * n + j) * n + k]; }); });
  });
  for (const auto& visit : visits) CHECK(visit == 1);
}

TEST_CASE("the exception of the lowest failing index is rethrown, for any number of threads") {
  for (const int threads : {1, 2, 4, 16})
    for (int repeat = 0; repeat < 20; ++repeat) {
      std::string message;
      try {
        parallel_for(200, threads, [&](std::size_t index, int) {
          if (index == 137 || index == 41 || index == 60 || index == 43) {
            if (index == 41) std::this_thread::yield();
            throw Error(text("index ", index));
          }
        });
      } catch (const Error& error) {
        message = error.what();
      }
      CHECK(message == "index 41");
    }
}

TEST_CASE("indices not yet started when a call fails are skipped, and all running calls end first") {
  for (const int threads : {1, 4}) {
    std::atomic<int> running = 0, started = 0;
    CHECK_THROWS_AS(parallel_for(100000, threads,
                                 [&](std::size_t index, int) {
                                   ++running;
                                   ++started;
                                   const auto leave = [&](std::atomic<int>* counter) { --*counter; };
                                   const std::unique_ptr<std::atomic<int>, decltype(leave)> guard(&running, leave);
                                   if (index == 10) throw std::runtime_error("any type passes through");
                                   // Or the others might be through while this thread waits for a core.
                                   if (index > 10) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                                 }),
                    std::runtime_error);
    CHECK(running == 0);
    CHECK(started < 100000);
    if (threads == 1) CHECK(started == 11);
  }
}

TEST_CASE("an exception of an inner loop reaches the outer one") {
  CHECK_THROWS_AS(parallel_for(8, 2,
                               [](std::size_t i, int) {
                                 parallel_for(8, 2, [i](std::size_t j, int) {
                                   if (i == 3 && j == 5) throw Error("inner");
                                 });
                               }),
                  Error);
}

TEST_CASE("results by index do not depend on the number of threads") {
  const auto run = [](int threads) {
    std::vector<double> values(500);
    parallel_for(values.size(), threads, [&](std::size_t index, int) {
      Random random({.seed = 3, .member = static_cast<std::uint32_t>(index)});
      for (int i = 0; i < 50; ++i) values[index] += random.normal();
    });
    return values;
  };
  const auto expected = run(1);
  for (const int threads : {2, 3, 8}) CHECK(run(threads) == expected);
}

TEST_CASE("thousands of loops keep no memory") {
  const auto resident = [] {  // bytes
    std::ifstream statm("/proc/self/statm");
    long pages = 0;
    statm >> pages >> pages;
    return pages * sysconf(_SC_PAGESIZE);
  };
  const auto loops = [](int count) {
    for (int i = 0; i < count; ++i)
      parallel_for(2, 2, [](std::size_t, int) {
        volatile double sum = 0;
        for (int j = 0; j < 10000; ++j) sum = sum + j;
      });
  };
  loops(100);
  const long before = resident();
  loops(5000);
  CHECK(resident() - before < 8 << 20);  // 35 MB, where each loop keeps what an arena of TBB takes
}

TEST_CASE("loops that several threads of a host begin at once end, each with its own work done") {
  constexpr int hosts = 6, rounds = 200;
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int host = 0; host < hosts; ++host)
      threads.emplace_back([&wrong, host] {
        for (int round = 0; round < rounds; ++round) {
          std::atomic<int> sum = 0;
          parallel_for(10, 1 + host % 4, [&](std::size_t index, int) { sum += static_cast<int>(index); });
          if (sum != 45) ++wrong;
        }
      });
  }
  CHECK(wrong == 0);
}

#if !defined(__has_feature) || !__has_feature(thread_sanitizer)  // under which threads are started for each loop
TEST_CASE("after the first loop of so many threads all of them are there, as the system may give no more later") {
  const auto threads = static_cast<std::size_t>(hardware_threads()) + 14;
  parallel_for(threads, threads, [](std::size_t, int) {});
  CHECK(std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}) >= threads);
}
#endif
