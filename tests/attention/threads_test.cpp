#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "cases.hpp"

namespace {

void require_same_bits(const Case& c, Config config) {
  const auto alone = scores_of(c, config, -0.5F);
  for (const int threads : {2, 3, 5}) {
    config["threads"] = threads;
    const auto shared = scores_of(c, config, -0.5F);
    INFO(to_json(config));
    REQUIRE(std::memcmp(alone.data(), shared.data(), alone.size() * sizeof(float)) == 0);
  }
}

void weigh(Case& c, std::uint64_t seed) {
  Random random(seed);
  c.query_weights.resize(c.grid.count());
  for (float& weight : c.query_weights) weight = static_cast<float>(random.normal());
}

}  // namespace

TEST_CASE("threads that share a frame change no bit of its scores") {
  for (const auto type : {PixelType::uint8, PixelType::float32})
    for (const float spread : {0.5F, 8.0F}) {  // the larger one needs stabilised features
      Case c = make_case({131, 150, 3, type}, 3, 1, 4, true, spread / 3, 81);
      if (type == PixelType::uint8) weigh(c, 82);
      for (const auto& entry : kernel_catalog())
        if (entry.name != "softmax") require_same_bits(c, Config::Map{{"kernel", entry.name}});
    }
}

TEST_CASE("threads that share brute force change no bit of its scores") {
  for (const float spread : {0.5F, 8.0F}) {
    Case c = make_case({49, 61, 3}, 2, 1, 4, true, spread, 83);
    weigh(c, 84);
    require_same_bits(c, Config::Map{{"kernel", "softmax"}});
    require_same_bits(c, Config::Map{{"kernel", "softmax"}, {"normalise_rows", false}});
    require_same_bits(c, Config::Map{{"kernel", "relu"}, {"brute_force", true}});
  }
}

TEST_CASE("a frame's bands do not show: scores do not depend on where a patch's chunk begins") {
  // Every row of patches holds the same pixels, so that each has the scores of the first.
  Case c = make_case({301, 67, 1}, 2, 1, 3, true, 0.5F, 85);
  for (int y = 1; y < 301; ++y)
    for (int x = 0; x < 67; ++x) c.image.bytes()[y * 67 + x] = c.image.bytes()[x];
  for (const auto& entry : kernel_catalog()) {
    if (entry.name == "softmax") continue;
    const auto scores = scores_of(c, Config::Map{{"kernel", entry.name}, {"threads", 2}}, -0.5F);
    for (int i = 0; i < c.grid.count(); ++i) REQUIRE(scores[i] == scores[i % 66]);
  }
}
