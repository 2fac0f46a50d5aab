module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.policy;
import iap.core;

namespace iap {
namespace {

constexpr std::size_t least_steps = 3, most_steps = 20;
/// Of an episode, where a block is slow: processor time, so that a busy machine decides nothing.
constexpr double patience_seconds = 0.25;

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void collect_lua_blocks(const Block& block, std::vector<const Block*>& found) {
  for (const auto& child : block.children()) collect_lua_blocks(*child, found);
  if (block.kind() == "script") found.push_back(&block);
}

/// Observations of no world, for each `number` always the same ones.
class MadeUpWorld {
 public:
  MadeUpWorld(const ObservationSpec& spec, std::uint32_t number)
      : random_{StreamKey{.iteration = number, .purpose = Purpose::policy}}, vector_(static_cast<std::size_t>(spec.vector)) {
    for (const auto& image : spec.images) images_.emplace_back(image.shape);
    for (const auto& image : images_) views_.push_back(image.view());
  }

  Observation observe() {
    random_.fill_normal(vector_);
    for (auto& image : images_) {
      if (image.shape().type == PixelType::uint8)
        for (auto& byte : image.bytes()) byte = static_cast<std::uint8_t>(random_.below(256));
      else
        for (float& value : image.floats()) value = static_cast<float>(random_.uniform());
    }
    return {views_, vector_};
  }

 private:
  Random random_;
  std::vector<float> vector_;
  std::vector<Image> images_;
  std::vector<ImageView> views_;
};

/// Parameters that leave nothing at 0, others for each `number`.
std::vector<float> stirred(std::span<const float> parameters, std::uint32_t number) {
  constexpr double deviation = 0.1;
  Random random{StreamKey{.iteration = number, .purpose = Purpose::perturbation}};
  std::vector<float> values(parameters.begin(), parameters.end());
  for (float& value : values) value += static_cast<float>(deviation * random.normal());
  return values;
}

std::uint32_t checksum(std::span<const float> values) {
  const auto bytes = std::as_bytes(values);
  return crc32(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

/// A copy of a policy that plays made-up episodes.
class Trial {
 public:
  explicit Trial(const Policy& policy) : policy_(policy.clone()) {
    collect_lua_blocks(policy_.root(), blocks_);
    policy_.initialise(1);
    initial_.assign(policy_.parameters().begin(), policy_.parameters().end());
  }

  /// What each of the blocks in Lua hands over in the episode, one step behind the other, as checksums. Parameters, observations
  /// and what blocks draw follow from its `number`.
  std::vector<std::uint32_t> play(std::uint32_t number) {
    policy_.set_parameters(stirred(initial_, number));
    MadeUpWorld world(policy_.observation(), number);
    std::vector<std::uint32_t> seen;
    const double end = processor_seconds() + patience_seconds;
    policy_.reset(number);
    for (std::size_t step = 0; step < most_steps && (step < least_steps || processor_seconds() < end); ++step) {
      policy_.act(world.observe());
      for (const Block* block : blocks_) seen.push_back(checksum(block->written()));
    }
    return seen;
  }

 private:
  Policy policy_;
  std::vector<const Block*> blocks_;
  std::vector<float> initial_;
};

/// The clause about the first difference between what `blocks` handed over in two plays of an episode; "" if there is none.
std::string difference(std::span<const Block* const> blocks, std::span<const std::uint32_t> one,
                       std::span<const std::uint32_t> other) {
  for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i)
    if (one[i] != other[i]) {
      const Block& block = *blocks[i % blocks.size()];
      return text("block '", block.path(), "' (", block.describe(), "): from step ", 1 + i / blocks.size(),
                  " of an episode on it gives other outputs for the same parameters and observations where it played before, so "
                  "that returns would depend on what a worker played earlier; give it a function reset(self, seed) that puts back "
                  "all that an episode changes and what was made of parameters, and let it ask neither clocks nor files");
    }
  return "";
}

}  // namespace

std::string kept_across_episodes(const Policy& policy) {
  std::vector<const Block*> blocks;
  collect_lua_blocks(policy.root(), blocks);
  if (blocks.empty()) return "";
  try {
    Trial used(policy);
    const auto first = used.play(1);
    if (const auto kept = difference(blocks, first, used.play(1)); !kept.empty()) return kept;
    // What is only filled once, such as by the first frame, shows where the episode before was another one.
    const auto later = used.play(2);
    return difference(blocks, later, Trial(policy).play(2));
  } catch (const Error&) {
    // Made-up observations prove nothing to a block that takes none.
    return "";
  }
}

}  // namespace iap
