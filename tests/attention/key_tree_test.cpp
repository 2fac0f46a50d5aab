#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>
import iap.core;
import iap.attention;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

/// Keys as rows, and the same as planes.
struct Keys {
  int count, features;
  std::vector<std::vector<float>> rows;
  std::vector<float> planes;
};

Keys random_keys(int count, int features, double spread, std::uint64_t seed) {
  Keys keys{count, features, {}, std::vector<float>(static_cast<std::size_t>(count) * features)};
  Random random(seed);
  for (int i = 0; i < count; ++i) {
    keys.rows.emplace_back();
    for (int f = 0; f < features; ++f) {
      keys.rows.back().push_back(static_cast<float>(std::exp(spread * random.normal())));
      keys.planes[static_cast<std::size_t>(f) * count + i] = keys.rows.back().back();
    }
  }
  return keys;
}

std::vector<float> random_query(int features, std::uint64_t seed) {
  std::vector<float> z;
  Random random(seed);
  for (int f = 0; f < features; ++f) z.push_back(static_cast<float>(random.uniform(0, 1)));
  return z;
}

/// Probabilities of a draw by the definition.
std::vector<double> probabilities(const Keys& keys, const std::vector<float>& z) {
  std::vector<double> p;
  for (const auto& row : keys.rows) p.push_back(std::inner_product(row.begin(), row.end(), z.begin(), 0.0));
  const double total = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& value : p) value /= total;
  return p;
}

/// (X^2 - k) / sqrt(2 k) of counts against probabilities, k degrees of freedom; all expected counts have to be large.
double chi_square_z(const std::vector<long>& counts, const std::vector<double>& p) {
  const double draws = static_cast<double>(std::accumulate(counts.begin(), counts.end(), 0L));
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) sum += std::pow(static_cast<double>(counts[i]) - draws * p[i], 2) / (draws * p[i]);
  const double degrees = static_cast<double>(p.size()) - 1;
  return (sum - degrees) / std::sqrt(2 * degrees);
}

}  // namespace

TEST_CASE("keys are drawn with the probabilities of their products with the query") {
  for (const int count : {1, 2, 3, 7, 16, 37, 64}) {
    INFO(count << " keys");
    const Keys keys = random_keys(count, 5, 0.7, 10 + static_cast<std::uint64_t>(count));
    const auto z = random_query(5, 1);
    KeyTree tree(count, 5);
    tree.build(keys.planes, static_cast<std::size_t>(count), count);
    Random random(2);
    std::vector<long> counts(static_cast<std::size_t>(count));
    for (int i = 0; i < 100000; ++i) ++counts[static_cast<std::size_t>(tree.draw(z, random))];
    if (count == 1) {
      CHECK(counts[0] == 100000);
      continue;
    }
    CHECK(std::abs(chi_square_z(counts, probabilities(keys, z))) < 4);
    // The test can fail: equal probabilities do not pass it.
    CHECK(chi_square_z(counts, std::vector<double>(counts.size(), 1.0 / count)) > 4);
  }
}

TEST_CASE("draws without replacement follow the law of successive sampling, in order") {
  const Keys keys = random_keys(5, 3, 1, 3);
  const auto z = random_query(3, 4);
  const auto p = probabilities(keys, z);
  KeyTree tree(5, 3);
  tree.build(keys.planes, 5, 5);
  Random random(5);
  std::map<std::vector<int>, long> seen;
  std::vector<int> drawn(3);
  for (int i = 0; i < 100000; ++i) {
    tree.draw_distinct(z, random, drawn);
    ++seen[drawn];
  }
  std::vector<long> counts;
  std::vector<double> expected;
  for (int a = 0; a < 5; ++a)
    for (int b = 0; b < 5; ++b)
      for (int c = 0; c < 5; ++c) {
        if (a == b || a == c || b == c) continue;
        counts.push_back(seen[{a, b, c}]);
        expected.push_back(p[a] * p[b] / (1 - p[a]) * p[c] / (1 - p[a] - p[b]));
      }
  CHECK(counts.size() == 60);
  CHECK(std::ranges::min(expected) * 100000 > 5);
  CHECK(std::abs(chi_square_z(counts, expected)) < 4);
}

TEST_CASE("all keys are drawn once when all are asked for, however unequal") {
  Keys keys = random_keys(50, 4, 12, 6);
  KeyTree tree(50, 4);
  tree.build(keys.planes, 50, 50);
  Random random(7);
  std::vector<int> drawn(50);
  for (int i = 0; i < 20; ++i) {
    tree.draw_distinct(random_query(4, 8), random, drawn);
    const std::set<int> different(drawn.begin(), drawn.end());
    CHECK(different.size() == 50);
  }
}

