#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cases.hpp"
#include "instruction_sets.hpp"

TEST_CASE("every instruction set of this machine scores alike") {
  const std::int64_t supported = hwy::SupportedTargets();
  for (const auto type : {PixelType::uint8, PixelType::float32}) {
    const Case c = make_case({31, 45, 3, type}, 3, 2, 5, true, 0.4F, 62);
    for (const auto& entry : kernel_catalog()) {
      const Config config = Config::Map{{"kernel", entry.name}};
      const auto best = scores_of(c, config, -0.5F);
      const float scale = *std::ranges::max_element(best);
      int tried = 0;
      for (std::int64_t left = supported; left != 0; left &= left - 1, ++tried) {
        const std::int64_t target = left & -left;
        const OnlyTarget only(target);
        INFO(entry.name << " on " << hwy::TargetName(target));
        const auto scores = scores_of(c, config, -0.5F);
        for (std::size_t i = 0; i < scores.size(); ++i) REQUIRE(std::abs(scores[i] - best[i]) <= 2e-5F * scale);
      }
      CHECK(tried >= 1);
    }
  }
}

// Bytes become floats by words of one, two and four bytes, one to four a stride, or by way of bytes.
TEST_CASE("every instruction set takes pixels apart alike") {
  int patches = 0;
  for (int channels = 1; channels <= 4; ++channels)
    for (int stride = 1; stride <= 9; ++stride)
      for (const int size : {std::max(1, stride - 1), stride, stride + 2})
        for (const int width : {8 * stride, 75}) {  // rows of patches on end, and apart
          Case c = make_case({27, std::max(width, size), channels}, size, stride, 3, false, 0.1F, 64);
          // Sums of positive numbers lose no digits.
          for (auto* weights : {&c.query, &c.key})
            for (float& weight : *weights) weight = std::abs(weight);
          const Rows queries = project(c, c.query, c.query_bias, 0), keys = project(c, c.key, c.key_bias, 0);
          std::vector<double> sums(c.d);
          for (const auto& query : queries)
            for (int o = 0; o < c.d; ++o) sums[o] += query[o] / static_cast<double>(queries.size());
          for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
            const OnlyTarget only(left & -left);
            INFO(hwy::TargetName(left & -left) << ", " << channels << " channels, patch " << size << ", stride " << stride);
            const auto scores = scores_of(c, Config::Map{{"kernel", "relu"}}, 0);
            for (std::size_t i = 0; i < scores.size(); ++i, ++patches) {
              const double wanted = dot(sums, keys[i]);
              REQUIRE(std::abs(scores[i] - wanted) <= 1e-5 * wanted);
            }
          }
        }
  CHECK(patches > 10000);
}

TEST_CASE("every instruction set gives the same features of patches") {
  const Case c = make_case({31, 45, 3}, 3, 2, 5, true, 0.4F, 63);
  const std::size_t pitch = static_cast<std::size_t>(c.grid.count()) + key_padding;
  for (const char* kernel : {"exp", "trig", "hybrid"})
    for (const char* input : {"plain", "normalised"}) {
      const Config config = Config::Map{{"kernel", kernel}, {"input", input}, {"m", 7}};
      Options options("test", config);
      PatchFeatures features(read_map(options, c.grid.values(), c.d), Side::query, c.grid, c.d);
      features.bind(c.query, c.query_bias);
      std::vector<float> best(pitch * features.features()), rows(best);
      features.rows(c.image.view(), -0.5F, best, pitch);
      float scale = 0;
      for (const float value : best) scale = std::max(scale, std::abs(value));
      for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
        const OnlyTarget only(left & -left);
        features.rows(c.image.view(), -0.5F, rows, pitch);
        for (int f = 0; f < features.features(); ++f)
          for (int j = 0; j < c.grid.count(); ++j) REQUIRE(std::abs(rows[f * pitch + j] - best[f * pitch + j]) <= 2e-5F * scale);
      }
    }
}
