module;
#include <cstdint>
#include <string_view>
module iap.envs.legged;
import iap.core;
#include "numbered.hpp"

namespace iap {

std::uint64_t Numbered::of(std::uint64_t seed) const {
  if (last < first) return seed;
  Random choice({.seed = seed, .member = 2, .purpose = Purpose::environment});
  return static_cast<std::uint64_t>(first) + choice.below(static_cast<std::uint32_t>(last - first + 1));
}

Numbered read_numbered(Options& options, std::string_view key) {
  constexpr std::int64_t most = 4'000'000'000;
  const Config& given = options.value(key);
  if (given.is_null() || (given.list() && given.list()->empty()) || (given.map() && given.map()->empty())) return {};
  const auto range = options.integers(key);
  if (range.size() != 2 || range[0] < 0 || range[0] > range[1] || range[1] > most)
    options.fail(
        text("option '", key, "' must be {first, last} with 0 <= first <= last <= ", most, ", or {} for a new one each episode"));
  return {range[0], range[1]};
}

}  // namespace iap
