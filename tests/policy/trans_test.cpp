#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "attention_reference.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinAbs;

namespace {

Policy make(const std::string& options, const ObservationSpec& spec) {
  const Config block = config("{'kind': 'trans', " + options + "}");
  ParameterLayout layout;
  const int outputs = make_block(block, {&spec, 1, 0, false, "policy"}, layout)->outputs();
  return Policy(block, spec, outputs);
}

/// P as parameters make it: over sqrt(L).
reference::Rows compression(const Policy& policy, const std::string& name, std::size_t patches) {
  auto p = reference::matrix(policy, name, patches);
  for (auto& row : p)
    for (double& value : row) value /= std::sqrt(static_cast<double>(patches));
  return p;
}

/// P (A V + V), l x dV.
reference::Rows tokens(const reference::Rows& p, const reference::Rows& a, const reference::Rows& v, bool residual) {
  auto attended = reference::product(a, v);
  if (residual) attended = reference::add(attended, v);
  return reference::product(p, attended);
}

void check_close(const std::vector<float>& got, const reference::Rows& wanted, double tolerance) {
  std::size_t at = 0;
  double scale = 0;
  for (const auto& row : wanted)
    for (const double value : row) scale = std::max(scale, std::abs(value));
  for (const auto& row : wanted)
    for (const double value : row) REQUIRE_THAT(got.at(at++), WithinAbs(value, tolerance * scale));
  REQUIRE(at == got.size());
}

constexpr ImageShape odd_shapes[] = {
    {17, 23, 1, PixelType::uint8}, {13, 19, 3, PixelType::uint8}, {11, 9, 4, PixelType::float32}, {24, 7, 2, PixelType::float32}};

}  // namespace

TEST_CASE("trans is P (A V + V) in every kernel and both orders") {
  const int d = 4, m = 7, r = 3;
  struct Row {
    std::string options;
    reference::Kernel kernel;
    bool normalise;
  };
  const Row rows[] = {
      {"'kernel': 'relu'", reference::relu, false},
      {"'kernel': 'relu', 'normalise_rows': true", reference::relu, true},
      {"'kernel': 'exp', 'm': 7, 'feature_seed': 5", reference::estimate(FeatureKind::exp, d, m, 0, 5), false},
      {"'kernel': 'exp', 'm': 7, 'feature_seed': 5, 'normalise_rows': true", reference::estimate(FeatureKind::exp, d, m, 0, 5),
       true},
      {"'kernel': 'trig', 'm': 7, 'feature_seed': 5", reference::estimate(FeatureKind::trig, d, m, 0, 5), false},
      {"'kernel': 'hybrid', 'm': 7, 'r': 3, 'feature_seed': 5", reference::estimate(FeatureKind::hybrid, d, m, r, 5), false},
      {"'kernel': 'softmax'", reference::softmax, true},
      {"'kernel': 'softmax', 'normalise_rows': false", reference::softmax, false},
      {"'kernel': 'hybrid', 'brute_force': true", reference::softmax, false}};
  for (const Row& row : rows)
    for (const auto& shape : odd_shapes)
      for (const auto& [patch, stride] : {std::pair{2, 2}, std::pair{3, 2}, std::pair{2, 5}}) {
        const ObservationSpec spec{{{"pixels", shape}}, 0};
        const Frame frame(spec, 3);
        const bool ordered = row.options.find("softmax") == std::string::npos && row.options.find("brute") == std::string::npos;
        for (const std::string order : {"auto", "values_first", "queries_first"}) {
          if (!ordered && order != "auto") continue;
          INFO(row.options << ", order " << order << ", " << shape.height << " x " << shape.width << " x " << shape.channels
                           << ", patch " << patch << ", stride " << stride);
          Policy policy = make(text("'patch': ", patch, ", 'stride': ", stride, ", 'd': 4, 'tokens': 3, 'dv': 4, ", row.options,
                                    ordered ? ", 'order': '" + order + "'" : ""),
                               spec);
          randomise(policy, 4, 0.4);
          const auto x = reference::patches(frame.image(), patch, stride, -0.5);
          const auto q = reference::product(x, reference::matrix(policy, "policy.query", d));
          const auto k = reference::product(x, reference::matrix(policy, "policy.key", d));
          const auto v = reference::product(x, reference::matrix(policy, "policy.value", 4));
          const auto a = reference::attention(q, k, row.kernel, row.normalise);
          const auto p = compression(policy, "policy.compression", x.size());
          CHECK(policy.size() == x.front().size() * (2 * 4 + 4) + 3 * x.size());
          check_close(act(policy, frame), tokens(p, a, v, true), 5e-5);
          // What the pictures show: column weights of P A.
          const auto view = policy.views().at(0);
          const auto votes = reference::product(p, a);
          std::vector<double> weights(x.size());
          for (const auto& token : votes)
            for (std::size_t j = 0; j < weights.size(); ++j) weights[j] += std::abs(token[j]);
          const double largest = *std::ranges::max_element(weights);
          for (std::size_t j = 0; j < weights.size(); ++j) CHECK_THAT(view.scores[j], WithinAbs(weights[j], 1e-4 * largest));
          CHECK(view.selected.size() == 3);
          CHECK(std::ranges::is_sorted(view.selected, {}, [&](int patch_index) { return -view.scores[patch_index]; }));
        }
      }
}

