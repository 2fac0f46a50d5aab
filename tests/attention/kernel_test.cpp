#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "reference.hpp"

namespace {

// The projections of a kernel of random features as its scorers draw them.
Projections projections_of(const KernelEntry& entry, Ensemble ensemble, int d, int m, int r, std::uint64_t seed) {
  Projections drawn = draw_projections(ensemble, d, m, entry.features->kind == FeatureKind::hybrid ? r : 0, seed);
  const Config none;
  Options options("test", none);
  if (entry.features->shape) entry.features->shape(options, d)(drawn);
  return drawn;
}

std::vector<double> features_of(const KernelEntry& entry, const Projections& drawn, Side side, const std::vector<double>& x) {
  std::vector<double> phi(feature_count(entry.features->kind, drawn.m, drawn.r));
  feature_map(entry.features->kind, drawn, side, x, phi);
  return phi;
}

double closed_form(const KernelEntry& entry, const std::vector<double>& x, const std::vector<double>& y, int m, int r,
                   const Config& config = {}) {
  Options options("test", config);
  return entry.features->mse(options, x, y, m, r);
}

std::vector<double> vector_of(Random& random, int d, double length) {
  std::vector<double> x(d);
  double square = 0;
  for (double& value : x) square += std::pow(value = random.normal(), 2);
  for (double& value : x) value *= length / std::sqrt(square);
  return x;
}

}  // namespace

TEST_CASE("every kernel of random features is unbiased and has its closed-form error") {
  constexpr int d = 4, m = 6, r = 3, draws = 20000;
  Random random(5);
  for (const auto& entry : kernel_catalog()) {
    if (!entry.features) continue;
    for (const double length : {0.3, 0.7, 1.0}) {
      const auto x = vector_of(random, d, length), y = vector_of(random, d, length);
      const double wanted = softmax_kernel(x, y);
      double sum = 0, squares = 0, fourth = 0;
      for (int n = 0; n < draws; ++n) {
        const Projections drawn = projections_of(entry, Ensemble::iid, d, m, r, 7000 + n);
        const double error = dot(features_of(entry, drawn, Side::query, x), features_of(entry, drawn, Side::key, y)) - wanted;
        sum += error;
        squares += error * error;
        fourth += error * error * error * error;
      }
      const double mse = squares / draws, deviation = std::sqrt((fourth / draws - mse * mse) / draws);
      INFO(entry.name << ", length " << length);
      CHECK(std::abs(sum / draws) < 4 * std::sqrt(mse / draws));
      CHECK(std::abs(mse - closed_form(entry, x, y, m, r)) < 4 * deviation);
    }
  }
}

TEST_CASE("every kernel of random features scores, mixes and keeps what its feature map says") {
  constexpr int m = 7, r = 3;
  const Case c = make_case({19, 23, 3}, 4, 3, 5, true, 0.4F, 71);
  const std::size_t patches = c.grid.count();
  for (const auto& entry : kernel_catalog()) {
    if (!entry.features) continue;
    for (const bool normalised : {false, true}) {
      INFO(entry.name << (normalised ? ", normalised" : ""));
      Config config = Config::Map{{"kernel", entry.name}, {"m", m}, {"feature_seed", 9}};
      config["input"] = normalised ? "normalised" : "plain";
      if (entry.features->kind == FeatureKind::hybrid) config["r"] = r;
      const auto [q, k] = inputs(c, normalised, -0.5);
      const Projections drawn = projections_of(entry, Ensemble::orthogonal, c.d, m, r, 9);
      Rows query_features, key_features;
      for (const auto& x : q) query_features.push_back(features_of(entry, drawn, Side::query, x));
      for (const auto& x : k) key_features.push_back(features_of(entry, drawn, Side::key, x));

      std::vector<double> wanted(patches);
      for (std::size_t j = 0; j < patches; ++j)
        for (const auto& phi : query_features) wanted[j] += dot(phi, key_features[j]) / static_cast<double>(patches);
      const auto scores = scores_of(c, config, -0.5F);
      for (std::size_t j = 0; j < patches; ++j) REQUIRE(std::abs(scores[j] - wanted[j]) < 2e-4 * largest(wanted));

      Options for_map("test", config);
      PatchFeatures keys(read_map(for_map, c.grid.values(), c.d), Side::key, c.grid, c.d);
      keys.bind(c.key, c.key_bias);
      const std::size_t pitch = patches + key_padding;
      std::vector<float> rows(pitch * keys.features());
      keys.rows(c.image.view(), -0.5F, rows, pitch);
      for (std::size_t j = 0; j < patches; ++j)
        for (std::size_t f = 0; f < key_features[j].size(); ++f)
          REQUIRE(std::abs(rows[f * pitch + j] - key_features[j][f]) < 2e-4 * largest(key_features[j]));

      Options for_trans("test", config);
      const auto trans = make_trans(for_trans, c.grid, {c.d, 1, 1, false, false});
      // One token that sums up the values: sum_j of row sums of A times V.
      const std::vector<float> ones(patches, 1.0F);
      trans->bind({c.head(), {}, ones});
      double mixed = 0;
      for (std::size_t j = 0; j < patches; ++j) {
        trans->value_row(0)[j] = static_cast<float>(j % 5) - 1;
        mixed += wanted[j] * (static_cast<double>(j % 5) - 1);
      }
      float out = 0;
      trans->apply(c.image.view(), -0.5F, {&out, 1});
      double size = 0;
      for (const double score : wanted) size += 3 * std::abs(score);
      REQUIRE(std::abs(out - mixed) < 2e-4 * size);
    }
  }
}

