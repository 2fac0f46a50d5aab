// What the C interface costs beside the engine: batches of 64 environments stepped and looked at, in turns.
// usage: capi_overhead [THREADS]        (ninja capi_overhead; no test, because times prove little on a busy machine)
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "iap.h"
import iap.core;
import iap.env;
import iap.envs;
import iap.rollout;

namespace {

constexpr std::size_t count = 64;
constexpr int turns = 41;

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

/// Microseconds of processor time that one of `steps` steps takes, of all threads together.
template <typename Step>
double time_of(int steps, Step step) {
  const std::clock_t begin = std::clock();
  for (int i = 0; i < steps; ++i) step();
  return 1e6 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / steps;
}

/// The engine without a batch: each environment steps and shows by itself.
struct Plain {
  std::vector<std::unique_ptr<iap::Env>> envs;
  std::vector<bool> over = std::vector<bool>(count);
  int threads;

  Plain(const iap::Config& config, const std::vector<std::uint64_t>& seeds, int workers) : threads(workers) {
    for (const auto seed : seeds) {
      envs.push_back(iap::make_env(config));
      envs.back()->reset(seed);
    }
  }
  void step(std::span<const float> actions, std::size_t width) {
    iap::parallel_for(count, threads, [&](std::size_t i, int) {
      const auto result = envs[i]->step(actions.subspan(i * width, width));
      envs[i]->observe();
      if (result.terminated || result.truncated) envs[i]->reset(i);
    });
  }
};

void measure(const std::string& text, int steps, int threads) {
  const iap::Config config = iap::parse_json(text, "overhead");
  std::vector<std::uint64_t> seeds(count);
  std::iota(seeds.begin(), seeds.end(), std::uint64_t{1});
  Plain plain(config, seeds, threads);
  iap::EnvBatch inside([&] { return iap::make_env(config); }, count, threads);
  iap_batch* outside = nullptr;
  if (iap_batch_make(text.c_str(), count, threads, &outside, nullptr, 0) != IAP_OK) std::exit(1);
  inside.reset(std::span<const std::uint64_t>(seeds));
  iap_batch_reset(outside, seeds.data(), count);
  const auto width = static_cast<std::size_t>(inside.spec().action_size);
  const std::size_t images = inside.images().size();
  std::vector<float> actions(count * width, 0.1F);
  std::vector<double> rewards(count);
  std::vector<std::uint8_t> terminated(count), truncated(count);
  iap_image image{.size = sizeof(iap_image)};
  const float* vector = nullptr;
  std::vector<double> of_plain, of_engine, of_c, over_plain, over_engine;
  for (int turn = 0; turn < turns; ++turn) {
    of_plain.push_back(time_of(steps, [&] { plain.step(std::span<const float>(actions), width); }));
    of_engine.push_back(time_of(steps, [&] { inside.step(std::span<const float>(actions)); }));
    of_c.push_back(time_of(steps, [&] {
      iap_batch_step(outside, actions.data(), actions.size(), rewards.data(), terminated.data(), truncated.data(), nullptr);
      iap_batch_observe(outside, images ? &image : nullptr, images, &vector);
    }));
    over_plain.push_back(of_c.back() / of_plain.back());
    over_engine.push_back(of_c.back() / of_engine.back());
  }
  std::printf("%-62s %9.1f %9.1f %9.1f %+8.1f%% %+8.1f%%\n", text.c_str(), median(of_plain), median(of_engine), median(of_c),
              100 * (median(over_plain) - 1), 100 * (median(over_engine) - 1));
  iap_batch_free(outside);
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  std::printf(
      "microseconds of processor time a step of %zu environments, %d thread(s); medians of %d turns\n%-62s %9s %9s %9s %9s %9s\n",
      count, threads, turns, "", "loop", "EnvBatch", "C", "/ loop", "/ batch");
  measure(R"({"name": "cartpole-swingup"})", 100, threads);
  measure(R"({"name": "cheetah-run"})", 20, threads);
  measure(R"({"name": "cartpole-swingup", "pixels": [64, 64]})", 5, threads);
  measure(R"({"name": "cheetah-run", "pixels": [64, 64]})", 5, threads);
}
