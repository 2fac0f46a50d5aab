#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>
import iap.core;
import iap.optim;

// With shaping "none", plain SGD and learning rate 1 the step is the gradient estimate itself, whose mean has a closed form:
// the gradient of E f(mean + sigma eps).

using namespace iap;

namespace {

constexpr std::size_t size = 6;
constexpr int members = 32, seeds = 400;
using Vector = std::array<double, size>;

/// One estimate for each seed.
std::vector<Vector> estimates(const std::vector<float>& mean, double sigma,
                              const std::function<double(std::span<const float>)>& f) {
  std::vector<Vector> all;
  for (int seed = 0; seed < seeds; ++seed) {
    const auto es = make_optimizer(Config::Map{{"population", members},
                                               {"sigma", sigma},
                                               {"learning_rate", 1},
                                               {"optimizer", "sgd"},
                                               {"momentum", 0},
                                               {"shaping", "none"}},
                                   mean, static_cast<std::uint64_t>(seed));
    std::vector<float> population(members * size);
    es->ask(population);
    std::vector<double> fitness;
    for (std::size_t member = 0; member < members; ++member)
      fitness.push_back(f(std::span(population).subspan(member * size, size)));
    es->tell(fitness);
    Vector estimate{};
    for (std::size_t i = 0; i < size; ++i) estimate[i] = static_cast<double>(es->mean()[i]) - mean[i];
    all.push_back(estimate);
  }
  return all;
}

double average(const std::vector<Vector>& all, std::size_t i) {
  double sum = 0;
  for (const auto& estimate : all) sum += estimate[i];
  return sum / static_cast<double>(all.size());
}

double variance(const std::vector<Vector>& all, std::size_t i) {
  const double mean = average(all, i);
  double sum = 0;
  for (const auto& estimate : all) sum += (estimate[i] - mean) * (estimate[i] - mean);
  return sum / static_cast<double>(all.size() - 1);
}

}  // namespace

TEST_CASE("the estimate for a linear and a quadratic function has the closed form's mean and variance") {
  // A pair of a linear function a.x gives (a.eps) eps_i: mean a_i, variance |a|^2 + a_i^2. For a quadratic function the even
  // terms cancel within the pair, which leaves a = gradient at the mean.
  const std::vector<float> mean = {0.5F, -1, 2, 0, 1, -0.25F};
  const Vector a = {1, -2, 0.5, 3, 0, 0.1};
  const Vector curvature = {1, 2, 3, 0.5, 0.1, 4};
  for (const bool quadratic : {false, true}) {
    const auto all = estimates(mean, 0.3, [&](std::span<const float> x) {
      double sum = 7;
      for (std::size_t i = 0; i < size; ++i) sum += a[i] * x[i] - (quadratic ? 0.5 * curvature[i] * x[i] * x[i] : 0);
      return sum;
    });
    Vector gradient{};
    double square = 0, chi_square = 0;
    for (std::size_t i = 0; i < size; ++i) {
      gradient[i] = a[i] - (quadratic ? curvature[i] * mean[i] : 0);
      square += gradient[i] * gradient[i];
    }
    for (std::size_t i = 0; i < size; ++i) {
      INFO((quadratic ? "quadratic " : "linear ") << i);
      const double expected_variance = (square + gradient[i] * gradient[i]) / (members / 2);
      const double z = (average(all, i) - gradient[i]) / std::sqrt(expected_variance / seeds);
      CHECK(std::abs(z) < 4);
      chi_square += z * z;
      // The variance of a sample variance is about 2 / seeds of its square for estimates that are sums of 16 pairs.
      CHECK(std::abs(variance(all, i) / expected_variance - 1) < 6 * std::sqrt(2.0 / seeds));
    }
    CHECK(chi_square < 22.5);  // the 99.9% point with 6 degrees of freedom
  }
}

TEST_CASE("the estimate for an exponential is the gradient of the smoothed function") {
  // E exp(b.(m + sigma eps)) = exp(b.m + sigma^2 |b|^2 / 2); the plain gradient at m would be a tenth smaller.
  const std::vector<float> mean = {0.1F, -0.2F, 0.3F, 0, 0.1F, 0.2F};
  const Vector b = {0.5, -0.25, 0.75, 0.1, 0, -0.6};
  const double sigma = 0.4;
  double exponent = 0, square = 0;
  for (std::size_t i = 0; i < size; ++i) {
    exponent += b[i] * mean[i];
    square += b[i] * b[i];
  }
  const auto all = estimates(mean, sigma, [&](std::span<const float> x) {
    double sum = 0;
    for (std::size_t i = 0; i < size; ++i) sum += b[i] * x[i];
    return std::exp(sum);
  });
  double along = 0, along_error = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const double expected = b[i] * std::exp(exponent + sigma * sigma * square / 2);
    const double error = std::sqrt(variance(all, i) / seeds);
    INFO(i);
    CHECK(std::abs(average(all, i) - expected) < 4 * error);
    along += b[i] * average(all, i);
    along_error += b[i] * b[i] * error * error;
  }
  CHECK(along - square * std::exp(exponent) > 4 * std::sqrt(along_error));
}
