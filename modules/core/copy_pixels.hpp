#pragma once
#include <algorithm>

// Include it after `import iap.core`.
namespace iap {
extern "C++" {

/// Copies the pixels of `from` into `to`, whose shape is the same.
inline void copy_pixels(const ImageView& from, Image& to) {
  if (from.shape.type == PixelType::uint8)
    std::copy_n(from.bytes(), from.shape.count(), to.bytes().begin());
  else
    std::copy_n(from.floats(), from.shape.count(), to.floats().begin());
}

/// A copy of its own.
inline Image copy_of(const ImageView& image) {
  Image copy(image.shape);
  copy_pixels(image, copy);
  return copy;
}
}
}  // namespace iap
