#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <new>
#include <span>
#include <vector>
import iap.core;
import iap.env;
import iap.policy;
import iap.ranks;
import iap.rollout;

#include "../train/fake_env.hpp"
#include "in_process.hpp"

namespace {

/// Allocations until one fails; negative: none does.
std::atomic<long> until_failure = -1;

void* memory_or_failure(void* memory) {
  const bool fails = until_failure.load() >= 0 && until_failure.fetch_sub(1) == 0;
  if (memory && !fails) return memory;
  std::free(memory);
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return memory_or_failure(std::malloc(size ? size : 1)); }
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto align = static_cast<std::size_t>(alignment);
  return memory_or_failure(std::aligned_alloc(align, (size + align - 1) / align * align));
}
void* operator new[](std::size_t size, std::align_val_t alignment) { return operator new(size, alignment); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

using namespace iap;

TEST_CASE("memory that runs out at any moment of a round ends that round alone") {
  const EnvSpec spec = FakeEnv().spec();
  const Policy policy(fake_policy(), spec.observation, spec.action_size);
  const std::vector<float> parameters(policy.size(), 0.1F);
  std::vector<RolloutTask> tasks;
  for (std::size_t i = 0; i < 4; ++i) tasks.push_back({.parameters = std::span<const float>(parameters), .seed = i});

  JobHere here(1);
  const auto rollouts = open_rollouts(spec.config, fake_envs(), policy.clone(), 1);
  const auto totals = [&] {
    std::vector<double> all;
    for (const auto& episode : rollouts->run(tasks)) all.push_back(episode.total);
    return all;
  };
  const auto expected = totals();
  // One failure a round, at each allocation in turn, on whichever thread it comes.
  long failures = 0;
  for (long before = 0;; ++before) {
    CAPTURE(before);
    until_failure = before;
    try {
      rollouts->run(tasks);
    } catch (const std::exception&) {
      ++failures;
    }
    if (until_failure.exchange(-1) >= 0) break;
    CHECK(totals() == expected);
  }
  CHECK(failures > 20);
}
