module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
module iap.render;
import iap.core;

namespace iap {
namespace {

const char* name_of(Texture::Kind kind) {
  switch (kind) {
    case Texture::Kind::flat: return "flat";
    case Texture::Kind::cube: return "cube";
    case Texture::Kind::sky: return "sky";
  }
  return "";
}

std::uint32_t pack(const std::uint8_t* rgb) { return rgb[0] | (std::uint32_t{rgb[1]} << 8) | (std::uint32_t{rgb[2]} << 16); }

// The footprint of an odd row or column is wider than two texels; like OpenGL's linear blit, the average is then taken around the
// centre of the coarse texel.
struct Tap {
  int first, second;
  std::uint32_t weight;  // of `second`, in 1/256
};

Tap tap(int index, int fine, int coarse) {
  const double centre = (index + 0.5) * fine / coarse - 0.5;
  const int first = static_cast<int>(centre);
  return {first, std::min(first + 1, fine - 1), static_cast<std::uint32_t>((centre - first) * 256 + 0.5)};
}

std::uint32_t average(const std::uint32_t* face, int width, const Tap& x, const Tap& y) {
  std::uint32_t result = 0;
  for (int shift = 0; shift < 24; shift += 8) {
    const auto at = [&](int column, int row) { return (face[static_cast<std::size_t>(row) * width + column] >> shift) & 255u; };
    const std::uint32_t top = at(x.first, y.first) * (256 - x.weight) + at(x.second, y.first) * x.weight;
    const std::uint32_t bottom = at(x.first, y.second) * (256 - x.weight) + at(x.second, y.second) * x.weight;
    result |= ((top * (256 - y.weight) + bottom * y.weight + 32768) >> 16) << shift;
  }
  return result;
}

}  // namespace

Texture::Texture(Kind kind, int width, int height, std::span<const std::uint8_t> rgb) : kind_(kind) {
  const bool solid = kind != Kind::flat;
  if (width < 1 || height < 1 || width > 16384 || height > 6 * 16384 || (solid && height != width && height != 6 * width))
    throw Error(text("a ", name_of(kind), " texture cannot be ", width, " x ", height, " (width x height) texels; ",
                     solid ? "use six square faces stacked, or one square face" : "use 1 to 16384 per side"));
  if (rgb.size() != static_cast<std::size_t>(width) * height * 3)
    throw Error(text("a texture of ", width, " x ", height, " needs ", static_cast<std::size_t>(width) * height * 3,
                     " bytes of RGB, got ", rgb.size()));
  const int faces = solid && height == 6 * width ? 6 : 1;
  int total = 0, w = width, h = height / faces;
  for (bool more = true; more;) {
    levels_.push_back({w, h, total, faces == 6 ? w * h : 0});
    total += w * h * faces;
    more = w > 1 || h > 1;
    w = std::max(w / 2, 1);
    h = std::max(h / 2, 1);
  }
  texels_.resize(total + spare());  // the caster reads the texel on the right, and the row below
  for (std::size_t i = 0; i < rgb.size() / 3; ++i) texels_[i] = pack(&rgb[3 * i]);
  for (std::size_t k = 1; k < levels_.size(); ++k) {
    const Level &fine = levels_[k - 1], &coarse = levels_[k];
    for (int face = 0; face < faces; ++face) {
      const std::uint32_t* from = texels_.data() + fine.offset + static_cast<std::size_t>(face) * fine.face_size;
      std::uint32_t* to = texels_.data() + coarse.offset + static_cast<std::size_t>(face) * coarse.face_size;
      for (int y = 0; y < coarse.height; ++y) {
        const Tap row = tap(y, fine.height, coarse.height);
        for (int x = 0; x < coarse.width; ++x)
          to[static_cast<std::size_t>(y) * coarse.width + x] = average(from, fine.width, tap(x, fine.width, coarse.width), row);
      }
    }
  }
}

bool Texture::same_image(Kind kind, int width, int height, std::span<const std::uint8_t> rgb) const {
  const std::size_t count = rgb.size() / 3;
  const Level& level = levels_.front();
  const int faces = level.face_size ? 6 : 1;
  if (kind != kind_ || width != level.width || height != level.height * faces || count != static_cast<std::size_t>(width) * height)
    return false;
  for (std::size_t i = 0; i < count; ++i)
    if (texels_[i] != pack(&rgb[3 * i])) return false;
  return true;
}

}  // namespace iap
