module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>
module iap.render;
import iap.core;

namespace iap {
namespace {

/// A value for each pixel of an image.
struct Plane {
  int height, width;
  std::vector<float> values;
  float& at(int y, int x) { return values[static_cast<std::size_t>(y) * width + x]; }
  float at(int y, int x) const { return values[static_cast<std::size_t>(y) * width + x]; }
};

/// How opaque the line beside each pixel of the patches, grown by `margin` to all sides, would be; 0 where there is no patch.
Plane covered_by(const ImageShape& shape, const PatchPlaces& places, std::span<const int> selected,
                 std::span<const float> opacities, int margin) {
  Plane plane{shape.height, shape.width, std::vector<float>(static_cast<std::size_t>(shape.height) * shape.width)};
  const int side = places.patch + 2 * margin;
  for (std::size_t i = 0; i < selected.size(); ++i) {
    const int left = selected[i] % places.columns * places.stride - margin,
              top = selected[i] / places.columns * places.stride - margin;
    const float opacity = std::clamp(0.4F + 0.8F * opacities[i], 0.0F, 1.0F);
    for (int y = std::max(top, 0); y < std::min(top + side, shape.height); ++y)
      for (int x = std::max(left, 0); x < std::min(left + side, shape.width); ++x)
        plane.at(y, x) = std::max(plane.at(y, x), opacity);
  }
  return plane;
}

/// Whether within `distance` pixels something is not covered; the outside of the image is not.
bool near_edge(const Plane& cover, int y, int x, int distance) {
  if (y < distance || x < distance || y + distance >= cover.height || x + distance >= cover.width) return true;
  for (int row = y - distance; row <= y + distance; ++row)
    for (int column = x - distance; column <= x + distance; ++column)
      if (cover.at(row, column) == 0) return true;
  return false;
}

/// How far the line around a patch of `patch` pixels keeps away from it, to leave room for `least`.
int margin_of(int patch, int thickness, int least) { return patch < least ? (least - patch + 1) / 2 + thickness : 0; }

/// The pixels that a head colours: its patches, and the bright line around them.
std::vector<bool> coloured_by(const HeadPatches& head, const ImageShape& shape, int thickness, int least) {
  const auto covered = [&](int margin) { return covered_by(shape, head.places, head.selected, head.opacities, margin); };
  const Plane patches = covered(0), cover = covered(margin_of(head.places.patch, thickness, least));
  std::vector<bool> coloured;
  for (int y = 0; y < shape.height; ++y)
    for (int x = 0; x < shape.width; ++x)
      coloured.push_back(patches.at(y, x) > 0 || (cover.at(y, x) > 0 && near_edge(cover, y, x, thickness)));
  return coloured;
}

void mix(std::uint8_t* pixel, const Rgb8& colour, float weight) {
  if (weight == 0) return;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto from = static_cast<float>(pixel[i]), to = static_cast<float>(colour[i]);
    pixel[i] = static_cast<std::uint8_t>(std::lround(from + (to - from) * weight));
  }
}

}  // namespace

void outline_patches(Image& image, const PatchPlaces& places, std::span<const int> selected, std::span<const float> opacities,
                     const Rgb8& colour, int thickness, int least) {
  check_patches(image, places, selected, opacities);
  constexpr Rgb8 dark{16, 16, 16};
  const int margin = margin_of(places.patch, thickness, least);
  const Plane cover = covered_by(image.shape(), places, selected, opacities, margin);
  const Plane around = covered_by(image.shape(), places, selected, opacities, margin + thickness);
  for (int y = 0; y < cover.height; ++y)
    for (int x = 0; x < cover.width; ++x) {
      std::uint8_t* pixel = image.bytes().data() + 3 * (static_cast<std::size_t>(y) * cover.width + x);
      if (cover.at(y, x) == 0)
        mix(pixel, dark, around.at(y, x));
      else if (near_edge(cover, y, x, thickness))
        mix(pixel, colour, cover.at(y, x));
    }
}

void overlay_heads(Image& image, std::span<const HeadPatches> heads, int thickness, int least) {
  const ImageShape shape = image.shape();
  const auto draw = [&](const HeadPatches& head) {
    overlay_patches(image, head.places, head.selected, head.opacities, head.colour);
    outline_patches(image, head.places, head.selected, head.opacities, head.colour, thickness, least);
  };
  if (heads.size() == 1) return draw(heads.front());
  std::vector<int> all(static_cast<std::size_t>(shape.height) * shape.width), before(all.size());  // heads that colour a pixel
  for (const HeadPatches& head : heads) {
    check_patches(image, head.places, head.selected, head.opacities);
    const auto coloured = coloured_by(head, shape, thickness, least);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] += coloured[i] ? 1 : 0;
  }
  const bool apart = std::ranges::none_of(all, [](int count) { return count > 1; });
  for (const HeadPatches& head : heads) {
    // As broad as there is room for, so that they are told apart, but several of them in a patch.
    const int stripe = std::max(3 * thickness, heads.front().places.patch / 4);
    const Image without = apart ? Image() : image;
    draw(head);
    if (apart) continue;
    const auto coloured = coloured_by(head, shape, thickness, least);
    for (int y = 0; y < shape.height; ++y)
      for (int x = 0; x < shape.width; ++x) {
        const std::size_t at = static_cast<std::size_t>(y) * shape.width + x;
        if (!coloured[at]) continue;
        const bool own = (x + y) / stripe % all[at] == before[at]++;
        if (!own) std::copy_n(&without.bytes()[3 * at], 3, &image.bytes()[3 * at]);
      }
  }
}

}  // namespace iap
