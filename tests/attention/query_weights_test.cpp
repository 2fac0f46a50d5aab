#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "golden.hpp"
#include "reference.hpp"

namespace {

// Every third weight is zero; half of the others are negative.
std::vector<float> random_weights(Random& random, int count) {
  std::vector<float> weights(count);
  for (float& weight : weights) weight = random.below(3) == 0 ? 0.0F : static_cast<float>(random.normal());
  return weights;
}

struct Wanted {
  std::vector<double> scores;
  double scale = 0;  // the largest score if no term cancelled another
};

// r_j = (1/L) sum_i P_i f(q_i, k_j), with rows of f that sum to one where `shares`.
template <typename F>
Wanted weighted_votes(const Rows& queries, const Rows& keys, const std::vector<float>& weights, bool shares, F f) {
  Wanted wanted;
  wanted.scores.resize(keys.size());
  std::vector<double> sizes(keys.size());
  for (std::size_t i = 0; i < queries.size(); ++i) {
    double total = 0;
    for (const auto& key : keys) total += f(queries[i], key);
    for (std::size_t j = 0; j < keys.size(); ++j) {
      const double vote = weights[i] * f(queries[i], keys[j]) / (shares ? total : 1) / static_cast<double>(keys.size());
      wanted.scores[j] += vote;
      sizes[j] += std::abs(vote);
    }
  }
  wanted.scale = largest(sizes);
  return wanted;
}

double relu_product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += std::max(a[k], 0.0) * std::max(b[k], 0.0);
  return sum;
}

void require_close(const std::vector<float>& got, const Wanted& wanted, double tolerance) {
  for (std::size_t j = 0; j < got.size(); ++j) REQUIRE(std::abs(got[j] - wanted.scores[j]) <= tolerance * wanted.scale);
}

Case random_case(Random& random) {
  const auto pick = [&](int low, int high) { return low + static_cast<int>(random.below(high - low + 1)); };
  const int size = pick(1, 5), stride = pick(1, 7);
  const ImageShape shape{pick(size, 33), pick(size, 45), pick(1, 4), random.below(2) ? PixelType::uint8 : PixelType::float32};
  Case c = make_case(shape, size, stride, pick(1, 9), random.below(2) == 1, 0.7F / static_cast<float>(size), random.bits());
  c.query_weights = random_weights(random, c.grid.count());
  return c;
}

}  // namespace

TEST_CASE("query weights multiply the votes of relu and of exact kernels, after rows are normalised") {
  Random random(71);
  for (int round = 0; round < 100; ++round) {
    const Case c = random_case(random);
    if (c.grid.count() > 400) continue;
    INFO("round " << round << ", L " << c.grid.count() << ", d " << c.d);
    const Rows q = project(c, c.query, c.query_bias, -0.5), k = project(c, c.key, c.key_bias, -0.5);
    const Wanted relu = weighted_votes(q, k, c.query_weights, false, relu_product);
    for (const bool brute_force : {false, true})
      require_close(scores_of(c, Config::Map{{"kernel", "relu"}, {"brute_force", brute_force}}, -0.5F), relu, 1e-4);
    const auto sm = [&](const auto& a, const auto& b) { return std::exp(dot(a, b) / std::sqrt(c.d)); };
    for (const bool shares : {false, true})
      require_close(scores_of(c, Config::Map{{"kernel", "softmax"}, {"normalise_rows", shares}}, -0.5F),
                    weighted_votes(q, k, c.query_weights, shares, sm), 1e-4);
  }
}

TEST_CASE("query weights multiply the votes that random features estimate") {
  Random random(72);
  int compared = 0;
  for (int round = 0; round < 200; ++round) {
    const Case c = random_case(random);
    const Settings settings{static_cast<FeatureKind>(round % 3),
                            1 + static_cast<int>(random.below(17)),
                            1 + static_cast<int>(random.below(9)),
                            random.below(2) == 1,
                            random.below(2) == 1,
                            random.bits()};
    const Projections projections = settings.projections(c.d);
    const auto [q, k] = inputs(c, settings.normalised, 0);
    if (std::ranges::any_of(q, [&](const auto& x) { return ambiguous(projections, x); })) continue;
    std::vector<float> magnitudes = c.query_weights;
    for (float& weight : magnitudes) weight = std::abs(weight);
    const auto wanted = slow_scores(settings, projections, q, k, c.query_weights);
    const double scale = std::max(largest(slow_scores(settings, projections, q, k, magnitudes)), largest(wanted));
    const auto got = scores_of(c, settings.config(), 0);
    INFO("round " << round << ", kind " << static_cast<int>(settings.kind) << ", L " << c.grid.count() << ", d " << c.d);
    for (std::size_t j = 0; j < got.size(); ++j) {
      if (ambiguous(projections, k[j])) continue;
      REQUIRE(std::abs(got[j] - wanted[j]) <= 1e-4 * scale);
      ++compared;
    }
  }
  CHECK(compared > 10000);
}

