#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "reference.hpp"

TEST_CASE("the sinusoidal encoding follows its formula on odd grids") {
  for (const ImageShape shape : {ImageShape{9, 13, 1}, ImageShape{17, 8, 3}, ImageShape{5, 5, 4}})
    for (const int size : {1, 2, 3}) {
      const PatchGrid grid(shape, size, 2, "test");
      const int c = grid.values();
      std::vector<float> encoding(static_cast<std::size_t>(grid.count()) * c);
      sinusoidal_encoding(grid, encoding);
      for (int row = 0; row < grid.rows(); ++row)
        for (int column = 0; column < grid.columns(); ++column)
          for (int v = 0; v < c; ++v) {
            const bool of_row = v < (c + 1) / 2;
            const int n = of_row ? (c + 1) / 2 : c / 2, at = of_row ? v : v - (c + 1) / 2;
            const double angle = (of_row ? row : column) * std::pow(10000.0, -2.0 * (at / 2) / n);
            const double wanted = at % 2 ? std::cos(angle) : std::sin(angle);
            CHECK(std::abs(encoding[(row * grid.columns() + column) * c + v] - wanted) < 1e-6);
          }
    }
}

TEST_CASE("scores with an encoding are scores of patches to which it was added") {
  Random random(93);
  for (int round = 0; round < 40; ++round) {
    // Patches that do not overlap: the encoding can be added to a float image itself.
    const auto pick = [&](int low, int high) { return low + static_cast<int>(random.below(high - low + 1)); };
    const int size = pick(1, 4), stride = size + pick(0, 2);
    const ImageShape shape{pick(size, 30), pick(size, 30), pick(1, 4), PixelType::float32};
    const Case c = make_case(shape, size, stride, pick(1, 9), random.below(2) == 1, 0.5F / static_cast<float>(size), random.bits());
    std::vector<float> encoding(static_cast<std::size_t>(c.grid.count()) * c.grid.values());
    for (float& value : encoding) value = 0.3F * static_cast<float>(random.normal());
    Case shifted = c;
    for (int patch = 0; patch < c.grid.count(); ++patch)
      for (int v = 0; v < c.grid.values(); ++v) {
        const int y = patch / c.grid.columns() * stride + v / shape.channels / size;
        const int x = patch % c.grid.columns() * stride + v / shape.channels % size;
        shifted.image.floats()[(y * shape.width + x) * shape.channels + v % shape.channels] +=
            encoding[patch * c.grid.values() + v];
      }
    for (const auto& entry : kernel_catalog()) {
      INFO("round " << round << ", kernel " << entry.name << ", L " << c.grid.count());
      const Config config = Config::Map{{"kernel", entry.name}};
      Options options("test", config);
      const auto scorer = make_scorer(options, c.grid, c.d);
      HeadWeights head = c.head();
      head.encoding = encoding;
      std::vector<float> scores(c.grid.count());
      scorer->bind(head);
      scorer->score(c.image.view(), -0.25F, scores);
      const auto wanted = scores_of(shifted, config, -0.25F);
      float scale = 0;
      for (const float score : wanted) scale = std::max(scale, std::abs(score));
      // A sign of the hybrid map that is too close to call may fall either way.
      int differing = 0;
      for (std::size_t i = 0; i < scores.size(); ++i) differing += std::abs(scores[i] - wanted[i]) > 1e-4F * scale;
      CHECK(differing <= (entry.name == "hybrid" ? static_cast<int>(scores.size()) / 50 + 1 : 0));
      // Taken away again.
      scorer->bind(c.head());
      scorer->score(c.image.view(), -0.25F, scores);
      CHECK(scores == scores_of(c, config, -0.25F));
    }
  }
}
