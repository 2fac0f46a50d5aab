#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>
import iap.core;
import iap.report;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

using Matrix = std::vector<std::vector<double>>;

/// `rows` rows of standard normal numbers in each episode, plus a number of the episode's own times `offset`.
Samples normals(std::uint64_t seed, int columns, std::size_t episodes, std::size_t rows, double offset = 0) {
  Random random(seed);
  Samples samples{.columns = columns, .episodes = {}};
  for (std::size_t e = 0; e < episodes; ++e) {
    auto& values = samples.episodes.emplace_back();
    const double own = offset * random.normal();
    for (std::size_t i = 0; i < rows * static_cast<std::size_t>(columns); ++i)
      values.push_back(static_cast<float>(own + random.normal()));
  }
  return samples;
}

/// The rows of `x` times `weights`, plus noise.
Samples mapped(const Samples& x, const Matrix& weights, double noise) {
  Random random(99);
  Samples y{.columns = static_cast<int>(weights.size()), .episodes = {}};
  for (std::size_t e = 0; e < x.episodes.size(); ++e) {
    auto& values = y.episodes.emplace_back();
    for (std::size_t i = 0; i < x.rows(e); ++i)
      for (const auto& w : weights) {
        double sum = 3 + noise * random.normal();
        for (std::size_t j = 0; j < w.size(); ++j) sum += w[j] * x.episodes[e][i * w.size() + j];
        values.push_back(static_cast<float>(sum));
      }
  }
  return y;
}

Samples joined(const Samples& a, const Samples& b) {
  Samples both{.columns = a.columns + b.columns, .episodes = {}};
  for (std::size_t e = 0; e < a.episodes.size(); ++e) {
    auto& values = both.episodes.emplace_back();
    for (std::size_t i = 0; i < a.rows(e); ++i)
      for (const Samples* part : {&a, &b})
        for (int j = 0; j < part->columns; ++j)
          values.push_back(part->episodes[e][i * static_cast<std::size_t>(part->columns) + static_cast<std::size_t>(j)]);
  }
  return both;
}

Samples constants(const Samples& like, float value) {
  Samples samples{.columns = 1, .episodes = {}};
  for (std::size_t e = 0; e < like.episodes.size(); ++e) samples.episodes.emplace_back(like.rows(e), value);
  return samples;
}

/// Gauss elimination with pivots: the obvious way.
std::vector<double> solve(Matrix a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i)
      if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
    std::swap(a[k], a[pivot]), std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = i + 1; j < n; ++j) b[i] -= a[i][j] * b[j];
    b[i] /= a[i][i];
  }
  return b;
}

struct Reference {
  double r2 = 0, error = 0;
};

/// One target, by normal equations with a column of ones that is not penalised. `left_out` of the fitted episodes, where it is one,
/// is predicted from the others; scales are those of all fitted rows.
Reference reference(const Samples& x, const Samples& y, std::size_t fitted, double lambda, std::size_t target, bool per_episode,
                    int left_out = -1) {
  const auto p = static_cast<std::size_t>(x.columns), q = static_cast<std::size_t>(y.columns);
  std::vector<Matrix> features;
  std::vector<std::vector<double>> targets;
  for (std::size_t e = 0; e < x.episodes.size(); ++e) {
    features.emplace_back(x.rows(e), std::vector<double>(p));
    targets.emplace_back(x.rows(e));
    for (std::size_t i = 0; i < x.rows(e); ++i) {
      for (std::size_t j = 0; j < p; ++j) features[e][i][j] = x.episodes[e][i * p + j];
      targets[e][i] = y.episodes[e][i * q + target];
    }
    if (!per_episode) continue;
    const auto rows = static_cast<double>(x.rows(e));
    for (std::size_t j = 0; j < p; ++j) {
      double mean = 0;
      for (const auto& row : features[e]) mean += row[j] / rows;
      for (auto& row : features[e]) row[j] -= mean;
    }
    double mean = 0;
    for (const double value : targets[e]) mean += value / rows;
    for (double& value : targets[e]) value -= mean;
  }
  for (std::size_t j = 0; j < p; ++j) {
    double sum = 0, square = 0, count = 0;
    for (std::size_t e = 0; e < fitted; ++e)
      for (const auto& row : features[e]) sum += row[j], square += row[j] * row[j], ++count;
    const double mean = sum / count, deviation = std::sqrt(square / count - mean * mean);
    for (auto& episode : features)
      for (auto& row : episode) row[j] = (row[j] - mean) / deviation;
  }
  Matrix a(p + 1, std::vector<double>(p + 1));
  std::vector<double> b(p + 1);
  const auto with_one = [&](std::size_t e, std::size_t i) {
    auto row = features[e][i];
    row.push_back(1);
    return row;
  };
  for (std::size_t e = 0; e < fitted; ++e) {
    if (static_cast<int>(e) == left_out) continue;
    for (std::size_t i = 0; i < targets[e].size(); ++i) {
      const auto row = with_one(e, i);
      for (std::size_t j = 0; j <= p; ++j) {
        b[j] += row[j] * targets[e][i];
        for (std::size_t k = 0; k <= p; ++k) a[j][k] += row[j] * row[k];
      }
    }
  }
  for (std::size_t j = 0; j < p; ++j) a[j][j] += lambda;
  const auto w = solve(a, b);
  double missed = 0, sum = 0, square = 0, count = 0;
  for (std::size_t e = 0; e < features.size(); ++e) {
    if (left_out >= 0 ? static_cast<int>(e) != left_out : e < fitted) continue;
    for (std::size_t i = 0; i < targets[e].size(); ++i) {
      const auto row = with_one(e, i);
      double predicted = 0;
      for (std::size_t j = 0; j <= p; ++j) predicted += w[j] * row[j];
      missed += (predicted - targets[e][i]) * (predicted - targets[e][i]);
      sum += targets[e][i], square += targets[e][i] * targets[e][i], ++count;
    }
  }
  return {.r2 = 1 - missed / (square - sum * sum / count), .error = missed};
}

