#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <numbers>
#include <numeric>
#include <span>
#include <vector>
import iap.core;
import iap.attention;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

std::vector<std::vector<float>> random_rows(int count, int features, bool positive, std::uint64_t seed) {
  std::vector<std::vector<float>> rows(static_cast<std::size_t>(count), std::vector<float>(static_cast<std::size_t>(features)));
  Random random(seed);
  for (auto& row : rows)
    for (float& value : row) value = static_cast<float>(positive ? std::exp(0.5 * random.normal()) : random.normal());
  return rows;
}

std::vector<int> order_of(const std::vector<double>& scores, int top) {
  std::vector<int> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](int a, int b) { return scores[a] > scores[b] || (scores[a] == scores[b] && a < b); });
  order.resize(static_cast<std::size_t>(top));
  return order;
}

double product(const std::vector<float>& a, const std::vector<float>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// Trigonometric features of directions in d dimensions, as in Theorem 4.3: normalised keys and queries.
std::vector<float> trig_features(const Projections& projections, Random& random, std::vector<double>& x, double closeness) {
  const double length = std::pow(static_cast<double>(projections.d), 0.25);
  double square = 0;
  for (double& value : x) {
    value = closeness * value + random.normal();
    square += value * value;
  }
  for (double& value : x) value *= length / std::sqrt(square);
  std::vector<double> phi(2 * static_cast<std::size_t>(projections.m));
  feature_map(FeatureKind::trig, projections, Side::key, x, phi);
  return {phi.begin(), phi.end()};
}

}  // namespace

TEST_CASE("inserted, replaced and refreshed keys rank by their products with the query") {
  for (const int count : {1, 3, 33, 150}) {
    const int features = 9, top = std::min(count, 7);
    const auto first = random_rows(count, features, true, 1), second = random_rows(count, features, true, 2);
    const KeyDatabaseOptions options{.bits = 96, .hash_seed = 3, .lengths = KeyLengths::own, .tree = true};
    KeyDatabase grown(count + 5, features, options), whole(count + 5, features, options);
    for (int i = 0; i < count; ++i) CHECK(grown.insert(first[i]) == i);
    for (int i = count - 1; i >= 0; --i) grown.replace(i, second[i]);
    for (int i = 0; i < count; ++i)
      for (int f = 0; f < features; ++f) whole.planes()[f * whole.pitch() + i] = second[i][f];
    whole.refresh(count);
    CHECK(grown.size() == count);
    const auto z = random_rows(1, features, true, 4)[0];
    std::vector<double> wanted;
    for (const auto& key : second) wanted.push_back(product(key, z));
    std::vector<float> scores(count);
    std::vector<int> a(top), b(top);
    Random one(5), two(5);
    for (KeyDatabase* database : {&grown, &whole}) {
      database->score(z, scores);
      for (int i = 0; i < count; ++i) CHECK(std::abs(scores[i] - wanted[i]) < 1e-5 * wanted[i]);
      database->top(z, a);
      CHECK(a == order_of(wanted, top));
    }
    grown.top_hashed(z, a);
    whole.top_hashed(z, b);
    CHECK(a == b);
    for (const bool replacement : {true, false}) {
      grown.draw(z, one, replacement, a);
      whole.draw(z, two, replacement, b);
      CHECK(a == b);
    }
    grown.clear();
    CHECK(grown.size() == 0);
    CHECK(grown.insert(first[0]) == 0);
    CHECK(grown.size() == 1);
  }
}

TEST_CASE("hashed scores are cosines of the bits that differ, times lengths if wanted") {
  const int features = 6, bits = 100;
  const auto keys = random_rows(40, features, false, 6);
  const auto z = random_rows(1, features, false, 7)[0];
  for (const bool lengths : {false, true}) {
    KeyDatabase database(40, features, {.bits = bits, .hash_seed = 8, .lengths = lengths ? KeyLengths::own : KeyLengths::ignored});
    for (const auto& key : keys) database.insert(key);
    std::vector<float> scores(40);
    database.score_hashed(z, scores);
    // G as the hash documents it: row b, column f, one stream.
    Random random({.seed = 8, .member = 2, .purpose = Purpose::projection});
    std::vector<std::vector<double>> g(bits, std::vector<double>(features));
    for (auto& row : g)
      for (double& value : row) value = random.normal();
    for (int i = 0; i < 40; ++i) {
      int differ = 0;
      for (const auto& row : g) {
        double a = 0, b = 0;
        for (int f = 0; f < features; ++f) {
          a += row[f] * z[f];
          b += row[f] * keys[i][f];
        }
        differ += (a < 0) != (b < 0);
      }
      const double wanted = std::cos(std::numbers::pi * differ / bits) * (lengths ? std::sqrt(product(keys[i], keys[i])) : 1);
      CHECK(std::abs(scores[i] - wanted) < 1e-4);
    }
  }
}

