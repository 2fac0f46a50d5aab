#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "helpers.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;

namespace {

constexpr int rows = 5, columns = 7, patch = 4, d = 3, queries = 2, numbers = 6, channels = 3, c = patch * patch * channels;
constexpr double temperature = 0.5;

Policy make(const std::string& values, int size, const std::string& encoding = "none") {
  return Policy(config("{'kind': 'look', 'patch': 4, 'd': 3, 'queries': 2, 'bias': true, 'temperature': 0.5, 'encoding': '" +
                       encoding + "', 'values': " + values + "}"),
                image_spec(rows * patch, columns * patch, channels, numbers), queries * size);
}

/// (row, column) in [-1, 1] of a patch's middle.
std::vector<double> place(int i) { return {2 * (i / columns + 0.5) / rows - 1, 2 * (i % columns + 0.5) / columns - 1}; }

std::vector<double> pixels_of(const Frame& frame, int i) {
  std::vector<double> x;
  for (int y = 0; y < patch; ++y)
    for (int column = 0; column < patch * channels; ++column)
      x.push_back(frame.image().bytes()[static_cast<std::size_t>(
                      ((i / columns * patch + y) * columns * patch + i % columns * patch) * channels + column)] /
                      255.0 -
                  0.5);
  return x;
}

/// softmax(q . k / (sqrt(d) temperature)) of one query, by the formula; `encoding` (L x c, or empty) is added to the pixels.
std::vector<double> weights(const Policy& policy, const Frame& frame, int query, const std::vector<double>& encoding = {}) {
  const auto all = affine(slice(policy, "policy.query"), slice(policy, "policy.query_bias"), widen(frame.vector()));
  std::vector<double> weight;
  for (int i = 0; i < rows * columns; ++i) {
    auto x = pixels_of(frame, i);
    for (std::size_t v = 0; v < x.size() && !encoding.empty(); ++v) x[v] += encoding[static_cast<std::size_t>(i) * c + v];
    const auto p = place(i);
    x.insert(x.end(), {p[0], p[1], p[0] * p[0], p[1] * p[1]});
    const auto key = affine(slice(policy, "policy.key"), slice(policy, "policy.key_bias"), x);
    double product = 0;
    for (int j = 0; j < d; ++j) product += all[static_cast<std::size_t>(query * d + j)] * key[static_cast<std::size_t>(j)];
    weight.push_back(std::exp(product / (std::sqrt(d) * temperature)));
  }
  double total = 0;
  for (const double w : weight) total += w;
  for (double& w : weight) w /= total;
  return weight;
}

}  // namespace

TEST_CASE("look hands over the means of places and pixels, weighted by each query's softmax over the patches") {
  Policy policy = make("['position', 'content']", 2 + c);
  randomise(policy, 3, 0.4);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Frame frame(policy.observation(), seed);
    const auto out = act(policy, frame);
    const auto views = policy.views();
    REQUIRE(views.size() == queries);
    for (int query = 0; query < queries; ++query) {
      const auto weight = weights(policy, frame, query);
      std::vector<double> mean(2 + c);
      for (int i = 0; i < rows * columns; ++i) {
        auto value = place(i);
        for (const double pixel : pixels_of(frame, i)) value.push_back(pixel);
        for (std::size_t v = 0; v < value.size(); ++v) mean[v] += weight[static_cast<std::size_t>(i)] * value[v];
        CHECK_THAT(views[static_cast<std::size_t>(query)].scores[static_cast<std::size_t>(i)],
                   WithinAbs(weight[static_cast<std::size_t>(i)], 1e-5));
      }
      for (std::size_t v = 0; v < mean.size(); ++v)
        CHECK_THAT(out[static_cast<std::size_t>(query) * mean.size() + v], WithinAbs(mean[v], 2e-5));
      const auto heaviest = std::ranges::max_element(weight) - weight.begin();
      CHECK(views[static_cast<std::size_t>(query)].selected[0] == heaviest);
    }
  }
}