TEST_CASE("trans takes any values, encodings, heads and layer normalisation") {
  const auto spec = image_spec(14, 18);
  const Frame frame(spec, 5);
  const auto x = reference::patches(frame.image(), 3, 3, -0.5);
  REQUIRE(x.size() == 24);
  SECTION("contents, without the residual") {
    Policy policy = make("'patch': 3, 'd': 4, 'tokens': 2, 'values': 'content', 'residual': false", spec);
    randomise(policy, 6, 0.4);
    const auto q = reference::product(x, reference::matrix(policy, "policy.query", 4));
    const auto k = reference::product(x, reference::matrix(policy, "policy.key", 4));
    CHECK(policy.size() == 2 * 27 * 4 + 2 * 24);
    check_close(act(policy, frame),
                tokens(compression(policy, "policy.compression", 24), reference::attention(q, k, reference::relu, false), x, false),
                5e-5);
  }
  SECTION("positions and a projection, which sees the encoding as queries and keys do") {
    for (const std::string encoding : {"sinusoidal", "learned"}) {
      Policy policy = make(
          "'patch': 3, 'd': 4, 'tokens': 2, 'values': ['projection', 'position'], 'dv': 3, 'encoding': '" + encoding + "'", spec);
      randomise(policy, 7, 0.3);
      const auto encoded = reference::add(
          x, encoding == "learned" ? reference::matrix(policy, "policy.encoding", 27) : reference::sinusoidal(4, 6, 27, 1));
      const auto q = reference::product(encoded, reference::matrix(policy, "policy.query", 4));
      const auto k = reference::product(encoded, reference::matrix(policy, "policy.key", 4));
      const auto projected = reference::product(encoded, reference::matrix(policy, "policy.value", 3));
      reference::Rows v;
      for (std::size_t i = 0; i < 24; ++i) {
        v.push_back({2 * (static_cast<double>(i / 6) * 3 + 1.5) / 14 - 1, 2 * (static_cast<double>(i % 6) * 3 + 1.5) / 18 - 1});
        v.back().insert(v.back().end(), projected[i].begin(), projected[i].end());
      }
      check_close(
          act(policy, frame),
          tokens(compression(policy, "policy.compression", 24), reference::attention(q, k, reference::relu, false), v, true), 5e-5);
    }
  }
  SECTION("a lone projection under an encoding takes the fast path to the same end") {
    for (const std::string encoding : {"sinusoidal", "learned"}) {
      Policy policy = make("'patch': 3, 'd': 4, 'tokens': 2, 'dv': 3, 'bias': true, 'encoding': '" + encoding + "'", spec);
      randomise(policy, 8, 0.3);
      const auto encoded = reference::add(
          x, encoding == "learned" ? reference::matrix(policy, "policy.encoding", 27) : reference::sinusoidal(4, 6, 27, 1));
      auto q = reference::product(encoded, reference::matrix(policy, "policy.query", 4));
      auto k = reference::product(encoded, reference::matrix(policy, "policy.key", 4));
      q = reference::add(q, reference::Rows(24, slice(policy, "policy.query_bias")));
      k = reference::add(k, reference::Rows(24, slice(policy, "policy.key_bias")));
      check_close(act(policy, frame),
                  tokens(compression(policy, "policy.compression", 24), reference::attention(q, k, reference::relu, false),
                         reference::product(encoded, reference::matrix(policy, "policy.value", 3)), true),
                  5e-5);
    }
  }
  SECTION("two heads side by side, rows normalised with gain and bias") {
    Policy policy = make("'patch': 3, 'd': 4, 'tokens': 3, 'dv': 2, 'heads': 2, 'layer_norm': true, 'kernel': 'softmax'", spec);
    CHECK(policy.size() == 2 * (27 * (4 + 4 + 2) + 3 * 24) + 2 * 4);
    randomise(policy, 9, 0.4);
    reference::Rows joined(3);
    for (const std::string head : {"_1", "_2"}) {
      const auto q = reference::product(x, reference::matrix(policy, "policy.query" + head, 4));
      const auto k = reference::product(x, reference::matrix(policy, "policy.key" + head, 4));
      const auto v = reference::product(x, reference::matrix(policy, "policy.value" + head, 2));
      const auto part = tokens(compression(policy, "policy.compression" + head, 24),
                               reference::attention(q, k, reference::softmax, true), v, true);
      for (int token = 0; token < 3; ++token) joined[token].insert(joined[token].end(), part[token].begin(), part[token].end());
    }
    const auto gain = slice(policy, "policy.norm_gain"), bias = slice(policy, "policy.norm_bias");
    for (auto& row : joined) {
      double mean = 0, variance = 0;
      for (const double value : row) mean += value / 4;
      for (const double value : row) variance += (value - mean) * (value - mean) / 4;
      for (int i = 0; i < 4; ++i) row[i] = gain[i] * (row[i] - mean) / std::sqrt(variance + 1e-5) + bias[i];
    }
    check_close(act(policy, frame), joined, 1e-4);
    const auto views = policy.views();
    REQUIRE(views.size() == 2);
    CHECK(views[0].block == "policy.head_1");
    CHECK(views[1].block == "policy.head_2");
  }
}

