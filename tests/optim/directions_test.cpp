// Directions of antithetic pairs that are orthogonal to each other, as far as members show them.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>
import iap.core;
import iap.optim;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;

namespace {

using Rows = std::vector<std::vector<double>>;

/// Around zeros with sigma 1 and a learning rate of 0, so that member 2k is eps_k itself, iteration after iteration.
std::unique_ptr<Optimizer> still(const std::string& kind, const std::string& directions, std::size_t parameters, std::size_t pairs,
                                 std::uint64_t seed = 3) {
  Config config = Config::Map{{"kind", kind},
                              {"directions", directions},
                              {"population", static_cast<std::int64_t>(2 * pairs)},
                              {"sigma", 1.0},
                              {"learning_rate", 0.0}};
  if (kind == "pgpe") config["sigma_learning_rate"] = 0.0;
  return make_optimizer(config, std::vector<float>(parameters), seed);
}

/// eps_k of the next iteration, which is over afterwards; members 2k and 2k + 1 are checked to be twins.
Rows next_directions(Optimizer& optimizer) {
  const std::size_t size = optimizer.parameters();
  std::vector<float> population;
  optimizer.ask_resized(population);
  Rows rows;
  bool twins = true;
  for (std::size_t k = 0; k < optimizer.population() / 2; ++k) {
    const float *plus = population.data() + 2 * k * size, *minus = plus + size;
    rows.emplace_back(plus, plus + size);
    for (std::size_t i = 0; i < size; ++i) twins = twins && minus[i] == -plus[i];
  }
  CHECK(twins);
  std::vector<double> fitness(optimizer.population());
  for (std::size_t i = 0; i < fitness.size(); ++i) fitness[i] = static_cast<double>(i);
  optimizer.tell(fitness);
  return rows;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double cosine(const std::vector<double>& a, const std::vector<double>& b) { return dot(a, b) / std::sqrt(dot(a, a) * dot(b, b)); }

/// How far the mean of independent `values` lies from `expected`, in its own standard errors.
double z_score(const std::vector<double>& values, double expected) {
  const auto count = static_cast<double>(values.size());
  double mean = 0, square = 0;
  for (const double value : values) mean += value / count;
  for (const double value : values) square += (value - mean) * (value - mean) / (count - 1);
  return (mean - expected) / std::sqrt(square / count);
}

std::string state(const Optimizer& optimizer) {
  Writer writer;
  optimizer.save(writer);
  return writer.bytes();
}

/// The gradient that es finds on the linear function with the slopes `c`, from P pairs at sigma 0.1; and the pairs' eps.
struct Found {
  std::vector<double> gradient;
  Rows eps;
};

Found linear_gradient(const std::string& directions, const std::vector<double>& c) {
  const Config config =
      Config::Map{{"kind", "es"},    {"directions", directions}, {"population", static_cast<std::int64_t>(2 * c.size())},
                  {"sigma", 0.1},    {"shaping", "none"},        {"optimizer", "sgd"},
                  {"momentum", 0.0}, {"learning_rate", 1.0}};
  const auto es = make_optimizer(config, std::vector<float>(c.size()), 5);
  std::vector<float> population;
  es->ask_resized(population);
  Found found;
  std::vector<double> fitness;
  for (std::size_t member = 0; member < es->population(); ++member) {
    const auto* at = population.data() + member * c.size();
    const std::vector<double> x(at, at + c.size());
    fitness.push_back(dot(x, c));
    if (member % 2 != 0) continue;
    found.eps.push_back(x);
    for (double& value : found.eps.back()) value /= 0.1;
  }
  es->tell(fitness);
  found.gradient.assign(es->mean().begin(), es->mean().end());
  return found;
}

std::vector<double> slopes(std::size_t count) {
  std::vector<double> c(count);
  for (std::size_t i = 0; i < count; ++i) c[i] = std::sin(static_cast<double>(i + 1));
  return c;
}

constexpr const char* kinds[] = {"es", "ars", "pgpe"};

}  // namespace

TEST_CASE("a tell that draws its directions again is the tell that kept them") {
  constexpr std::size_t parameters = 7, pairs = 5;
  for (const std::string kind : kinds)
    for (const std::string directions : {"gaussian", "hadamard", "orthogonal"}) {
      CAPTURE(kind, directions);
      const auto keeps = still(kind, directions, parameters, pairs);
      std::vector<double> fitness(2 * pairs);
      for (std::size_t i = 0; i < fitness.size(); ++i) fitness[i] = std::sin(static_cast<double>(i));
      for (int turn = 0; turn < 3; ++turn) {
        std::vector<float> population, member(parameters);
        keeps->ask_resized(population);
        const std::string saved = state(*keeps);
        const auto draws = still(kind, directions, parameters, pairs), backwards = still(kind, directions, parameters, pairs);
        for (const auto& other : {&draws, &backwards}) {
          Reader reader(saved, "state");
          (*other)->load(reader);
        }
        for (std::size_t k = 2 * pairs; k-- > 0;)
          for (const auto& from : {&keeps, &backwards}) {
            (*from)->write_member(k, member);
            CHECK(std::ranges::equal(member, std::span(population).subspan(k * parameters, parameters)));
          }
        for (const auto& from : {&keeps, &draws, &backwards}) (*from)->tell(fitness);
        CHECK(state(*draws) == state(*keeps));
        CHECK(state(*backwards) == state(*keeps));
      }
    }
}

TEST_CASE("orthogonal directions are orthogonal within blocks of P, and blocks are drawn apart") {
  for (const char* kind : kinds)
    for (const auto [parameters, pairs] : {std::pair<std::size_t, std::size_t>{1, 3}, {7, 7}, {20, 12}, {300, 64}, {10, 25}}) {
      CAPTURE(kind, parameters, pairs);
      const auto optimizer = still(kind, "orthogonal", parameters, pairs);
      for (int iteration = 0; iteration < 2; ++iteration) {
        const Rows eps = next_directions(*optimizer);
        double within = 0, across = 0;
        for (std::size_t a = 0; a < pairs; ++a)
          for (std::size_t b = 0; b < a; ++b) {
            double& worst = a / parameters == b / parameters ? within : across;
            worst = std::max(worst, std::abs(cosine(eps[a], eps[b])));
          }
        CHECK(within < 1e-5);
        if (pairs > parameters) CHECK(across > 0.1);
        if (parameters > 1) CHECK(across < 0.99);
      }
    }
}

TEST_CASE("norms of orthogonal directions are those of independent Gaussians") {
  constexpr std::size_t size = 10;
  const auto optimizer = still("es", "orthogonal", size, size);
  std::vector<double> norms, squares, spreads, products;
  for (int iteration = 0; iteration < 2000; ++iteration) {
    const Rows eps = next_directions(*optimizer);
    for (const auto& row : eps) {
      const double square = dot(row, row);
      norms.push_back(std::sqrt(square));
      squares.push_back(square);
      spreads.push_back((square - size) * (square - size));
    }
    // The first is drawn freely, the last has no freedom left but its sign.
    products.push_back((dot(eps[0], eps[0]) - size) * (dot(eps[size - 1], eps[size - 1]) - size));
  }
  CHECK(std::abs(z_score(norms, std::sqrt(2.0) * std::exp(std::lgamma((size + 1) / 2.0) - std::lgamma(size / 2.0)))) < 4);
  CHECK(std::abs(z_score(squares, size)) < 4);
  CHECK(std::abs(z_score(spreads, 2 * size)) < 4);
  CHECK(std::abs(z_score(products, 0)) < 4);
}

TEST_CASE("each orthogonal direction alone is standard normal") {
  const auto optimizer = still("es", "orthogonal", 6, 6);
  for (const std::size_t row : {0, 3, 5}) {
    CAPTURE(row);
    std::vector<double> first, second, fourth, cross;
    for (int iteration = 0; iteration < 10000; ++iteration) {
      const auto eps = next_directions(*optimizer)[row];
      first.push_back(eps[2]);
      second.push_back(eps[2] * eps[2]);
      fourth.push_back(std::pow(eps[2], 4));
      cross.push_back(eps[2] * eps[5]);
    }
    CHECK(std::abs(z_score(first, 0)) < 4);
    CHECK(std::abs(z_score(second, 1)) < 4);
    CHECK(std::abs(z_score(fourth, 3)) < 4);
    CHECK(std::abs(z_score(cross, 0)) < 4);
  }
}

TEST_CASE("rows of Hadamard products have mean 0 and variance 1, and are orthogonal where P is a power of two") {
  for (const std::size_t size : {1, 8, 64}) {
    CAPTURE(size);
    const auto optimizer = still("es", "hadamard", size, size + size / 2);
    for (int iteration = 0; iteration < 3; ++iteration) {
      const Rows eps = next_directions(*optimizer);
      double across = 0;
      for (std::size_t a = 0; a < eps.size(); ++a) {
        const std::size_t block = a / size * size;
        for (std::size_t b = block; b <= a; ++b) CHECK(dot(eps[a], eps[b]) == (a == b ? static_cast<double>(size) : 0.0));
        for (std::size_t b = 0; b < block; ++b) across = std::max(across, std::abs(cosine(eps[a], eps[b])));
      }
      if (size == 64) CHECK(across < 0.99);
    }
  }
  // Cut to 21 of 32 values.
  const auto optimizer = still("ars", "hadamard", 21, 8);
  std::vector<double> first, second, cross, norms, cosines;
  for (int iteration = 0; iteration < 10000; ++iteration) {
    const Rows eps = next_directions(*optimizer);
    first.push_back(eps[3][20]);
    second.push_back(eps[3][20] * eps[3][20]);
    cross.push_back(eps[3][20] * eps[3][7]);
    norms.push_back(dot(eps[7], eps[7]));
    cosines.push_back(std::pow(dot(eps[7], eps[2]), 2) / 21);
  }
  CHECK(std::abs(z_score(first, 0)) < 4);
  CHECK(std::abs(z_score(second, 1)) < 4);
  CHECK(std::abs(z_score(cross, 0)) < 4);
  CHECK(std::abs(z_score(norms, 21)) < 4);
  // Independent ones have a mean of 1; what is cut off leaves about 1 - P / N = 0.34.
  CHECK(z_score(cosines, 0.5) < -4);
}

// With norms that are all alike nothing would tell pgpe whether its deviations are too large or too small.
TEST_CASE("pgpe's Hadamard rows have the norms of Gaussians, and point where those of es do") {
  for (const std::size_t size : {1, 8, 64}) {
    CAPTURE(size);
    const auto pgpe = still("pgpe", "hadamard", size, 2 * size), es = still("es", "hadamard", size, 2 * size);
    const Rows eps = next_directions(*pgpe), unit = next_directions(*es);
    for (std::size_t a = 0; a < eps.size(); ++a) {
      CHECK_THAT(cosine(eps[a], unit[a]), WithinAbs(1, 1e-6));
      for (std::size_t b = a / size * size; b < a; ++b) CHECK_THAT(cosine(eps[a], eps[b]), WithinAbs(0, 1e-6));
    }
  }
  constexpr std::size_t size = 8;
  const auto optimizer = still("pgpe", "hadamard", size, 2 * size);
  std::vector<double> norms, squares, spreads, within, across, values;
  for (int iteration = 0; iteration < 3000; ++iteration) {
    const Rows eps = next_directions(*optimizer);
    const auto excess = [&](std::size_t row) { return dot(eps[row], eps[row]) - size; };
    norms.push_back(std::sqrt(dot(eps[5], eps[5])));
    squares.push_back(dot(eps[5], eps[5]));
    spreads.push_back(excess(5) * excess(5));
    within.push_back(excess(0) * excess(5));
    across.push_back(excess(5) * excess(size + 5));
    values.push_back(eps[5][3] * eps[5][3]);
  }
  CHECK(std::abs(z_score(norms, std::sqrt(2.0) * std::exp(std::lgamma((size + 1) / 2.0) - std::lgamma(size / 2.0)))) < 4);
  CHECK(std::abs(z_score(squares, size)) < 4);
  CHECK(std::abs(z_score(spreads, 2 * size)) < 4);
  CHECK(std::abs(z_score(within, 0)) < 4);
  CHECK(std::abs(z_score(across, 0)) < 4);
  CHECK(std::abs(z_score(values, 1)) < 4);
}

// g = 1/P sum_k (c . eps_k) eps_k on a linear function.
TEST_CASE("as many orthogonal directions as parameters recover the gradient of a linear function") {
  const auto c = slopes(12);
  const Found orthogonal = linear_gradient("orthogonal", c);
  for (const auto& eps : orthogonal.eps) {
    // Along each direction the slope times the squared norm over its mean.
    const double along = dot(orthogonal.gradient, eps), slope = dot(c, eps);
    CHECK_THAT(along, WithinAbs(slope * dot(eps, eps) / 12, 1e-4));
  }
  const auto wide = slopes(64);
  const auto hadamard = linear_gradient("hadamard", wide).gradient, gaussian = linear_gradient("gaussian", wide).gradient;
  double error = 0;
  for (std::size_t i = 0; i < wide.size(); ++i) {
    CHECK_THAT(hadamard[i], WithinAbs(wide[i], 1e-4));
    error += std::abs(gaussian[i] - wide[i]) / 64;
  }
  CHECK(error > 0.1);
}

TEST_CASE("directions follow from seed and iteration, whatever was asked for before") {
  for (const char* kind : kinds)
    for (const char* directions : {"orthogonal", "hadamard"}) {
      CAPTURE(kind, directions);
      const auto whole = still(kind, directions, 5, 12);
      for (int i = 0; i < 4; ++i) next_directions(*whole);
      const std::string saved = state(*whole);
      const auto resumed = still(kind, directions, 5, 12);
      next_directions(*resumed);
      Reader reader(saved, "state");
      resumed->load(reader);
      CHECK(reader.at_end());
      const auto adopted = still(kind, directions, 5, 12), larger = still(kind, directions, 5, 20);
      adopted->adopt(*whole, true);
      larger->adopt(*whole, true);
      const Rows eps = next_directions(*whole), more = next_directions(*larger);
      CHECK(next_directions(*resumed) == eps);
      CHECK(next_directions(*adopted) == eps);
      // Pairs of the blocks that both have.
      CHECK(std::equal(eps.begin(), eps.begin() + 10, more.begin()));
      CHECK(state(*resumed) == state(*whole));
      CHECK(eps != next_directions(*still(kind, directions, 5, 12, 4)));
    }
}

TEST_CASE("a bad choice of directions is named") {
  CHECK_THROWS_WITH(still("es", "hadamrd", 3, 2), ContainsSubstring("unknown directions 'hadamrd'; did you mean 'hadamard'?"));
  CHECK_THROWS_WITH(make_optimizer(Config::Map{{"kind", "cma_es"}, {"directions", "orthogonal"}}, std::vector<float>(3), 1),
                    ContainsSubstring("unknown option 'directions'"));
  CHECK(*still("ars", "gaussian", 3, 2)->config().find("directions")->string() == "gaussian");
}
