// Options of IAP-trans that change rows of A, by the definition: P is the identity, so that outputs are rows of A V.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "reference.hpp"

namespace {

constexpr int values = 2;

struct Attended {
  Case c = make_case({9, 11, 3}, 3, 2, 4, true, 0.4F, 71);
  std::size_t patches = static_cast<std::size_t>(c.grid.count());
  std::vector<float> given, identity;

  Attended() : given(patches * values), identity(patches * patches) {
    Random(72).fill_normal(given);
    for (std::size_t i = 0; i < patches; ++i) identity[i * patches + i] = 1;
  }

  /// A V, L x 2, as the options have it.
  std::vector<float> by(const Config& config) const {
    Options options("test", config);
    const auto trans = make_trans(options, c.grid, {c.d, c.grid.count(), values, false, false});
    options.finish();
    trans->bind({c.head(), {}, identity});
    for (int v = 0; v < values; ++v)
      for (std::size_t i = 0; i < patches; ++i) trans->value_row(v)[i] = given[i * values + v];
    std::vector<float> out(patches * values);
    trans->apply(c.image.view(), -0.5F, out);
    return out;
  }

  template <typename Kernel>
  std::vector<double> slow(bool normalise, const Rows& q, const Rows& k, Kernel kernel) const {
    std::vector<double> out(patches * values);
    for (std::size_t i = 0; i < patches; ++i) {
      double total = 0;
      for (const auto& key : k) total += kernel(q[i], key);
      if (total == 0) continue;  // what attends to nothing gets nothing
      for (std::size_t j = 0; j < patches; ++j)
        for (int v = 0; v < values; ++v)
          out[i * values + v] += kernel(q[i], k[j]) / (normalise ? total : static_cast<double>(patches)) * given[j * values + v];
    }
    return out;
  }
};

void check_close(const std::vector<float>& got, const std::vector<double>& wanted) {
  for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(std::abs(got[i] - wanted[i]) < 1e-4 * largest(wanted));
}

}  // namespace

TEST_CASE("epsilon is added to every feature of relu, however the product is bracketed") {
  const Attended attended;
  const Rows q = project(attended.c, attended.c.query, attended.c.query_bias, -0.5),
             k = project(attended.c, attended.c.key, attended.c.key_bias, -0.5);
  for (const double epsilon : {0.0, 0.5})
    for (const bool normalise : {false, true}) {
      CAPTURE(epsilon, normalise);
      const auto wanted = attended.slow(normalise, q, k, [epsilon](const auto& x, const auto& y) {
        double sum = 0;
        for (std::size_t o = 0; o < x.size(); ++o) sum += (std::max(x[o], 0.0) + epsilon) * (std::max(y[o], 0.0) + epsilon);
        return sum;
      });
      Config config = Config::Map{{"kernel", "relu"}, {"epsilon", epsilon}, {"normalise_rows", normalise}};
      for (const char* order : {"values_first", "queries_first"}) {
        config["order"] = order;
        check_close(attended.by(config), wanted);
      }
      check_close(
          attended.by(Config::Map{{"kernel", "relu"}, {"epsilon", epsilon}, {"normalise_rows", normalise}, {"brute_force", true}}),
          wanted);
    }
}

TEST_CASE("rows of brute force are normalised where that is asked for") {
  const Attended attended;
  const auto [q, k] = inputs(attended.c, false, -0.5);
  for (const bool normalise : {false, true}) {
    CAPTURE(normalise);
    const auto wanted = attended.slow(normalise, q, k, [](const auto& x, const auto& y) { return std::exp(dot(x, y)); });
    for (const char* kernel : {"exp", "trig", "hybrid"})
      check_close(attended.by(Config::Map{{"kernel", kernel}, {"normalise_rows", normalise}, {"brute_force", true}}), wanted);
    check_close(attended.by(Config::Map{{"kernel", "softmax"}, {"normalise_rows", normalise}}), wanted);
  }
}
