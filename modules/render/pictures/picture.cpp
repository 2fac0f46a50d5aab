module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>
module iap.render;
import iap.core;

namespace iap {
Image enlarge(const ImageView& image, int factor) {
  const ImageShape& shape = image.shape;
  if (factor < 1) throw Error(text("cannot enlarge an image ", factor, " times; use at least 1"));
  if (shape.type != PixelType::uint8) throw Error(text("can only enlarge 8-bit images, got ", describe(shape)));
  Image result({shape.height * factor, shape.width * factor, shape.channels, PixelType::uint8});
  const std::size_t channels = shape.channels, row = channels * shape.width * factor;
  for (int y = 0; y < shape.height; ++y) {
    std::uint8_t* to = result.bytes().data() + row * y * factor;
    for (int x = 0; x < shape.width * factor; ++x)
      std::memcpy(to + channels * x, image.bytes() + channels * (static_cast<std::size_t>(y) * shape.width + x / factor), channels);
    for (int copy = 1; copy < factor; ++copy) std::memcpy(to + row * copy, to, row);
  }
  return result;
}

Image side_by_side(std::span<const Image> images, int gap) {
  if (images.empty()) throw Error("there is no image to put beside another");
  if (gap < 0) throw Error(text("images cannot stand ", gap, " pixels apart"));
  const ImageShape first = images[0].shape();
  std::int64_t whole = std::int64_t{gap} * (static_cast<std::int64_t>(images.size()) - 1);
  for (const Image& image : images) {
    const ImageShape& shape = image.shape();
    if (shape.type != PixelType::uint8 || shape.height != first.height || shape.channels != first.channels)
      throw Error(text("images side by side must be 8-bit and alike in height and channels, got ", describe(first), " and ",
                       describe(shape)));
    whole += shape.width;
  }
  constexpr int most = std::numeric_limits<int>::max();
  if (whole > most)
    throw Error(text("images side by side would be ", whole, " pixels wide, and ", most, " are the most; join fewer"));
  const int width = static_cast<int>(whole);
  Image result({first.height, width, first.channels, PixelType::uint8});
  std::ranges::fill(result.bytes(), std::uint8_t{255});
  std::size_t left = 0;
  const std::size_t channels = first.channels;
  for (const Image& image : images) {
    const std::size_t count = channels * image.shape().width;
    for (int y = 0; y < first.height; ++y)
      std::memcpy(result.bytes().data() + channels * width * y + left, image.bytes().data() + count * y, count);
    left += count + channels * gap;
  }
  return result;
}

}  // namespace iap
