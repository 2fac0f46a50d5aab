#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "attention/shared_planes.hpp"
#include "cases.hpp"

namespace {

constexpr float offset = -0.5F;

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::vector<float> score(Scorer& scorer, const Case& c) {
  std::vector<float> scores(c.grid.count());
  scorer.score(c.image.view(), offset, scores);
  return scores;
}

/// Heads of many kinds with weights of their own, all of which look at the image of `c`.
struct Heads {
  explicit Heads(const Case& c) {
    for (const auto& entry : kernel_catalog()) {
      const Config config = Config::Map{{"kernel", entry.name}};
      Options options("test", config);
      weights.push_back(make_case(c.grid.image(), c.grid.size(), c.grid.stride(), c.d, true, 0.3F, 90 + weights.size()));
      scorers.push_back(make_scorer(options, c.grid, c.d));
      scorers.back()->bind(weights.back().head());
    }
  }

  std::vector<std::vector<float>> all(const Case& c) {
    std::vector<std::vector<float>> scores;
    for (const auto& scorer : scorers) scores.push_back(score(*scorer, c));
    return scores;
  }

  std::vector<Case> weights;
  std::vector<std::unique_ptr<Scorer>> scorers;
};

void draw_another(Case& c, std::uint64_t seed) {
  Random random(seed);
  for (auto& byte : c.image.bytes()) byte = static_cast<std::uint8_t>(random.below(256));
  for (auto& value : c.image.floats()) value = static_cast<float>(random.uniform());
}

}  // namespace

TEST_CASE("scorers that share a picture's planes say the same bits, frame after frame") {
  for (const auto type : {PixelType::uint8, PixelType::float32})
    // Patches that touch, in one chunk, in several and of single pixels; that overlap; that leave out a column.
    for (const auto& [height, width, size, stride] :
         {std::array{24, 24, 4, 4}, {96, 96, 4, 4}, {40, 60, 1, 1}, {33, 40, 7, 4}, {24, 26, 4, 4}}) {
      CAPTURE(type, height, width, size, stride);
      Case c = make_case({height, width, 3, type}, size, stride, 3, true, 0.3F, 70);
      Heads alone(c), together(c);
      SharedPlanes planes;
      for (std::uint64_t frame = 0; frame < 3; ++frame) {
        draw_another(c, frame);
        const auto expected = alone.all(c);
        const SharedPlanes::Look look(planes);
        const auto scores = together.all(c);
        for (std::size_t i = 0; i < scores.size(); ++i) {
          INFO(together.scorers[i]->kernel());
          CHECK(same_bits(scores[i], expected[i]));
        }
      }
    }
}

TEST_CASE("who looks at another picture, through other patches or after the look shares nothing") {
  Case c = make_case({32, 32, 3}, 4, 4, 3, true, 0.3F, 71), other = make_case({32, 32, 3}, 4, 4, 3, true, 0.3F, 72);
  Case finer = make_case({32, 32, 3}, 2, 2, 3, true, 0.3F, 73);
  finer.image = c.image;
  Heads alone(c), together(c), alone_finer(finer), together_finer(finer);
  const auto expected = alone.all(c), expected_other = alone.all(other), expected_finer = alone_finer.all(finer);
  SharedPlanes planes, inner;
  {
    const SharedPlanes::Look look(planes);
    CHECK(together.all(c) == expected);
    CHECK(together.all(other) == expected_other);
    {
      const SharedPlanes::Look deeper(inner);
      CHECK(together.all(other) == expected_other);
    }
    CHECK(together.all(c) == expected);
    for (std::size_t i = 0; i < together_finer.scorers.size(); ++i) {
      std::vector<float> scores(finer.grid.count());
      together_finer.scorers[i]->score(c.image.view(), offset, scores);
      CHECK(scores == expected_finer[i]);
    }
  }
  draw_another(c, 74);
  CHECK(together.all(c) == alone.all(c));
}
