// Include after `module iap.envs.legged;` and its imports, with <cstdint> and <string_view>.
#pragma once

namespace iap {

/// The numbers of the worlds that episodes take place in: each episode's is drawn from `first` to `last`, or is its seed.
struct Numbered {
  std::int64_t first = 0, last = -1;
  std::uint64_t of(std::uint64_t seed) const;
};

/// Reads option `key`: {first, last}, or {} for a world of each episode's own.
Numbered read_numbered(Options& options, std::string_view key);

}  // namespace iap
