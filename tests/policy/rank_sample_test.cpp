#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "helpers.hpp"
import iap.attention;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

Policy make(const std::string& options, int outputs) {
  return Policy(config("{'kind': 'rank', 'patch': 4, 'selection': 'sample', " + options + "}"), image_spec(8, 12), outputs);
}

Projections drawn(int d) { return draw_projections(Ensemble::orthogonal, d, 40, 0, 0); }

/// p_j proportional to phi(mean query) . phi(key j), phi being exponential features of 40 projections, by plain loops.
std::vector<double> wanted(const Policy& policy, const Image& image, int d, const Projections& projections) {
  const auto wq = slice(policy, "policy.query"), wk = slice(policy, "policy.key");
  const auto project = [&](int patch, const std::vector<double>& weight) {
    std::vector<double> x(static_cast<std::size_t>(d));
    int v = 0;
    for (int row = 0; row < 4; ++row)
      for (int column = 0; column < 4; ++column)
        for (int channel = 0; channel < 3; ++channel, ++v) {
          const int at = ((patch / 3 * 4 + row) * 12 + patch % 3 * 4 + column) * 3 + channel;
          for (int o = 0; o < d; ++o) x[o] += (image.bytes()[at] / 255.0 - 0.5) * weight[v * d + o] / std::pow(d, 0.25);
        }
    return x;
  };
  std::vector<double> mean(static_cast<std::size_t>(d)), z(40), phi(40), p;
  for (int patch = 0; patch < 6; ++patch) {
    const auto query = project(patch, wq);
    for (int o = 0; o < d; ++o) mean[o] += query[o] / 6;
  }
  feature_map(FeatureKind::exp, projections, Side::query, mean, z);
  for (int patch = 0; patch < 6; ++patch) {
    feature_map(FeatureKind::exp, projections, Side::key, project(patch, wk), phi);
    p.push_back(std::inner_product(z.begin(), z.end(), phi.begin(), 0.0));
  }
  const double total = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& value : p) value /= total;
  return p;
}

}  // namespace

TEST_CASE("rank draws ordered pairs of patches by softmax weights, without replacement") {
  Policy policy = make("'top': 2, 'd': 3, 'kernel': 'exp', 'm': 40", 4);
  randomise(policy, 6, 0.5);
  const Frame frame(policy.observation(), 1);
  const auto p = wanted(policy, frame.image(), 3, drawn(3));
  std::vector<double> counts(36);
  const int episodes = 4000, steps = 10;
  for (int seed = 0; seed < episodes; ++seed) {
    policy.reset(static_cast<std::uint64_t>(seed));
    for (int step = 0; step < steps; ++step) {
      act(policy, frame);
      const auto selected = policy.views().at(0).selected;
      ++counts[selected[0] * 6 + selected[1]];
    }
  }
  double chi = 0;
  for (int a = 0; a < 6; ++a)
    for (int b = 0; b < 6; ++b) {
      if (a == b) {
        CHECK(counts[a * 6 + b] == 0);
        continue;
      }
      const double expected = episodes * steps * p[a] * p[b] / (1 - p[a]);
      REQUIRE(expected > 10);
      chi += std::pow(counts[a * 6 + b] - expected, 2) / expected;
    }
  INFO("chi^2 " << chi << " of 29 degrees");
  CHECK(std::abs(chi - 29) < 4 * std::sqrt(58.0));
  const auto scores = policy.views().at(0).scores;
  for (int i = 0; i < 6; ++i) CHECK(std::abs(scores[i] - p[i]) < 1e-5);
}

