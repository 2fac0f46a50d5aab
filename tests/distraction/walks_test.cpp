#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <vector>
import iap.core;
import iap.envs;
import iap.envs.distraction;

using namespace iap;

TEST_CASE("colours are uniform around the model's own, inside [0, 1]") {
  const std::vector<double> own{0.5, 0.05, 0.95};
  const double delta = 0.2;
  const std::array<double, 3> low{0.3, 0, 0.75}, high{0.7, 0.25, 1};
  std::array<double, 3> sum{}, squares{};
  ColourWalk walk({delta, 0}, own);
  const int count = 4000;
  Random random(1);
  for (int i = 0; i < count; ++i) {
    walk.reset(random);
    for (int k = 0; k < 3; ++k) {
      const double share = (walk.colours()[k] - low[k]) / (high[k] - low[k]);
      REQUIRE(share >= 0);
      REQUIRE(share <= 1);
      sum[k] += share / count;
      squares[k] += share * share / count;
    }
  }
  for (int k = 0; k < 3; ++k) {  // a uniform variable's moments, within five of their standard errors
    CHECK(std::abs(sum[k] - 0.5) < 5 * std::sqrt(1.0 / 12 / count));
    CHECK(std::abs(squares[k] - 1.0 / 3) < 5 * std::sqrt(4.0 / 45 / count));
  }
}

TEST_CASE("static colours stay; dynamic ones take normal steps and stop at their bounds") {
  const std::vector<double> own(300, 0.5);
  ColourWalk still({0.3, 0}, own), moving({0.3, 0.009}, own);
  Random random(4), other(4);
  still.reset(random);
  moving.reset(other);
  const std::vector first(still.colours().begin(), still.colours().end());
  CHECK(std::ranges::equal(first, moving.colours()));
  double squares = 0;
  int inside = 0;
  for (int step = 0; step < 400; ++step) {
    const std::vector before(moving.colours().begin(), moving.colours().end());
    still.step(random);
    moving.step(other);
    for (std::size_t i = 0; i < before.size(); ++i) {
      const double now = moving.colours()[i];
      REQUIRE(now >= 0.2 - 1e-12);
      REQUIRE(now <= 0.8 + 1e-12);
      if (before[i] < 0.25 || before[i] > 0.75) continue;
      squares += (now - before[i]) * (now - before[i]);
      ++inside;
    }
  }
  CHECK(std::ranges::equal(first, still.colours()));
  CHECK(std::abs(std::sqrt(squares / inside) / 0.009 - 1) < 0.01);
}

TEST_CASE("a video plays to its ends and back, the last frame twice") {
  VideoWalk walk;
  const std::array<int, 1> lengths{4};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    walk.reset(lengths, true, random);
    int frame = walk.frame();
    std::vector<int> seen{frame};
    for (int i = 0; i < 20; ++i) {
      walk.step();
      seen.push_back(walk.frame());
    }
    // Once it has turned at the first frame, the order is known.
    const std::vector<int> order{0, 1, 2, 3, 3, 2, 1};
    const auto zero = std::ranges::find(seen, 0);
    REQUIRE(zero - seen.begin() <= 8);
    auto at = zero + (zero + 1 != seen.end() && zero[1] == 0 ? 1 : 0);
    for (int i = 0; at != seen.end(); ++at, ++i) CHECK(*at == order[i % 7]);
  }
}

TEST_CASE("half of all videos begin by running backwards") {
  const std::array<int, 1> lengths{9};
  VideoWalk walk;
  Random random(3);
  int inside = 0, backwards = 0;
  for (int i = 0; i < 1000; ++i) {
    walk.reset(lengths, true, random);
    const int frame = walk.frame();
    walk.step();
    if (frame == 0 || frame == 8) continue;
    ++inside;
    backwards += walk.frame() == frame - 1;
  }
  CHECK(std::abs(backwards - inside / 2.0) < 4 * std::sqrt(inside / 4.0));
}

TEST_CASE("a still video stays, and all videos and frames are drawn") {
  const std::array<int, 3> lengths{2, 5, 1};
  std::array<std::array<int, 5>, 3> count{};
  VideoWalk walk;
  Random random(9);
  for (int i = 0; i < 3000; ++i) {
    walk.reset(lengths, false, random);
    const int video = walk.video(), frame = walk.frame();
    walk.step();
    CHECK(walk.frame() == frame);
    ++count[video][frame];
  }
  for (int v = 0; v < 3; ++v)
    for (int f = 0; f < 5; ++f) {
      const double expected = f < lengths[v] ? 1000.0 / lengths[v] : 0;
      CHECK(std::abs(count[v][f] - expected) <= 5 * std::sqrt(expected));
    }
}
