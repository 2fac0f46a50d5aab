#include <algorithm>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "cases.hpp"

namespace {
std::atomic<long> allocations = 0;
}

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size ? size : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  ++allocations;
  const auto step = static_cast<std::size_t>(alignment);
  if (void* memory = std::aligned_alloc(step, (size + step - 1) / step * step)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

TEST_CASE("binding weights, scoring and selecting allocate nothing after the first call") {
  Case c = make_case({70, 70, 3}, 3, 1, 20, true, 0.5F, 61);
  c.query_weights.assign(c.grid.count(), 0.5F);
  std::vector<Config> configs;
  for (const auto& entry : kernel_catalog())
    for (const int threads : {1, 2}) {
      configs.push_back(Config::Map{{"kernel", entry.name}, {"threads", threads}});
      if (entry.name == "softmax") continue;
      configs.push_back(Config::Map{{"kernel", entry.name}, {"threads", threads}, {"brute_force", true}});
      if (entry.name != "relu") configs.push_back(Config::Map{{"kernel", entry.name}, {"threads", threads}, {"redraw", 1}});
    }
  for (const Config& config : configs) {
    Options options("test", config);
    const auto scorer = make_scorer(options, c.grid, c.d);
    std::vector<float> scores(c.grid.count());
    std::vector<int> selected(10);
    const auto frame = [&] {
      scorer->new_episode(1);
      scorer->bind(c.head());
      scorer->score(c.image.view(), -0.5F, scores);
      scorer->score(c.image.view(), -0.5F, scores);
      select_top(scores, selected);
    };
    frame();
    // On a busy machine TBB's thread may begin in a later frame than the first.
    long least = allocations;
    for (int again = 0; again < 5 && least > 0; ++again) {
      const long before = allocations;
      frame();
      least = std::min(least, allocations - before);
    }
    INFO(to_json(config));
    CHECK(least == 0);
  }
}

TEST_CASE("cross-attention allocates nothing once it is built") {
  const Case c = make_case({30, 41, 3}, 3, 2, 20, true, 0.5F, 61);
  for (const Ranking ranking : {Ranking::exact, Ranking::hash, Ranking::sample}) {
    const Config config = Config::Map{{"kernel", "exp"}};
    Options options("test", config);
    CrossAttention attention(options, ranking, c.grid, c.grid, c.d);
    std::vector<float> scores(c.grid.count());
    std::vector<int> selected(10);
    Random random(1);
    const long before = allocations;
    for (int step = 0; step < 3; ++step) {
      attention.bind({c.query, c.key, c.query_bias, c.key_bias});
      attention.new_episode(1);
      attention.set_keys(c.image.view(), -0.5F);
      attention.choose(c.image.view(), -0.5F, random, selected);
      attention.score(scores);
    }
    CHECK(allocations == before);
  }
}
