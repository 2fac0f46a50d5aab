module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
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
HWY_EXPORT(draw_sky_row);
HWY_EXPORT(draw_depth_row);
}  // namespace iap::frame

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

bool same_bits(const frame::Vector& a, const frame::Vector& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

// What a camera sees of the sky. It stays the same while the camera only moves and does not turn, as the sky is far away.
class SkyPicture {
 public:
  // The picture of a frame's sky where the frame before had the same one, else none.
  const std::uint8_t* look(const frame::Frame& frame, const std::shared_ptr<const Texture>& texture) {
    const frame::Rays& rays = frame.rays[frame::direct];
    if (texture != texture_ || frame.height != height_ || frame.width != width_ || !same_bits(rays.corner, rays_.corner) ||
        !same_bits(rays.right, rays_.right) || !same_bits(rays.down, rays_.down)) {
      rays_ = rays;
      texture_ = texture;
      height_ = frame.height;
      width_ = frame.width;
      rgb_.resize(static_cast<std::size_t>(height_) * width_ * 3 + read_beyond);
      drawn_ = false;
      return nullptr;
    }
    if (!drawn_)
      for (int row = 0; row < height_; ++row) {
        check_interrupt();
        HWY_DYNAMIC_DISPATCH(frame::draw_sky_row)(frame, row, rgb_.data() + static_cast<std::size_t>(row) * width_ * 3);
      }
    drawn_ = true;
    return rgb_.data();
  }

 private:
  static constexpr std::size_t read_beyond = 48;

  frame::Rays rays_;
  std::shared_ptr<const Texture> texture_;
  int height_ = 0, width_ = 0;
  std::vector<std::uint8_t> rgb_;
  bool drawn_ = false;
};

}  // namespace

struct Caster::Impl {
  frame::Frame frame;
  std::array<frame::MeshLayer, 2> meshes;
  std::vector<SkyPicture> skies;  // of each sample
  std::vector<std::uint8_t> sample;
  std::vector<std::uint16_t> sums;

  void draw(const Scene& scene, std::span<const std::array<double, 2>> places, std::size_t place, std::span<std::uint8_t> rgb) {
    aim_frame(scene, places[place][0], places[place][1], frame);
    skies.resize(places.size());
    frame.sky_rgb = nullptr;
    frame.meshes = frame.mirrored_meshes = nullptr;
    if (!scene.meshes.empty()) lay_meshes(scene, meshes, frame);
    if (frame.sky >= 0) frame.sky_rgb = skies[place].look(frame, scene.textures[frame.sky]);
    for (int row = 0; row < frame.height; ++row) {
      check_interrupt();
      HWY_DYNAMIC_DISPATCH(frame::draw_row)(frame, row, rgb.data() + static_cast<std::size_t>(row) * frame.width * 3);
    }
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
  if (places.size() == 1) return impl_->draw(scene, places, 0, rgb);
  impl_->sample.resize(rgb.size());
  impl_->sums.assign(rgb.size(), 0);
  for (std::size_t place = 0; place < places.size(); ++place) {
    impl_->draw(scene, places, place, impl_->sample);
    for (std::size_t i = 0; i < rgb.size(); ++i) impl_->sums[i] = static_cast<std::uint16_t>(impl_->sums[i] + impl_->sample[i]);
  }
  const std::size_t half = places.size() / 2;
  for (std::size_t i = 0; i < rgb.size(); ++i) rgb[i] = static_cast<std::uint8_t>((impl_->sums[i] + half) / places.size());
}

void Caster::draw_depth(const Scene& scene, int height, int width, std::span<float> metres) {
  if (height < 1 || width < 1 || metres.size() != static_cast<std::size_t>(height) * width)
    throw Error(
        text("a depth picture of ", height, " x ", width, " does not fit into ", metres.size(), " values; give height x width"));
  const DrawOptions bare{.shadows = false, .reflection = false, .sky = false};
  frame::Frame& frame = impl_->frame;
  prepare_frame(scene, bare, height, width, frame);
  aim_frame(scene, .5, .5, frame);
  frame.meshes = frame.mirrored_meshes = nullptr;
  if (!scene.meshes.empty()) lay_meshes(scene, impl_->meshes, frame);
  for (int row = 0; row < height; ++row) {
    check_interrupt();
    HWY_DYNAMIC_DISPATCH(frame::draw_depth_row)(frame, row, metres.data() + static_cast<std::size_t>(row) * width);
  }
}

}  // namespace iap