TEST_CASE("lengths whose squares no float holds count all the same") {
  const int features = 6, count = 9;
  const auto directions = random_rows(count, features, false, 13);
  const auto z = random_rows(1, features, false, 14)[0];
  for (const KeyLengths lengths : {KeyLengths::own, KeyLengths::relative}) {
    KeyDatabase angles(count, features, {.bits = 64}), database(count, features, {.bits = 64, .lengths = lengths});
    std::vector<double> wanted;
    for (int i = 0; i < count; ++i) {
      const double unit = std::sqrt(product(directions[i], directions[i])), length = i % 3 == 0 ? 1e25 : 3e25;
      for (int f = 0; f < features; ++f)
        for (KeyDatabase* one : {&angles, &database})
          one->planes()[f * one->pitch() + i] = static_cast<float>(directions[i][f] / unit * length);
      wanted.push_back(lengths == KeyLengths::own ? length : length / 3e25);
    }
    angles.refresh(count);
    database.refresh(count);
    std::vector<float> cosines(count), scores(count);
    angles.score_hashed(z, cosines);
    database.score_hashed(z, scores);
    for (int i = 0; i < count; ++i) CHECK(std::abs(scores[i] - wanted[i] * cosines[i]) <= 1e-5 * wanted[i]);
  }
}

TEST_CASE("more draws than there are keys can be made where keys are put back") {
  KeyDatabase database(3, 2, {.tree = true});
  for (const float first : {1.0F, 2.0F, 3.0F}) database.insert(std::vector<float>{first, 1});
  const std::vector<float> z{1, 1};
  Random random(15);
  std::vector<int> drawn(60, -1);
  database.draw(z, random, true, drawn);
  for (const int key : {0, 1, 2}) CHECK(std::ranges::count(drawn, key) > 0);
  CHECK_THROWS_MATCHES(database.draw(z, random, false, drawn), Error,
                       MessageMatches(ContainsSubstring("cannot choose 60 keys from 3")));
}

TEST_CASE("more bits find more of the exact top keys, and errors stay inside Theorem 4.3's bound") {
  const int d = 4, m = 10, count = 2000, top = 10, trials = 10;
  std::printf("share of the exact top %d of %d keys found by sign codes (trig m = %d, normalised, d = %d), and\n", top, count, m,
              d);
  std::printf("largest error of a score against the bound of Theorem 4.3 at p = 0.05\n%6s %8s %8s %8s\n", "bits", "share", "error",
              "bound");
  double before = 0;
  for (const int bits : {64, 256, 1024, 4096}) {
    double found = 0, worst = 0;
    for (int trial = 0; trial < trials; ++trial) {
      const Projections projections = draw_projections(Ensemble::orthogonal, d, m, 0, static_cast<std::uint64_t>(trial));
      Random random(100 + static_cast<std::uint64_t>(trial));
      KeyDatabase database(count, 2 * m, {.bits = bits, .hash_seed = static_cast<std::uint64_t>(trial)});
      std::vector<double> x(d);
      for (int i = 0; i < count; ++i) database.insert(trig_features(projections, random, x, 0.5));
      std::vector<float> z(2 * m);
      std::vector<double> query(d);
      const int queries = 50;
      for (int j = 0; j < queries; ++j) {
        const auto phi = trig_features(projections, random, query, 1);
        for (int f = 0; f < 2 * m; ++f) z[f] += phi[f] / queries;
      }
      std::vector<int> exact(top), hashed(top);
      database.top(z, exact);
      database.top_hashed(z, hashed);
      for (const int key : hashed) found += static_cast<double>(std::ranges::count(exact, key));
      // r = |z| |phi(k)| cos(angle); all keys have the length exp(sqrt(d) / 2).
      std::vector<float> scores(count), cosines(count);
      database.score(z, scores);
      database.score_hashed(z, cosines);
      const double lengths = std::sqrt(product(z, z)) * std::exp(std::sqrt(static_cast<double>(d)) / 2);
      for (int i = 0; i < count; ++i) worst = std::max(worst, std::abs(scores[i] - lengths * cosines[i]));
    }
    // hash_bits(epsilon) solved for epsilon.
    const double epsilon = std::sqrt(hash_bits(1, 0.05, count, trials) / bits);
    const double bound = std::exp(std::sqrt(static_cast<double>(d))) * std::numbers::pi / 2 * epsilon;
    std::printf("%6d %8.2f %8.3f %8.3f\n", bits, found / trials / top, worst, bound);
    CHECK(worst < bound);
    CHECK(found > before);
    before = found;
  }
  CHECK(before / trials / top > 0.6);
}