TEST_CASE("P may be fixed: averages of runs of patches, or random numbers of a seed") {
  const auto spec = image_spec(6, 14, 1);
  const Frame frame(spec, 5);
  Policy average = make("'patch': 2, 'd': 2, 'tokens': 4, 'values': 'content', 'compression': 'average'", spec);
  CHECK(average.size() == 2 * 4 * 2);
  average.set_parameters(std::vector<float>(average.size()));
  // All attention is zero: what is left is the residual, means of 21 patches in runs of 5, 5, 5 and 6.
  const auto x = reference::patches(frame.image(), 2, 2, -0.5);
  reference::Rows means;
  for (const auto& [first, end] : {std::pair{0, 5}, std::pair{5, 10}, std::pair{10, 15}, std::pair{15, 21}}) {
    means.emplace_back(4);
    for (int i = first; i < end; ++i)
      for (int v = 0; v < 4; ++v) means.back()[v] += x[i][v] / (end - first);
  }
  check_close(act(average, frame), means, 1e-5);

  const std::string random = "'patch': 2, 'd': 2, 'tokens': 4, 'values': 'content', 'compression': 'random', 'compression_seed': ";
  Policy one = make(random + "1", spec), again = make(random + "1", spec), two = make(random + "2", spec);
  for (Policy* policy : {&one, &again, &two}) policy->set_parameters(std::vector<float>(policy->size()));
  CHECK(act(one, frame) == act(again, frame));
  CHECK(act(one, frame) != act(two, frame));

  // Side by side in every token, three heads of the same values.
  Policy heads = make(random + "1, 'heads': 3", spec);
  heads.set_parameters(std::vector<float>(heads.size()));
  const auto out = act(heads, frame);
  for (const auto& [a, b] : {std::pair{0, 4}, std::pair{0, 8}, std::pair{4, 8}})
    CHECK_FALSE(std::equal(out.begin() + a, out.begin() + a + 4, out.begin() + b));
}

