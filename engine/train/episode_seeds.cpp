module;
#include <cstddef>
#include <cstdint>
module iap.train;
import iap.core;
import :evaluation;
import :types;

namespace iap {
namespace {

/// Members of one group meet the same episodes.
std::uint32_t seed_group(EpisodeSeeds shared, std::size_t member) {
  switch (shared) {
    case EpisodeSeeds::common: return 0;
    case EpisodeSeeds::pairs: return static_cast<std::uint32_t>(member / 2);
    case EpisodeSeeds::own: break;
  }
  return static_cast<std::uint32_t>(member);
}

}  // namespace

std::uint64_t training_seed(std::uint64_t seed, std::uint32_t iteration, EpisodeSeeds shared, std::size_t member,
                            std::size_t episode) {
  return derive_seed({.seed = seed,
                      .iteration = iteration,
                      .member = seed_group(shared, member),
                      .episode = static_cast<std::uint32_t>(episode),
                      .purpose = Purpose::environment});
}

std::uint64_t evaluation_seed(std::uint64_t seed, std::size_t episode) {
  return evaluation_seed(seed, episode, EpisodeSet::selection);
}

std::uint64_t evaluation_seed(std::uint64_t seed, std::size_t episode, EpisodeSet set) {
  return derive_seed({.seed = seed,
                      .member = static_cast<std::uint32_t>(set),
                      .episode = static_cast<std::uint32_t>(episode),
                      .purpose = Purpose::evaluation});
}

}  // namespace iap
