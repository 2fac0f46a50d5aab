module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>
module iap.envs.take_cover;

namespace iap::take_cover {
namespace {

// The share of a triangle of half width 1 around 0 that lies below x.
double below(double x) {
  x = std::clamp(x, -1.0, 1.0);
  return x < 0 ? (1 + x) * (1 + x) / 2 : 1 - (1 - x) * (1 - x) / 2;
}

constexpr double bins_an_octave = 8, first_depth = 16;

}  // namespace

LitPalette light_palette(const Art& art) {
  LitPalette lit;
  for (std::size_t light = 0; light < colormaps; ++light)
    for (std::size_t i = 0; i < 256; ++i) lit[light][i] = pack(art.palette[art.light[light][i]]);
  return lit;
}

int Blur::bin_of(double depth) const { return bins_[std::min(static_cast<std::size_t>(depth), bins_.size() - 1)]; }

Blur::Blur(const View::Surface& surface, const LitPalette& palette, double pixels, int sector_light, double nearest,
           double farthest)
    : lines_(surface.lines), length_(surface.length) {
  for (double depth = 0.5; depth < farthest; ++depth) {
    const double octaves = std::log2(std::max(depth, first_depth) / first_depth);
    bins_.push_back(static_cast<std::uint8_t>(std::min(bins - 1, static_cast<int>(bins_an_octave * octaves))));
  }
  int tables = 0;
  for (double depth = nearest; depth <= farthest; depth += 0.5) {
    int& table = table_[static_cast<std::size_t>(light_at(sector_light, depth))][static_cast<std::size_t>(bin_of(depth))];
    if (table == 0) table = ++tables;
  }
  const int values = phases * length_;
  values_.resize(static_cast<std::size_t>(tables) * lines_ * values);
  std::vector<double> shares(static_cast<std::size_t>(length_));
  for (std::size_t light = 0; light < colormaps; ++light)
    for (std::size_t bin = 0; bin < bins; ++bin) {
      if (table_[light][bin] == 0) continue;
      const double depth = first_depth * std::exp2((static_cast<double>(bin) + 0.5) / bins_an_octave);
      const double half_width = std::max(0.5, pixels * depth / focal_x);
      Packed* out = &values_[static_cast<std::size_t>(table_[light][bin] - 1) * lines_ * values];
      for (int phase = 0; phase < values; ++phase) {
        const double centre = (phase + 0.5) / phases;
        std::ranges::fill(shares, 0.0);
        const int first = static_cast<int>(std::floor(centre - half_width)),
                  last = static_cast<int>(std::floor(centre + half_width));
        for (int texel = first; texel <= last; ++texel)
          shares[static_cast<std::size_t>(texel & (length_ - 1))] +=
              below((texel + 1 - centre) / half_width) - below((texel - centre) / half_width);
        for (int line = 0; line < lines_; ++line) {
          std::array<double, 3> sum{};
          for (int texel = 0; texel < length_; ++texel) {
            const double share = shares[static_cast<std::size_t>(texel)];
            if (share == 0) continue;
            const Rgb888 colour = unpack(palette[light][surface.line(line)[texel]]);
            for (std::size_t c = 0; c < 3; ++c) sum[c] += share * colour[c];
          }
          Rgb888 mean;
          for (std::size_t c = 0; c < 3; ++c) mean[c] = static_cast<std::uint8_t>(std::lround(sum[c]));
          out[static_cast<std::size_t>(line) * values + phase] = pack(mean);
        }
      }
    }
}

const Packed* Blur::line(int index, int light, double depth) const {
  const int table = table_[static_cast<std::size_t>(light)][static_cast<std::size_t>(bin_of(depth))];
  if (table == 0) return nullptr;
  return &values_[(static_cast<std::size_t>(table - 1) * lines_ + index) * (phases * length_)];
}

}  // namespace iap::take_cover
