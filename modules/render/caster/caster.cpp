module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "frame.hpp"
// Vectors whose size is known only at run time cannot be members of structures.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "caster_kernel.inl"
#include <hwy/foreach_target.h>
#include "caster_kernel.inl"
module iap.render;
import iap.core;
#include "prepare.hpp"

namespace iap::frame {
HWY_EXPORT(draw_row);
}

namespace iap {
namespace {

// Where in a pixel its samples lie, from its upper left corner: each row and column of a square grid is used once.
std::span<const std::array<double, 2>> sample_places(int samples) {
  static constexpr std::array<std::array<double, 2>, 1> one{{{.5, .5}}};
  static constexpr std::array<std::array<double, 2>, 2> two{{{.75, .75}, {.25, .25}}};
  static constexpr std::array<std::array<double, 2>, 4> four{{{.375, .125}, {.875, .375}, {.125, .625}, {.625, .875}}};
  static constexpr std::array<std::array<double, 2>, 8> eight{{{.5625, .3125},
                                                               {.4375, .6875},
                                                               {.8125, .5625},
                                                               {.3125, .1875},
                                                               {.1875, .8125},
                                                               {.0625, .4375},
                                                               {.6875, .9375},
                                                               {.9375, .0625}}};
  switch (samples) {
    case 1: return one;
    case 2: return two;
    case 4: return four;
    case 8: return eight;
    default: throw Error(text("a picture cannot have ", samples, " samples per pixel; use 1, 2, 4 or 8"));
  }
}

}  // namespace

struct Caster::Impl {
  frame::Frame frame;
  std::vector<std::uint8_t> sample;
  std::vector<std::uint16_t> sums;

  void draw(std::span<std::uint8_t> rgb) const {
    for (int row = 0; row < frame.height; ++row)
      HWY_DYNAMIC_DISPATCH(frame::draw_row)(frame, row, rgb.data() + static_cast<std::size_t>(row) * frame.width * 3);
  }
};

Caster::Caster() : impl_(std::make_unique<Impl>()) {}
Caster::~Caster() = default;
Caster::Caster(Caster&&) noexcept = default;
Caster& Caster::operator=(Caster&&) noexcept = default;

void Caster::draw(const Scene& scene, const DrawOptions& options, int height, int width, std::span<std::uint8_t> rgb) {
  if (height < 1 || width < 1 || rgb.size() != static_cast<std::size_t>(height) * width * 3)
    throw Error(text("a picture of ", height, " x ", width, " does not fit into ", rgb.size(), " bytes; give height x width x 3"));
  const auto places = sample_places(options.samples);
  prepare_frame(scene, options, height, width, impl_->frame);
  if (places.size() == 1) {
    aim_frame(scene, places[0][0], places[0][1], impl_->frame);
    return impl_->draw(rgb);
  }
  impl_->sample.resize(rgb.size());
  impl_->sums.assign(rgb.size(), 0);
  for (const auto& place : places) {
    aim_frame(scene, place[0], place[1], impl_->frame);
    impl_->draw(impl_->sample);
    for (std::size_t i = 0; i < rgb.size(); ++i) impl_->sums[i] = static_cast<std::uint16_t>(impl_->sums[i] + impl_->sample[i]);
  }
  const std::size_t half = places.size() / 2;
  for (std::size_t i = 0; i < rgb.size(); ++i) rgb[i] = static_cast<std::uint8_t>((impl_->sums[i] + half) / places.size());
}

}  // namespace iap
