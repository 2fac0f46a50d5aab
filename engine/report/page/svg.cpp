module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.report;
import iap.core;
import :axis;
import :histogram;
import :html;
#include "../charts/letters.hpp"
#include "colour_class.hpp"

namespace iap {
namespace {

std::string coordinate(double value) { return fixed_text(value, 1); }

/// The plot area of a drawing and the maps onto it.
class Plot {
 public:
  Plot(const Frame& frame, Axis x, Axis y) : frame_(frame), x_(std::move(x)), y_(std::move(y)) {
    constexpr int tick = 8, letter = 7;  // hardly any letter of 12 pixels is wider
    for (const auto& label : y_.labels) left = std::max(left, tick + letter * static_cast<int>(letters(label)));
    svg_ = text("<svg viewBox=\"0 0 ", frame.width, " ", frame.height, "\" role=\"img\" aria-label=\"", escaped(frame.description),
                "\">\n");
    for (std::size_t i = 0; i < y_.ticks.size(); ++i)
      add(text("<path class=\"grid\" d=\"M", left, " ", this->y(y_.ticks[i]), "H", frame.width - right, "\"/><text x=\"", left - 8,
               "\" y=\"", coordinate(y_at(y_.ticks[i]) + 4), "\" text-anchor=\"end\">", y_.labels[i], "</text>\n"));
  }

  std::string x(double value) const { return coordinate(x_at(value)); }
  std::string y(double value) const { return coordinate(y_at(value)); }
  double floor_at() const { return frame_.height - bottom; }
  double x_at(double value) const { return left + x_.share(value) * (frame_.width - left - right); }
  double y_at(double value) const { return frame_.height - bottom - y_.share(value) * (frame_.height - top - bottom); }

  void add(std::string_view element) { svg_ += element; }

  /// From the floor to the ceiling, where `value` has a place.
  void add_mark(double value) {
    if (const double share = x_.share(value); share >= 0 && share <= 1)
      add(text("<path class=\"mark\" d=\"M", x(value), " ", top, "V", coordinate(floor_at()), "\"/>\n"));
  }

  /// Above what was added.
  void add_x_axis() {
    add(text("<path class=\"axis\" d=\"M", left, " ", coordinate(floor_at()), "H", frame_.width - right, "\"/>\n"));
    for (std::size_t i = 0; i < x_.ticks.size(); ++i)
      add(text("<text x=\"", x(x_.ticks[i]), "\" y=\"", coordinate(floor_at() + 18), "\" text-anchor=\"middle\">", x_.labels[i],
               "</text>\n"));
    add(text("<text class=\"label\" x=\"", frame_.width - right, "\" y=\"", frame_.height - 4, "\" text-anchor=\"end\">",
             escaped(frame_.x_label), "</text>\n<text class=\"label\" x=\"0\" y=\"12\">", escaped(frame_.y_label), "</text>\n"));
  }

  std::string finish() { return std::move(svg_) + "</svg>\n"; }

 private:
  static constexpr int right = 14, top = 26, bottom = 42;
  int left = 54;
  const Frame& frame_;
  Axis x_, y_;
  std::string svg_;
};

constexpr int pixels_per_x = 75, pixels_per_y = 50;

bool is_there(const Curve& curve, std::size_t i) { return std::isfinite(curve.x[i]) && std::isfinite(curve.y[i]); }

/// `curve` with as many points as can be told apart: of those that share half a pixel's column, the first, the last and the
/// extremes, which cover the same pixels as all of them. The curves of a long run would make a page that no browser opens.
Curve thinned(const Plot& plot, const Curve& curve) {
  constexpr double columns_per_pixel = 2;
  constexpr int most_pieces = 8;
  std::vector<std::size_t> kept, column;
  const auto keep_column = [&] {
    const auto first = static_cast<std::ptrdiff_t>(kept.size());
    if (column.empty()) return;
    kept.insert(kept.end(), {column.front(), column.back()});
    for (const auto* values : {&curve.y, &curve.low, &curve.high}) {
      if (values->empty()) continue;
      std::size_t least = column.front(), most = least;
      for (const std::size_t i : column) {
        if (!((*values)[i] >= (*values)[least])) least = std::isfinite((*values)[i]) ? i : least;
        if (!((*values)[i] <= (*values)[most])) most = std::isfinite((*values)[i]) ? i : most;
      }
      kept.insert(kept.end(), {least, most});
    }
    std::ranges::sort(kept.begin() + first, kept.end());
    kept.erase(std::unique(kept.begin() + first, kept.end()), kept.end());
    column.clear();
  };
  double at = 0;
  bool gap = false;
  int pieces = 0;  // of the column that gaps part
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    if (!is_there(curve, i)) {
      gap = true;
      continue;
    }
    const double here = std::floor(plot.x_at(curve.x[i]) * columns_per_pixel);
    pieces = here == at ? pieces + gap : 0;
    if (here != at || column.empty() || (gap && pieces <= most_pieces)) {
      keep_column();
      if (gap && i > 0) kept.push_back(i - 1);
    }
    at = here;
    gap = false;
    column.push_back(i);
  }
  keep_column();
  Curve fewer = curve;
  for (auto* values : {&fewer.x, &fewer.y, &fewer.low, &fewer.high}) {
    if (values->empty()) continue;
    const std::vector<double> all = std::move(*values);
    values->clear();
    for (const std::size_t i : kept) values->push_back(all[i]);
  }
  return fewer;
}

std::string band(const Plot& plot, const Curve& curve) {
  std::string path;
  std::vector<std::string> back;
  const auto close = [&] {
    for (const std::string& point : back | std::views::reverse) path += point;
    if (!back.empty()) path += "Z";
    back.clear();
  };
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    if (!std::isfinite(curve.x[i]) || !std::isfinite(curve.low[i]) || !std::isfinite(curve.high[i])) {
      close();
      continue;
    }
    path += text(back.empty() ? "M" : "L", plot.x(curve.x[i]), " ", plot.y(curve.high[i]));
    back.push_back(text("L", plot.x(curve.x[i]), " ", plot.y(curve.low[i])));
  }
  close();
  return path.empty() ? "" : text("<path class=\"band ", colour_class(curve.colour), "\" d=\"", path, "\"/>\n");
}

