module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "car_shape.hpp"
#include "digits.hpp"
module iap.envs.car_racing;
import iap.core;

namespace iap::car_racing {
namespace {

constexpr double window_width = 1000, window_height = 800;
constexpr double column_scale = picture_size / window_width, row_scale = picture_size / window_height;
constexpr double road_grey = 0.4, tile_shade = 0.01;
constexpr double panel_height = 100;
constexpr double text_left = 20, text_baseline = 30;

constexpr Rgb black{}, white{255, 255, 255}, red{255, 0, 0}, green{0, 255, 0}, blue{0, 0, 255}, violet{51, 0, 255};
constexpr Rgb hull_red{204, 0, 0}, stripe_grey{77, 77, 77};
constexpr Rgb lighter_grass{102, lighter_grass_green, 102};

// Window units, origin at the lower left, to pixels, origin at the upper left.
Point to_pixels(const Point& window) { return {window[0] * column_scale, picture_size - window[1] * row_scale}; }

// Where world points appear: turned and enlarged about the car, which stays in its place in the window.
class View {
 public:
  View(const Car& car, double time) : x_(car.hull.x), y_(car.hull.y) {
    constexpr double far = 0.1 * scale, near = 2.7 * scale, moving = 0.5;
    const double zoom = far * std::max(1 - time, 0.0) + near * std::min(time, 1.0);
    const double angle = std::hypot(car.vx, car.vy) > moving ? std::atan2(car.vx, car.vy) : -car.hull.angle;
    cos_ = zoom * std::cos(angle);
    sin_ = zoom * std::sin(angle);
    reach_ = std::hypot(window_width / 2, window_height) / zoom;
  }
  Point operator()(const Point& world) const {
    const double x = world[0] - x_, y = world[1] - y_;
    return to_pixels({window_width / 2 + cos_ * x - sin_ * y, window_height / 4 + sin_ * x + cos_ * y});
  }
  // Nothing farther than this from the car, along either axis, is in the window.
  double reach() const { return reach_; }
  double x() const { return x_; }
  double y() const { return y_; }

 private:
  double x_, y_, cos_, sin_, reach_;
};

template <std::size_t n>
void fill(Canvas& canvas, const View& view, const std::array<Point, n>& world, Rgb colour) {
  std::array<Point, n> pixels;
  std::ranges::transform(world, pixels.begin(), view);
  canvas.fill(pixels, colour);
}

std::array<Point, 4> rectangle(double left, double bottom, double right, double top) {
  return {{{left, bottom}, {right, bottom}, {right, top}, {left, top}}};
}

// A rectangle in window units.
void fill_window(Canvas& canvas, double left, double bottom, double right, double top, Rgb colour) {
  auto corners = rectangle(left, bottom, right, top);
  std::ranges::transform(corners, corners.begin(), to_pixels);
  canvas.fill(corners, colour);
}

void draw_grass(Canvas& canvas, const View& view, Rgb grass) {
  constexpr double side = play_field / 20;
  constexpr int cells = 20;
  fill(canvas, view, rectangle(-play_field, -play_field, play_field, play_field), grass);
  const auto first = [&](double centre) {
    const int cell = static_cast<int>(std::floor((centre - view.reach()) / side));
    return std::max(-cells, cell - (cell & 1));
  };
  const auto end = [&](double centre) { return std::min(cells, static_cast<int>(std::ceil((centre + view.reach()) / side))); };
  for (int i = first(view.x()); i < end(view.x()); i += 2)
    for (int j = first(view.y()); j < end(view.y()); j += 2)
      fill(canvas, view, rectangle(side * i, side * j, side * (i + 1), side * (j + 1)), lighter_grass);
}

// Points of a body in car units, seen by the view.
class BodyView {
 public:
  BodyView(const View& view, const Pose& pose) : view_(view), pose_(pose), cos_(std::cos(pose.angle)), sin_(std::sin(pose.angle)) {}
  Point operator()(const Point& body) const {
    const double x = car_size * body[0], y = car_size * body[1];
    return view_({pose_.x + cos_ * x - sin_ * y, pose_.y + sin_ * x + cos_ * y});
  }

