#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "helpers.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Averages of pool x pool pixels, rounded to the nearest, by the obvious loops.
Frame averaged(const Frame& frame, int pool) {
  const ImageShape large = frame.image().shape();
  Frame small(image_spec(large.height / pool, large.width / pool), 0);
  auto out = small.image().bytes();
  for (int y = 0; y < large.height / pool; ++y)
    for (int x = 0; x < large.width / pool; ++x)
      for (int c = 0; c < 3; ++c) {
        double sum = 0;
        for (int i = 0; i < pool; ++i)
          for (int j = 0; j < pool; ++j)
            sum += frame.image().bytes()[((y * pool + i) * static_cast<std::size_t>(large.width) + x * pool + j) * 3 + c];
        out[(y * static_cast<std::size_t>(large.width / pool) + x) * 3 + c] = static_cast<std::uint8_t>(sum / (pool * pool) + 0.5);
      }
  return small;
}

}  // namespace

TEST_CASE("a block that pools acts as one that looks at the average picture") {
  for (const int pool : {2, 3}) {
    for (const std::string kind : {"'kind': 'rank', 'top': 3, 'values': ['position', 'content']", "'kind': 'trans', 'tokens': 2"}) {
      const std::string options = "'patch': 4, 'd': 4";
      // Neither size is a multiple of 3: what fills no average is left out.
      Policy pooling(config("{'kind': 'sequence', 'blocks': [{" + kind + "," + options + ", 'pool': " + std::to_string(pool) +
                            "}, {'kind': 'linear'}]}"),
                     image_spec(50, 62), 2);
      Policy plain(config("{'kind': 'sequence', 'blocks': [{" + kind + "," + options + "}, {'kind': 'linear'}]}"),
                   image_spec(50 / pool, 62 / pool), 2);
      randomise(pooling, 3);
      plain.set_parameters(pooling.parameters());
      for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const Frame frame(pooling.observation(), seed);
        CHECK(act(pooling, frame) == act(plain, averaged(frame, pool)));
      }
      const auto view = pooling.views().front();
      CHECK(view.patch == 4 * pool);
      CHECK(view.stride == 4 * pool);
    }
  }
}

TEST_CASE("pool 1 is the picture itself, and a pool larger than the picture is refused") {
  CHECK_THROWS_WITH(Policy(config("{'kind': 'rank', 'patch': 2, 'top': 1, 'pool': 33}"), image_spec(32, 64), 2),
                    ContainsSubstring("option 'pool' is 33, but the image has only 32 x 64 pixels"));
}
