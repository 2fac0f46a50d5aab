#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

CrossAttention make(const Config& config, Ranking ranking, const Case& query, const Case& key) {
  Options options("test", config);
  CrossAttention made(options, ranking, query.grid, key.grid, query.d);
  options.finish();
  made.bind({query.query, key.key, query.query_bias, key.key_bias});
  return made;
}

/// Inputs of plain kernels: u / d^(1/4).
Rows plain_inputs(const Case& c, const std::vector<float>& weights, const std::vector<float>& bias) {
  Rows rows = project(c, weights, bias, -0.5);
  for (auto& row : rows)
    for (double& value : row) value /= std::pow(c.d, 0.25);
  return rows;
}

/// p_i proportional to exp(mean query . key i).
std::vector<double> softmax_of_mean(const Case& query, const Case& key) {
  const Rows q = plain_inputs(query, query.query, query.query_bias), k = plain_inputs(key, key.key, key.key_bias);
  std::vector<double> mean(query.d), p;
  for (const auto& x : q)
    for (int o = 0; o < query.d; ++o) mean[o] += x[o] / static_cast<double>(q.size());
  double total = 0;
  for (const auto& x : k) total += p.emplace_back(std::exp(dot(mean, x)));
  for (double& value : p) value /= total;
  return p;
}

double total_variation(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]) / 2;
  return sum;
}

}  // namespace

TEST_CASE("queries of one frame rank the keys of another, of another shape") {
  const Case query = make_case({18, 25, 3}, 3, 2, 5, true, 0.4F, 30),
             key = make_case({11, 14, 1, PixelType::float32}, 2, 1, 5, true, 0.8F, 31);
  for (const char* kernel : {"relu", "exp", "trig", "hybrid"}) {
    INFO(kernel);
    const Config config = Config::Map{{"kernel", kernel}, {"scale", "d"}};
    const Config relu = Config::Map{{"kernel", kernel}};
    const bool is_relu = std::string(kernel) == "relu";
    CrossAttention attention = make(is_relu ? relu : config, Ranking::exact, query, key);
    const Rows q = project(query, query.query, query.query_bias, -0.5), k = project(key, key.key, key.key_bias, -0.5);
    const Rows x = plain_inputs(query, query.query, query.query_bias), y = plain_inputs(key, key.key, key.key_bias);
    // Scores by the definition: every pair of a query and a key.
    std::vector<float> wanted(key.grid.count());
    const FeatureKind kind = std::string(kernel) == "exp"    ? FeatureKind::exp
                             : std::string(kernel) == "trig" ? FeatureKind::trig
                                                             : FeatureKind::hybrid;
    const int m = kind == FeatureKind::exp ? 15 : 10, r = kind == FeatureKind::hybrid ? 5 : 0;
    const Projections projections = draw_projections(Ensemble::orthogonal, 5, m, r, 0);
    std::vector<double> a(feature_count(kind, m, r)), b(a);
    for (int j = 0; j < key.grid.count(); ++j) {
      double sum = 0;
      for (int i = 0; i < query.grid.count(); ++i) {
        if (is_relu) {
          for (int o = 0; o < 5; ++o) sum += std::max(q[i][o], 0.0) * std::max(k[j][o], 0.0);
          continue;
        }
        feature_map(kind, projections, Side::query, x[i], a);
        feature_map(kind, projections, Side::key, y[j], b);
        sum += dot(a, b);
      }
      wanted[j] = static_cast<float>(sum / query.grid.count());
    }
    Random random(1);
    std::vector<int> selected(6), best(6);
    std::vector<float> scores(key.grid.count());
    attention.set_keys(key.image.view(), -0.5F);
    attention.choose(query.image.view(), -0.5F, random, selected);
    attention.score(scores);
    select_top(wanted, best);
    CHECK(selected == best);
    const float scale = std::abs(wanted[best[0]]);
    for (int j = 0; j < key.grid.count(); ++j) CHECK(std::abs(scores[j] - wanted[j]) < 1e-4F * scale);
    CHECK(random.bits() == Random(1).bits());
  }
}

