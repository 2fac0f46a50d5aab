#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "cases.hpp"

// Hidden: run with the tag [bench]. Milliseconds a frame on one core, uint8 frame to scores, median of the runs.
TEST_CASE("time of a frame", "[.bench]") {
  struct Setting {
    ImageShape shape;
    int size, stride;
  };
  std::printf("%7s %3s %10s %10s %10s %10s\n", "L", "d", "relu", "exp 15", "hybrid", "softmax");
  for (const auto& [shape, size, stride] : {Setting{{96, 96, 3}, 7, 4}, Setting{{100, 100, 3}, 4, 4}, Setting{{32, 32, 3}, 1, 1},
                                            Setting{{240, 320, 3}, 2, 2}, Setting{{480, 640, 3}, 1, 1}})
    for (const int d : {4, 16}) {
      const Case c = make_case(shape, size, stride, d, false, 0.5F, 1);
      std::printf("%7d %3d", c.grid.count(), d);
      for (const char* kernel : {"relu", "exp", "hybrid", "softmax"}) {
        const bool exact = std::string(kernel) == "softmax";
        if (exact && c.grid.count() > 100000) continue;
        const Config config = Config::Map{{"kernel", kernel}};
        Options options("bench", config);
        const auto scorer = make_scorer(options, c.grid, d);
        scorer->bind({c.query, c.key, {}, {}});
        std::vector<float> scores(c.grid.count());
        std::vector<double> times;
        const int runs = c.grid.count() > (exact ? 10000 : 100000) ? 9 : 101;
        for (int run = 0; run < runs; ++run) {
          const auto start = std::chrono::steady_clock::now();
          scorer->score(c.image.view(), -0.5F, scores);
          times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
        }
        std::ranges::nth_element(times, times.begin() + runs / 2);
        std::printf(" %10.4f", times[runs / 2]);
        CHECK(std::isfinite(scores[0]));
      }
      std::printf("\n");
    }
}
