// A policy that knows the ground: include after the imports, with <algorithm>, <array>, <cmath>, <cstdint>, <limits> and <vector>.
#pragma once

/// How high the ground of boxes that stand upright is at (x, y).
inline double ground_at(const iap::Terrain& terrain, double x, double y) {
  double top = -std::numeric_limits<double>::infinity();
  for (const auto& box : terrain.boxes) {
    const auto& place = box.placement;
    const double dx = x - place.position[0], dy = y - place.position[1];
    const double along = place.rotation[0] * dx + place.rotation[3] * dy, across = place.rotation[1] * dx + place.rotation[4] * dy;
    if (std::abs(along) <= box.half[0] && std::abs(across) <= box.half[1]) top = std::max(top, place.position[2] + box.half[2]);
  }
  return top;
}

/// Sends each toe to the nearest place from where it would land that is level around it and not the floor below, and stays with
/// that place while the leg swings; leans as the ground under the chosen places does, and keeps to the line y = 0.
class FootholdChooser {
 public:
  /// `margin`: how far from an edge a toe lands at least, m; `clearance`, in [-1, 1], of all toes.
  FootholdChooser(double margin, float clearance, double ahead = 0)
      : margin_(margin), ahead_(std::max(margin, ahead)), clearance_(clearance) {}

  void operator()(const iap::FootholdEnv& env, std::vector<float>& action) {
    const auto& axes = env.world().base_rotation();
    const auto& position = env.world().state().position;
    const auto& ranges = env.ranges();
    const double yaw = std::atan2(axes[3], axes[0]), cosine = std::cos(yaw), sine = std::sin(yaw);
    for (int leg = 0; leg < 4; ++leg) {
      const auto& landing = env.locomotion().landings()[leg];
      auto& place = places_[leg];
      const bool swings = env.locomotion().until_lift(leg) <= 0;
      if (!(swings && swung_[leg])) place = nearest(env, landing, cosine, sine);
      swung_[leg] = swings;
      const double dx = place[0] - landing[0], dy = place[1] - landing[1];
      set(action[3 * leg], cosine * dx + sine * dy, ranges.toe[0]);
      set(action[3 * leg + 1], -sine * dx + cosine * dy, ranges.toe[1]);
      set(action[3 * leg + 2], place[2] - landing[2], ranges.toe[2]);
      action[12 + leg] = clearance_;
    }
    constexpr double wheelbase = .437, follow = .15, steer = 1;
    const double slope = (places_[0][2] + places_[1][2] - places_[2][2] - places_[3][2]) / 2 / wheelbase;
    pitch_ += follow * (-std::atan(slope) - pitch_);
    set(action[17], -steer * position[1], ranges.velocity);
    set(action[18], -steer * yaw, ranges.twist);
    set(action[21], pitch_, ranges.pitch);
  }

 private:
  using Point = std::array<double, 3>;
  static constexpr double radius = .03, step = .01;

  static void set(float& value, double wanted, double range) {
    value = range > 0 ? static_cast<float>(std::clamp(wanted / range, -1., 1.)) : 0;
  }

  Point nearest(const iap::FootholdEnv& env, const Point& landing, double cosine, double sine) const {
    const auto& terrain = env.world().terrain();
    const auto& reach = env.ranges().toe;
    const int rows = static_cast<int>(reach[0] / step), columns = static_cast<int>(reach[1] / step);
    double least = std::numeric_limits<double>::infinity();
    Point best = landing;
    for (int row = -rows; row <= rows; ++row)
      for (int column = -columns; column <= columns; ++column) {
        const double x = step * row, y = step * column, distance = x * x + y * y;
        if (distance >= least) continue;
        const Point at{landing[0] + cosine * x - sine * y, landing[1] + sine * x + cosine * y, 0};
        if (!level(terrain, at)) continue;
        least = distance;
        best = {at[0], at[1], ground_at(terrain, at[0], at[1]) + radius};
      }
    return best;
  }

  bool level(const iap::Terrain& terrain, const Point& at) const {
    const double top = ground_at(terrain, at[0], at[1]);
    if (top < -.2) return false;
    for (const double dx : {-margin_, ahead_})
      for (const double dy : {-margin_, margin_})
        if (std::abs(ground_at(terrain, at[0] + dx, at[1] + dy) - top) > 1e-6) return false;
    return true;
  }

  double margin_, ahead_, pitch_ = 0;
  float clearance_;
  std::array<Point, 4> places_{};
  std::array<bool, 4> swung_{};
};