 private:
  const View& view_;
  const Pose& pose_;
  double cos_, sin_;
};

// The stripe is the part of the tread between two angles that faces up; where one of them faces down it ends at the edge.
void draw_wheel(Canvas& canvas, const View& view, const Wheel& wheel) {
  constexpr double stripe_angle = 1.2;
  const BodyView body(view, wheel.pose);
  const auto band = [&](double from, double to, Rgb colour) {
    auto corners = rectangle(-wheel_half_width, wheel_radius * from, wheel_half_width, wheel_radius * to);
    std::ranges::transform(corners, corners.begin(), body);
    canvas.fill(corners, colour);
  };
  band(-1, 1, black);
  const double begin = wheel.phase, end = wheel.phase + stripe_angle;
  const bool begin_hidden = std::sin(begin) > 0, end_hidden = std::sin(end) > 0;
  if (begin_hidden && end_hidden) return;
  const auto edge = [](double cosine, bool hidden) { return hidden ? std::copysign(1.0, cosine) : cosine; };
  band(edge(std::cos(begin), begin_hidden), edge(std::cos(end), end_hidden), stripe_grey);
}

void draw_car(Canvas& canvas, const View& view, const Car& car, bool blob) {
  for (const Wheel& wheel : car.wheels) draw_wheel(canvas, view, wheel);
  const BodyView hull(view, car.hull);
  for (const auto& part : hull_parts) {
    std::array<Point, 8> corners;
    for (std::size_t i = 0; i < part.count; ++i) corners[i] = hull(part.corners[i]);
    canvas.fill(std::span(corners).first(part.count), hull_red);
  }
  if (!blob) return;
  constexpr double left = 21, bottom = 7.6, side = 8;
  auto corners = rectangle(left / car_size, bottom / car_size, (left + side) / car_size, (bottom + side) / car_size);
  std::ranges::transform(corners, corners.begin(), hull);
  canvas.fill(corners, hull_red);
}

void draw_panel(Canvas& canvas, const Car& car, bool bars) {
  constexpr double unit = window_width / 40, line = window_height / 40;
  const auto upright = [&](int place, double value, Rgb colour) {
    fill_window(canvas, place * unit, line, (place + 1) * unit, line + line * value, colour);
  };
  const auto lying = [&](int place, double value, Rgb colour) {
    fill_window(canvas, place * unit, 2 * line, (place + value) * unit, 4 * line, colour);
  };
  if (bars) {
    constexpr double width = 75;
    fill_window(canvas, 0, panel_height, width, window_height, black);
    fill_window(canvas, window_width - width, panel_height, window_width, window_height, black);
  }
  fill_window(canvas, 0, 0, window_width, panel_height, black);
  upright(5, 0.02 * std::hypot(car.vx, car.vy), white);
  for (int wheel = 0; wheel < 4; ++wheel) upright(7 + wheel, 0.01 * car.wheels[wheel].omega, wheel < 2 ? blue : violet);
  lying(20, -10 * car.wheels[0].steering, green);
  lying(30, -0.8 * car.yaw_rate, red);
}

void draw_glyph(Canvas& canvas, const Glyph& glyph, double left) {
  for (int row = 0; row < picture_size; ++row) {
    const double down = text_baseline + glyph_rows - (picture_size - row - 0.5) / row_scale;
    if (down < 0 || down >= glyph_rows) continue;
    for (int column = 0; column < picture_size; ++column) {
      const double across = (column + 0.5) / column_scale - left;
      if (across >= 0 && across < 32 && glyph[static_cast<std::size_t>(down)] >> static_cast<int>(across) & 1)
        canvas.set(row, column, white);
    }
  }
}

void draw_score(Canvas& canvas, double score) {
  double left = text_left;
  for (const char character : zero_padded(static_cast<int>(score), 4)) {
    const bool minus = character == '-';
    draw_glyph(canvas, glyphs[minus ? minus_glyph : static_cast<std::size_t>(character - '0')], left);
    left += minus ? minus_advance : digit_advance;
  }
}

}  // namespace

Painter::Painter() : canvas_(picture_size, picture_size) {}

void Painter::begin(const Track& track, const Scenery& scenery) {
  scenery_ = scenery;
  constexpr double other = 0.4, green_of_grass = 0.8;
  grass_ = to_rgb(other + scenery.grass_shade, green_of_grass + scenery.grass_shade, other + scenery.grass_shade);
  const double grey_of_road = road_grey + scenery.road_shade;
  touched_ = to_rgb(grey_of_road, grey_of_road, grey_of_road);
  marks_.clear();
  for (std::size_t i = 0; i < track.size(); ++i) {
    const double grey = grey_of_road + tile_shade * static_cast<double>(i % 3);
    marks_.push_back({i, track.tile(i), to_rgb(grey, grey, grey), false});
    if (track.border[i]) marks_.push_back({i, track.border_mark(i), i % 2 ? red : white, true});
  }
}

void Painter::draw(const World& world, double time, double score, std::span<std::uint8_t> rgb) {
  const View view(world.car(), time);
  canvas_.clear(black);
  draw_grass(canvas_, view, grass_);
  const double far = view.reach() + 2 * (road_half_width + border_width) + track_step;
  for (const Mark& mark : marks_) {
    const auto& [x, y] = mark.corners[0];
    if (std::abs(x - view.x()) > far || std::abs(y - view.y()) > far) continue;
    fill(canvas_, view, mark.corners, !mark.is_border && world.touched()[mark.tile] ? touched_ : mark.colour);
  }
  draw_car(canvas_, view, world.car(), scenery_.blob);
  draw_panel(canvas_, world.car(), scenery_.bars);
  draw_score(canvas_, score);
  canvas_.copy_to(rgb);
}

}  // namespace iap::car_racing
