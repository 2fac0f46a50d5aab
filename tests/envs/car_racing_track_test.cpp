#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>
import iap.core;
import iap.envs;
import iap.envs.car_racing;

using namespace iap;
using namespace iap::car_racing;

namespace {

Track track_of(std::uint64_t seed) {
  Random random(seed);
  return draw_track(random);
}

double distance(const Point& a, const Point& b) { return std::hypot(a[0] - b[0], a[1] - b[1]); }

// How much the road turns between point i - 1 and point i; positive to the left. Headings may differ by full turns.
double turn(const Track& track, std::size_t i) {
  const auto& before = track.points[(i + track.size() - 1) % track.size()];
  return track.points[i % track.size()].heading - before.heading;
}

}  // namespace

TEST_CASE("tracks are closed walks of equal steps and bounded turns") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Track track = track_of(seed);
    const auto& points = track.points;
    REQUIRE(track.border.size() == track.size());
    for (std::size_t i = 1; i < track.size(); ++i) {
      CHECK(std::abs(std::hypot(points[i].x - points[i - 1].x, points[i].y - points[i - 1].y) - 3.5) < 1e-9);
      CHECK(std::abs(std::remainder(turn(track, i), 2 * std::numbers::pi)) <= 0.31 + 1e-9);
      CHECK(std::hypot(points[i].x, points[i].y) < 300);
    }
    const auto &head = points.front(), &tail = points.back();
    CHECK(std::hypot(head.x - tail.x, head.y - tail.y) < 3 * 3.5);
    // Once around the origin, from the angle -pi / 12.
    CHECK(head.alpha > -std::numbers::pi / 12);
    double around = 0;
    for (std::size_t i = 0; i < track.size(); ++i) {
      const auto &a = points[i], &b = points[(i + 1) % track.size()];
      around += std::atan2(a.x * b.y - a.y * b.x, a.x * b.x + a.y * b.y);
    }
    CHECK(std::abs(around - 2 * std::numbers::pi) < 1e-6);
  }
}

TEST_CASE("a track's head meets its tail, as CarRacing glues them together") {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Track track = track_of(seed);
    const auto &head = track.points.front(), &tail = track.points.back();
    const double gap = std::hypot(std::cos(head.heading) * (head.x - tail.x), std::sin(head.heading) * (head.y - tail.y));
    CAPTURE(seed);
    CHECK(gap <= 3.5);
  }
}

TEST_CASE("tracks are as long as CarRacing's, differ by seed and repeat") {
  std::vector<std::size_t> sizes;
  for (std::uint64_t seed = 0; seed < 300; ++seed) sizes.push_back(track_of(seed).size());
  std::ranges::sort(sizes);
  CHECK(sizes[15] >= 245);
  CHECK(sizes[285] <= 345);
  CHECK(sizes[150] > 270);
  CHECK(sizes[150] < 310);
  CHECK(sizes.front() != sizes.back());
  const Track once = track_of(7), again = track_of(7);
  for (std::size_t i = 0; i < once.size(); ++i) CHECK(once.points[i].x == again.points[i].x);
}

TEST_CASE("tiles share edges with the next and are as wide as the road") {
  const Track track = track_of(3);
  for (std::size_t i = 0; i + 1 < track.size(); ++i) {
    const Quad tile = track.tile(i), next = track.tile(i + 1);
    CHECK(distance(tile[0], next[3]) < 1e-9);
    CHECK(distance(tile[1], next[2]) < 1e-9);
    CHECK(std::abs(distance(tile[0], tile[1]) - 80.0 / 6) < 1e-9);
    CHECK(std::abs((tile[0][0] + tile[1][0]) / 2 - track.points[i].x) < 1e-9);
  }
}

TEST_CASE("marks stand on the inner side of hard turns and of the three tiles before them") {
  int marked = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Track track = track_of(seed);
    const std::size_t count = track.size();
    // A hard turn ends at tile i if the last four turns exceed a fifth of the largest one, all to the same side.
    const auto hard = [&](std::size_t i) {
      bool left = true, right = true;
      for (std::size_t back = 0; back < 4; ++back) {
        const double now = turn(track, i + count - back < count ? i + count - back : (i + count - back) % count);
        left = left && now > 0.062;
        right = right && now < -0.062;
      }
      return left || right;
    };
    for (std::size_t i = 0; i < count; ++i) {
      bool expected = false;
      for (std::size_t ahead = 0; ahead < 4; ++ahead) expected = expected || hard((i + ahead) % count);
      if (i < count - 4) CHECK(track.border[i] == expected);
      if (!track.border[i] || std::abs(turn(track, i)) < 1e-9) continue;
      ++marked;
      const Quad mark = track.border_mark(i);
      const double side = turn(track, i) > 0 ? -1 : 1;  // a left turn's inner side is the left one
      const auto& point = track.points[i];
      for (const auto& [corner, away] : {std::pair{mark[0], 40.0 / 6}, std::pair{mark[1], 48.0 / 6}}) {
        CHECK(std::abs(corner[0] - point.x - side * away * std::cos(point.heading)) < 1e-9);
        CHECK(std::abs(corner[1] - point.y - side * away * std::sin(point.heading)) < 1e-9);
      }
    }
  }
  CHECK(marked > 100);
}
