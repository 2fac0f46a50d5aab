module;
#include <array>
#include <cstdint>
#include <span>
#include <vector>
/// What a policy attends to, drawn onto the picture that it saw.
export module iap.render:attended;
import iap.core;

export namespace iap {

using Rgb8 = std::array<std::uint8_t, 3>;

/// Where the patches of an image lie: patch i is a square of `patch` pixels with its upper left corner at column
/// (i % columns) * stride, row (i / columns) * stride.
struct PatchPlaces {
  int rows = 0, columns = 0, patch = 0, stride = 0;
};

/// Mixes `colour` into the pixels of each patch in `selected`, once where it stands there several times; `opacities` has one value
/// in [0, 1] for each.
/// @throws Error naming a patch that does not lie on the image, and unless `image` is 8-bit RGB.
void overlay_patches(Image& image, const PatchPlaces& places, std::span<const int> selected, std::span<const float> opacities,
                     const Rgb8& colour);

/// Draws a line around what the patches of `selected` cover together: `thickness` pixels of `colour` along the inside, and as many
/// almost black ones along the outside, so that it is seen on bright pictures and on dark ones. Its opacity is that of the patch
/// beside it, raised so that a patch of opacity 1/4 has a line of 0.6. Around a patch of fewer than `least` pixels the line leaves
/// room for `least`. @throws Error as `overlay_patches`.
void outline_patches(Image& image, const PatchPlaces& places, std::span<const int> selected, std::span<const float> opacities,
                     const Rgb8& colour, int thickness, int least);

/// The patches that one head of attention chose, each with its opacity in [0, 1].
struct HeadPatches {
  PatchPlaces places;
  std::span<const int> selected;
  std::vector<float> opacities;
  Rgb8 colour;
};

/// Draws `overlay_patches` and `outline_patches` of one head after the other. What several heads colour is in diagonal stripes of
/// all their colours, so that none hides another. @throws Error as `overlay_patches`.
void overlay_heads(Image& image, std::span<const HeadPatches> heads, int thickness, int least);

/// The papers' "whiter is more important": 3/4 for the highest score among `selected` to 1/4 for the lowest, in between by score,
/// whatever their order, as draws are not in that of scores; 3/4 for all where their scores are equal. Scores that are not finite
/// count as the lowest. `scores` has a value for every patch.
std::vector<float> importance_opacities(std::span<const float> scores, std::span<const int> selected);

/// Turns `image` grey and lays the colours of `scores` over it, those of `heat_colour` from the frame's lowest to its highest. A
/// pixel in several patches shows their mean; one in none stays grey. Scores that are not finite count as
/// the lowest. @throws Error unless there is a score for each patch, the patches lie on the image, and it is 8-bit RGB.
void overlay_scores(Image& image, const PatchPlaces& places, std::span<const float> scores);

/// The colour of a heat map for `value` in [0, 1]: the scale "viridis" (Smith and van der Walt 2015), from dark violet over blue
/// and green to yellow, by Zucker's polynomial fit. Its lightness rises evenly, which colour-blind readers and grey print keep.
Rgb8 heat_colour(double value);

}  // namespace iap

namespace iap {

/// @throws Error naming a patch that does not lie on the image, and unless there is an opacity for each and the image is 8-bit RGB.
void check_patches(const Image& image, const PatchPlaces& places, std::span<const int> selected, std::span<const float> opacities);

}  // namespace iap
