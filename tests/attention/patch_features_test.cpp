#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

MapOptions read(const Config& config, int c, int d) {
  Options options("test", config);
  const MapOptions map = read_map(options, c, d);
  options.finish();
  return map;
}

/// The kernel's inputs by plain loops.
Rows inputs(const Case& c, const MapOptions& map, const std::vector<float>& weights, const std::vector<float>& bias,
            double offset) {
  Rows rows = project(c, weights, bias, offset);
  if (map.relu) return rows;
  if (map.normalised) {
    to_length(rows, map.factor);
    return rows;
  }
  for (auto& row : rows)
    for (double& value : row) value *= map.factor;
  return rows;
}

std::vector<double> phi_of(const MapOptions& map, Side side, const std::vector<double>& x) {
  const int d = static_cast<int>(x.size());
  std::vector<double> phi(static_cast<std::size_t>(map.features(d)));
  if (map.relu)
    for (int o = 0; o < d; ++o) phi[o] = std::max(x[o], 0.0);
  else
    feature_map(map.kind, draw_projections(map.ensemble, d, map.m, map.r, map.seed), side, x, phi);
  return phi;
}

std::vector<Config> kernels() {
  std::vector<Config> all{Config::Map{{"kernel", "relu"}}};
  for (const char* kernel : {"exp", "trig", "hybrid"})
    for (const char* input : {"plain", "normalised"})
      for (const int m : {1, 6, 17})
        all.emplace_back(Config::Map{{"kernel", kernel}, {"input", input}, {"m", m}, {"feature_seed", 3}});
  return all;
}