const Matrix some_weights{{1, -2, 0.5, 0}, {0, 0, 0, 0.3}};

}  // namespace

TEST_CASE("what is linear is explained to the last digit, what is noise is not") {
  const Samples x = normals(1, 4, 9, 60);
  for (const double r2 : linear_readout(x, mapped(x, some_weights, 0), {.fitted = 6}).r2) {
    CHECK(r2 > 1 - 1e-7);
    CHECK(r2 <= 1);
  }
  const Readout noise = linear_readout(normals(2, 20, 12, 100), normals(3, 5, 12, 100), {.fitted = 8});
  for (const double r2 : noise.r2) CHECK(std::abs(r2) < 0.02);
  // Of noise there is nothing to keep: the largest lambdas win. With the smallest, 20 features fit 800 rows by chance and pay for
  // it.
  for (const double lambda : noise.ridge) CHECK(lambda >= 1e4);
  for (const double r2 : linear_readout(normals(2, 20, 12, 100), normals(3, 5, 12, 100), {.fitted = 8, .ridge = 0.01}).r2)
    CHECK(r2 < 0);
  // Half signal, half noise: R^2 is the signal's share of the variance.
  for (const double r2 : linear_readout(x, mapped(x, {{0.6, 0.8, 0, 0}}, 1), {.fitted = 6}).r2) CHECK(std::abs(r2 - 0.5) < 0.1);
}

TEST_CASE("ridge regression is that of normal equations solved by elimination") {
  const Samples x = normals(4, 4, 7, 25, 2), y = mapped(x, some_weights, 0.7);
  for (const bool per_episode : {false, true})
    for (const double lambda : {0.01, 1.0, 30.0, 1e4}) {
      const Readout readout = linear_readout(x, y, {.fitted = 5, .per_episode = per_episode, .ridge = lambda});
      for (std::size_t target = 0; target < 2; ++target) {
        INFO(per_episode << " " << lambda << " " << target);
        CHECK(std::abs(readout.r2[target] - reference(x, y, 5, lambda, target, per_episode).r2) < 1e-9);
        CHECK(readout.ridge[target] == lambda);
      }
    }
}

