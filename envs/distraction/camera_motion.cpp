module;
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
module iap.envs.distraction;
import iap.core;

namespace iap {
namespace {

using Point = std::array<double, 3>;
constexpr double pi = std::numbers::pi;

Point operator+(const Point& a, const Point& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
Point operator-(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Point operator*(const Point& a, double s) { return {a[0] * s, a[1] * s, a[2] * s}; }
double length(const Point& a) { return std::hypot(a[0], a[1], a[2]); }

Point to_sphere(const Point& p) { return {length(p), std::atan2(p[1], p[0]), std::atan2(std::hypot(p[0], p[1]), p[2])}; }
Point from_sphere(const Point& s) {
  const auto [radius, horizontal, vertical] = s;
  return {radius * std::sin(vertical) * std::cos(horizontal), radius * std::sin(vertical) * std::sin(horizontal),
          radius * std::cos(vertical)};
}

// The point as far from the camera as the agent is, along the camera's gaze.
Point gaze(const CameraPose& own, const Point& agent) {
  const double distance = length(own.position - agent);
  return own.position - Point{own.rotation[2], own.rotation[5], own.rotation[8]} * distance;
}

using Rotation = std::array<double, 9>;

Rotation from_columns(const Point& x, const Point& y, const Point& z) {
  return {x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]};
}

// Turned by yaw and pitch alone: the horizon stays level.
Rotation level_view(const Point& direction) {
  const double yaw = std::atan2(direction[0], direction[1]);
  const double pitch = std::atan2(direction[2], std::hypot(direction[0], direction[1]));
  const double c = std::cos(yaw), s = std::sin(yaw), cp = std::cos(pitch), sp = std::sin(pitch);
  return from_columns({c, -s, 0}, {-s * sp, -c * sp, cp}, {-s * cp, -c * cp, -sp});
}

// The shortest turn from looking straight down. Looking up has none; the camera then stays as it is.
Rotation shortest_view(const Point& direction) {
  const double c = -direction[2];
  const double sine = std::hypot(direction[0], direction[1]);
  const double x = sine > 0 ? direction[1] / sine : 0, y = sine > 0 ? -direction[0] / sine : 0, k = 1 - c;
  return {c + x * x * k, x * y * k, y * sine, x * y * k, c + y * y * k, -x * sine, -y * sine, x * sine, c};
}

Rotation rolled(const Rotation& r, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  return from_columns({r[0] * c + r[1] * s, r[3] * c + r[4] * s, r[6] * c + r[7] * s},
                      {r[1] * c - r[0] * s, r[4] * c - r[3] * s, r[7] * c - r[6] * s}, {r[2], r[5], r[8]});
}

// `own` by the shortest turn to `direction`.
Rotation turned(const Rotation& own, const Point& direction) {
  Point seen{};
  for (int i = 0; i < 3; ++i) seen[i] = own[i] * direction[0] + own[3 + i] * direction[1] + own[6 + i] * direction[2];
  const Rotation turn = shortest_view(seen);
  Rotation result{};
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 3; ++j) result[i] += own[i / 3 * 3 + j] * turn[j * 3 + i % 3];
  return result;
}

// How far `own` is rolled about its axis from level.
double roll_of(const Rotation& own) {
  const Rotation level = level_view({-own[2], -own[5], -own[8]});
  const double along = own[0] * level[0] + own[3] * level[3] + own[6] * level[6];
  const double across = own[0] * level[1] + own[3] * level[4] + own[6] * level[7];
  const double angle = std::atan2(across, along);
  // Rounding errors would change the last bits of cameras that are level.
  return std::abs(angle) < 1e-9 ? 0 : angle;
}

// `to_sphere` of where the camera begins, with the horizontal angle in the half [-pi, 0] unless it stands beyond the plane y = 0 by
// more than rounding errors.
Point beginning(const Point& place) {
  Point start = to_sphere(place);
  if (start[1] > pi / 2 && place[1] < 1e-9 * start[0]) start[1] -= 2 * pi;
  return start;
}

}  // namespace

void CameraMotion::reset(const CameraPose& own, const Point& agent, bool follows, Random& random) {
  follows_ = follows;
  look_at_ = gaze(own, agent);
  const Point start = beginning(follows ? own.position - agent : own.position);
  scale_ = start[0] / 4;
  heading_ = start[1];
  // Level views spin where the gaze comes near the vertical.
  steep_ = std::abs(own.rotation[8]) > 0.99;
  lowest_ = {std::max(start[0] * (1 - range_.zoom_in), 0.0), start[1] - range_.horizontal_delta, start[2] - range_.vertical_delta};
  highest_ = {start[0] * (1 + range_.zoom_out), start[1] + range_.horizontal_delta, start[2] + range_.vertical_delta};
  if (range_.upper_quadrant) {
    const double half = start[1] > 1e-9 ? 0 : -pi;
    lowest_ = {lowest_[0], std::max(lowest_[1], std::min(half, start[1])), std::max(lowest_[2], 0.0)};
    highest_ = {highest_[0], std::min(highest_[1], std::max(half + pi, start[1])),
                std::min(highest_[2], std::max(pi / 2, start[2]))};
  }
  for (const int i : {1, 2, 0}) place_[i] = random.uniform(lowest_[i], highest_[i]);
  roll_ = random.uniform(-range_.roll_delta, range_.roll_delta);
  for (double& v : velocity_) v = random.normal();
  const double norm = length(velocity_);
  velocity_ = norm > 0 ? velocity_ * (random.uniform(0, range_.max_vel) / norm) : Point{};
  roll_velocity_ = random.uniform(-range_.max_roll_vel, range_.max_roll_vel);
  step(random);
}

void CameraMotion::step(Random& random) {
  for (double& v : velocity_) v += range_.vel_std * scale_ * random.normal();
  roll_velocity_ += range_.roll_std * random.normal();
  const double limit = range_.max_vel * scale_, norm = length(velocity_);
  if (norm > limit) velocity_ = velocity_ * (limit / norm);
  roll_velocity_ = std::clamp(roll_velocity_, -range_.max_roll_vel, range_.max_roll_vel);

  const Point before = from_sphere(place_);
  Point after = to_sphere(before + velocity_);
  // Behind the scene the angle leaps from pi to -pi; a camera that crosses there has not left its range by nearly a whole turn.
  if (std::abs(after[1] - heading_) > pi) after[1] += std::copysign(2 * pi, heading_ - after[1]);
  for (int i = 0; i < 3; ++i) after[i] = std::clamp(after[i], lowest_[i], highest_[i]);
  place_ = after;
  velocity_ = from_sphere(place_) - before;
  const double roll = std::clamp(roll_ + roll_velocity_, -range_.roll_delta, range_.roll_delta);
  roll_velocity_ = roll - roll_;
  roll_ = roll;
}

CameraPose CameraMotion::pose(const CameraPose& own, const Point& agent) const {
  const Point position = follows_ ? from_sphere(place_) + agent : from_sphere(place_);
  const Point toward = (follows_ ? gaze(own, agent) : look_at_) - position;
  const Point direction = toward * (1 / std::max(length(toward), 1e-12));
  if (steep_) return {position, rolled(turned(own.rotation, direction), roll_)};
  return {position, rolled(level_view(direction), roll_ + roll_of(own.rotation))};
}

}  // namespace iap
