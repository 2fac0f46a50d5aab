#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cases.hpp"

namespace {

double worst_relative_error(const std::vector<float>& got, const std::vector<double>& wanted) {
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) worst = std::max(worst, std::abs(got[i] - wanted[i]) / std::abs(wanted[i]));
  return worst;
}

// (1/L) times the column sums of f(x.y), each row divided by its sum where `rows_sum_to_one`.
template <typename F>
std::vector<double> column_means(const Rows& queries, const Rows& keys, F f, bool rows_sum_to_one) {
  std::vector<double> means(keys.size());
  for (const auto& q : queries) {
    double total = 0;
    for (const auto& k : keys) total += f(q, k);
    for (std::size_t j = 0; j < keys.size(); ++j)
      means[j] += f(q, keys[j]) / (rows_sum_to_one ? total : 1) / static_cast<double>(keys.size());
  }
  return means;
}

}  // namespace

TEST_CASE("relu scores equal a double-precision sum over all pairs") {
  for (const auto type : {PixelType::uint8, PixelType::float32})
    for (int channels = 1; channels <= 4; ++channels)
      for (const bool bias : {false, true}) {
        const Case c = make_case({13, 17, channels, type}, 3, 2, 5, bias, 0.4F, 20 + channels);
        const Rows q = project(c, c.query, c.query_bias, -0.5), k = project(c, c.key, c.key_bias, -0.5);
        const auto relu = [](const std::vector<double>& a, const std::vector<double>& b) {
          double sum = 0;
          for (std::size_t i = 0; i < a.size(); ++i) sum += std::max(a[i], 0.0) * std::max(b[i], 0.0);
          return sum;
        };
        const auto wanted = column_means(q, k, relu, false);
        const double scale = *std::ranges::max_element(wanted);
        for (const bool brute : {false, true}) {
          const auto got = scores_of(c, Config::Map{{"kernel", "relu"}, {"brute_force", brute}}, -0.5F);
          for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(std::abs(got[i] - wanted[i]) <= 1e-5 * scale);
        }
      }
}

TEST_CASE("exact softmax equals its definition in double precision") {
  for (const bool bias : {false, true})
    for (const bool normalise_rows : {false, true})
      for (const bool normalised : {false, true})
        for (const bool by_c : {false, true}) {
          const double temperature = 1.5;
          const Case c = make_case({12, 15, 3}, 4, 3, 6, bias, 0.3F, 31);
          Rows q = project(c, c.query, c.query_bias, 0), k = project(c, c.key, c.key_bias, 0);
          const double root = std::sqrt(by_c ? 48.0 : 6.0);
          if (normalised) {
            to_length(q, 1);
            to_length(k, 1);
          }
          const double factor = (normalised ? root : 1 / root) / temperature;
          const auto sm = [&](const std::vector<double>& a, const std::vector<double>& b) { return std::exp(factor * dot(a, b)); };
          const auto wanted = column_means(q, k, sm, normalise_rows);
          const auto got = scores_of(c,
                                     Config::Map{{"kernel", "softmax"},
                                                 {"normalise_rows", normalise_rows},
                                                 {"input", normalised ? "normalised" : "plain"},
                                                 {"scale", by_c ? "c" : "d"},
                                                 {"temperature", temperature}},
                                     0);
          REQUIRE(worst_relative_error(got, wanted) < 1e-5);
        }
}

TEST_CASE("rows of a normalised softmax are shares: scores sum to one") {
  const Case c = make_case({20, 20, 3}, 4, 4, 4, true, 1.0F, 33);
  double sum = 0;
  for (const float score : scores_of(c, Config::Map{{"kernel", "softmax"}, {"scale", "c"}}, 0)) sum += score;
  CHECK(std::abs(sum - 1) < 1e-5);
}

TEST_CASE("unnormalised exact scores keep their size wherever floats hold them") {
  for (const float spread : {1.0F, 2.0F, 2.4F}) {
    const Case c = make_case({16, 16, 3}, 4, 4, 4, false, spread, 34);
    const Rows q = project(c, c.query, {}, 0), k = project(c, c.key, {}, 0);
    const auto wanted = column_means(q, k, [](const auto& a, const auto& b) { return std::exp(dot(a, b) / 2); }, false);
    INFO("spread " << spread << ", largest score " << *std::ranges::max_element(wanted));
    REQUIRE(*std::ranges::max_element(wanted) < 1e36);
    for (const Config& config : {Config(Config::Map{{"kernel", "softmax"}, {"normalise_rows", false}}),
                                 Config(Config::Map{{"kernel", "exp"}, {"brute_force", true}})}) {
      const auto got = scores_of(c, config, 0);
      const double largest = *std::ranges::max_element(wanted);
      for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(std::abs(got[i] - wanted[i]) <= 1e-3 * wanted[i] + 1e-30 * largest);
    }
  }
}