std::string line(const Plot& plot, const Curve& curve) {
  std::string path, dots;
  bool before = false;
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    if (!is_there(curve, i)) {
      before = false;
      continue;
    }
    const std::string x = plot.x(curve.x[i]), y = plot.y(curve.y[i]);
    path += text(before ? "L" : "M", x, " ", y);
    // No line leads from a point between gaps to another.
    const bool alone = !before && (i + 1 == curve.x.size() || !is_there(curve, i + 1));
    before = true;
    if (curve.dots || alone)
      dots += text("<circle class=\"dot ", colour_class(curve.colour), "\" cx=\"", x, "\" cy=\"", y, "\" r=\"3\"><title>",
                   escaped(curve.label), ": ", figure(curve.y[i]), " at ", figure(curve.x[i]), "</title></circle>\n");
  }
  return text("<path class=\"line ", colour_class(curve.colour), curve.thin ? " thin" : "", "\" d=\"", path, "\"><title>",
              escaped(curve.label), "</title></path>\n", dots);
}

}  // namespace

std::string svg_curves(const std::vector<Curve>& curves, const Frame& frame) {
  Range x, y;
  for (const Curve& curve : curves)
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
      if (!is_there(curve, i)) continue;
      x.include(curve.x[i]);
      y.include(curve.y[i]);
      if (!curve.low.empty()) y.include(curve.low[i]), y.include(curve.high[i]);
    }
  if (x.empty()) throw Error(text("chart '", frame.description, "': there is no finite point to draw"));
  y.include(0);
  x = widened(x);
  Axis across{.range = x, .ticks = ticks(x, frame.width / pixels_per_x, true)};
  across.labels = tick_labels(across.ticks);
  Plot plot(frame, std::move(across), linear_axis(y, frame.height / pixels_per_y));
  for (const double mark : frame.marks) plot.add_mark(mark);
  std::vector<Curve> shown;
  for (const Curve& curve : curves) shown.push_back(thinned(plot, curve));
  for (const Curve& curve : shown)
    if (!curve.low.empty()) plot.add(band(plot, curve));
  for (const Curve& curve : shown) plot.add(line(plot, curve));
  plot.add_x_axis();
  return plot.finish();
}

std::string svg_histogram(const ScoreHistogram& histogram, const Frame& frame) {
  if (histogram.bars.empty()) throw Error(text("chart '", frame.description, "': there is no bar to draw"));
  const HistogramAxes axes = histogram_axes(histogram, frame.width / pixels_per_x);
  Plot plot(frame, axes.scores, axes.counts);
  const double left = plot.x_at(axes.scores.range.low), width = plot.x_at(axes.scores.range.high) - left;
  for (const auto& piece : histogram_pieces(histogram, axes.scores, width)) {
    const double top = plot.y_at(piece.bar.count);
    plot.add(text("<rect class=\"bar", piece.colour < 0 ? std::string() : text(" c", piece.colour), "\" x=\"",
                  coordinate(left + piece.left), "\" y=\"", coordinate(top), "\" width=\"", coordinate(piece.right - piece.left),
                  "\" height=\"", coordinate(plot.floor_at() - top), "\"><title>", figures_between(piece.bar.low, piece.bar.high),
                  ": ", figure(piece.bar.count), piece.bar.count == 1 ? " patch" : " patches", "</title></rect>\n"));
  }
  plot.add_x_axis();
  return plot.finish();
}

}  // namespace iap
