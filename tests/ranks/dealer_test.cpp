#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>
import iap.core;
import iap.ranks;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Dealt = std::vector<std::pair<int, std::size_t>>;

TEST_CASE("tasks are dealt a thread each, longest first, with one to spare while there is plenty") {
  Dealer alike(6, {}, {1, 2});
  CHECK(alike.deal() == Dealt{{0, 0}, {1, 1}, {0, 2}, {1, 3}});
  CHECK(alike.deal().empty());
  alike.back(1, 1);
  // Two are left for three threads: nobody keeps one in reserve any more, and rank 1 plays 3 already.
  CHECK(alike.deal() == Dealt{{1, 4}});
  alike.back(0, 0);
  CHECK(alike.deal().empty());
  alike.back(0, 2);
  CHECK(alike.deal() == Dealt{{0, 5}});
  for (const std::size_t task : {3U, 4U}) alike.back(1, task);
  CHECK_FALSE(alike.done());
  alike.back(0, 5);
  CHECK(alike.done());

  const std::vector<double> seconds{1, 3, 2, 3};
  Dealer longest(4, seconds, {1, 1, 1, 1});
  CHECK(longest.deal() == Dealt{{0, 1}, {1, 3}, {2, 2}, {3, 0}});
  CHECK_THROWS_WITH(longest.back(0, 3), ContainsSubstring("rank 0 gives back task 3"));
}

TEST_CASE("after a failure those before it are played to the end, and no others") {
  const std::vector<double> seconds{1, 2, 3, 4, 5, 6};
  Dealer dealer(6, seconds, {1, 1});
  CHECK(dealer.deal() == Dealt{{0, 5}, {1, 4}, {0, 3}, {1, 2}});
  dealer.back(1, 4);
  dealer.back(1, 2);
  dealer.failed(2);
  CHECK(dealer.deal() == Dealt{{1, 1}});
  CHECK_FALSE(dealer.done());
  dealer.back(1, 1);
  CHECK(dealer.deal() == Dealt{{1, 0}});
  dealer.back(1, 0);
  // What rank 0 still plays comes after the failure.
  CHECK(dealer.done());
}

TEST_CASE("after two failures nothing is played that comes after the first of them") {
  const std::vector<double> seconds{1, 1, 2, 1, 1, 3};
  Dealer dealer(6, seconds, {1, 1});
  CHECK(dealer.deal() == Dealt{{0, 5}, {1, 2}, {0, 0}, {1, 1}});
  dealer.back(1, 2);
  dealer.failed(2);
  dealer.back(0, 5);
  dealer.failed(5);
  dealer.back(0, 0);
  CHECK(dealer.deal().empty());
}

TEST_CASE("no rank is left without work for longer than two episodes") {
  Random random({.seed = 3});
  for (int trial = 0; trial < 200; ++trial) {
    const auto tasks = 1 + random.below(80);
    std::vector<double> seconds(tasks);
    for (auto& value : seconds) value = random.uniform(0.1, 1);
    std::vector<int> threads(1 + random.below(6));
    for (auto& count : threads) count = 1 + static_cast<int>(random.below(3));
    Dealer dealer(tasks, {}, threads);
    // Each rank plays what it holds in order, on as many threads as it has.
    std::map<int, std::vector<std::size_t>> waiting;
    std::multimap<double, std::pair<int, std::size_t>> playing;
    std::vector<int> busy(threads.size());
    double now = 0;
    std::set<std::size_t> done;
    while (!dealer.done()) {
      for (const auto& [rank, task] : dealer.deal()) waiting[rank].push_back(task);
      for (auto& [rank, held] : waiting)
        while (!held.empty() && busy[static_cast<std::size_t>(rank)] < threads[static_cast<std::size_t>(rank)]) {
          ++busy[static_cast<std::size_t>(rank)];
          playing.emplace(now + seconds[held.front()], std::pair(rank, held.front()));
          held.erase(held.begin());
        }
      const auto [time, ended] = *playing.begin();
      playing.erase(playing.begin());
      now = time;
      --busy[static_cast<std::size_t>(ended.first)];
      CHECK(done.insert(ended.second).second);
      dealer.back(ended.first, ended.second);
    }
    CHECK(done.size() == tasks);
    const double work = std::accumulate(seconds.begin(), seconds.end(), 0.0);
    const int all = std::accumulate(threads.begin(), threads.end(), 0);
    CHECK(now <= work / all + 2 * *std::ranges::max_element(seconds));
  }
}
