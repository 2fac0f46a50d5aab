#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>
import iap.core;
import iap.attention;

using namespace iap;

TEST_CASE("the best patches come in order, ties by index, NaN last") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const std::vector<float> scores = {1, nan, 3, 3, -inf, 7, nan, 3, inf};
  std::vector<int> selected(9);
  select_top(scores, selected);
  CHECK(selected == std::vector<int>{8, 5, 2, 3, 7, 0, 4, 1, 6});
  selected.resize(3);
  select_top(scores, selected);
  CHECK(selected == std::vector<int>{8, 5, 2});
  selected.clear();
  select_top(scores, selected);
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
