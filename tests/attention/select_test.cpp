#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>
import iap.core;
import iap.attention;

using namespace iap;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;

TEST_CASE("the best patches come in order, ties by index") {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> scores = {1, 3, 3, -inf, 7, 3, inf};
  std::vector<int> selected(7);
  select_top(scores, selected);
  CHECK(selected == std::vector<int>{6, 4, 1, 2, 5, 0, 3});
  selected.resize(3);
  select_top(scores, selected);
  CHECK(selected == std::vector<int>{6, 4, 1});
  selected.clear();
  select_top(scores, selected);
}

TEST_CASE("a NaN score is refused wherever it stands") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t at = 0; at < 6; ++at) {
    std::vector<float> scores = {5, 1, 4, 2, 6, 3};
    scores[at] = nan;
    for (const std::size_t wanted : {1, 3, 6}) {
      std::vector<int> selected(wanted);
      CHECK_THROWS_MATCHES(select_top(scores, selected, "block 'a', kernel b"), Error,
                           MessageMatches(StartsWith("block 'a', kernel b: score " + std::to_string(at) + " is NaN")));
    }
  }
}

TEST_CASE("selection agrees with sorting everything") {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    const int count = 1 + static_cast<int>(random.below(300));
    std::vector<float> scores(count);
    for (float& score : scores) score = static_cast<float>(random.below(40)) - 20;
    std::vector<int> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](int i) { return std::pair{-scores[i], i}; });
    std::vector<int> selected(1 + random.below(count));
    order.resize(selected.size());
    select_top(scores, selected);
    REQUIRE(selected == order);
  }
}
