module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>
module iap.report;
import iap.core;
import :axis;
import :html;

namespace iap {
namespace {

std::string coordinate(double value) { return fixed_text(value, 1); }

/// The plot area of a drawing and the maps onto it.
class Plot {
 public:
  Plot(const Frame& frame, Range x, Range y) : frame_(frame), x_(x), y_(y) {
    svg_ = text("<svg viewBox=\"0 0 ", frame.width, " ", frame.height, "\" role=\"img\" aria-label=\"", escaped(frame.description),
                "\">\n");
  }

  std::string x(double value) const { return coordinate(x_at(value)); }
  std::string y(double value) const { return coordinate(y_at(value)); }
  std::string floor() const { return coordinate(frame_.height - bottom); }
  double floor_at() const { return frame_.height - bottom; }
  double x_at(double value) const { return left + (value - x_.low) / (x_.high - x_.low) * (frame_.width - left - right); }
  double y_at(double value) const {
    return frame_.height - bottom - (value - y_.low) / (y_.high - y_.low) * (frame_.height - top - bottom);
  }

  void add(std::string_view element) { svg_ += element; }

  void x_axis() {
    add(text("<path class=\"axis\" d=\"M", left, " ", floor(), "H", frame_.width - right, "\"/>\n"));
    for (const double value : ticks(x_, frame_.width / 75))
      add(text("<text x=\"", x(value), "\" y=\"", coordinate(floor_at() + 18), "\" text-anchor=\"middle\">", tick_label(value),
               "</text>\n"));
    add(text("<text class=\"label\" x=\"", frame_.width - right, "\" y=\"", frame_.height - 4, "\" text-anchor=\"end\">",
             escaped(frame_.x_label), "</text>\n<text class=\"label\" x=\"0\" y=\"12\">", escaped(frame_.y_label), "</text>\n"));
  }

  void y_line(double value, const std::string& label) {
    add(text("<path class=\"grid\" d=\"M", left, " ", y(value), "H", frame_.width - right, "\"/><text x=\"", left - 8, "\" y=\"",
             coordinate(y_at(value) + 4), "\" text-anchor=\"end\">", label, "</text>\n"));
  }

  std::string finish() { return std::move(svg_) + "</svg>\n"; }

 private:
  static constexpr int left = 54, right = 14, top = 26, bottom = 42;
  const Frame& frame_;
  Range x_, y_;
  std::string svg_;
};

std::string band(const Plot& plot, const Curve& curve) {
  std::string there, back;
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    if (!std::isfinite(curve.low[i]) || !std::isfinite(curve.high[i])) continue;
    there += text(there.empty() ? "M" : "L", plot.x(curve.x[i]), " ", plot.y(curve.high[i]));
    back = text("L", plot.x(curve.x[i]), " ", plot.y(curve.low[i])) + back;
  }
  if (there.empty()) return "";
  return text("<path class=\"band c", curve.colour, "\" d=\"", there, back, "Z\"/>\n");
}

std::string line(const Plot& plot, const Curve& curve) {
  std::string path, dots;
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    if (!std::isfinite(curve.y[i])) continue;
    const std::string x = plot.x(curve.x[i]), y = plot.y(curve.y[i]);
    path += text(path.empty() ? "M" : "L", x, " ", y);
    if (curve.dots)
      dots += text("<circle class=\"dot c", curve.colour, "\" cx=\"", x, "\" cy=\"", y, "\" r=\"3\"><title>", escaped(curve.label),
                   ": ", figure(curve.y[i]), " at ", figure(curve.x[i]), "</title></circle>\n");
  }
  return text("<path class=\"line c", curve.colour, curve.thin ? " thin" : "", "\" d=\"", path, "\"><title>", escaped(curve.label),
              "</title></path>\n", dots);
}

}  // namespace

std::string svg_curves(const std::vector<Curve>& curves, const Frame& frame) {
  Range x, y;
  for (const Curve& curve : curves)
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
      if (!std::isfinite(curve.y[i])) continue;
      x.include(curve.x[i]);
      y.include(curve.y[i]);
      if (!curve.low.empty()) y.include(curve.low[i]), y.include(curve.high[i]);
    }
  if (x.empty()) throw Error(text("chart '", frame.description, "': there is no finite point to draw"));
  y.include(0);
  if (x.low == x.high) x.high = x.low + 1;
  if (y.low == y.high) y.high = y.low + 1;
  y.high += 0.04 * (y.high - y.low);
  Plot plot(frame, x, y);
  for (const double value : ticks(y, frame.height / 60)) plot.y_line(value, tick_label(value));
  plot.x_axis();
  for (const Curve& curve : curves)
    if (!curve.low.empty()) plot.add(band(plot, curve));
  for (const Curve& curve : curves) plot.add(line(plot, curve));
  return plot.finish();
}

std::string svg_histogram(const std::vector<ScoreBar>& bars, const Frame& frame) {
  Range x;
  double least = 1;
  for (const ScoreBar& bar : bars) {
    x.include(bar.low);
    x.include(bar.high);
    if (bar.share > 0) least = std::min(least, bar.share);
  }
  if (x.empty()) throw Error(text("chart '", frame.description, "': there is no bar to draw"));
  const Range decades{std::floor(std::log10(least) - 1e-9), 0};
  Plot plot(frame, x, decades);
  const int every = std::max(1, static_cast<int>(-decades.low) * 50 / frame.height);
  for (int decade = 0; decade >= decades.low; decade -= every) plot.y_line(decade, share_label(decade));
  for (const ScoreBar& bar : bars) {
    if (bar.share <= 0) continue;
    const double top = plot.y_at(std::log10(bar.share)), width = std::max(0.5, plot.x_at(bar.high) - plot.x_at(bar.low) - 1);
    plot.add(text("<rect class=\"bar", bar.colour < 0 ? std::string() : text(" c", bar.colour), "\" x=\"",
                  coordinate(plot.x_at(bar.low) + 0.5), "\" y=\"", coordinate(top), "\" width=\"", coordinate(width),
                  "\" height=\"", coordinate(plot.floor_at() - top), "\"><title>", figure(bar.low), " to ", figure(bar.high), ": ",
                  figure(100 * bar.share), "%</title></rect>\n"));
  }
  plot.x_axis();
  return plot.finish();
}

}  // namespace iap