TEST_CASE("a database says what it cannot do") {
  KeyDatabase database(2, 3);
  const auto says = [](const char* message) { return MessageMatches(ContainsSubstring(message)); };
  const std::vector<float> key = {1, 2, 3}, longer = {1, 2, 3, 4};
  std::vector<float> scores(2);
  std::vector<int> two(2);
  Random random(1);
  CHECK_THROWS_MATCHES(KeyDatabase(2, 0), Error, says("at least one key of one feature"));
  CHECK_THROWS_MATCHES(KeyDatabase(2, 3, {.bits = -1}), Error, says("got 3 features and -1 bits"));
  CHECK_THROWS_MATCHES(database.insert(longer), Error, says("a key of 4 features"));
  CHECK_THROWS_MATCHES(database.replace(0, key), Error, says("has no key 0; it holds 0"));
  database.insert(key);
  CHECK_THROWS_MATCHES(database.top(key, two), Error, says("cannot choose 2 keys from 1"));
  database.insert(key);
  CHECK_THROWS_MATCHES(database.insert(key), Error, says("is full with 2 keys"));
  CHECK_THROWS_MATCHES(database.refresh(3), Error, says("cannot hold 3 keys"));
  CHECK_THROWS_MATCHES(database.score(longer, scores), Error, says("a query of 4 features"));
  CHECK_THROWS_MATCHES(database.score(key, std::span(scores).first(1)), Error, says("room for 1 scores of 2 keys"));
  CHECK_THROWS_MATCHES(database.top_hashed(key, two), Error, says("bits > 0"));
  CHECK_THROWS_MATCHES(database.draw(key, random, true, two), Error, says("tree = true"));
}

TEST_CASE("planes, codes, directions and nodes are weighed before they are made") {
  struct Limit {
    Limit() { limit_usable_memory(4.0 * (1 << 30)); }
    ~Limit() { limit_usable_memory(std::numeric_limits<double>::infinity()); }
  };
  const Limit limit;
  const auto says = [](const char* message) { return MessageMatches(ContainsSubstring(message)); };
  CHECK_THROWS_MATCHES(KeyDatabase(1 << 22, 1 << 10), Error, says("key database: what it keeps needs 16 GiB of memory"));
  CHECK_THROWS_MATCHES(KeyDatabase(1 << 22, 1, {.bits = 1 << 16}), Error, says("key database: what it keeps needs 32.1 GiB"));
  CHECK_THROWS_MATCHES(KeyDatabase(1 << 20, 1 << 10, {.tree = true}), Error, says("key database: what it keeps needs 12 GiB"));
  CHECK_THROWS_MATCHES(KeyTree(1 << 20, 1 << 10), Error, says("key tree: what it keeps needs 8 GiB"));
  CHECK_THROWS_MATCHES(SignHash(1 << 20, 1 << 16, 1), Error, says("sign hash: what it keeps needs 256 GiB"));
}

TEST_CASE("lengths relative to the longest are 1 where rounding tells them apart, and follow what is inserted") {
  const int features = 7, count = 12;
  auto keys = random_rows(count, features, false, 11);
  for (int i = 0; i < count; ++i) {
    const double length = std::sqrt(product(keys[i], keys[i])), wanted = (i % 4 == 3 ? 0.5 : 2) * (1 + 1e-6 * i);
    for (float& value : keys[i]) value *= static_cast<float>(wanted / length);
  }
  const auto z = random_rows(1, features, false, 12)[0];
  KeyDatabase angles(count, features, {.bits = 90, .hash_seed = 8}),
      grown(count, features, {.bits = 90, .hash_seed = 8, .lengths = KeyLengths::relative});
  std::vector<float> cosines(count), scores(count);
  const auto check = [&] {
    angles.score_hashed(z, cosines);
    grown.score_hashed(z, scores);
    for (int i = 0; i < grown.size(); ++i)
      if (i % 4 != 3)
        CHECK(scores[i] == cosines[i]);
      else
        CHECK(std::abs(scores[i] - 0.25 * cosines[i]) < 1e-4);
  };
  for (int i = 0; i < count; ++i) {
    angles.insert(keys[i]);
    grown.insert(keys[i]);
    check();
  }
  grown.refresh(count);
  check();
  grown.replace(3, keys[0]);
  grown.score_hashed(z, scores);
  CHECK(scores[3] == scores[0]);
}
