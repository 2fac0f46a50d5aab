module;
#include <cairo.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>
module iap.report;
import iap.core;
import iap.render;
import :strip_captions;
#include "report/charts/canvas.hpp"

namespace iap {
namespace {

std::string pair_of(const StripCaption& caption) { return caption.time + ", " + caption.earned; }

/// The scale of a heat map between words for its ends, in the middle of the canvas.
void draw_colours(Canvas& canvas, double y, double size, int width, const std::string& low) {
  const std::string high = "highest";
  const double bar = std::min(12 * size, 0.3 * width), words = canvas.width_of(low, size) + canvas.width_of(high, size) + size;
  const double shrink = std::min(1.0, width / (bar + words + size));
  const double left = (width - shrink * (bar + words)) / 2 + shrink * (canvas.width_of(low, size) + size / 2);
  canvas.write(left - size / 2 * shrink, y, low, 1, size * shrink);
  canvas.write(left + shrink * (bar + size / 2), y, high, 0, size * shrink);
  canvas.colour_bar(left, y - 0.4 * size, shrink * bar, 0.8 * size);
}

std::string time_text(const StripMoment& moment, double step_seconds, int digits) {
  return step_seconds > 0 ? fixed_text(moment.steps * step_seconds, digits) + " s" : text("step ", moment.steps);
}

std::string earned_text(double total) {
  const int digits = std::abs(total) < 99.95 ? 1 : 0;
  return "return " + fixed_text(std::abs(total) < 0.05 ? 0 : total, digits);
}

}  // namespace

std::vector<StripCaption> strip_captions(std::span<const StripMoment> moments, double step_seconds) {
  constexpr int most_digits = 9;
  std::vector<StripCaption> captions;
  for (int digits = 1; digits <= most_digits; ++digits) {
    captions.clear();
    for (const auto& moment : moments) captions.push_back({time_text(moment, step_seconds, digits), earned_text(moment.total)});
    if (std::ranges::adjacent_find(captions, {}, &StripCaption::time) == captions.end()) break;
  }
  return captions;
}

Image with_captions(const Image& strip, int width, int gap, std::span<const StripCaption> captions, const std::string& lowest) {
  // On a page 16 cm wide, 1.6% of the width are letters of 7 points.
  constexpr double share = 0.016, least = 12, line = 1.45, most = 0.25;
  const ImageShape shape = strip.shape();
  // However many pictures there are, and however narrow, letters and the room between captions follow a picture's own width.
  double size = std::min(std::max(least, share * shape.width), most * width);
  Canvas probe(1, 1);
  double widest = 0, widest_pair = 0;
  for (const auto& caption : captions) {
    widest = std::max({widest, probe.width_of(caption.time, size), probe.width_of(caption.earned, size)});
    widest_pair = std::max(widest_pair, probe.width_of(pair_of(caption), size));
  }
  // Captions of neighbours keep apart.
  const double room = width - size;
  const bool two_lines = widest_pair > room;
  size *= std::min(1.0, room / (two_lines ? widest : widest_pair));
  const int lines = (two_lines ? 2 : 1) + (lowest.empty() ? 0 : 1),
            height = static_cast<int>(std::ceil((lines * line + 0.25) * size));
  Canvas canvas(shape.width, height);
  canvas.colour({.1, .1, .1});
  for (std::size_t i = 0; i < captions.size(); ++i) {
    const double middle = static_cast<double>(i) * (width + gap) + 0.5 * width, y = 0.85 * size;
    canvas.write(middle, y, two_lines ? captions[i].time : pair_of(captions[i]), 0.5, size);
    if (two_lines) canvas.write(middle, y + line * size, captions[i].earned, 0.5, size);
  }
  if (!lowest.empty()) draw_colours(canvas, height - 0.85 * size, size, shape.width, lowest);
  Image whole({shape.height + height, shape.width, 3, PixelType::uint8});
  const Image words = canvas.image();
  std::ranges::copy(words.bytes(), std::ranges::copy(strip.bytes(), whole.bytes().begin()).out);
  return whole;
}

}  // namespace iap