TEST_CASE("features that floats just hold, on both sides, have products that they do not: scores keep their ratios") {
  // ||x||^2 / 2 is at most 54, as exp(54) each float holds.
  Case c = make_case({9, 11, 1, PixelType::float32}, 1, 1, 1, false, 0, 36);
  c.query[0] = c.key[0] = 10.4F;
  const Config config = Config::Map{{"kernel", "trig"}, {"m", 7}, {"feature_seed", 3}};
  CrossAttention attention = make(config, Ranking::exact, c, c);
  std::vector<int> selected(3);
  std::vector<float> scores(c.grid.count());
  Random random(1);
  attention.set_keys(c.image.view(), 0);
  attention.choose(c.image.view(), 0, random, selected);
  attention.score(scores);
  const Projections drawn = draw_projections(Ensemble::orthogonal, 1, 7, 0, 3);
  const auto phi = [&](Side side, const std::vector<double>& x) {
    std::vector<double> features(14);
    feature_map(FeatureKind::trig, drawn, side, x, features);
    return features;
  };
  std::vector<double> sum(14), wanted;
  for (const auto& x : project(c, c.query, {}, 0)) {
    const auto features = phi(Side::query, x);
    for (std::size_t f = 0; f < sum.size(); ++f) sum[f] += features[f];
  }
  double largest = 0;
  for (const auto& x : project(c, c.key, {}, 0))
    largest = std::max(largest, std::abs(wanted.emplace_back(dot(sum, phi(Side::key, x)))));
  REQUIRE(largest > 1e40);
  const float most = std::abs(*std::ranges::max_element(scores, {}, [](float x) { return std::abs(x); }));
  for (std::size_t i = 0; i < wanted.size(); ++i) REQUIRE(std::abs(scores[i] / most - wanted[i] / largest) < 1e-4);
}

TEST_CASE("what queries are pooled to is what is asked for") {
  const Case c = make_case({12, 12, 3}, 4, 4, 4, false, 0.3F, 37);
  for (const auto& [name, pooling] :
       {std::pair{"mean", Pooling::mean}, std::pair{"sum", Pooling::sum}, std::pair{"features", Pooling::features}}) {
    const CrossAttention made = make(Config::Map{{"kernel", "exp"}, {"pooling", name}}, Ranking::sample, c, c);
    CHECK(made.pooling() == pooling);
    CHECK_THAT(made.describe(), ContainsSubstring(text("sampled by ", name)));
  }
}

TEST_CASE("many bits rank as the exact products do") {
  const Case query = make_case({18, 25, 3}, 3, 2, 4, true, 0.4F, 32), key = make_case({20, 20, 3}, 4, 4, 4, true, 0.4F, 33);
  for (const char* kernel : {"relu", "exp", "trig", "hybrid"}) {
    INFO(kernel);
    Config config = Config::Map{{"kernel", kernel}};
    CrossAttention exact = make(config, Ranking::exact, query, key);
    config["bits"] = 8192;
    CrossAttention hashed = make(config, Ranking::hash, query, key);
    std::vector<int> a(5), b(5);
    Random random(1);
    for (CrossAttention* attention : {&exact, &hashed}) {
      attention->set_keys(key.image.view(), -0.5F);
      attention->choose(query.image.view(), -0.5F, random, attention == &exact ? a : b);
    }
    int found = 0;
    for (const int patch : b) found += static_cast<int>(std::ranges::count(a, patch));
    CHECK(found >= 4);
  }
}

