module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>
module iap.optim;
import iap.core;
import :cma_covariance;
import :cma_stop;

namespace iap {
namespace {

/// Hansen's bound of what is looked at for stagnation.
constexpr std::size_t longest_history = 20000;

// Policies take floats: a change that a float cannot hold has no effect.
bool same_float(double a, double b) { return static_cast<float>(a) == static_cast<float>(b); }

bool axis_has_no_effect(const CmaState& state) {
  const std::size_t axis = state.generation % state.mean.size();
  for (std::size_t i = 0; i < state.mean.size(); ++i)
    if (!same_float(state.mean[i], state.mean[i] + 0.1 * state.sigma * state.covariance->factor(i, axis))) return false;
  return true;
}

bool coordinate_has_no_effect(const CmaState& state) {
  for (std::size_t i = 0; i < state.mean.size(); ++i)
    if (same_float(state.mean[i], state.mean[i] + 0.2 * state.sigma * std::sqrt(state.covariance->variance(i)))) return true;
  return false;
}

/// 0 between infinities that are the same.
double range_between(double low, double high) { return low == high ? 0 : high - low; }

/// Generations that are looked at for stagnation: the fifth part of all, at least so many.
std::size_t looked_at(std::uint64_t generations, std::size_t shortest) {
  return std::clamp(static_cast<std::size_t>(generations / 5), shortest, longest_history);
}

}  // namespace

StopConditions::StopConditions(Options& options, std::size_t parameters) : parameters_(parameters) {
  if (options.has("target")) target_ = options.number("target");
  tol_fun_ = options.number_in("tol_fun", 0, 1e300, 1e-12);
  tol_x_ = options.number_in("tol_x", 0, 1e300, 1e-12);
  tol_x_up_ = options.number_in("tol_x_up", 1, 1e300, 1e4);
  tol_condition_ = options.number_in("tol_condition", 1, 1e300, 1e14);
  stagnation_ = options.boolean("stagnation", true);
}

void StopConditions::restart(std::size_t population) {
  const auto share = static_cast<std::size_t>(std::ceil(30 * static_cast<double>(parameters_) / static_cast<double>(population)));
  window_ = 10 + share;
  shortest_ = std::min(120 + share, longest_history);
  best_.clear();
  median_.clear();
  generations_ = 0;
  range_ = 0;
}

void StopConditions::record(std::span<const double> fitness, std::span<const std::uint32_t> order) {
  std::size_t valid = order.size();
  while (std::isnan(fitness[order[valid - 1]])) --valid;
  range_ = range_between(fitness[order[valid - 1]], fitness[order[0]]);
  ++generations_;
  const std::size_t length = std::max(window_, looked_at(generations_, shortest_));
  for (auto* history : {&best_, &median_})
    if (history->size() >= length) history->erase(history->begin());
  best_.push_back(fitness[order[0]]);
  median_.push_back(fitness[order[(valid - 1) / 2]]);
}

double StopConditions::range_of_best() const {
  const auto [low, high] = std::ranges::minmax(std::span(best_).last(window_));
  return range_between(low, high);
}

bool StopConditions::stagnates() const {
  if (!stagnation_ || best_.size() < shortest_) return false;
  const std::size_t length = std::min(best_.size(), looked_at(generations_, shortest_)), count = length * 3 / 10;
  const auto median = [&](std::span<const double> values) {
    sorted_.assign(values.begin(), values.end());
    const auto middle = sorted_.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(sorted_, middle);
    return *middle;
  };
  const auto better = [&](std::span<const double> history) {
    return median(history.last(count)) > median(history.last(length).first(count));
  };
  return !better(best_) && !better(median_);
}

std::string StopConditions::reason(const CmaState& state) const {
  if (target_ && best_.back() >= *target_) return "target";
  const double ratio = state.covariance->axis_ratio();
  if (ratio * ratio > tol_condition_) return "condition";
  if (axis_has_no_effect(state)) return "no_effect_axis";
  if (coordinate_has_no_effect(state)) return "no_effect_coordinate";
  if (best_.size() >= window_) {
    const double range = range_of_best();
    if (range == 0) return "equal_fitness";
    if (range < tol_fun_ && range_ < tol_fun_) return "tol_fun";
  }
  double largest = 0, longest = 0;
  for (std::size_t i = 0; i < state.mean.size(); ++i) {
    const double deviation = std::sqrt(state.covariance->variance(i));
    largest = std::max(largest, deviation);
    longest = std::max({longest, deviation, std::abs(state.path[i])});
  }
  if (state.sigma * longest < tol_x_ * state.initial_sigma) return "tol_x";
  if (state.sigma * largest > tol_x_up_ * state.initial_sigma) return "tol_x_up";
  return stagnates() ? "stagnation" : "";
}

void StopConditions::save(Writer& writer) const {
  writer.put(generations_);
  writer.put(range_);
  writer.put_all(std::span<const double>(best_));
  writer.put_all(std::span<const double>(median_));
}

void StopConditions::load(Reader& reader) {
  generations_ = reader.get<std::uint64_t>();
  range_ = reader.get<double>();
  best_ = reader.get_all<double>();
  median_ = reader.get_all<double>();
  if (best_.size() != median_.size())
    throw Error(text(reader.source(), ": holds ", best_.size(), " best and ", median_.size(), " median values; it is damaged"));
}

}  // namespace iap
