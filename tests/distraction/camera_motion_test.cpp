// The reference's equations written out once more, by rotation matrices, and compared step by step.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>
import iap.core;
import iap.envs;
import iap.envs.distraction;

using namespace iap;

namespace {

constexpr double pi = std::numbers::pi;
using Point = std::array<double, 3>;
using Matrix = std::array<std::array<double, 3>, 3>;

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c{};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k) c[i][j] += a[i][k] * b[k][j];
  return c;
}

Matrix turn(int axis, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  if (axis == 0) return {{{1, 0, 0}, {0, c, -s}, {0, s, c}}};
  return {{{c, -s, 0}, {s, c, 0}, {0, 0, 1}}};
}

double norm(const Point& p) { return std::sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]); }
Point minus(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Point plus(const Point& a, const Point& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }

Point spherical(const Point& p) {
  return {norm(p), std::atan2(p[1], p[0]), std::atan2(std::sqrt(p[0] * p[0] + p[1] * p[1]), p[2])};
}
Point cartesian(const Point& s) {
  return {s[0] * std::sin(s[2]) * std::cos(s[1]), s[0] * std::sin(s[2]) * std::sin(s[1]), s[0] * std::cos(s[2])};
}

struct Reference {
  CameraRange range;
  Point start{}, place{}, velocity{}, look{};
  double roll = 0, roll_velocity = 0;

  Point bound(const Point& at) const {
    const Point delta{0, range.horizontal_delta, range.vertical_delta};
    Point result;
    for (int i = 0; i < 3; ++i) {
      double low = i ? start[i] - delta[i] : start[0] - start[0] * range.zoom_in;
      double high = i ? start[i] + delta[i] : start[0] + start[0] * range.zoom_out;
      if (range.upper_quadrant && i == 1) low = std::max(low, -pi), high = std::min(high, 0.0);
      if (range.upper_quadrant && i == 2) low = std::max(low, 0.0), high = std::min(high, pi / 2);
      result[i] = std::clamp(at[i], low, high);
    }
    return result;
  }

  void step(Random& random) {
    const double scale = start[0] / 4;
    for (double& v : velocity) v += random.normal() * range.vel_std * scale;
    roll_velocity += random.normal() * range.roll_std;
    const double speed = norm(velocity);
    if (speed > range.max_vel * scale)
      for (double& v : velocity) v *= range.max_vel * scale / speed;
    roll_velocity = std::clamp(roll_velocity, -range.max_roll_vel, range.max_roll_vel);
    const Point before = cartesian(place);
    place = bound(spherical(plus(before, velocity)));
    velocity = minus(cartesian(place), before);
    const double next = std::clamp(roll + roll_velocity, -range.roll_delta, range.roll_delta);
    roll_velocity = next - roll;
    roll = next;
  }
};

CameraPose side_view(const Point& position) {
  return {position, {1, 0, 0, 0, 0, -1, 0, 1, 0}};  // level, along +y
}

CameraRange moving(double s, bool dynamic) {
  const double d = dynamic ? s : 0;
  return {pi / 2 * s, pi / 2 * s, pi / 2 * s, .4 * d, .1 * d, pi / 50 * d, pi / 300 * d, .5 * s, 1.5 * s, true};
}

double difference(const CameraPose& pose, const Point& position, const Matrix& rotation) {
  double worst = 0;
  for (int i = 0; i < 3; ++i) {
    worst = std::max(worst, std::abs(pose.position[i] - position[i]));
    for (int j = 0; j < 3; ++j) worst = std::max(worst, std::abs(pose.rotation[3 * i + j] - rotation[i][j]));
  }
  return worst;
}

}  // namespace