TEST_CASE("FAVOR++ errs least at its own spread, and less than FAVOR+") {
  const auto named = [](const char* name) -> const KernelEntry& {
    return *std::ranges::find(kernel_catalog(), name, &KernelEntry::name);
  };
  Random random(6);
  for (int round = 0; round < 20; ++round) {
    const int d = 2 + static_cast<int>(random.below(8));
    const auto x = vector_of(random, d, 0.2 + random.uniform()), y = vector_of(random, d, 0.2 + random.uniform());
    double spread = 0;
    for (int k = 0; k < d; ++k) spread += (x[k] + y[k]) * (x[k] + y[k]);
    const auto at = [&](double value) { return closed_form(named("favor++"), x, y, 5, 0, Config::Map{{"spread", value}}); };
    CHECK(at(spread) < at(0.8 * spread));
    CHECK(at(spread) < at(1.25 * spread));
    CHECK(at(spread) < closed_form(named("exp"), x, y, 5, 0));
    CHECK(std::abs(at(0) / closed_form(named("exp"), x, y, 5, 0) - 1) < 1e-9);
  }
}

TEST_CASE("an option of features beside brute force, or of another kernel, is refused by what it goes with") {
  const auto refusal = [](Config config) {
    Options options("test", config);
    make_scorer(options, PatchGrid({8, 8, 1}, 2, 2, "test"), 4);
    try {
      options.finish();
    } catch (const OptionError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refusal(Config::Map{{"kernel", "favor++"}, {"brute_force", true}, {"spread", 1}}) ==
        "test: option 'spread' goes with brute_force = false");
  CHECK(refusal(Config::Map{{"kernel", "exp"}, {"brute_force", true}, {"spread", 1}}) ==
        "test: option 'spread' goes with kernel = \"favor++\"");
  for (const char* option : {"input", "scale", "temperature"})
    CHECK(refusal(Config::Map{{"kernel", "relu"}, {option, 1}}) ==
          "test: option '" + std::string(option) + "' goes with the kernels exp, favor++, trig, hybrid, softmax");
  CHECK(refusal(Config::Map{{"kernel", "softmax"}, {"brute_force", true}}) ==
        "test: option 'brute_force' goes with the kernels relu, exp, favor++, trig, hybrid");
  CHECK(refusal(Config::Map{{"kernel", "trig"}, {"epsilon", 0.1}}) ==
        "test: option 'epsilon' goes with the kernels relu, exp, favor++");
  CHECK(refusal(Config::Map{{"kernel", "exp"}, {"brute_force", true}, {"epsilon", 0.1}}) ==
        "test: option 'epsilon' goes with brute_force = false");
  CHECK(refusal(Config::Map{{"kernel", "exp"}, {"normalise_rows", true}}) ==
        "test: option 'normalise_rows' goes with kernel = \"softmax\"");
  CHECK(refusal(Config::Map{{"kernel", "favor++"}, {"spread", 1}}).empty());
  CHECK(refusal(Config::Map{{"kernel", "favor++"}, {"brute_force", true}, {"m", 7}, {"feature_seed", 3}}).empty());
}

TEST_CASE("a kernel that cannot do what is asked says which can") {
  const Config softmax = Config::Map{{"kernel", "softmax"}};
  Options options("test", softmax);
  CHECK_THROWS_MATCHES(read_map(options, 12, 4), OptionError,
                       Catch::Matchers::Message("test: kernel 'softmax' cannot keep the features of keys, it has none; kernels "
                                                "that can: relu, exp, favor++, trig, hybrid"));
  for (const auto& entry : kernel_catalog()) {
    const std::string line = abilities(entry);
    CHECK((line.find("cross") != std::string::npos) == (entry.map != nullptr));
    CHECK((line.find("trans") != std::string::npos) == (entry.transform != nullptr));
  }
}
