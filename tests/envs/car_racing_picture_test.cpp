// Every pixel of the picture against the definition: its centre is traced back into window and world, and the last thing painted
// over that point decides its colour.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>
import iap.core;
import iap.envs;
import iap.envs.car_racing;

using namespace iap;
using namespace iap::car_racing;

namespace {

bool inside(std::span<const Point> convex, const Point& point) {
  int left = 0, right = 0;
  for (std::size_t i = 0; i < convex.size(); ++i) {
    const auto &a = convex[i], &b = convex[(i + 1) % convex.size()];
    const double cross = (b[0] - a[0]) * (point[1] - a[1]) - (b[1] - a[1]) * (point[0] - a[0]);
    left += cross > 0;
    right += cross < 0;
  }
  return left == 0 || right == 0;
}

bool between(double value, double a, double b) { return value >= std::min(a, b) && value < std::max(a, b); }

// A world point in the units (of 0.02) and axes of a body.
Point in_body(const Pose& pose, const Point& world) {
  const double x = (world[0] - pose.x) / 0.02, y = (world[1] - pose.y) / 0.02;
  return {std::cos(pose.angle) * x + std::sin(pose.angle) * y, -std::sin(pose.angle) * x + std::cos(pose.angle) * y};
}

bool on_stripe(const Wheel& wheel, const Point& at) {
  const double a = wheel.phase, b = wheel.phase + 1.2;
  const bool up_a = std::sin(a) <= 0, up_b = std::sin(b) <= 0;
  if (!up_a && !up_b) return false;
  const auto end = [](double angle, bool up) { return 27 * (up ? std::cos(angle) : std::cos(angle) > 0 ? 1.0 : -1.0); };
  return std::abs(at[0]) < 14 && between(at[1], end(a, up_a), end(b, up_b));
}

bool on_hull(const Point& at) {
  static const std::vector<std::vector<Point>> parts{
      {{-60, 130}, {60, 130}, {60, 110}, {-60, 110}},
      {{-15, 120}, {15, 120}, {20, 20}, {-20, 20}},
      {{25, 20}, {50, -10}, {50, -40}, {20, -90}, {-20, -90}, {-50, -40}, {-50, -10}, {-25, 20}},
      {{-50, -120}, {50, -120}, {50, -90}, {-50, -90}}};
  return std::ranges::any_of(parts, [&](const auto& part) { return inside(part, at); });
}

struct Truth {
  const Track& track;
  const World& world;
  car_racing::Scenery scenery;
  double time;

  Rgb at(int row, int column) const {
    const double x = (column + 0.5) / 0.096, y = (96 - row - 0.5) / 0.12;
    if (y < 100) return panel(x, y);
    if (scenery.bars && (x < 75 || x >= 925)) return {};
    return outside(x, y);
  }

  Rgb panel(double x, double y) const {
    const Car& car = world.car();
    Rgb colour{};
    const auto bar = [&](double place, double value, Rgb shown) {
      if (between(x, 25 * place, 25 * (place + 1)) && between(y, 20, 20 + 20 * value)) colour = shown;
    };
    bar(5, 0.02 * std::hypot(car.vx, car.vy), {255, 255, 255});
    for (int wheel = 0; wheel < 4; ++wheel)
      bar(7 + wheel, 0.01 * car.wheels[wheel].omega, wheel < 2 ? Rgb{0, 0, 255} : Rgb{51, 0, 255});
    if (between(y, 40, 80)) {
      if (between(x, 500, 500 - 250 * car.wheels[0].steering)) colour = {0, 255, 0};
      if (between(x, 750, 750 - 20 * car.yaw_rate)) colour = {255, 0, 0};
    }
    return colour;
  }

  Rgb outside(double x, double y) const {
    const Car& car = world.car();
    const double zoom = 0.6 * std::max(1 - time, 0.0) + 16.2 * std::min(time, 1.0);
    const double angle = std::hypot(car.vx, car.vy) > 0.5 ? std::atan2(car.vx, car.vy) : -car.hull.angle;
    const double u = (x - 500) / zoom, v = (y - 200) / zoom;
    const Point point{car.hull.x + std::cos(angle) * u + std::sin(angle) * v,
                      car.hull.y - std::sin(angle) * u + std::cos(angle) * v};
    const Point at = in_body(car.hull, point);
    if (on_hull(at)) return {204, 0, 0};
    if (scenery.blob && between(at[0] * 0.02, 21, 29) && between(at[1] * 0.02, 7.6, 15.6)) return {204, 0, 0};
    for (auto wheel = car.wheels.rbegin(); wheel != car.wheels.rend(); ++wheel) {
      const Point on_wheel = in_body(wheel->pose, point);
      if (on_stripe(*wheel, on_wheel)) return {77, 77, 77};
      if (std::abs(on_wheel[0]) < 14 && std::abs(on_wheel[1]) < 27) return {};
    }
    return ground(point);
  }

