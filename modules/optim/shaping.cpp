module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>
module iap.optim;
import iap.core;
import :shaping;

namespace iap {
namespace {

/// Replaces what no mean can hold: infinities by the extreme finite values (by +-1 if nothing is finite), NaN by the lowest.
void replace_non_finite(std::span<const double> fitness, std::span<double> out) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double value : fitness) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (low > high) {
    low = -1;
    high = 1;
  }
  for (std::size_t i = 0; i < fitness.size(); ++i) out[i] = std::isnan(fitness[i]) ? low : std::clamp(fitness[i], low, high);
}

void standardise(std::span<double> values) {
  // Scaling first keeps the sums of huge values finite; the result does not depend on the scale.
  double scale = 0;
  for (const double value : values) scale = std::max(scale, std::abs(value));
  if (scale == 0) return;
  const auto count = static_cast<double>(values.size());
  double mean = 0;
  for (double& value : values) mean += value /= scale;
  mean /= count;
  double variance = 0;
  for (const double value : values) variance += (value - mean) * (value - mean);
  const double deviation = std::sqrt(variance / count);
  // Equal values differ from their computed mean by rounding alone, which must not be blown up to unit variance.
  const bool constant = deviation <= 4 * std::numeric_limits<double>::epsilon();
  for (double& value : values) value = constant ? 0 : (value - mean) / deviation;
}

/// By how much `own` is better than `other`, NaN being worse than anything.
double lead(double own, double other) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (std::isnan(own) != std::isnan(other)) return std::isnan(own) ? -infinity : infinity;
  return std::isnan(own) || own == other ? 0 : own - other;
}

}  // namespace

Shaping read_shaping(Options& options, const char* fallback, bool differences) {
  std::vector<std::string> names = {"centred_ranks", "standardised", "none"};
  if (differences) names.emplace_back("pair_ranks");
  return static_cast<Shaping>(std::ranges::find(names, options.choice("shaping", names, fallback)) - names.begin());
}

void centred_ranks(std::span<const double> fitness, std::span<double> ranks) {
  if (ranks.size() != fitness.size()) throw Error(text("centred_ranks: ", fitness.size(), " fitnesses, room for ", ranks.size()));
  const std::size_t count = fitness.size();
  if (count == 1) ranks[0] = 0;
  if (count < 2) return;
  const auto less = [&](std::size_t a, std::size_t b) {
    if (std::isnan(fitness[a]) || std::isnan(fitness[b])) return std::isnan(fitness[a]) && !std::isnan(fitness[b]);
    return fitness[a] < fitness[b];
  };
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, less);
  for (std::size_t begin = 0; begin < count;) {
    std::size_t end = begin + 1;
    while (end < count && !less(order[begin], order[end])) ++end;
    const double rank = 0.5 * static_cast<double>(begin + end - 1) / static_cast<double>(count - 1) - 0.5;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = rank;
    begin = end;
  }
}

void shape_fitness(Shaping shaping, std::span<const double> fitness, std::span<double> weights) {
  if (std::ranges::all_of(fitness, [](double value) { return std::isnan(value); }))
    throw Error(text("optimizer: the fitness of all ", fitness.size(), " members is NaN"));
  if (shaping == Shaping::centred_ranks) return centred_ranks(fitness, weights);
  if (shaping == Shaping::pair_ranks) {
    std::vector<double> leads(fitness.size());
    for (std::size_t i = 0; i < leads.size(); ++i) leads[i] = lead(fitness[i], fitness[i ^ 1]);
    return centred_ranks(leads, weights);
  }
  replace_non_finite(fitness, weights);
  if (shaping == Shaping::standardised) standardise(weights);
}

}  // namespace iap
