// Test functions with their maximum, 0, at the origin, and runs on them.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numbers>
#include <span>
#include <string>
#include <vector>

namespace functions {

using Function = std::function<double(std::span<const float>)>;

inline double sphere(std::span<const float> x) {
  double sum = 0;
  for (const double value : x) sum -= value * value;
  return sum;
}

/// Condition number 1e6.
inline double ellipsoid(std::span<const float> x) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    sum -= std::pow(1e6, static_cast<double>(i) / static_cast<double>(x.size() - 1)) * x[i] * x[i];
  return sum;
}

/// Moved by one: near 1 a float is too coarse for values of 1e-9.
inline double rosenbrock(std::span<const float> x) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    const double a = 1.0 + x[i], b = 1.0 + x[i + 1];
    sum -= 100 * (a * a - b) * (a * a - b) + (1 - a) * (1 - a);
  }
  return sum;
}

inline double rastrigin(std::span<const float> x) {
  double sum = 0;
  for (const double value : x) sum -= 10 + value * value - 10 * std::cos(2 * std::numbers::pi * value);
  return sum;
}

struct Run {
  std::uint64_t evaluations = 0;
  double best = -INFINITY;
};

/// Asks and tells until a member reaches -1e-9, the optimizer stops, or `limit` evaluations are spent.
template <typename Optimizer>
Run climb(Optimizer& optimizer, const Function& f, std::uint64_t limit) {
  Run run;
  std::vector<float> population;
  std::vector<double> fitness;
  while (run.best < -1e-9 && run.evaluations < limit && optimizer.stop_reason().empty()) {
    const std::size_t size = optimizer.parameters(), members = optimizer.population();
    population.resize(members * size);
    fitness.resize(members);
    optimizer.ask(population);
    for (std::size_t k = 0; k < members; ++k) {
      fitness[k] = f(std::span(population).subspan(k * size, size));
      run.best = std::max(run.best, fitness[k]);
    }
    optimizer.tell(fitness);
    run.evaluations += members;
  }
  return run;
}

}  // namespace functions
