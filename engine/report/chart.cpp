module;
#include <cairo.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>
module iap.report;
import iap.core;
import iap.render;
import :axis;

namespace iap {
namespace {

using Colour = std::array<double, 3>;
// Okabe and Ito's palette, which colour-blind readers can tell apart.
constexpr std::array<Colour, 6> palette{
    {{0, .447, .698}, {.835, .369, 0}, {0, .620, .451}, {.8, .475, .655}, {.902, .624, 0}, {.337, .706, .914}}};
constexpr double left = 76, right = 22, top = 46, bottom = 58, font = 14;

class Canvas {
 public:
  Canvas(int width, int height)
      : surface_(cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height), cairo_surface_destroy),
        cairo_(cairo_create(surface_.get()), cairo_destroy) {
    if (cairo_status(cairo_.get()) != CAIRO_STATUS_SUCCESS)
      throw Error(text("cannot make a ", width, " x ", height, " chart: ", cairo_status_to_string(cairo_status(cairo_.get()))));
    cairo_select_font_face(cairo_.get(), "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_source_rgb(cairo_.get(), 1, 1, 1);
    cairo_paint(cairo_.get());
  }
  cairo_t* get() { return cairo_.get(); }

  /// `align` 0 puts the text's left end at x, 0.5 its middle, 1 its right end; y is the middle of its height.
  void write(double x, double y, const std::string& words, double align, double size = font) {
    cairo_set_font_size(get(), size);
    cairo_text_extents_t extents;
    cairo_text_extents(get(), words.c_str(), &extents);
    cairo_move_to(get(), x - align * extents.width - extents.x_bearing, y + 0.36 * size);
    cairo_show_text(get(), words.c_str());
  }

  Image image() {
    cairo_surface_flush(surface_.get());
    const int width = cairo_image_surface_get_width(surface_.get()), height = cairo_image_surface_get_height(surface_.get());
    Image image({height, width, 3, PixelType::uint8});
    auto* out = image.bytes().data();
    for (int y = 0; y < height; ++y) {
      const auto* row =
          reinterpret_cast<const std::uint32_t*>(cairo_image_surface_get_data(surface_.get()) +
                                                 static_cast<std::ptrdiff_t>(y) * cairo_image_surface_get_stride(surface_.get()));
      for (int x = 0; x < width; ++x)
        for (const int shift : {16, 8, 0}) *out++ = static_cast<std::uint8_t>(row[x] >> shift);
    }
    return image;
  }

 private:
  std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)> surface_;
  std::unique_ptr<cairo_t, decltype(&cairo_destroy)> cairo_;
};

class Plot {
 public:
  Plot(const Chart& chart) : chart_(chart), canvas_(chart.width, chart.height) {
    for (const auto& series : chart.series)
      for (std::size_t i = 0; i < series.y.size(); ++i) {
        if (!std::isfinite(series.y[i])) continue;
        x_.include(series.x[i]);
        y_.include(series.y[i]);
        if (!series.low.empty()) y_.include(series.low[i]), y_.include(series.high[i]);
      }
    if (x_.empty()) throw Error(text("chart '", chart.title, "': there is no finite point to draw"));
    y_.include(0);
    if (chart.from_zero) {
      x_.include(0);
      x_.high += 0.05 * (x_.high - x_.low);
    }
    if (x_.low == x_.high) x_.high = x_.low + 1;
    if (y_.low == y_.high) y_.high = y_.low + 1;
    y_.high += 0.05 * (y_.high - y_.low);
  }

  Image draw() {
    draw_axes();
    std::size_t colour = 0;
    for (const auto& series : chart_.series) draw_series(series, palette[colour++ % palette.size()]);
    draw_legend();
    return canvas_.image();
  }

 private:
  double map_x(double x) const { return left + (x - x_.low) / (x_.high - x_.low) * (chart_.width - left - right); }
  double map_y(double y) const {
    return chart_.height - bottom - (y - y_.low) / (y_.high - y_.low) * (chart_.height - top - bottom);
  }

  void line(double x0, double y0, double x1, double y1, double grey) {
    cairo_set_source_rgb(canvas_.get(), grey, grey, grey);
    cairo_set_line_width(canvas_.get(), 1);
    cairo_move_to(canvas_.get(), std::floor(x0) + .5, std::floor(y0) + .5);
    cairo_line_to(canvas_.get(), std::floor(x1) + .5, std::floor(y1) + .5);
    cairo_stroke(canvas_.get());
  }

