#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"

namespace {

// A scorer that shows one and the same frame again and again: only new projections change what it says.
class Viewer {
 public:
  Viewer(const char* kernel, Config redraw, int feature_seed = 9) {
    const Config config = Config::Map{{"kernel", kernel}, {"redraw", std::move(redraw)}, {"feature_seed", feature_seed}};
    Options options("test", config);
    scorer_ = make_scorer(options, case_.grid, case_.d);
    options.finish();
    scorer_->bind(case_.head());
  }
  void new_episode(std::uint64_t seed) { scorer_->new_episode(seed); }
  std::vector<float> look() {
    std::vector<float> scores(case_.grid.count());
    scorer_->score(case_.image.view(), 0, scores);
    return scores;
  }
  std::vector<std::vector<float>> episode(std::uint64_t seed, int frames) {
    new_episode(seed);
    std::vector<std::vector<float>> seen(frames);
    for (auto& scores : seen) scores = look();
    return seen;
  }

 private:
  Case case_ = make_case({30, 30, 3}, 3, 3, 4, false, 0.5F, 58);
  std::unique_ptr<Scorer> scorer_;
};

}  // namespace

TEST_CASE("projections change with the episode only where asked for, as a function of its seed") {
  for (const char* kernel : {"exp", "trig", "hybrid"}) {
    const auto after = [&](const char* redraw, std::vector<std::uint64_t> episodes) {
      Viewer viewer(kernel, redraw);
      for (const auto episode : episodes) viewer.new_episode(episode);
      viewer.look();
      return viewer.look();
    };
    CHECK(after("never", {}) == after("never", {1, 2}));
    CHECK(after("episode", {5}) == after("episode", {1, 2, 5}));
    CHECK(after("episode", {5}) != after("episode", {6}));
    CHECK(after("episode", {5}) != after("episode", {5 + (std::uint64_t{1} << 40)}));
  }
}

TEST_CASE("projections change every n frames where asked for, as a function of episode and frame") {
  for (const char* kernel : {"exp", "trig", "hybrid"}) {
    Viewer viewer(kernel, 3);
    const auto seen = viewer.episode(5, 9);
    for (int frame = 0; frame < 9; ++frame)
      for (int other = 0; other < frame; ++other) CHECK((seen[frame] == seen[other]) == (frame / 3 == other / 3));
    const auto elsewhere = viewer.episode(6, 9);
    for (const int frame : {0, 3, 6}) CHECK(elsewhere[frame] != seen[frame]);
    viewer.episode(5, 4);  // an episode that ends early leaves nothing behind
    CHECK(viewer.episode(5, 9) == seen);
    CHECK(Viewer(kernel, 3).episode(5, 9) == seen);
    const auto other_seed = Viewer(kernel, 3, 10).episode(5, 9);
    for (const int frame : {0, 3, 6}) CHECK(other_seed[frame] != seen[frame]);
    CHECK(Viewer(kernel, 1).episode(5, 4)[0] == seen[0]);
    CHECK(Viewer(kernel, "episode").episode(5, 1)[0] == seen[0]);
    CHECK(Viewer(kernel, 3).look() == Viewer(kernel, "never").look());
  }
}

TEST_CASE("redraw takes two words or a positive whole number") {
  CHECK_THROWS_AS(Viewer("hybrid", "often"), OptionError);
  CHECK_THROWS_AS(Viewer("hybrid", 0), OptionError);
  CHECK_THROWS_AS(Viewer("hybrid", 2.5), OptionError);
  CHECK_THROWS_AS(Viewer("hybrid", true), OptionError);
}