TEST_CASE("rank draws by the features of FAVOR++") {
  Policy policy = make("'top': 2, 'd': 4, 'kernel': 'favor++', 'm': 40", 4);
  randomise(policy, 8, 0.5);
  const Frame frame(policy.observation(), 2);
  act(policy, frame);
  // exp(A |w|^2 + sqrt(1 - 4 A) w . x - |x|^2 / 2), where 4 u^2 - (4 + 2 s) u - 2 s = 0 for u = 1 - 8 A, d = 4 and spread s = 4.
  const double a = -(1 + std::sqrt(17)) / 16;
  Projections projections = drawn(4);
  projections.offset.resize(40);
  for (std::size_t i = 0; i < projections.omega.size(); ++i) {
    float& w = projections.omega[i];
    projections.offset[i / 4] += static_cast<float>(a) * w * w;
    w *= static_cast<float>(std::sqrt(1 - 4 * a));
  }
  const auto p = wanted(policy, frame.image(), 4, projections);
  for (int i = 0; i < 6; ++i) CHECK(std::abs(policy.views().at(0).scores[i] - p[i]) < 1e-5);
}

TEST_CASE("a rank's draws repeat for a seed and differ between seeds and steps") {
  Policy policy = make("'top': 3, 'kernel': 'exp', 'values': 'position'", 6);
  randomise(policy, 7, 0.05);
  const Frame frame(policy.observation(), 1);
  const auto episode = [&](std::uint64_t seed) {
    policy.reset(seed);
    std::vector<std::vector<float>> outputs;
    for (int step = 0; step < 20; ++step) outputs.push_back(act(policy, frame));
    return outputs;
  };
  const auto one = episode(1);
  CHECK(one == episode(1));
  CHECK(one != episode(2));
  CHECK(std::set<std::vector<float>>(one.begin(), one.end()).size() > 5);
}

TEST_CASE("rank says why it samples with exponential features only") {
  const auto fails = [](const std::string& options, const char* message) {
    CHECK_THROWS_MATCHES(make(options, 4), OptionError, MessageMatches(ContainsSubstring(message)));
  };
  fails("'top': 2", "policy: kernel 'relu' cannot draw patches");
  fails("'top': 2, 'kernel': 'hybrid'", "policy: kernel 'hybrid' cannot draw patches");
  fails("'top': 2, 'kernel': 'softmax'", "kernel 'softmax'");
  CHECK_NOTHROW(make("'top': 2, 'kernel': 'favor++'", 4));
  CHECK_NOTHROW(make("'top': 2, 'kernel': 'exp', 'replacement': true, 'pooling': 'features'", 4));
}

TEST_CASE("heads of a sampled rank draw on their own, and P weighs the queries that are pooled") {
  Policy heads = make("'top': 2, 'kernel': 'exp', 'heads': 2, 'temperature': 10", 8);
  // Equal weights for both heads: only the draws can differ.
  std::vector<float> parameters(heads.size());
  for (std::size_t i = 0; i < parameters.size(); ++i)
    parameters[i] = 0.1F * static_cast<float>(std::sin(static_cast<double>(i % (parameters.size() / 2))));
  heads.set_parameters(parameters);
  const Frame frame(heads.observation(), 3);
  int differ = 0;
  for (int step = 0; step < 50; ++step) {
    const auto out = act(heads, frame);
    differ += std::vector(out.begin(), out.begin() + 4) != std::vector(out.begin() + 4, out.end());
  }
  CHECK(differ > 30);
  Policy voted = make("'top': 2, 'kernel': 'exp', 'm': 40, 'd': 3, 'query_weights': 'learned'", 4);
  voted.initialise(1);
  const auto scores = [&](float vote) {
    std::vector<float> values(voted.parameters().begin(), voted.parameters().end());
    for (const auto& part : voted.layout().slices())
      if (part.name == "policy.query_weights")
        std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(part.offset), part.size, vote);
    voted.set_parameters(values);
    act(voted, frame);
    const auto seen = voted.views().at(0).scores;
    return std::vector<float>(seen.begin(), seen.end());
  };
  const auto ones = scores(1), zeros = scores(0);
  const auto expected = wanted(voted, frame.image(), 3, drawn(3));
  for (int i = 0; i < 6; ++i) CHECK(std::abs(ones[i] - expected[i]) < 1e-5);
  CHECK(ones != zeros);
  CHECK_THROWS_MATCHES(make("'top': 2, 'kernel': 'exp', 'pooling': 'features', 'query_weights': 'learned'", 4), Error,
                       MessageMatches(ContainsSubstring("learned query weights can be negative")));
}