  Rgb ground(const Point& point) const {
    for (std::size_t i = track.size(); i-- > 0;) {
      if (std::hypot(track.points[i].x - point[0], track.points[i].y - point[1]) > 20) continue;
      if (track.border[i] && inside(track.border_mark(i), point)) return i % 2 == 0 ? Rgb{255, 255, 255} : Rgb{255, 0, 0};
      if (!inside(track.tile(i), point)) continue;
      const double grey = 0.4 + scenery.road_shade + (world.touched()[i] ? 0 : 0.01 * static_cast<double>(i % 3));
      return to_rgb(grey, grey, grey);
    }
    const double field = 2000.0 / 6, side = field / 20;
    if (std::abs(point[0]) > field || std::abs(point[1]) > field) return {};
    const auto even = [&](double value) { return static_cast<int>(std::floor(value / side)) % 2 == 0; };
    if (even(point[0]) && even(point[1])) return {102, 230, 102};
    return to_rgb(0.4 + scenery.grass_shade, 0.8 + scenery.grass_shade, 0.4 + scenery.grass_shade);
  }
};

bool under_score(int row, int column) { return row >= 87 && row < 93 && column >= 1 && column < 15; }

// Pixels that differ; rounding may put one whose centre lies on an edge on the other side.
int count_wrong(const Truth& truth, std::span<const std::uint8_t> rgb) {
  int wrong = 0;
  for (int row = 0; row < 96; ++row)
    for (int column = 0; column < 96; ++column) {
      if (under_score(row, column)) continue;
      const std::uint8_t* pixel = &rgb[static_cast<std::size_t>(row * 96 + column) * 3];
      wrong += !(truth.at(row, column) == Rgb{pixel[0], pixel[1], pixel[2]});
    }
  return wrong;
}

}  // namespace

TEST_CASE("the picture shows what is at the centres of its pixels") {
  for (const auto& scenery : {car_racing::Scenery{}, car_racing::Scenery{.road_shade = 0.1, .grass_shade = -0.15},
                              car_racing::Scenery{.bars = true}, car_racing::Scenery{.blob = true}}) {
    for (std::uint64_t seed = 1; seed < 4; ++seed) {
      Random random(seed);
      const Track track = draw_track(random);
      World world(track);
      world.step({});
      Painter painter;
      painter.begin(track, scenery);
      std::vector<std::uint8_t> rgb(96 * 96 * 3);
      double steer = 0;
      for (int step = 1; step <= 160; ++step) {
        if (step % 32 == 1) {
          const double time = 0.02 * step;
          painter.draw(world, time, 0, rgb);
          CAPTURE(seed, step, scenery.bars, scenery.blob, scenery.grass_shade);
          CHECK(count_wrong({track, world, scenery, time}, rgb) <= 2);
        }
        if (step % 20 == 0) steer = random.uniform(-1, 1);
        world.step(Controls{.steer = steer, .gas = 0.4, .brake = step % 40 < 3 ? 0.5 : 0});
      }
    }
  }
}

TEST_CASE("the score is written in white, with a minus sign where it is negative, and cut to an integer") {
  Random random(1);
  const Track track = draw_track(random);
  const World world(track);
  Painter painter;
  painter.begin(track, {});
  const auto written = [&](double score) {
    std::vector<std::uint8_t> rgb(96 * 96 * 3), marks;
    painter.draw(world, 0, score, rgb);
    for (int row = 87; row < 93; ++row)
      for (int column = 1; column < 15; ++column) marks.push_back(rgb[static_cast<std::size_t>(row * 96 + column) * 3 + 1]);
    return marks;
  };
  const auto whites = [](const std::vector<std::uint8_t>& marks) { return std::ranges::count(marks, 255); };
  CHECK(whites(written(0)) > 12);
  CHECK(whites(written(888)) > whites(written(777)));
  CHECK(written(12.9) == written(12));
  CHECK(written(-0.9) == written(0));
  CHECK(written(-1) != written(1));
  std::vector<std::vector<std::uint8_t>> seen;
  for (int digit = 0; digit < 10; ++digit) seen.push_back(written(1111 * digit));
  // Four samples across and three down leave some digits alike; most must differ.
  std::ranges::sort(seen);
  CHECK(std::ranges::unique(seen).size() <= 2);
}
