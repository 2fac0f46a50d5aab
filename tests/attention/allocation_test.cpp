#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "../allocation.hpp"
#include "cases.hpp"

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

namespace {

/// What was said before is what was taken then, but for names, tables of options and lists that grow.
void check_said(double said, std::size_t before, const Config& config) {
  const auto got = static_cast<double>(bytes_taken - before);
  constexpr double small = 1 << 16;
  INFO(to_json(config) << ": said " << said << ", took " << got);
  CHECK(got < 1.05 * said + small);
  CHECK(said < 1.5 * got + small);
}

std::vector<Config> kernel_configs() {
  std::vector<Config> configs;
  for (const auto& entry : kernel_catalog()) {
    configs.push_back(Config::Map{{"kernel", entry.name}});
    configs.push_back(Config::Map{{"kernel", entry.name}, {"threads", 3}});
    if (entry.name == "softmax")
      configs.back()["normalise_rows"] = false;
    else
      configs.push_back(Config::Map{{"kernel", entry.name}, {"brute_force", true}});
    if (!entry.features) continue;
    configs.push_back(Config::Map{{"kernel", entry.name}, {"m", 120}});
    configs.push_back(Config::Map{{"kernel", entry.name}, {"ensemble", "iid"}});
  }
  return configs;
}

}  // namespace

TEST_CASE("scorers say before they are built what they will take") {
  for (const ImageShape shape : {ImageShape{60, 45, 3, PixelType::uint8}, ImageShape{40, 36, 1, PixelType::float32}})
    for (const auto& [size, stride, d] : {std::array{4, 1, 20}, std::array{4, 4, 30}, std::array{1, 1, 200}}) {
      const Case c = make_case(shape, size, stride, d, true, 0.1F, 61);
      const std::vector<float> encoding(static_cast<std::size_t>(c.grid.count()) * c.grid.values(), 0.1F);
      for (const Config& config : kernel_configs())
        for (const bool encoded : {false, true}) {
          Options options("test", config);
          const double said = scorer_bytes(options, c.grid, c.d, encoded);
          HeadWeights weights = c.head();
          if (encoded) weights.encoding = encoding;
          const std::size_t before = bytes_taken;
          make_scorer(options, c.grid, c.d)->bind(weights);
          check_said(said, before, config);
        }
    }
}

TEST_CASE("IAP-trans says before it is built what it will take") {
  const Case c = make_case({64, 72, 3}, 4, 2, 24, true, 0.1F, 62);
  const std::size_t patches = c.grid.count(), values = c.grid.values();
  const std::vector<float> encoding(patches * values, 0.1F);
  for (const TransShape shape : {TransShape{24, 7, 12, true, true}, TransShape{24, 50, 3, false, true}})
    for (const Config& config : kernel_configs())
      for (const bool encoded : {false, true}) {
        Options options("test", config);
        const double said = trans_bytes(options, c.grid, shape, encoded);
        const std::vector<float> value(shape.projected ? values * shape.values : 0, 0.1F);
        const std::vector<float> compression(patches * shape.tokens, 0.1F);
        TransWeights weights{c.head(), value, compression};
        if (encoded) weights.head.encoding = encoding;
        const std::size_t before = bytes_taken;
        make_trans(options, c.grid, shape)->bind(weights);
        check_said(said, before, config);
      }
}

TEST_CASE("cross-attention says before it is built what it will take") {
  const Case query = make_case({60, 41, 3}, 3, 2, 20, true, 0.1F, 63), key = make_case({70, 64, 1}, 2, 1, 20, true, 0.1F, 64);
  const auto encoding_of = [](const Case& c) {
    return std::vector<float>(static_cast<std::size_t>(c.grid.count()) * c.grid.values(), 0.1F);
  };
  const auto query_encoding = encoding_of(query), key_encoding = encoding_of(key);
  for (const auto& entry : kernel_catalog())
    for (const Ranking ranking : {Ranking::exact, Ranking::hash, Ranking::sample})
      for (const bool encoded : {false, true}) {
        const bool positive = entry.features && entry.features->kind == FeatureKind::exp;
        if (!entry.map || (ranking == Ranking::sample && !positive)) continue;
        Config config = Config::Map{{"kernel", entry.name}};
        if (ranking == Ranking::hash) config["bits"] = 500;
        Options options("test", config);
        const double said = CrossAttention::bytes(options, ranking, query.grid, key.grid, query.d, encoded);
        HeadWeights weights{query.query, key.key, query.query_bias, key.key_bias};
        if (encoded) weights.encoding = query_encoding;
        const std::size_t before = bytes_taken;
        CrossAttention(options, ranking, query.grid, key.grid, query.d)
            .bind(weights, encoded ? std::span<const float>(key_encoding) : std::span<const float>());
        check_said(said, before, config);
      }
}
