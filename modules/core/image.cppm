module;
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>
export module iap.core:image;

export namespace iap {

/// The most that an environment may show or take: rows or columns of an image, and values of a vector or an action.
inline constexpr int largest_side = 1 << 14, largest_vector = 1 << 24;
/// Rows or columns of an image that a policy may see, as a host's camera may have more of them.
inline constexpr int largest_seen_side = 1 << 15;

enum class PixelType : std::uint8_t { uint8, float32 };

/// Size and pixel format of an image; `channels` is 1 (depth or grey), 3 (RGB) or 4 (RGB-D).
struct ImageShape {
  int height = 0, width = 0, channels = 0;
  PixelType type = PixelType::uint8;

  std::size_t count() const { return static_cast<std::size_t>(height) * width * channels; }
  /// Of one value, and of all of them.
  std::size_t value_bytes() const { return type == PixelType::uint8 ? sizeof(std::uint8_t) : sizeof(float); }
  std::size_t bytes() const { return count() * value_bytes(); }
  bool operator==(const ImageShape&) const = default;
};

/// The shape in words: "240 x 320 x 3 uint8".
std::string describe(const ImageShape& shape);

/// A borrowed image, height x width x channels, rows top-down, contiguous. uint8 values mean value/255; floats are used as they
/// are.
struct ImageView {
  ImageShape shape;
  const void* data = nullptr;

  const std::uint8_t* bytes() const { return static_cast<const std::uint8_t*>(data); }
  const float* floats() const { return static_cast<const float*>(data); }
};

/// An owned image in the same layout.
class Image {
 public:
  Image() = default;
  explicit Image(ImageShape shape) : shape_(shape) {
    shape.type == PixelType::uint8 ? bytes_.resize(shape.count()) : floats_.resize(shape.count());
  }

  const ImageShape& shape() const { return shape_; }
  std::span<std::uint8_t> bytes() { return bytes_; }
  std::span<const std::uint8_t> bytes() const { return bytes_; }
  std::span<float> floats() { return floats_; }
  std::span<const float> floats() const { return floats_; }
  ImageView view() const {
    return {shape_, shape_.type == PixelType::uint8 ? static_cast<const void*>(bytes_.data()) : floats_.data()};
  }

 private:
  ImageShape shape_;
  std::vector<std::uint8_t> bytes_;
  std::vector<float> floats_;
};

struct ImageSpec {
  std::string name;  ///< "pixels" for the only camera of an environment
  ImageShape shape;
  bool operator==(const ImageSpec&) const = default;
};

/// What an environment shows and a policy sees: named images and one vector (size 0 if there is none).
struct ObservationSpec {
  std::vector<ImageSpec> images;
  int vector = 0;
  double dt = 0;  ///< seconds from one observation to the next; 0 if the environment does not say
  bool operator==(const ObservationSpec&) const = default;
};

/// One observation; `images` stand in the order of the spec. Borrowed: valid until the environment's next call.
struct Observation {
  std::span<const ImageView> images;
  std::span<const float> vector;
};

}  // namespace iap
