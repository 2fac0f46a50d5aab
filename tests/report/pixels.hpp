#pragma once
// Included after `import iap.core; import iap.render;` and "../core/temporary_folder.hpp".
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

inline const std::uint8_t* pixel(const iap::Image& image, int y, int x) {
  return image.bytes().data() + 3 * (static_cast<std::size_t>(y) * image.shape().width + x);
}

/// What bounds some pixels.
struct Box {
  int left = std::numeric_limits<int>::max(), right = -1, top = std::numeric_limits<int>::max(), bottom = -1;
};

/// Whether rows [top, bottom) and columns [left, right) hold nothing but white.
inline bool blank(const iap::Image& image, int top, int bottom, int left, int right) {
  for (int y = top; y < bottom; ++y)
    for (int x = left; x < right; ++x)
      if (*pixel(image, y, x) < 250 || pixel(image, y, x)[1] < 250 || pixel(image, y, x)[2] < 250) return false;
  return true;
}

/// Nothing is cut off at an edge where the outermost pixels are white.
inline bool has_white_edges(const iap::Image& image) {
  const int height = image.shape().height, width = image.shape().width;
  return blank(image, 0, 1, 0, width) && blank(image, height - 1, height, 0, width) && blank(image, 0, height, 0, 1) &&
         blank(image, 0, height, width - 1, width);
}

template <typename Figure, typename Write>
iap::Image drawn_by(const Write& write, const Figure& figure) {
  const TemporaryFolder folder;
  write(folder.path() / "figure.png", figure);
  return iap::read_png(folder.path() / "figure.png");
}