TEST_CASE("look's keys are made of pixels and the encoding of their place") {
  Policy policy = make("'position'", 2, "learned");
  randomise(policy, 4, 0.3);
  const Frame frame(policy.observation(), 5);
  act(policy, frame);
  for (int query = 0; query < queries; ++query) {
    const auto weight = weights(policy, frame, query, slice(policy, "policy.encoding"));
    const auto views = policy.views();
    for (std::size_t i = 0; i < weight.size(); ++i)
      CHECK_THAT(views.at(static_cast<std::size_t>(query)).scores[i], WithinAbs(weight[i], 1e-5));
  }
}

TEST_CASE("a query of look can ask for the place nearest to the one that its input names") {
  Policy policy = make("'position'", 2);
  std::vector<float> parameters(policy.size());
  const auto set = [&](const std::string& name, int index, double value) {
    for (const auto& part : policy.layout().slices())
      if (part.name == name) parameters[part.offset + static_cast<std::size_t>(index)] = static_cast<float>(value);
  };
  // -s |p - x|^2 = 2 s (x . p) - s p^2 + ...: two keys are the place, the third the sum of its squares.
  const double sharp = 60;
  set("policy.key", 0 * (c + 4) + c, 1);
  set("policy.key", 1 * (c + 4) + c + 1, 1);
  set("policy.key", 2 * (c + 4) + c + 2, 1);
  set("policy.key", 2 * (c + 4) + c + 3, 1);
  for (int query = 0; query < queries; ++query) {
    for (int axis = 0; axis < 2; ++axis) set("policy.query", (query * d + axis) * numbers + 2 * query + axis, 2 * sharp);
    set("policy.query_bias", query * d + 2, -sharp);
  }
  policy.set_parameters(parameters);
  Frame frame(policy.observation(), 1);
  for (int first = 0; first < rows * columns; first += 4) {
    const int second = rows * columns - 1 - first;
    for (int axis = 0; axis < 2; ++axis) {
      frame.vector()[static_cast<std::size_t>(axis)] = static_cast<float>(place(first)[static_cast<std::size_t>(axis)] + 0.05);
      frame.vector()[static_cast<std::size_t>(2 + axis)] = static_cast<float>(place(second)[static_cast<std::size_t>(axis)] - 0.05);
    }
    const auto out = act(policy, frame);
    for (std::size_t axis = 0; axis < 2; ++axis) {
      CHECK_THAT(out[axis], WithinAbs(place(first)[axis], 0.05));
      CHECK_THAT(out[2 + axis], WithinAbs(place(second)[axis], 0.05));
    }
  }
}

TEST_CASE("scores beyond what exp can say keep look finite") {
  Policy policy = make("'position'", 2);
  std::vector<float> parameters(policy.size(), 1e4F);
  policy.set_parameters(parameters);
  for (const float value : act(policy, Frame(policy.observation(), 2))) CHECK(std::abs(value) <= 1);
}

TEST_CASE("look needs numbers to ask with") {
  CHECK_THROWS_WITH(Policy(config("{'kind': 'look', 'patch': 4}"), image_spec(32, 32), 2),
                    ContainsSubstring("has no input values"));
}

TEST_CASE("an observation block hands over the numbers that it is told to") {
  Policy policy(config("{'kind': 'observation', 'numbers': [3, 1, 3]}"), vector_spec(4), 3);
  const Frame frame(policy.observation(), 1);
  CHECK(act(policy, frame) == std::vector<float>{frame.vector()[2], frame.vector()[0], frame.vector()[2]});
  const auto made = [](const std::string& chosen) {
    return Policy(config("{'kind': 'observation', 'numbers': " + chosen + "}"), vector_spec(4), 1);
  };
  CHECK_THROWS_WITH(made("[5]"), ContainsSubstring("option 'numbers' takes numbers of the vector, 1 to 4, got 5"));
  CHECK_THROWS_WITH(made("[0]"), ContainsSubstring("got 0"));
  CHECK_THROWS_WITH(made("[]"), ContainsSubstring("option 'numbers' is empty"));
}
