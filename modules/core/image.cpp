module;
#include <string>
module iap.core;

namespace iap {

std::string describe(const ImageShape& shape) {
  return text(shape.height, " x ", shape.width, " x ", shape.channels, shape.type == PixelType::uint8 ? " uint8" : " float32");
}

}  // namespace iap