TEST_CASE("a following camera moves as the reference's equations say") {
  const Point agent{0.5, 0.1, 0.6};
  const CameraPose own = side_view({0.5, -2.9, 0.7});
  for (const double s : {0.1, 0.2, 0.3}) {
    for (const bool dynamic : {false, true}) {
      const CameraRange range = moving(s, dynamic);
      Random random(7), again(7);
      CameraMotion motion(range);
      motion.reset(own, agent, true, random);
      // The draws in the reference's order: angles, radius, roll, velocity, roll velocity.
      Reference reference{range, spherical(minus(own.position, agent))};
      const auto draw = [&](int i, double low, double high) { reference.place[i] = again.uniform(low, high); };
      const Point low = reference.bound({-9, -9, -9}), high = reference.bound({99, 9, 9});
      for (const int i : {1, 2, 0}) draw(i, low[i], high[i]);
      reference.roll = again.uniform(-range.roll_delta, range.roll_delta);
      for (double& v : reference.velocity) v = again.normal();
      const double length = norm(reference.velocity), speed = again.uniform(0, range.max_vel);
      for (double& v : reference.velocity) v *= speed / length;
      reference.roll_velocity = again.uniform(-range.max_roll_vel, range.max_roll_vel);
      reference.step(again);
      for (int step = 0; step < 300; ++step) {
        const Point now{agent[0] + 0.01 * step, agent[1], agent[2] + 0.1 * std::sin(0.1 * step)};
        const CameraPose shifted = side_view(plus(own.position, minus(now, agent)));
        const Point position = plus(cartesian(reference.place), now);
        Point target = shifted.position;
        target[1] += norm(minus(shifted.position, now));
        const Point gaze = minus(target, position);
        const double yaw = std::atan2(gaze[0], gaze[1]), pitch = std::atan2(gaze[2], std::hypot(gaze[0], gaze[1]));
        const Matrix rotation = product(product(turn(2, -yaw), turn(0, pitch + pi / 2)), turn(2, reference.roll));
        CAPTURE(s, dynamic, step);
        REQUIRE(difference(motion.pose(shifted, now), position, rotation) < 1e-9);
        motion.step(random);
        reference.step(again);
      }
    }
  }
}

TEST_CASE("a fixed camera keeps looking at one point") {
  const Point agent{0, 0.05, 1.2};
  const CameraPose own = side_view({0, -4, 1});
  CameraMotion motion(moving(0.2, true));
  Random random(3);
  motion.reset(own, agent, false, random);
  const double distance = norm(minus(own.position, agent));
  const Point target{0, -4 + distance, 1};
  for (int step = 0; step < 200; ++step) {
    const CameraPose pose = motion.pose(own, {0.01 * step, 0, 1});
    const Point toward = minus(target, pose.position);
    for (int i = 0; i < 3; ++i) REQUIRE(std::abs(-pose.rotation[3 * i + 2] - toward[i] / norm(toward)) < 1e-12);
    motion.step(random);
  }
}

