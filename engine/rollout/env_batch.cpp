module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <vector>
module iap.rollout;
import iap.core;
import iap.env;

namespace iap {
namespace {

std::uint64_t next_seed(std::uint64_t first, std::uint64_t episode) {
  constexpr int bits = 24;
  return derive_seed({.seed = first,
                      .iteration = static_cast<std::uint32_t>(episode >> bits),
                      .episode = static_cast<std::uint32_t>(episode & ((1U << bits) - 1)),
                      .purpose = Purpose::environment});
}

}  // namespace

struct EnvBatch::Impl {
  struct World {
    std::unique_ptr<Env> env;
    std::uint64_t seed = 0, episode = 0;
    int steps = 0;  // of the episode
    bool over = false;
  };

  std::vector<World> worlds;
  int threads;
  bool ready = false;
  std::vector<StepResult> results;
  std::vector<float> vectors;
  std::vector<std::vector<std::byte>> pictures;  // aligned for floats, as operator new gives it
  std::vector<ImageView> views;

  const EnvSpec& spec() const { return worlds.front().env->spec(); }

  void keep(std::size_t index) {
    World& world = worlds[index];
    const Observation seen = world.env->observe();
    // What broke down may show anything.
    const bool finite = world.steps == 0 || !results[index].unstable;
    if (const auto flaw = observation_flaw(spec(), seen, finite); !flaw.empty())
      throw Error(
          text("'", spec().name, "', ", world.steps == 0 ? "after the reset" : text("after step ", world.steps), ": ", flaw));
    std::ranges::copy(seen.vector, vectors.begin() + static_cast<std::ptrdiff_t>(index * seen.vector.size()));
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      const std::size_t size = views[i].shape.bytes();
      std::memcpy(pictures[i].data() + index * size, seen.images[i].data, size);
    }
  }

  template <typename Act>
  void each(Act act) {
    ready = false;
    parallel_for(worlds.size(), threads, [&](std::size_t index, int) {
      try {
        act(index, worlds[index]);
        keep(index);
      } catch (const Interrupted&) {
        throw;
      } catch (const std::exception& error) {
        throw Error(text("environment ", index, " of the batch: ", error.what()));
      } catch (...) {
        throw Error(text("environment ", index, " of the batch: something was thrown that is no std::exception"));
      }
    });
    ready = true;
  }
};

EnvBatch::EnvBatch(const EnvFactory& make_env, std::size_t count, int threads) : impl_(std::make_unique<Impl>()) {
  if (count == 0) throw Error("a batch must hold at least one environment");
  if (threads < 0) throw Error(text("a batch's number of threads must not be negative, got ", threads));
  impl_->threads = threads;
  for (std::size_t i = 0; i < count; ++i) impl_->worlds.push_back({.env = accepted(make_env())});
  impl_->results.resize(count);
  const ObservationSpec& seen = spec().observation;
  impl_->vectors.resize(count * static_cast<std::size_t>(seen.vector));
  for (const auto& image : seen.images) {
    impl_->pictures.emplace_back(count * image.shape.bytes());
    impl_->views.push_back({image.shape, impl_->pictures.back().data()});
  }
}

EnvBatch::~EnvBatch() = default;
std::size_t EnvBatch::size() const { return impl_->worlds.size(); }
const EnvSpec& EnvBatch::spec() const { return impl_->spec(); }
std::span<const float> EnvBatch::vectors() const { return std::span<const float>(impl_->vectors); }
std::span<const ImageView> EnvBatch::images() const { return std::span<const ImageView>(impl_->views); }

void EnvBatch::reset(std::span<const std::uint64_t> seeds) {
  if (seeds.size() != size()) throw Error(text("the batch holds ", size(), " environments, got ", seeds.size(), " seeds"));
  impl_->each([&](std::size_t index, Impl::World& world) {
    world.env->reset(seeds[index]);
    world.seed = seeds[index];
    world.episode = 0;
    world.steps = 0;
    world.over = false;
  });
}

std::span<const StepResult> EnvBatch::step(std::span<const float> actions) {
  if (!impl_->ready) throw Error("the batch has not been reset, or one of its environments has failed; reset it");
  const auto width = static_cast<std::size_t>(spec().action_size);
  if (actions.size() != size() * width)
    throw Error(text("the batch takes ", size(), " x ", width, " action values, got ", actions.size()));
  impl_->each([&](std::size_t index, Impl::World& world) {
    StepResult& result = impl_->results[index];
    if (world.over) {
      world.env->reset(next_seed(world.seed, ++world.episode));
      world.steps = 0;
      result = {};
    } else {
      result = world.env->step(actions.subspan(index * width, width));
      ++world.steps;
      if (!std::isfinite(result.reward))
        throw Error(
            text("'", spec().name, "', after step ", world.steps, ": the reward is ", result.reward, "; rewards must be finite"));
      result.terminated = result.terminated || result.unstable;
    }
    world.over = result.terminated || result.truncated;
  });
  return std::span<const StepResult>(impl_->results);
}

}  // namespace iap
