#include "script/legged_values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace iap {

std::vector<double> read_numbers(Options& options, std::string_view key, std::size_t count,
                                 std::optional<std::vector<double>> fallback) {
  if (!options.has(key) && fallback) {
    options.value(key);
    return *std::move(fallback);
  }
  if (!options.has(key)) options.fail(text("option '", key, "' is missing; it is a list of ", count, " numbers"));
  std::vector<double> values;
  for (const Config& item : options.list(key)) values.push_back(item.number().value_or(NAN));
  if (values.size() != count || !std::ranges::all_of(values, [](double value) { return std::isfinite(value); }))
    options.fail(text("option '", key, "' must be a list of ", count, " finite numbers, got ", options.value(key).describe()));
  return values;
}

legged::Vector3 read_vector(Options& options, std::string_view key, bool required) {
  const auto values = required ? read_numbers(options, key, 3) : read_numbers(options, key, 3, std::vector<double>(3));
  return {values[0], values[1], values[2]};
}

legged::PerLeg<double> read_per_leg(Options& options, std::string_view key, const legged::PerLeg<double>& fallback) {
  if (options.value(key).number()) {
    const double value = options.number(key);
    return {value, value, value, value};
  }
  const auto values = read_numbers(options, key, legged::leg_count, std::vector<double>(fallback.begin(), fallback.end()));
  return {values[0], values[1], values[2], values[3]};
}

legged::PerLeg<bool> booleans(const Config::List& items, std::string_view what) {
  legged::PerLeg<bool> out{};
  const bool fine = items.size() == out.size() && std::ranges::all_of(items, [](const Config& item) { return item.boolean(); });
  if (!fine) throw Error(text(what, " must be a list of true or false for each of the four legs FR, FL, RR, RL"));
  for (std::size_t leg = 0; leg < out.size(); ++leg) out[leg] = *items[leg].boolean();
  return out;
}

double finite_at(const lua::Call& call, int argument, const char* what) {
  const double value = call.number(argument, what);
  if (!std::isfinite(value)) call.refuse(argument, what, "a finite number");
  return value;
}

legged::Vector3 vector_at(const lua::Call& call, int argument, const char* what) {
  const auto values = call.numbers(argument, what);
  if (values.size() != 3 || !std::ranges::all_of(values, [](double value) { return std::isfinite(value); }))
    call.refuse(argument, what, "three finite numbers");
  return {values[0], values[1], values[2]};
}

Config to_list(std::span<const double> values) { return Config::List(values.begin(), values.end()); }

}  // namespace iap