TEST_CASE("a camera overhead turns by the shortest way") {
  const Point agent{0.05, 0, 0.01};
  const CameraPose own{{0, 0, 0.75}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  CameraRange range = moving(0.3, true);
  range.upper_quadrant = GENERATE(false, true);
  CameraMotion motion(range);
  Random random(5);
  motion.reset(own, agent, false, random);
  const Point target{0, 0, 0.75 - norm(minus(own.position, agent))};
  for (int step = 0; step < 100; ++step) {
    const CameraPose pose = motion.pose(own, agent);
    const Point toward = minus(target, pose.position);
    const double length = norm(toward);
    const auto& r = pose.rotation;
    for (int i = 0; i < 3; ++i) REQUIRE(std::abs(-r[3 * i + 2] - toward[i] / length) < 1e-12);
    // The turn's axis lies level, so the angle of the whole rotation without roll is that between down and the gaze.
    const double c = std::cos(motion.roll()), s = std::sin(motion.roll());
    const double trace = (r[0] * c - r[1] * s) + (r[3] * s + r[4] * c) + r[8];
    REQUIRE(std::abs((trace - 1) / 2 + toward[2] / length) < 1e-12);
    motion.step(random);
  }
}

TEST_CASE("a still camera with no range stays where it was, wherever that is and whatever it looks at") {
  const Point agent{0.2, 0, 0.6};
  CameraRange range;
  range.upper_quadrant = GENERATE(true, false);
  const bool follows = GENERATE(true, false);
  for (const Point& position : {Point{0.2, -3, 0.6},
                                {0.2, 3, 0.6},
                                {-2, 0, 1},
                                {-2, 1e-17, 1},
                                {-2, -1e-17, 1},
                                {2, 0, 1},
                                {1, 2, -1},
                                {1, -2, -1},
                                {0.2, 0, 3},
                                {0, 0, 3},
                                {0.2, 0, -3}})
    for (const double yaw : {0.0, 0.7, pi / 2, 3.0, -2.0})
      for (const double pitch : {0.0, 0.05, 1.0, pi / 2, 2.0, pi})
        for (const double roll : {0.0, 0.5, -2.0}) {
          const Matrix turned = product(product(turn(2, yaw), turn(0, pitch)), turn(2, roll));
          CameraPose own{position, {}};
          for (std::size_t i = 0; i < 9; ++i) own.rotation[i] = turned[i / 3][i % 3];
          CameraMotion motion(range);
          Random random(1);
          motion.reset(own, agent, follows, random);
          for (int step = 0; step < 5; ++step) motion.step(random);
          CAPTURE(position[0], position[1], position[2], yaw, pitch, roll);
          REQUIRE(difference(motion.pose(own, agent), position, turned) < 1e-9);
        }
}

TEST_CASE("a camera is turned by at most its range, to both sides, and stays on its own") {
  const Point agent{0.2, 0.1, 0.6};
  struct Case {
    double begin, lowest, highest;  // horizontal angles
    bool upper_quadrant;
  };
  for (const Case& c : {Case{-pi / 2, -pi / 2 - 0.4, -pi / 2 + 0.4, true},
                        {pi / 2, pi / 2 - 0.4, pi / 2 + 0.4, true},
                        {2, 1.6, 2.4, false},
                        {3, 2.6, pi, true},
                        {-3, -pi, -2.6, true},
                        {0.1, 0, 0.5, true},
                        {-0.1, -0.5, 0, true},
                        {3, 2.6, 3.4, false},
                        {-3, -3.4, -2.6, false},
                        {pi, -pi, -pi + 0.4, true}}) {
    const CameraPose own = side_view(plus(cartesian({3, c.begin, 1.3}), agent));
    CameraRange range;
    range.horizontal_delta = 0.4;
    range.upper_quadrant = c.upper_quadrant;
    for (const bool drifts : {false, true}) {
      range.max_vel = drifts ? 0.4 : 0;
      range.vel_std = drifts ? 0.1 : 0;
      double low = 9, high = -9;
      for (std::uint64_t seed = 0; seed < 300; ++seed) {
        CameraMotion motion(range);
        Random random(seed);
        motion.reset(own, agent, true, random);
        for (int step = 0; step < (drifts ? 20 : 1); ++step) {
          motion.step(random);
          const Point at = spherical(minus(motion.pose(own, agent).position, agent));
          // Angles next to the range's middle, where there may be whole turns between.
          const double angle = c.begin + std::remainder(at[1] - c.begin, 2 * pi) - (c.begin - c.lowest > pi ? 2 * pi : 0);
          low = std::min(low, angle);
          high = std::max(high, angle);
        }
      }
      CAPTURE(c.begin, c.upper_quadrant, drifts, low, high);
      CHECK(low >= c.lowest - 1e-9);
      CHECK(low < c.lowest + 0.02);
      CHECK(high <= c.highest + 1e-9);
      CHECK(high > c.highest - 0.02);
    }
  }
}

TEST_CASE("a camera that begins below comes no lower") {
  const CameraPose own = side_view({0, 2, -1});
  const CameraRange range = moving(0.3, true);
  CameraMotion motion(range);
  Random random(9);
  motion.reset(own, {}, true, random);
  const double begin = spherical(own.position)[2];
  REQUIRE(begin > pi / 2);
  for (int step = 0; step < 300; ++step, motion.step(random)) {
    REQUIRE(motion.vertical() <= begin);
    REQUIRE(motion.vertical() >= begin - range.vertical_delta);
  }
}

TEST_CASE("static cameras stay, moving ones keep to their ranges and use them") {
  const Point agent{0, 0, 0.7};
  const CameraPose own = side_view({0, -3, 0.9});
  const CameraRange range = moving(0.2, true);
  Point lowest{9, 9, 9}, highest{-9, -9, -9};
  double largest_roll = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CameraMotion motion(range), still(moving(0.2, false));
    Random random(seed), other(seed);
    motion.reset(own, agent, true, random);
    still.reset(own, agent, true, other);
    const CameraPose first = still.pose(own, agent);
    for (int step = 0; step < 200; ++step) {
      motion.step(random);
      still.step(other);
      const Point at{motion.radius(), motion.horizontal(), motion.vertical()};
      for (int i = 0; i < 3; ++i) lowest[i] = std::min(lowest[i], at[i]), highest[i] = std::max(highest[i], at[i]);
      largest_roll = std::max(largest_roll, std::abs(motion.roll()));
    }
    for (int i = 0; i < 3; ++i) CHECK(std::abs(still.pose(own, agent).position[i] - first.position[i]) < 1e-9);
  }
  const Point start = spherical(minus(own.position, agent));
  CHECK(lowest[0] >= 0.9 * start[0] - 1e-9);
  CHECK(highest[0] <= 1.3 * start[0] + 1e-9);
  CHECK(highest[0] - lowest[0] > 0.3 * start[0]);
  CHECK(std::abs(lowest[1] + pi / 2) <= 0.1 * pi + 1e-9);
  CHECK(std::abs(highest[1] + pi / 2) <= 0.1 * pi + 1e-9);
  CHECK(highest[2] <= pi / 2 + 1e-9);
  CHECK(lowest[2] >= start[2] - 0.1 * pi - 1e-9);
  CHECK(largest_roll <= 0.1 * pi + 1e-9);
  CHECK(largest_roll > 0.09 * pi);
}