// Those of other keys have the length exp(sqrt(d) / 2), of a zero one 1.
TEST_CASE("codes rank zero keys by the length of their trigonometric features") {
  for (const double temperature : {1.0, 0.4}) {
    Case c = make_case({12, 16, 3}, 2, 2, 3, false, 0.4F, 39);
    const auto is_zero = [](int patch) { return patch % 3 == 1; };
    for (int y = 0; y < 12; ++y)
      for (int x = 0; x < 16 * 3; ++x)
        if (is_zero(y / 2 * 8 + x / 6)) c.image.bytes()[y * 48 + x] = 0;
    Config config = Config::Map{{"kernel", "trig"}, {"m", 40}, {"input", "normalised"}, {"temperature", temperature}};
    CrossAttention exact = make(config, Ranking::exact, c, c);
    config["bits"] = 1 << 15;
    CrossAttention hashed = make(config, Ranking::hash, c, c);
    std::vector<float> scores(c.grid.count()), cosines(scores);
    std::vector<int> a(5), b(5);
    Random random(1);
    for (CrossAttention* attention : {&exact, &hashed}) {
      attention->set_keys(c.image.view(), 0);
      attention->choose(c.image.view(), 0, random, attention == &exact ? a : b);
      attention->score(attention == &exact ? scores : cosines);
    }
    // Both are the products but for one factor, and for what codes leave open.
    double products = 0, squares = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      products += static_cast<double>(scores[i]) * cosines[i];
      squares += static_cast<double>(cosines[i]) * cosines[i];
    }
    const double factor = products / squares, largest = *std::ranges::max_element(scores);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      INFO("key " << i << ": " << scores[i] << " and " << factor * cosines[i]);
      CHECK(std::abs(scores[i] - factor * cosines[i]) < 0.05 * largest);
    }
    CHECK(std::ranges::none_of(b, is_zero));
    CHECK(std::ranges::none_of(a, is_zero));
  }
}

TEST_CASE("patches are drawn by the estimated softmax weights") {
  const Case query = make_case({12, 15, 3}, 3, 3, 4, true, 0.3F, 34), key = make_case({10, 14, 1}, 2, 2, 4, true, 1.0F, 35);
  for (const char* pooling : {"mean", "features"}) {
    CrossAttention attention =
        make(Config::Map{{"kernel", "exp"}, {"m", 20}, {"pooling", pooling}, {"replacement", true}}, Ranking::sample, query, key);
    attention.set_keys(key.image.view(), -0.5F);
    const int count = key.grid.count();
    const auto projections = draw_projections(Ensemble::orthogonal, 4, 20, 0, 0);
    const Rows x = plain_inputs(query, query.query, query.query_bias), y = plain_inputs(key, key.key, key.key_bias);
    std::vector<double> mean(4), z(20), phi(20), p;
    for (const auto& row : x) {
      for (int o = 0; o < 4; ++o) mean[o] += row[o] / static_cast<double>(x.size());
      feature_map(FeatureKind::exp, projections, Side::query, row, phi);
      for (int i = 0; i < 20; ++i) z[i] += phi[i];
    }
    if (std::string(pooling) == "mean") feature_map(FeatureKind::exp, projections, Side::query, mean, z);
    double total = 0;
    for (const auto& row : y) {
      feature_map(FeatureKind::exp, projections, Side::key, row, phi);
      total += p.emplace_back(dot(z, phi));
    }
    for (double& value : p) value /= total;
    Random random(36);
    std::vector<long> counts(count);
    std::vector<int> drawn(10);
    const int frames = 10000;
    for (int frame = 0; frame < frames; ++frame) {
      attention.choose(query.image.view(), -0.5F, random, drawn);
      for (const int patch : drawn) ++counts[patch];
    }
    const double draws = 10.0 * frames;
    double chi = 0;
    for (int i = 0; i < count; ++i) chi += std::pow(static_cast<double>(counts[i]) - draws * p[i], 2) / (draws * p[i]);
    INFO(pooling << " chi^2 " << chi << " of " << count - 1 << " degrees");
    CHECK(std::abs(chi - (count - 1)) / std::sqrt(2.0 * (count - 1)) < 4);
    std::vector<float> scores(count);
    attention.score(scores);
    for (int i = 0; i < count; ++i) CHECK(std::abs(scores[i] - p[i]) < 1e-4 * p[i] + 1e-7);
  }
}

