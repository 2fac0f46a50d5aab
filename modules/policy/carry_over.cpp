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

/// Observations of no world, always the same ones.
class MadeUpWorld {
 public:
  explicit MadeUpWorld(const ObservationSpec& spec) : vector_(static_cast<std::size_t>(spec.vector)) {
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
  Random random_{StreamKey{.purpose = Purpose::policy}};
  std::vector<float> vector_;
  std::vector<Image> images_;
  std::vector<ImageView> views_;
};

/// Parameters that leave nothing at 0.
std::vector<float> stirred(std::span<const float> parameters) {
  constexpr double deviation = 0.1;
  Random random{StreamKey{.purpose = Purpose::perturbation}};
  std::vector<float> values(parameters.begin(), parameters.end());
  for (float& value : values) value += static_cast<float>(deviation * random.normal());
  return values;
}

std::uint32_t checksum(std::span<const float> values) {
  const auto bytes = std::as_bytes(values);
  return crc32(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

/// What each of `blocks` hands over in an episode, one step behind the other, as checksums.
std::vector<std::uint32_t> play(Policy& policy, std::span<const Block* const> blocks) {
  MadeUpWorld world(policy.observation());
  std::vector<std::uint32_t> seen;
  const double end = processor_seconds() + patience_seconds;
  policy.reset(1);
  for (std::size_t step = 0; step < most_steps && (step < least_steps || processor_seconds() < end); ++step) {
    policy.act(world.observe());
    for (const Block* block : blocks) seen.push_back(checksum(block->written()));
  }
  return seen;
}

}  // namespace

std::string kept_across_episodes(const Policy& policy) {
  Policy trial = policy.clone();
  std::vector<const Block*> blocks;
  collect_lua_blocks(trial.root(), blocks);
  if (blocks.empty()) return "";
  try {
    trial.initialise(1);
    trial.set_parameters(stirred(trial.parameters()));
    const auto before = play(trial, blocks);
    const auto after = play(trial, blocks);
    for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i)
      if (after[i] != before[i]) {
        const Block& block = *blocks[i % blocks.size()];
        return text(
            "block '", block.path(), "' (", block.describe(), "): from step ", 1 + i / blocks.size(),
            " of an episode on it gives other outputs for the same observations than in the episode before, so that returns "
            "would depend on what a worker played earlier; give it a function reset(self, seed) that puts back all that an "
            "episode changes, and let it ask neither clocks nor files");
      }
  } catch (const Error&) {
    // Made-up observations prove nothing to a block that takes none.
  }
  return "";
}

}  // namespace iap