TEST_CASE("a key with weight zero is drawn only when nothing else is left") {
  Keys keys = random_keys(9, 2, 0.5, 9);
  for (const int gone : {0, 4, 8})
    for (int f = 0; f < 2; ++f) keys.planes[static_cast<std::size_t>(f) * 9 + gone] = 0;
  KeyTree tree(9, 2);
  tree.build(keys.planes, 9, 9);
  Random random(10);
  const auto z = random_query(2, 11);
  std::vector<int> drawn(9);
  std::vector<long> seventh(9);
  for (int i = 0; i < 3000; ++i) {
    tree.draw_distinct(z, random, drawn);
    for (int k = 0; k < 6; ++k) REQUIRE((drawn[k] != 0 && drawn[k] != 4 && drawn[k] != 8));
    ++seventh[drawn[6]];
    const int key = tree.draw(z, random);
    REQUIRE((key != 0 && key != 4 && key != 8));
  }
  // Equally likely among the three, then: a binomial deviation is 26.
  for (const int gone : {0, 4, 8}) CHECK(std::abs(seventh[gone] - 1000) < 4 * 26);
}

TEST_CASE("an infinite weight leaves all keys equally likely, NaN is refused") {
  Keys keys = random_keys(4, 2, 0.5, 12);
  KeyTree tree(4, 2);
  Random random(13);
  keys.planes[2] = std::numeric_limits<float>::quiet_NaN();
  tree.build(keys.planes, 4, 4);
  CHECK_THROWS_AS(tree.draw(random_query(2, 14), random), Error);
  keys.planes[2] = std::numeric_limits<float>::infinity();
  tree.build(keys.planes, 4, 4);
  std::vector<long> counts(4);
  for (int i = 0; i < 4000; ++i) ++counts[static_cast<std::size_t>(tree.draw(random_query(2, 14), random))];
  CHECK(std::abs(chi_square_z(counts, std::vector<double>(4, 0.25))) < 4);
  std::vector<int> drawn(4);
  tree.draw_distinct(random_query(2, 14), random, drawn);
  CHECK(std::set<int>(drawn.begin(), drawn.end()).size() == 4);
}

TEST_CASE("a tree of inserted and replaced keys draws as one built of them") {
  const Keys before = random_keys(21, 6, 1, 15), after = random_keys(21, 6, 1, 16);
  const auto z = random_query(6, 17);
  KeyTree built(32, 6), changed(32, 6);
  built.build(after.planes, 21, 21);
  for (int i = 0; i < 21; ++i) changed.set(i, before.rows[i]);
  for (int i = 20; i >= 0; --i) changed.set(i, after.rows[i]);
  CHECK(changed.count() == 21);
  Random one(18), two(18);
  std::vector<int> a(10), b(10);
  for (int i = 0; i < 200; ++i) {
    built.draw_distinct(z, one, a);
    changed.draw_distinct(z, two, b);
    REQUIRE(a == b);
    REQUIRE(built.draw(z, one) == changed.draw(z, two));
  }
  changed.clear();
  CHECK(changed.count() == 0);
  CHECK_THROWS_AS(changed.draw(z, one), Error);
}

TEST_CASE("keys that were dropped are drawn no more, whatever is added afterwards") {
  const Keys many = random_keys(21, 6, 1, 19);
  const auto z = random_query(6, 20);
  KeyTree used(21, 6), fresh(21, 6);
  const auto same_draws = [&](int count) {
    Random one(21), two(21);
    for (int i = 0; i < 200; ++i) {
      const int key = used.draw(z, one);
      REQUIRE(key < count);
      REQUIRE(key == fresh.draw(z, two));
    }
  };
  for (const int count : {5, 1}) {
    used.build(many.planes, 21, 21);
    used.build(many.planes, 21, count);
    fresh.build(many.planes, 21, count);
    same_draws(count);
    used.build(many.planes, 21, 21);
    used.clear();
    for (int i = 0; i < count; ++i) used.set(i, many.rows[i]);
    same_draws(count);
  }
}

TEST_CASE("a tree says what it cannot take") {
  KeyTree tree(4, 2);
  const auto says = [](const char* message) { return MessageMatches(ContainsSubstring(message)); };
  CHECK_THROWS_MATCHES(KeyTree(0, 2), Error, says("at least one key"));
  CHECK_THROWS_MATCHES(tree.set(0, std::vector<float>{1, -0.5F}), Error, says("is -0.5; draws need sums that are never negative"));
  CHECK_THROWS_MATCHES(tree.build(std::vector<float>{1, 2, 3, -4}, 2, 2), Error, says("a feature of key 1 is -4"));
  CHECK_THROWS_MATCHES(tree.set(1, std::vector<float>{1, 1}), Error, says("key 1 can be neither replaced nor added"));
  CHECK_THROWS_MATCHES(tree.set(0, std::vector<float>{1}), Error, says("a key of 1 features"));
  tree.set(0, std::vector<float>{1, 1});
  Random random(1);
  std::vector<int> two(2);
  CHECK_THROWS_MATCHES(tree.draw_distinct(std::vector<float>{1, 1}, random, two), Error, says("cannot draw 2 keys from 1"));
  CHECK_THROWS_MATCHES(tree.draw(std::vector<float>{1, -1}, random), Error, says("negative feature -1"));
  CHECK_THROWS_MATCHES(tree.draw(std::vector<float>{1}, random), Error, says("a query of 1 features"));
}