TEST_CASE("lambda is the one that predicts best what is left out") {
  const auto best_for = [](const Samples& x, const Samples& y, int fitted) {
    double best = 0, least = std::numeric_limits<double>::infinity();
    for (const double lambda : {1e6, 1e5, 1e4, 1e3, 1e2, 10.0, 1.0, 0.1, 0.01}) {
      double error = 0;
      for (int e = 0; e < fitted; ++e) error += reference(x, y, fitted, lambda, 0, false, e).error;
      if (error < least) least = error, best = lambda;
    }
    return best;
  };
  const Samples x = normals(5, 12, 8, 9), y = mapped(x, {{0.6, 0, 0.2, 0, 0, 0, 0, 0, 0, 0, 0, 0.3}}, 0.5);
  const Readout readout = linear_readout(x, y, {.fitted = 6});
  const double best = best_for(x, y, 6);
  CHECK(best > 0.01);
  CHECK(best < 1e6);
  CHECK(readout.ridge[0] == best);
  CHECK(std::abs(readout.r2[0] - reference(x, y, 6, best, 0, false).r2) < 1e-9);
  // Of so few rows each episode has its say.
  for (std::uint64_t seed = 20; seed < 30; ++seed) {
    const Samples few = normals(seed, 2, 4, 5), noisy = mapped(few, {{0.5, 0.5}}, 1);
    CHECK(linear_readout(few, noisy, {.fitted = 3}).ridge[0] == best_for(few, noisy, 3));
  }
}

TEST_CASE("constant and duplicate features do no harm") {
  const Samples x = normals(6, 4, 6, 50), y = mapped(x, some_weights, 0.5);
  const Readout plain = linear_readout(x, y, {.fitted = 4, .ridge = 1});
  for (const float value : {0.0f, -1.0f, 3e7f, 0.1f}) {
    const Readout with = linear_readout(joined(constants(x, value), x), y, {.fitted = 4, .ridge = 1});
    CHECK(with.r2 == plain.r2);
    const Readout less = linear_readout(joined(x, constants(x, value)), y, {.fitted = 4, .per_episode = true, .ridge = 1});
    CHECK(less.r2 == linear_readout(x, y, {.fitted = 4, .per_episode = true, .ridge = 1}).r2);
  }
  // Two copies share the weight, so that the penalty is half of one's.
  const Readout doubled = linear_readout(joined(x, x), y, {.fitted = 4, .ridge = 2});
  const Readout tiny = linear_readout(joined(x, x), y, {.fitted = 4, .ridge = least_ridge});
  for (std::size_t k = 0; k < 2; ++k) {
    CHECK(std::abs(doubled.r2[k] - plain.r2[k]) < 1e-9);
    CHECK(std::isfinite(tiny.r2[k]));
    CHECK(std::abs(tiny.r2[k] - plain.r2[k]) < 1e-2);
  }
  // Nothing but constants: the mean of the fitted rows is the prediction.
  for (const double r2 : linear_readout(constants(x, 2), y, {.fitted = 4}).r2) CHECK((r2 <= 0 && r2 > -0.2));
}

TEST_CASE("a target that does not vary has no explained variance") {
  const Samples x = normals(7, 3, 6, 20);
  Samples y = joined(constants(x, 0.1f), normals(8, 1, 6, 20));
  CHECK(std::isnan(linear_readout(x, y, {.fitted = 4}).r2[0]));
  CHECK(std::isfinite(linear_readout(x, y, {.fitted = 4}).r2[1]));
  for (std::size_t e = 0; e < 4; ++e)
    for (std::size_t i = 0; i < 20; ++i) y.episodes[e][2 * i] = static_cast<float>(i);
  CHECK(std::isnan(linear_readout(x, y, {.fitted = 4}).r2[0]));  // constant in what is tested
}

TEST_CASE("a target that varies in the tested episodes alone counts as predicted by its mean in the fitted ones") {
  // A rare event: 10 of 80 tested rows, 0 in all fitted ones. Its deviation from its mean is 10 x 7/8, what is missed 10.
  const Samples x = normals(13, 3, 12, 20);
  Samples y = joined(constants(x, 0), constants(x, 3));
  for (std::size_t i = 0; i < 10; ++i) y.episodes[9][2 * i] = 1;
  const Readout readout = linear_readout(x, y, {.fitted = 8});
  CHECK(std::abs(readout.r2[0] - (1 - 10 / 8.75)) < 1e-12);
  CHECK(std::isnan(readout.ridge[0]));
  CHECK(std::isnan(readout.r2[1]));
  // Without the means of the episodes it is 5 of 10 x 1/4 that is missed, which is all there is.
  CHECK(std::abs(linear_readout(x, y, {.fitted = 8, .per_episode = true}).r2[0]) < 1e-12);
  // Another number of each episode's own does not vary within any.
  Samples steps = constants(x, 0);
  for (std::size_t e = 0; e < steps.episodes.size(); ++e)
    for (float& value : steps.episodes[e]) value = 0.1f * static_cast<float>(e);
  CHECK(std::isnan(linear_readout(x, steps, {.fitted = 8, .per_episode = true}).r2[0]));
}

