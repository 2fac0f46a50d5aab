module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>
module iap.policy;
import iap.core;
import :retina;

namespace iap {
namespace {

constexpr std::uint32_t most_frames = 1 << 16;  // so that sums of bytes fit 32 bits

struct Bytes {
  static constexpr std::uint8_t unchanged = 128;
  static std::uint8_t difference(int now, int before) {
    return static_cast<std::uint8_t>(std::clamp(unchanged + now - before, 0, 255));
  }
  static int mean(std::uint32_t sum, std::uint32_t frames) {
    return static_cast<int>(static_cast<float>(sum) * (1.0F / static_cast<float>(frames)) + 0.5F);
  }
};

struct Floats {
  static constexpr float unchanged = 0;
  static float difference(float now, float before) { return now - before; }
  static float mean(double sum, std::uint32_t frames) { return static_cast<float>(sum / frames); }
};

template <typename Kind, typename Pixel>
void against_before(std::span<const Pixel> now, std::span<Pixel> before, std::span<Pixel> changed, bool first) {
  if (first)
    std::ranges::fill(changed, Kind::unchanged);
  else
    for (std::size_t i = 0; i < now.size(); ++i) changed[i] = Kind::difference(now[i], before[i]);
  std::ranges::copy(now, before.begin());
}

template <typename Kind, typename Pixel, typename Sum>
void against_mean(std::span<const Pixel> now, std::span<Sum> sums, std::span<Pixel> changed, std::uint32_t frames) {
  if (frames == 0) {
    std::ranges::fill(changed, Kind::unchanged);
    std::ranges::fill(sums, Sum{0});
  } else {
    for (std::size_t i = 0; i < now.size(); ++i) changed[i] = Kind::difference(now[i], Kind::mean(sums[i], frames));
  }
  if (frames < most_frames)
    for (std::size_t i = 0; i < now.size(); ++i) sums[i] += now[i];
}

}  // namespace

Contrast::Contrast(Against against, const ImageShape& shape) : against_(against), changed_(shape) {
  view_ = changed_.view();
  if (against == Against::frame)
    before_ = Image(shape);
  else if (shape.type == PixelType::uint8)
    sums_.resize(shape.count());
  else
    float_sums_.resize(shape.count());
}

double Contrast::bytes(Against against, const ImageShape& shape) {
  const std::size_t a_sum = shape.type == PixelType::uint8 ? sizeof(std::uint32_t) : sizeof(double);
  return static_cast<double>(shape.bytes() + (against == Against::frame ? shape.bytes() : a_sum * shape.count()));
}

const ImageView& Contrast::look(const ImageView& image) {
  const std::size_t count = image.shape.count();
  const bool frame = against_ == Against::frame;
  if (image.shape.type == PixelType::uint8) {
    const std::span<const std::uint8_t> now(image.bytes(), count);
    if (frame)
      against_before<Bytes, std::uint8_t>(now, before_.bytes(), changed_.bytes(), frames_ == 0);
    else
      against_mean<Bytes, std::uint8_t, std::uint32_t>(now, sums_, changed_.bytes(), frames_);
  } else {
    const std::span<const float> now(image.floats(), count);
    if (frame)
      against_before<Floats, float>(now, before_.floats(), changed_.floats(), frames_ == 0);
    else
      against_mean<Floats, float, double>(now, float_sums_, changed_.floats(), frames_);
  }
  frames_ = std::min(frames_ + 1, most_frames);
  return view_;
}

}  // namespace iap