float largest_of(std::span<const float> values) {
  float largest = 0;
  for (const float value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

}  // namespace

TEST_CASE("features of a frame's patches are those of feature_map") {
  struct Shape {
    ImageShape image;
    int size, stride, d;
  };
  for (const auto& [image, size, stride, d] : {Shape{{17, 23, 3}, 3, 2, 4}, Shape{{9, 40, 1, PixelType::float32}, 1, 1, 2},
                                               Shape{{24, 24, 4}, 4, 7, 5}, Shape{{2, 2, 1}, 2, 1, 3}}) {
    const Case c = make_case(image, size, stride, d, true, 0.4F, 20);
    const int count = c.grid.count();
    for (const Config& config : kernels()) {
      INFO(to_json(config) << " " << count << " patches");
      const MapOptions map = read(config, c.grid.values(), d);
      const std::size_t pitch = static_cast<std::size_t>(count) + key_padding;
      for (const Side side : {Side::query, Side::key}) {
        PatchFeatures features(map, side, c.grid, d);
        features.bind(c.key, c.key_bias);
        std::vector<float> rows(pitch * features.features()), z(features.features());
        features.rows(c.image.view(), -0.5F, rows, pitch);
        features.pool(Pooling::features, c.image.view(), -0.5F, z);
        const Rows x = inputs(c, map, c.key, c.key_bias, -0.5);
        std::vector<double> mean(z.size());
        for (int j = 0; j < count; ++j) {
          const auto phi = phi_of(map, side, x[j]);
          double scale = 1e-3;
          for (const double value : phi) scale = std::max(scale, std::abs(value));
          for (std::size_t f = 0; f < z.size(); ++f) {
            REQUIRE(std::abs(rows[f * pitch + j] - phi[f]) < 2e-5 * scale);
            mean[f] += phi[f] / count;
          }
        }
        double scale = 0;
        for (const double value : mean) scale = std::max(scale, std::abs(value));
        for (std::size_t f = 0; f < z.size(); ++f) REQUIRE(std::abs(z[f] - mean[f]) < 1e-4 * scale);
      }
    }
  }
}

TEST_CASE("kept features are of the projections that the options say") {
  for (const auto& [name, ensemble] : {std::pair{"iid", Ensemble::iid}, std::pair{"orthogonal", Ensemble::orthogonal}})
    CHECK(read(Config::Map{{"kernel", "exp"}, {"ensemble", name}}, 12, 4).ensemble == ensemble);
}

TEST_CASE("pooled features times the keys' are the scores of IAP-rank") {
  const Case c = make_case({30, 41, 3}, 3, 2, 6, true, 0.3F, 21);
  for (const Config& config : kernels()) {
    INFO(to_json(config));
    const MapOptions map = read(config, c.grid.values(), c.d);
    PatchFeatures query(map, Side::query, c.grid, c.d), key(map, Side::key, c.grid, c.d);
    query.bind(c.query, c.query_bias);
    key.bind(c.key, c.key_bias);
    const std::size_t pitch = static_cast<std::size_t>(c.grid.count()) + key_padding;
    std::vector<float> rows(pitch * key.features()), z(key.features());
    key.rows(c.image.view(), -0.5F, rows, pitch);
    query.pool(Pooling::features, c.image.view(), -0.5F, z);
    const auto scores = scores_of(c, config, -0.5F);
    const float scale = largest_of(scores);
    for (int j = 0; j < c.grid.count(); ++j) {
      double score = 0;
      for (std::size_t f = 0; f < z.size(); ++f) score += static_cast<double>(z[f]) * rows[f * pitch + j];
      REQUIRE(std::abs(score - scores[j]) < 1e-4 * scale);
    }
  }
}

TEST_CASE("queries pooled before the feature map give the features of their mean or sum, up to a factor") {
  const Case c = make_case({14, 18, 3}, 2, 2, 4, true, 0.05F, 22);
  for (const auto& [kernel, input] : {std::pair{"exp", "plain"}, {"exp", "normalised"}, {"favor++", "plain"}})
    for (const Pooling pooling : {Pooling::mean, Pooling::sum}) {
      const MapOptions map = read(Config::Map{{"kernel", kernel}, {"input", input}, {"m", 9}}, c.grid.values(), c.d);
      PatchFeatures query(map, Side::query, c.grid, c.d);
      query.bind(c.query, c.query_bias);
      std::vector<float> z(9);
      query.pool(pooling, c.image.view(), -0.5F, z);
      std::vector<double> pooled(4);
      for (const auto& x : inputs(c, map, c.query, c.query_bias, -0.5))
        for (int o = 0; o < 4; ++o) pooled[o] += pooling == Pooling::mean ? x[o] / c.grid.count() : x[o];
      // Logarithms, because the features of a sum of queries may be too small for doubles.
      const auto drawn = draw_projections(map.ensemble, 4, 9, 0, map.seed);
      // FAVOR++ has A |w|^2 + sqrt(1 - 4 A) w . x, with u = 1 - 8 A and 4 u^2 - (4 + 2 s) u - 2 s = 0 for d = 4 and spread s = 4.
      const double a = std::string(kernel) == "favor++" ? -(1 + std::sqrt(17)) / 16 : 0;
      std::vector<double> exponents(9);
      for (int i = 0; i < 9; ++i)
        for (int o = 0; o < 4; ++o) {
          const double w = drawn.omega[i * 4 + o];
          exponents[i] += a * w * w + std::sqrt(1 - 4 * a) * w * pooled[o];
        }
      const double largest = *std::ranges::max_element(exponents);
      for (int i = 0; i < 9; ++i) CHECK(std::abs(z[i] - std::exp(exponents[i] - largest)) < 1e-4);
    }
}

TEST_CASE("features beyond the range of floats keep their ratios") {
  // Keys of length up to 60: exp(||x||^2 / 2) is far from any float.
  const Case c = make_case({12, 16, 3}, 2, 2, 4, false, 20.0F, 23);
  const std::size_t pitch = static_cast<std::size_t>(c.grid.count()) + key_padding;
  for (const char* kernel : {"trig", "exp", "hybrid"}) {
    const MapOptions map = read(Config::Map{{"kernel", kernel}, {"m", 5}}, c.grid.values(), c.d);
    PatchFeatures key(map, Side::key, c.grid, c.d);
    key.bind(c.key, {});
    std::vector<float> rows(pitch * key.features()), z(key.features());
    key.rows(c.image.view(), 0, rows, pitch);
    key.pool(Pooling::features, c.image.view(), 0, z);
    for (const float value : rows) REQUIRE(std::isfinite(value));
    for (const float value : z) REQUIRE(std::isfinite(value));
    CHECK(largest_of(rows) > 1e-18F);
    CHECK(largest_of(z) > 1e-20F);
    if (map.kind != FeatureKind::exp) continue;
    const auto drawn = draw_projections(map.ensemble, 4, 5, 0, map.seed);
    std::vector<double> exponents;
    for (const auto& x : inputs(c, map, c.key, {}, 0))
      for (int i = 0; i < 5; ++i) {
        double exponent = -dot(x, x) / 2;
        for (int o = 0; o < 4; ++o) exponent += drawn.omega[i * 4 + o] * x[o];
        exponents.push_back(exponent);
      }
    const double largest = *std::ranges::max_element(exponents);
    for (int j = 0; j < c.grid.count(); ++j)
      for (int i = 0; i < 5; ++i)
        CHECK(std::abs(rows[i * pitch + j] / largest_of(rows) - std::exp(exponents[j * 5 + i] - largest)) < 1e-3);
  }
}

TEST_CASE("an episode's projections are its own if the options say so") {
  const Case c = make_case({12, 16, 3}, 2, 2, 4, false, 0.3F, 24);
  const std::size_t pitch = static_cast<std::size_t>(c.grid.count()) + key_padding;
  for (const char* redraw : {"never", "episode"}) {
    PatchFeatures key(read(Config::Map{{"kernel", "exp"}, {"redraw", redraw}}, c.grid.values(), c.d), Side::key, c.grid, c.d);
    key.bind(c.key, {});
    const auto rows_of = [&](std::uint64_t episode) {
      key.new_episode(episode);
      std::vector<float> rows(pitch * key.features());
      key.rows(c.image.view(), 0, rows, pitch);
      return rows;
    };
    const auto five = rows_of(5);
    CHECK((rows_of(6) == five) == (std::string(redraw) == "never"));
    CHECK(rows_of(5) == five);
  }
}

TEST_CASE("query weights and a position encoding count in every pooling") {
  const Case c = make_case({14, 18, 3}, 2, 2, 4, true, 0.3F, 26);
  const int count = c.grid.count(), values = c.grid.values();
  std::vector<float> votes(count), encoding(static_cast<std::size_t>(count) * values);
  Random random(27);
  random.fill_normal(votes);
  random.fill_normal(encoding);
  for (const char* input : {"plain", "normalised"}) {
    const MapOptions map = read(Config::Map{{"kernel", "exp"}, {"input", input}, {"m", 9}}, values, c.d);
    PatchFeatures query(map, Side::query, c.grid, c.d);
    query.bind(c.query, c.query_bias, encoding, votes);
    Rows x = project(c, c.query, c.query_bias, -0.5);
    for (int j = 0; j < count; ++j)
      for (int o = 0; o < c.d; ++o)
        for (int v = 0; v < values; ++v) x[j][o] += static_cast<double>(encoding[j * values + v]) * c.query[v * c.d + o];
    if (map.normalised) to_length(x, map.factor);
    for (auto& row : x)
      for (double& value : row) value *= map.normalised ? 1.0 : map.factor;
    std::vector<double> mean(c.d), of_features(9), of_mean(9);
    for (int j = 0; j < count; ++j) {
      for (int o = 0; o < c.d; ++o) mean[o] += votes[j] * x[j][o] / count;
      const auto phi = phi_of(map, Side::query, x[j]);
      for (int f = 0; f < 9; ++f) of_features[f] += votes[j] * phi[f] / count;
    }
    feature_map(map.kind, draw_projections(map.ensemble, c.d, 9, 0, map.seed), Side::query, mean, of_mean);
    const double largest = *std::ranges::max_element(of_mean);
    std::vector<float> z(9);
    query.pool(Pooling::mean, c.image.view(), -0.5F, z);
    for (int f = 0; f < 9; ++f) CHECK(std::abs(z[f] - of_mean[f] / largest) < 1e-4);
    query.pool(Pooling::features, c.image.view(), -0.5F, z);
    double scale = 0;
    for (const double value : of_features) scale = std::max(scale, std::abs(value));
    for (int f = 0; f < 9; ++f) CHECK(std::abs(z[f] - of_features[f]) < 1e-3 * scale);
  }
}

TEST_CASE("features say what does not fit") {
  const Case c = make_case({12, 16, 3}, 2, 2, 4, false, 0.3F, 25);
  const MapOptions map = read(Config::Map{{"kernel", "trig"}}, c.grid.values(), c.d);
  PatchFeatures key(map, Side::key, c.grid, c.d);
  std::vector<float> z(key.features());
  const auto says = [](const char* message) { return MessageMatches(ContainsSubstring(message)); };
  CHECK_THROWS_MATCHES(key.pool(Pooling::features, c.image.view(), 0, z), Error, says("no weights are bound"));
  CHECK_THROWS_MATCHES(key.bind(std::span(c.key).first(3), {}), Error, says("holds 3 values where 48"));
  key.bind(c.key, {});
  CHECK_THROWS_MATCHES(key.pool(Pooling::mean, c.image.view(), 0, z), Error,
                       says("only positive features (kernels relu, exp and favor++)"));
  CHECK_THROWS_MATCHES(key.rows(c.image.view(), 0, z, 1), Error, says("at pitch 1"));
  const Image other({12, 17, 3});
  CHECK_THROWS_MATCHES(key.pool(Pooling::features, other.view(), 0, z), Error, says("got an image of 12 x 17 x 3"));
  CHECK_THROWS_MATCHES(read(Config::Map{{"kernel", "exp"}, {"redraw", 5}}, 12, 4), OptionError,
                       says("keep their projections throughout an episode"));
  CHECK_THROWS_MATCHES(read(Config::Map{{"kernel", "exp"}, {"epsilon", 0.1}}, 12, 4), OptionError, says("option 'epsilon'"));
  CHECK_THROWS_MATCHES(read(Config::Map{{"kernel", "exp"}, {"brute_force", true}}, 12, 4), OptionError,
                       says("option 'brute_force'"));
  const Config unknown = Config::Map{{"kernel", "softmax"}};
  CHECK_THROWS_AS(read(unknown, 12, 4), OptionError);
}
