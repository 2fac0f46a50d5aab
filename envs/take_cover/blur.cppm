module;
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>
export module iap.envs.take_cover:blur;
import :art;
import :view;

export namespace iap::take_cover {

/// Three channels in one word, 21 bits each: weighted sums of colours with weights that add up to 2^13 stay apart, so that one
/// multiplication serves three channels.
using Packed = std::uint64_t;
constexpr int packed_bits = 21;
constexpr Packed packed_bytes = Packed{0xff} | Packed{0xff} << packed_bits | Packed{0xff} << 2 * packed_bits;

constexpr Packed pack(Rgb888 colour) {
  return Packed{colour[0]} | Packed{colour[1]} << packed_bits | Packed{colour[2]} << 2 * packed_bits;
}
constexpr Rgb888 unpack(Packed colour) {
  return {static_cast<std::uint8_t>(colour), static_cast<std::uint8_t>(colour >> packed_bits),
          static_cast<std::uint8_t>(colour >> 2 * packed_bits)};
}
/// A weighted sum of colours back to bytes, rounded.
constexpr Packed rounded(Packed sum, int weight_bits) {
  const Packed half = Packed{1} << (weight_bits - 1);
  return (sum + (half | half << packed_bits | half << 2 * packed_bits)) >> weight_bits & packed_bytes;
}

/// The palette in every light.
using LitPalette = std::array<std::array<Packed, 256>, colormaps>;
LitPalette light_palette(const Art& art);

/// The lines of a surface, seen through the triangle filter of one output column, for every distance at which the view can show
/// them. The wider the filter, the coarser distances need to be told apart: there are eight tables an octave.
class Blur {
 public:
  static constexpr int phases = 2;  ///< filtered values a texel

  /// `pixels` is half the width of the filter in columns of the screen.
  Blur(const View::Surface& surface, const LitPalette& palette, double pixels, int sector_light, double nearest, double farthest);
  /// The filtered line, of `phases` x the line's length values, or null where no table was made.
  const Packed* line(int index, int light, double depth) const;

 private:
  int bin_of(double depth) const;
  static constexpr int bins = 64;

  int lines_, length_;
  std::array<std::array<int, bins>, colormaps> table_{};  ///< its number, counted from 1
  std::vector<std::uint8_t> bins_;                        ///< by distance in units
  std::vector<Packed> values_;
};

}  // namespace iap::take_cover