TEST_CASE("scores are the weighted means of the estimators' own formulas over all queries") {
  Random random(76);
  int compared = 0;
  for (int round = 0; round < 30; ++round) {
    Case c = random_case(random);
    if (c.grid.count() > 400) continue;
    const Settings settings{static_cast<FeatureKind>(round % 3), 5, 4, round % 2 == 1, true, random.bits()};
    const Projections projections = settings.projections(c.d);
    const auto [q, k] = inputs(c, settings.normalised, -0.5);
    if (std::ranges::any_of(q, [&](const auto& x) { return ambiguous(projections, x); })) continue;
    const Wanted wanted = weighted_votes(q, k, c.query_weights, false, [&](const auto& x, const auto& y) {
      const Golden estimate = golden(projections, x, y);
      return settings.kind == FeatureKind::exp    ? estimate.exp
             : settings.kind == FeatureKind::trig ? estimate.trig
                                                  : estimate.hybrid();
    });
    const auto got = scores_of(c, settings.config(), -0.5F);
    for (std::size_t j = 0; j < got.size(); ++j) {
      if (ambiguous(projections, k[j])) continue;
      REQUIRE(std::abs(got[j] - wanted.scores[j]) <= 1e-4 * wanted.scale);
      ++compared;
    }
  }
  CHECK(compared > 1000);
}

TEST_CASE("epsilon of relu and exp is weighted with its query") {
  Random random(73);
  Case c = make_case({20, 23, 3}, 3, 2, 5, true, 0.3F, 74);
  c.query_weights = random_weights(random, c.grid.count());
  const double epsilon = 0.05;
  const Rows q = project(c, c.query, c.query_bias, 0), k = project(c, c.key, c.key_bias, 0);
  const Wanted relu = weighted_votes(q, k, c.query_weights, false, [&](const auto& a, const auto& b) {
    double sum = 0;
    for (std::size_t o = 0; o < a.size(); ++o) sum += (std::max(a[o], 0.0) + epsilon) * (std::max(b[o], 0.0) + epsilon);
    return sum;
  });
  for (const bool brute_force : {false, true})
    require_close(scores_of(c, Config::Map{{"kernel", "relu"}, {"epsilon", epsilon}, {"brute_force", brute_force}}, 0), relu, 1e-5);

  const Settings settings{FeatureKind::exp, 7, 0, false, true, 12};
  const Projections projections = settings.projections(c.d);
  const auto [x, y] = inputs(c, false, 0);
  const Wanted wanted = weighted_votes(x, y, c.query_weights, false, [&](const auto& a, const auto& b) {
    std::vector<double> f(7), g(7);
    feature_map(FeatureKind::exp, projections, Side::query, a, f);
    feature_map(FeatureKind::exp, projections, Side::key, b, g);
    double sum = 0;
    for (int i = 0; i < 7; ++i) sum += (f[i] + epsilon / std::sqrt(7.0)) * (g[i] + epsilon / std::sqrt(7.0));
    return sum;
  });
  Config config = settings.config();
  config["epsilon"] = epsilon;
  require_close(scores_of(c, config, 0), wanted, 1e-4);
}

TEST_CASE("votes that are weighted beyond what sums of floats hold keep their size") {
  Random random(77);
  for (const char* kernel : {"relu", "exp", "trig", "hybrid", "softmax"}) {
    INFO(kernel);
    Case c = make_case({14, 17, 3}, 3, 2, 4, true, 0.1F, 78);
    c.query_weights = random_weights(random, c.grid.count());
    const Config config = Config::Map{{"kernel", kernel}};
    const auto plain = scores_of(c, config, -0.5F);
    constexpr double factor = 1e20;
    for (float& weight : c.query_weights) weight *= static_cast<float>(factor);
    const auto huge = scores_of(c, config, -0.5F);
    const double scale = std::max(-std::ranges::min(plain), std::ranges::max(plain));
    for (std::size_t j = 0; j < plain.size(); ++j) CHECK(std::abs(huge[j] / factor - plain[j]) <= 1e-5 * scale);
  }
}

TEST_CASE("query weights of one change no bit, weights of zero leave nothing, and none given again means ones") {
  Case c = make_case({41, 37, 3}, 2, 2, 4, true, 0.5F, 75);
  for (const auto& entry : kernel_catalog()) {
    INFO(entry.name);
    const Config config = Config::Map{{"kernel", entry.name}};
    Options options("test", config);
    const auto scorer = make_scorer(options, c.grid, c.d);
    const auto scores_with = [&](std::vector<float> weights) {
      c.query_weights = std::move(weights);
      scorer->bind(c.head());
      std::vector<float> scores(c.grid.count());
      scorer->score(c.image.view(), -0.5F, scores);
      return scores;
    };
    const auto plain = scores_with({});
    CHECK(scores_with(std::vector<float>(c.grid.count(), 1.0F)) == plain);
    for (const float score : scores_with(std::vector<float>(c.grid.count(), 0.0F))) REQUIRE(score == 0);
    CHECK(scores_with({}) == plain);
  }
}
