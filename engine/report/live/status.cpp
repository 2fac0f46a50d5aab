module;
#include <cairo.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>
module iap.report;
import iap.core;
import iap.render;
import :status;
#include "report/charts/canvas.hpp"

namespace iap {
namespace {

constexpr int line_height = 20, padding = 8, frame = 4;
constexpr double letters = 13;
constexpr std::array<std::uint8_t, 3> red{200, 30, 30};

/// The largest size of letters, up to the usual one, in which `words` are no wider than `room`.
double size_for(Canvas& canvas, const std::string& words, double room) {
  const double width = canvas.width_of(words, letters);
  return width <= room ? letters : letters * room / width;
}

void draw_frame(Image& image, int height) {
  const int width = image.shape().width;
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; ++column)
      if (row < frame || row >= height - frame || column < frame || column >= width - frame)
        std::ranges::copy(red, image.bytes().begin() + 3 * (static_cast<std::ptrdiff_t>(row) * width + column));
}

}  // namespace

int status_height() { return 2 * line_height + padding; }

Image with_status(const Image& picture, const LiveStatus& status) {
  const int width = picture.shape().width, height = picture.shape().height, bar = status_height();
  Canvas canvas(width, bar);
  if (status.steered)
    canvas.colour({red[0] / 255.0, red[1] / 255.0, red[2] / 255.0});
  else
    canvas.colour({.13, .13, .13});
  canvas.rectangle(0, 0, width, bar);
  const double room = width - 2 * padding, first = padding / 2.0 + line_height / 2.0;
  canvas.colour({1, 1, 1});
  const double size = size_for(canvas, status.left + "   " + status.right, room);
  canvas.write(padding, first, status.left, 0, size);
  canvas.write(width - padding, first, status.right, 1, size);
  if (!status.steered) canvas.colour({.75, .75, .75});
  canvas.write(padding, first + line_height, status.below, 0, size_for(canvas, status.below, room));
  Image whole({height + bar, width, 3, PixelType::uint8});
  const Image words = canvas.image();
  std::ranges::copy(words.bytes(), std::ranges::copy(picture.bytes(), whole.bytes().begin()).out);
  if (status.steered) draw_frame(whole, height);
  return whole;
}

}  // namespace iap