TEST_CASE("the bias of approximate softmax sampling goes to 0 with m") {
  const Case query = make_case({12, 15, 3}, 3, 3, 4, true, 0.3F, 34), key = make_case({10, 14, 1}, 2, 2, 4, true, 0.6F, 35);
  const auto exact = softmax_of_mean(query, key);
  std::printf("distance (total variation) of approximate softmax sampling from exact, mean of 20 draws of m projections\n");
  double before = 1;
  for (const int m : {4, 16, 64, 256, 1024, 4096}) {
    double distance = 0;
    for (int seed = 0; seed < 20; ++seed) {
      CrossAttention attention =
          make(Config::Map{{"kernel", "exp"}, {"m", m}, {"feature_seed", seed}}, Ranking::sample, query, key);
      attention.set_keys(key.image.view(), -0.5F);
      Random random(1);
      std::vector<int> drawn(3);
      attention.choose(query.image.view(), -0.5F, random, drawn);
      std::vector<float> scores(key.grid.count());
      attention.score(scores);
      distance += total_variation(exact, {scores.begin(), scores.end()}) / 20;
    }
    std::printf("m %5d  %.4f\n", m, distance);
    CHECK(distance < before);
    before = distance;
  }
  CHECK(before < 0.01);
}

TEST_CASE("an empty database chooses nothing, and projections are redrawn for both sides at once") {
  const Case c = make_case({12, 15, 3}, 3, 3, 4, false, 0.3F, 37);
  CrossAttention attention = make(Config::Map{{"kernel", "exp"}, {"redraw", "episode"}}, Ranking::exact, c, c);
  std::vector<int> selected(3);
  std::vector<float> one(c.grid.count()), two(one), other(one);
  Random random(1);
  CHECK_THROWS_MATCHES(attention.choose(c.image.view(), -0.5F, random, selected), Error,
                       MessageMatches(ContainsSubstring("cannot choose 3 keys from 0")));
  const auto episode = [&](std::uint64_t seed, std::vector<float>& scores) {
    attention.new_episode(seed);
    attention.set_keys(c.image.view(), -0.5F);
    attention.choose(c.image.view(), -0.5F, random, selected);
    attention.score(scores);
  };
  episode(1, one);
  episode(2, other);
  episode(1, two);
  CHECK(one == two);
  CHECK(one != other);
  attention.new_episode(3);
  CHECK_THROWS_AS(attention.choose(c.image.view(), -0.5F, random, selected), Error);
  // Unbiased with the same projections on both sides: far from that with different ones.
  const auto exact = scores_of(c, Config::Map{{"kernel", "exp"}, {"brute_force", true}}, -0.5F);
  std::vector<double> mean(c.grid.count());
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    episode(seed, one);
    for (int i = 0; i < c.grid.count(); ++i) mean[i] += one[i] / 400.0;
  }
  for (int i = 0; i < c.grid.count(); ++i) CHECK(std::abs(mean[i] - exact[i]) < 0.1 * exact[i]);
}

TEST_CASE("sampling takes positive exponential features, and says why it takes no others") {
  const Case c = make_case({12, 15, 3}, 3, 3, 4, false, 0.3F, 38);
  const auto says = [](const char* message) { return MessageMatches(ContainsSubstring(message)); };
  CHECK_THROWS_MATCHES(make(Config::Map{{"kernel", "trig"}}, Ranking::sample, c, c), Error,
                       says("kernel 'trig' cannot draw patches"));
  CHECK_THROWS_MATCHES(make(Config::Map{{"kernel", "hybrid"}}, Ranking::sample, c, c), Error,
                       says("kernel 'hybrid' cannot draw patches"));
  CHECK_THROWS_MATCHES(make(Config::Map{{"kernel", "softmax"}}, Ranking::sample, c, c), Error,
                       says("kernel 'softmax' cannot draw patches, which takes positive features that estimate softmax weights; "
                            "kernels that can: exp, favor++"));
  CHECK_THROWS_MATCHES(make(Config::Map{{"kernel", "relu"}}, Ranking::sample, c, c), Error,
                       says("kernel 'relu' cannot draw patches"));
  CHECK_NOTHROW(make(Config::Map{{"kernel", "favor++"}}, Ranking::sample, c, c));
  CHECK_THROWS_MATCHES(make(Config::Map{{"kernel", "exp"}, {"bits", 8}}, Ranking::sample, c, c), Error,
                       says("option 'bits' goes with ranking = \"hash\""));
}