TEST_CASE("means of episodes can be taken off") {
  // What an episode adds of its own drowns what features say, until it is gone.
  const Samples x = normals(9, 1, 9, 60);
  Samples y = x;
  Random random(1);
  for (auto& episode : y.episodes) {
    const auto own = static_cast<float>(20 * random.normal());
    for (float& value : episode) value += own;
  }
  CHECK(linear_readout(x, y, {.fitted = 6}).r2[0] < 0.1);
  CHECK(linear_readout(x, y, {.fitted = 6, .per_episode = true}).r2[0] > 0.999);
}

TEST_CASE("the number of threads changes no bit of a readout") {
  const Samples x = normals(10, 30, 14, 20), y = mapped(x, Matrix(3, std::vector<double>(30, 0.1)), 1);
  const Readout one = linear_readout(x, y, {.fitted = 12, .threads = 1}),
                three = linear_readout(x, y, {.fitted = 12, .threads = 3});
  CHECK(one.r2 == three.r2);
  CHECK(one.ridge == three.ridge);
}

TEST_CASE("what cannot be fitted is one clear message") {
  const Samples x = normals(11, 2, 4, 5), y = normals(12, 1, 4, 5);
  const auto refuses = [](const Samples& features, const Samples& targets, const ReadoutOptions& options, const char* why) {
    CHECK_THROWS_MATCHES(linear_readout(features, targets, options), Error, MessageMatches(ContainsSubstring(why)));
  };
  refuses(x, y, {.fitted = 1}, "cannot fit 1 of 4 episodes; it takes at least two to fit and one to test");
  refuses(x, y, {.fitted = 4}, "cannot fit 4 of 4 episodes");
  refuses(x, y, {.fitted = 2, .ridge = 0}, "lambda must be from 1e-06 to 1e+12, got 0");
  refuses(x, y, {.fitted = 2, .ridge = std::nan("")}, "lambda must be");
  refuses(x, normals(1, 1, 3, 5), {.fitted = 2}, "4 episodes of features, 3 of targets");
  refuses(x, normals(1, 1, 4, 6), {.fitted = 2}, "episode 1 has 5 rows of features and 6 of targets");
  refuses({.columns = most_features + 1, .episodes = x.episodes}, y, {.fitted = 2}, "2049 features are too many, at most 2048");
  Samples bad = x;
  bad.episodes[2][3] = std::numeric_limits<float>::quiet_NaN();
  refuses(bad, y, {.fitted = 2}, "feature 2 is nan in row 2 of episode 3; values must be finite");
  bad = y;
  bad.episodes[0][0] = std::numeric_limits<float>::infinity();
  refuses(x, bad, {.fitted = 2}, "target 1 is inf in row 1 of episode 1");
}

TEST_CASE("a fit is compared with the memory before it is there") {
  const Samples x = normals(11, 100, 4, 5), y = normals(12, 1000, 4, 5);
  const auto refuses = [&](double machine, int threads, const char* why) {
    limit_usable_memory(machine);
    CHECK_THROWS_MATCHES(linear_readout(x, y, {.fitted = 3, .threads = threads}), Error, MessageMatches(ContainsSubstring(why)));
    limit_usable_memory(std::numeric_limits<double>::infinity());
  };
  // Moments of 110,000 numbers: one of all rows, three of folds, and two on each thread.
  refuses(8 << 20, 1, "ridge regression: fitting 1000 targets to 100 features on 1 thread needs 5.3 MiB of memory");
  refuses(8 << 20, 3, "on 3 threads needs 8.7 MiB of memory");
  refuses(900 << 10, 1, "ridge regression: scaling 1000 columns needs 500 KiB of memory");
}

TEST_CASE("tested episodes of other lengths count by their rows") {
  const Samples features{1, {{0, 1, 1, 0}, {1, 0, 0, 1}, {0, 1}, {0, 1, 0, 1}}};
  const Samples targets{1, {{0, 1, 0, 1}, {0, 1, 0, 1}, {2, 2}, {0, 0, 0, 0}}};
  // So large a lambda leaves the fitted mean, .5; the tested one is 4 of 6.
  const Readout readout = linear_readout(features, targets, {.fitted = 2, .ridge = most_ridge});
  CHECK(std::abs(readout.r2[0] - (1 - 5.5 / (16.0 / 3))) < 1e-3);
}
