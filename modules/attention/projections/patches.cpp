module;
#include <cstddef>
#include <span>
#include <string>
#include <utility>
module iap.attention;
import iap.core;

namespace iap {

PatchGrid::PatchGrid(const ImageShape& image, int size, int stride, const std::string& owner)
    : image_(image), size_(size), stride_(stride) {
  if (image.height < 1 || image.width < 1 || image.channels < 1 || image.channels > 4)
    throw Error(text(owner, ": an image of ", image.height, " x ", image.width, " x ", image.channels,
                     " has no patches; height and width must be positive and channels 1 to 4"));
  if (size < 1) throw Error(text(owner, ": patch size must be positive, got ", size));
  if (stride < 1) throw Error(text(owner, ": patch stride must be positive, got ", stride));
  if (size > image.height || size > image.width)
    throw Error(text(owner, ": no patch of ", size, " x ", size, " pixels fits into an image of ", image.height, " x ", image.width,
                     "; choose a smaller patch or a larger image"));
  rows_ = (image.height - size) / stride + 1;
  columns_ = (image.width - size) / stride + 1;
}

std::pair<float, float> PatchGrid::centre(int index) const {
  const float half = 0.5F * static_cast<float>(size_);
  return {(static_cast<float>(index / columns_ * stride_) + half) / static_cast<float>(image_.height),
          (static_cast<float>(index % columns_ * stride_) + half) / static_cast<float>(image_.width)};
}

void PatchGrid::copy(const ImageView& image, int index, float offset, std::span<float> out) const {
  const std::size_t row_values = static_cast<std::size_t>(image_.width) * image_.channels;
  const std::size_t patch_row_values = static_cast<std::size_t>(size_) * image_.channels;
  const std::size_t first =
      index / columns_ * stride_ * row_values + static_cast<std::size_t>(index % columns_) * stride_ * image_.channels;
  float* target = out.data();
  for (int row = 0; row < size_; ++row) {
    const std::size_t begin = first + row * row_values;
    for (std::size_t i = begin; i < begin + patch_row_values; ++i)
      *target++ = (image_.type == PixelType::uint8 ? static_cast<float>(image.bytes()[i]) / 255.0F : image.floats()[i]) + offset;
  }
}

}  // namespace iap