TEST_CASE("a random P has variance 1/L") {
  const auto spec = image_spec(40, 40, 1);
  Policy policy = make("'patch': 1, 'd': 1, 'tokens': 200, 'values': 'content', 'compression': 'random', 'pixel_offset': 0", spec);
  policy.set_parameters(std::vector<float>(policy.size()));
  Frame frame(spec, 1);
  std::ranges::fill(frame.image().bytes(), std::uint8_t{255});
  double square = 0;
  for (const float sum : act(policy, frame)) square += sum * sum / 200;
  // Each output is a sum of L = 1600 numbers N(0, 1/L).
  CHECK_THAT(square, WithinAbs(1, 4 * std::sqrt(2.0 / 200)));
}

TEST_CASE("trans repeats itself, survives its file and says what it is") {
  const auto spec = image_spec(16, 16);
  Policy policy = make(
      "'patch': 4, 'd': 4, 'tokens': 3, 'dv': 5, 'kernel': 'hybrid', 'redraw': 'episode', 'heads': 2, 'encoding': 'learned'", spec);
  policy.initialise(1);
  CHECK_THAT(
      policy.summary(),
      ContainsSubstring("trans: kernel hybrid, patch 4, stride 4, L 16, d 4, tokens 3, values projection (5), P learned, heads 2, "
                        "residual, encoding learned"));
  const auto episode = [&](Policy& player, std::uint64_t seed) {
    player.reset(seed);
    return act(player, Frame(spec, 2));
  };
  const auto first = episode(policy, 4);
  CHECK(episode(policy, 5) != first);
  CHECK(episode(policy, 4) == first);
  auto loaded = load_policy(save_policy(policy, {}), "x.iap");
  CHECK(episode(loaded.policy, 4) == first);
}

TEST_CASE("views of trans are those of the last act, however often they are asked for") {
  const auto spec = image_spec(12, 12);
  Policy policy = make("'patch': 3, 'd': 4, 'tokens': 2, 'kernel': 'exp'", spec);
  CHECK(policy.views().empty());
  policy.initialise(1);
  const Frame one(spec, 1), two(spec, 2);
  const auto seen = [&](const Frame& frame) {
    act(policy, frame);
    const auto view = policy.views().at(0);
    return std::vector<float>(view.scores.begin(), view.scores.end());
  };
  const auto first = seen(one);
  const auto again = policy.views().at(0);
  CHECK(std::ranges::equal(again.scores, first));
  CHECK(seen(two) != first);
  CHECK(seen(one) == first);
}

TEST_CASE("each head of trans shows the patches that weigh most in it") {
  const auto spec = image_spec(16, 16);
  Policy policy = make("'patch': 4, 'd': 4, 'tokens': 3, 'heads': 2", spec);
  randomise(policy, 31);
  act(policy, Frame(spec, 1));
  const auto views = policy.views();
  REQUIRE(views.size() == 2);
  for (const auto& view : views) {
    std::vector<double> scores(view.scores.begin(), view.scores.end());
    CHECK(std::vector<int>(view.selected.begin(), view.selected.end()) == reference::best(scores, 3));
  }
  CHECK_FALSE(std::ranges::equal(views[0].selected, views[1].selected));
}

TEST_CASE("trans's options that do not fit are errors that name the block and the remedy") {
  const auto spec = image_spec(20, 20);
  CHECK_THROWS_MATCHES(make("'patch': 4, 'tokens': 26", spec), Error,
                       MessageMatches(ContainsSubstring("policy: option 'tokens' is 26, but a 20 x 20 image has only 25 patches")));
  CHECK_THROWS_MATCHES(
      make("'patch': 4, 'kernel': 'trig', 'normalise_rows': true", spec), Error,
      MessageMatches(ContainsSubstring("policy: option 'normalise_rows' needs positive features") && ContainsSubstring("favor++")));
  CHECK_THROWS_MATCHES(make("'patch': 4, 'dv': 1, 'layer_norm': true", spec), Error,
                       MessageMatches(ContainsSubstring("policy: option 'layer_norm' would make a zero of every row")));
  CHECK_THROWS_MATCHES(make("'patch': 4, 'values': 'position', 'dv': 3", spec), Error,
                       MessageMatches(ContainsSubstring("policy: option 'dv' goes with values = \"projection\"")));
  CHECK_THROWS_MATCHES(make("'patch': 4, 'top': 3", spec), Error, MessageMatches(ContainsSubstring("unknown option 'top'")));
  CHECK_THROWS_MATCHES(make("'patch': 4", vector_spec(3)), Error,
                       MessageMatches(ContainsSubstring("the environment draws no images")));
}