TEST_CASE("unnormalised softmax beyond the range of float keeps the ranking of the exact scores") {
  const Case c = make_case({16, 16, 3}, 4, 4, 4, false, 3.0F, 34);
  const Rows q = project(c, c.query, {}, 0), k = project(c, c.key, {}, 0);
  const auto wanted = column_means(q, k, [](const auto& a, const auto& b) { return std::exp(dot(a, b) / 2); }, false);
  REQUIRE(*std::ranges::max_element(wanted) > 1e45);
  const auto got = scores_of(c, Config::Map{{"kernel", "softmax"}, {"normalise_rows", false}}, 0);
  const std::size_t best = std::ranges::max_element(wanted) - wanted.begin();
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double ratio = wanted[i] / wanted[best];
    REQUIRE(std::abs(got[i] / got[best] - ratio) <= 1e-3 * ratio + 1e-30);
  }
}

TEST_CASE("a key that is too long for exp is noticed wherever it is in a large frame") {
  // One bright pixel makes a key of 20 among thousands of zeros; all queries are 10, so that it has products of 200.
  const int side = 70;
  Case c = make_case({side, side, 1, PixelType::float32}, 1, 1, 1, true, 0, 35);
  c.query_bias[0] = 10;
  c.key[0] = 20;
  for (const int bright : {0, side * side - 1}) {
    std::ranges::fill(c.image.floats(), 0.0F);
    c.image.floats()[bright] = 1;
    for (const bool normalise_rows : {false, true}) {
      const auto scores = scores_of(c, Config::Map{{"kernel", "softmax"}, {"normalise_rows", normalise_rows}}, 0);
      for (const float score : scores) REQUIRE(std::isfinite(score));
      for (int i = 0; i < side * side; ++i) REQUIRE(std::abs(scores[i] / scores[bright] - (i == bright ? 1 : 0)) < 1e-30);
      if (normalise_rows) CHECK(std::abs(scores[bright] - 1) < 1e-5);
    }
  }
}

TEST_CASE("an interrupt ends what goes over all patches, and once more gives the same scores") {
  const Case c = make_case({16, 16, 3}, 4, 4, 4, false, 3.0F, 36);
  for (const Config& config :
       {Config(Config::Map{{"kernel", "softmax"}}), Config(Config::Map{{"kernel", "softmax"}, {"threads", 2}}),
        Config(Config::Map{{"kernel", "softmax"}, {"normalise_rows", false}}),
        Config(Config::Map{{"kernel", "relu"}, {"brute_force", true}}), Config(Config::Map{{"kernel", "relu"}}),
        Config(Config::Map{{"kernel", "exp"}}), Config(Config::Map{{"kernel", "hybrid"}, {"threads", 2}})}) {
    const auto before = scores_of(c, config, 0);
    request_interrupt();
    CHECK_THROWS_AS(scores_of(c, config, 0), Interrupted);
    clear_interrupt();
    CHECK(scores_of(c, config, 0) == before);
  }
}

TEST_CASE("a scorer refuses what does not fit it") {
  const Case c = make_case({8, 8, 3}, 2, 2, 3, false, 1.0F, 35);
  const Config config;
  Options options("test", config);
  const auto scorer = make_scorer(options, c.grid, c.d);
  std::vector<float> scores(c.grid.count());
  CHECK_THROWS_AS(scorer->score(c.image.view(), 0, scores), Error);
  CHECK_THROWS_AS(scorer->bind({scores, c.key, {}, {}}), Error);
  CHECK_THROWS_AS(scorer->bind({c.query, c.key, scores, {}}), Error);
  CHECK_THROWS_AS(scorer->bind({c.query, c.key, {}, {}, std::span(scores).first(1)}), Error);
  scorer->bind({c.query, c.key, {}, {}});
  scorer->score(c.image.view(), 0, scores);
  scores.pop_back();
  CHECK_THROWS_AS(scorer->score(c.image.view(), 0, scores), Error);
  const Image other({8, 8, 3, PixelType::float32});
  scores.resize(c.grid.count());
  CHECK_THROWS_AS(scorer->score(other.view(), 0, scores), Error);
  CHECK_THROWS_AS(make_scorer(options, c.grid, 0), Error);
}
