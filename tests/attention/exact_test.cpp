#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>
import iap.core;
import iap.attention;

using namespace iap;

namespace {

struct Case {
  Image image;
  PatchGrid grid;
  int d;
  std::vector<float> query, key, query_bias, key_bias;
};

Case make_case(ImageShape shape, int size, int stride, int d, bool bias, float spread, std::uint64_t seed) {
  Case made{Image(shape), PatchGrid(shape, size, stride, "test"), d, {}, {}, {}, {}};
  Random random(seed);
  for (auto& byte : made.image.bytes()) byte = static_cast<std::uint8_t>(random.below(256));
  for (auto& value : made.image.floats()) value = static_cast<float>(random.uniform());
  made.query.resize(made.grid.values() * d);
  made.key.resize(made.query.size());
  made.query_bias.resize(bias ? d : 0);
  made.key_bias.resize(bias ? d : 0);
  for (auto* values : {&made.query, &made.key, &made.query_bias, &made.key_bias})
    for (float& value : *values) value = spread * static_cast<float>(random.normal());
  return made;
}

std::vector<float> scores_of(const Case& c, const Config& config, float offset) {
  Options options("test", config);
  const auto scorer = make_scorer(options, c.grid, c.d);
  options.finish();
  scorer->bind({c.query, c.key, c.query_bias, c.key_bias});
  std::vector<float> scores(c.grid.count());
  scorer->score(c.image.view(), offset, scores);
  return scores;
}

using Rows = std::vector<std::vector<double>>;

Rows project(const Case& c, const std::vector<float>& weights, const std::vector<float>& bias, double offset) {
  Rows rows;
  const ImageShape& shape = c.grid.image();
  for (int top = 0; top + c.grid.size() <= shape.height; top += c.grid.stride())
    for (int left = 0; left + c.grid.size() <= shape.width; left += c.grid.stride()) {
      std::vector<double> u(c.d);
      for (int o = 0; o < c.d; ++o) {
        double sum = bias.empty() ? 0 : bias[o];
        int v = 0;
        for (int y = top; y < top + c.grid.size(); ++y)
          for (int x = left; x < left + c.grid.size(); ++x)
            for (int channel = 0; channel < shape.channels; ++channel, ++v) {
              const int at = (y * shape.width + x) * shape.channels + channel;
              const double pixel = shape.type == PixelType::uint8 ? c.image.bytes()[at] / 255.0 : c.image.floats()[at];
              sum += (pixel + offset) * weights[v * c.d + o];
            }
        u[o] = sum;
      }
      rows.push_back(u);
    }
  return rows;
}

void to_length(Rows& rows, double length) {
  for (auto& row : rows) {
    double square = 0;
    for (const double u : row) square += u * u;
    for (double& u : row) u *= length / std::sqrt(square);
  }
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

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

TEST_CASE("a scorer refuses what does not fit it") {
  const Case c = make_case({8, 8, 3}, 2, 2, 3, false, 1.0F, 35);
  const Config config;
  Options options("test", config);
  const auto scorer = make_scorer(options, c.grid, c.d);
  std::vector<float> scores(c.grid.count());
  CHECK_THROWS_AS(scorer->score(c.image.view(), 0, scores), Error);
  CHECK_THROWS_AS(scorer->bind({scores, c.key, {}, {}}), Error);
  CHECK_THROWS_AS(scorer->bind({c.query, c.key, scores, {}}), Error);
  scorer->bind({c.query, c.key, {}, {}});
  scorer->score(c.image.view(), 0, scores);
  scores.pop_back();
  CHECK_THROWS_AS(scorer->score(c.image.view(), 0, scores), Error);
  const Image other({8, 8, 3, PixelType::float32});
  scores.resize(c.grid.count());
  CHECK_THROWS_AS(scorer->score(other.view(), 0, scores), Error);
  CHECK_THROWS_AS(make_scorer(options, c.grid, 0), Error);
}
