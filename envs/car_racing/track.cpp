module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <optional>
#include <span>
#include <utility>
#include <vector>
module iap.envs.car_racing;
import iap.core;
#include "sign.hpp"

namespace iap::car_racing {
namespace {

constexpr double pi = std::numbers::pi;
constexpr std::size_t border_tiles = 4;

struct Checkpoint {
  double alpha, x, y;
};
using Checkpoints = std::array<Checkpoint, 12>;

Checkpoints draw_checkpoints(Random& random) {
  Checkpoints checkpoints;
  const std::size_t count = checkpoints.size();
  for (std::size_t c = 0; c < count; ++c) {
    const double sector = 2 * pi / static_cast<double>(count), begin = sector * static_cast<double>(c);
    double alpha = begin + random.uniform(0, sector);
    double radius = random.uniform(track_radius / 3, track_radius);
    if (c == 0 || c + 1 == count) {
      alpha = begin;
      radius = 1.5 * track_radius;
    }
    checkpoints[c] = {alpha, radius * std::cos(alpha), radius * std::sin(alpha)};
  }
  return checkpoints;
}

// The first checkpoint, from `next` on, whose angle is not behind `alpha`. Past the last one the angle unwraps.
const Checkpoint& find_destination(const Checkpoints& checkpoints, std::size_t& next, double& alpha) {
  for (;; alpha -= 2 * pi) {
    do {
      const Checkpoint& checkpoint = checkpoints[next % checkpoints.size()];
      if (alpha <= checkpoint.alpha) return checkpoint;
      ++next;
    } while (next % checkpoints.size() != 0);
  }
}

std::vector<TrackPoint> walk(const Checkpoints& checkpoints) {
  constexpr int most_steps = 2500, laps_wanted = 5;
  constexpr double dead_zone = 0.3, gain = 0.001;
  std::vector<TrackPoint> points;
  points.reserve(most_steps);
  double x = 1.5 * track_radius, y = 0, heading = 0;
  std::size_t next = 0;
  int laps = 0;
  bool visited_other_side = false;
  while (laps < laps_wanted && points.size() < most_steps) {
    double alpha = std::atan2(y, x);
    if (visited_other_side && alpha > 0) {
      ++laps;
      visited_other_side = false;
    }
    if (alpha < 0) {
      visited_other_side = true;
      alpha += 2 * pi;
    }
    const Checkpoint& destination = find_destination(checkpoints, next, alpha);
    const double sideways = scale * (std::cos(heading) * (destination.x - x) + std::sin(heading) * (destination.y - y));
    const double ahead_x = -std::sin(heading), ahead_y = std::cos(heading);
    while (heading - alpha > 1.5 * pi) heading -= 2 * pi;
    while (heading - alpha < -1.5 * pi) heading += 2 * pi;
    const double before = heading;
    if (std::abs(sideways) > dead_zone) heading -= sign(sideways) * std::min(turn_rate, std::abs(gain * sideways));
    x += ahead_x * track_step;
    y += ahead_y * track_step;
    points.push_back({alpha, (before + heading) / 2, x, y});
  }
  return points;
}

// The last lap that begins and ends where the walk passes start_alpha, without its last point.
std::optional<std::vector<TrackPoint>> last_lap(const std::vector<TrackPoint>& points) {
  std::size_t end = 0;
  for (std::size_t i = points.size() - 1; i > 0; --i) {
    if (!(points[i].alpha > start_alpha && points[i - 1].alpha <= start_alpha)) continue;
    if (end == 0) {
      end = i;
      continue;
    }
    return std::vector<TrackPoint>(points.begin() + static_cast<std::ptrdiff_t>(i),
                                   points.begin() + static_cast<std::ptrdiff_t>(end - 1));
  }
  return {};
}

bool head_meets_tail(std::span<const TrackPoint> lap) {
  const auto &head = lap.front(), &tail = lap.back();
  return std::hypot(std::cos(head.heading) * (head.x - tail.x), std::sin(head.heading) * (head.y - tail.y)) <= track_step;
}

std::vector<bool> mark_hard_turns(std::span<const TrackPoint> lap) {
  const std::size_t count = lap.size();
  std::vector<bool> border(count);
  for (std::size_t i = 0; i < count; ++i) {
    bool hard = true;
    double side = 0;
    for (std::size_t back = 0; back < border_tiles; ++back) {
      const double turn = lap[(i + count - back) % count].heading - lap[(i + count - back - 1) % count].heading;
      hard = hard && std::abs(turn) > turn_rate * 0.2;
      side += sign(turn);
    }
    border[i] = hard && std::abs(side) == border_tiles;
  }
  for (std::size_t i = 0; i < count; ++i)
    if (border[i])
      for (std::size_t back = 1; back < border_tiles; ++back) border[(i + count - back) % count] = true;
  return border;
}

// The quad between two distances from the middle line (positive: to the right) of the points `from` and `to`.
Quad strip(const TrackPoint& from, const TrackPoint& to, double near, double far) {
  const auto beside = [](const TrackPoint& point, double distance) {
    return Point{point.x + distance * std::cos(point.heading), point.y + distance * std::sin(point.heading)};
  };
  return {beside(to, near), beside(to, far), beside(from, far), beside(from, near)};
}

}  // namespace

Quad Track::tile(std::size_t i) const {
  return strip(points[(i + size() - 1) % size()], points[i], -road_half_width, road_half_width);
}

Quad Track::border_mark(std::size_t i) const {
  const auto &to = points[i], &from = points[(i + size() - 1) % size()];
  const double side = sign(from.heading - to.heading);
  return strip(from, to, side * road_half_width, side * (road_half_width + border_width));
}

Track draw_track(Random& random) {
  for (;;) {
    auto lap = last_lap(walk(draw_checkpoints(random)));
    if (!lap || lap->size() <= border_tiles || !head_meets_tail(*lap)) continue;
    auto border = mark_hard_turns(*lap);
    return {std::move(*lap), std::move(border)};
  }
}

}  // namespace iap::car_racing