  void draw_axes() {
    const double floor = chart_.height - bottom, end = chart_.width - right;
    for (const double y : ticks(y_, 7)) {
      line(left, map_y(y), end, map_y(y), .88);
      cairo_set_source_rgb(canvas_.get(), .25, .25, .25);
      canvas_.write(left - 8, map_y(y), tick_label(y), 1);
    }
    for (const double x : ticks(x_, 10)) {
      line(map_x(x), floor, map_x(x), floor + 5, .25);
      canvas_.write(map_x(x), floor + 17, tick_label(x), .5);
    }
    line(left, floor, end, floor, .25);
    line(left, top, left, floor, .25);
    cairo_set_source_rgb(canvas_.get(), 0, 0, 0);
    canvas_.write(left, top / 2, chart_.title, 0, 17);
    canvas_.write((left + end) / 2, chart_.height - 16, chart_.x_label, .5);
    cairo_save(canvas_.get());
    cairo_translate(canvas_.get(), 16, (top + floor) / 2);
    cairo_rotate(canvas_.get(), -std::acos(-1.0) / 2);
    canvas_.write(0, 0, chart_.y_label, .5);
    cairo_restore(canvas_.get());
  }

  void draw_series(const Series& series, const Colour& colour) {
    cairo_t* cairo = canvas_.get();
    // Showing text leaves a current point behind, from which the first line would start.
    cairo_new_path(cairo);
    if (!series.low.empty()) {
      cairo_set_source_rgba(cairo, colour[0], colour[1], colour[2], .18);
      for (std::size_t i = 0; i < series.x.size(); ++i) cairo_line_to(cairo, map_x(series.x[i]), map_y(series.low[i]));
      for (std::size_t i = series.x.size(); i-- > 0;) cairo_line_to(cairo, map_x(series.x[i]), map_y(series.high[i]));
      cairo_close_path(cairo);
      cairo_fill(cairo);
    }
    cairo_set_source_rgb(cairo, colour[0], colour[1], colour[2]);
    cairo_set_line_width(cairo, 2);
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
    for (std::size_t i = 0; i < series.x.size(); ++i)
      if (std::isfinite(series.y[i])) cairo_line_to(cairo, map_x(series.x[i]), map_y(series.y[i]));
    cairo_stroke(cairo);
    for (std::size_t i = 0; series.dots && i < series.x.size(); ++i) {
      if (!std::isfinite(series.y[i])) continue;
      cairo_arc(cairo, map_x(series.x[i]), map_y(series.y[i]), 3.5, 0, 2 * std::acos(-1.0));
      cairo_fill(cairo);
    }
  }

  double legend_width() {
    double width = 0;
    cairo_set_font_size(canvas_.get(), font);
    for (const auto& series : chart_.series) {
      cairo_text_extents_t extents;
      cairo_text_extents(canvas_.get(), series.label.c_str(), &extents);
      width = std::max(width, 44 + extents.x_advance);
    }
    return width;
  }

  int points_inside(double x, double width, double height) const {
    int count = 0;
    for (const auto& series : chart_.series)
      for (std::size_t i = 0; i < series.x.size(); ++i)
        count += std::isfinite(series.y[i]) && map_x(series.x[i]) >= x && map_x(series.x[i]) <= x + width &&
                 map_y(series.y[i]) <= top + height;
    return count;
  }

  void draw_legend() {
    const double width = legend_width(), height = 12 + 20 * static_cast<double>(chart_.series.size());
    const double at_right = chart_.width - right - width - 14;
    const double x = points_inside(left, width, height) > points_inside(at_right, width, height) ? at_right : left;
    double y = top + 12;
    std::size_t index = 0;
    for (const auto& series : chart_.series) {
      const Colour& colour = palette[index++ % palette.size()];
      cairo_set_source_rgb(canvas_.get(), colour[0], colour[1], colour[2]);
      cairo_rectangle(canvas_.get(), x + 14, y - 2, 22, 4);
      cairo_fill(canvas_.get());
      cairo_set_source_rgb(canvas_.get(), 0, 0, 0);
      canvas_.write(x + 44, y, series.label, 0);
      y += 20;
    }
  }

  const Chart& chart_;
  Canvas canvas_;
  Range x_, y_;
};

}  // namespace

void write_chart(const std::filesystem::path& path, const Chart& chart) {
  const Image image = Plot(chart).draw();
  write_png(path, image.view());
}

void write_learning_curve(const std::filesystem::path& run, const std::filesystem::path& png) {
  const Metrics metrics = read_metrics(run / "metrics.csv");
  const auto iteration = metrics.column("iteration");
  Chart chart{.title = "Learning curve", .x_label = "iteration", .y_label = "return"};
  chart.series.push_back({.label = "population mean", .x = iteration, .y = metrics.column("return_mean")});
  chart.series.push_back({.label = "mean policy, evaluation", .x = iteration, .y = metrics.column("eval_mean"), .dots = true});
  write_chart(png, chart);
}

}  // namespace iap
