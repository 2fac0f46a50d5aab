module;
#include <mujoco/mujoco.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/fork_mutex.hpp"
module iap.sim;
import iap.core;
import iap.render;
#include "mujoco_egl.hpp"
#include "mujoco_gl.hpp"
#include "mujoco_internal.hpp"

namespace iap {
namespace {

// MuJoCo loads OpenGL's functions on the first call, and drivers are not to be trusted while contexts come and go.
ForkMutex& context_mutex() {
  static ForkMutex mutex;
  return mutex;
}

// Threads draw at once where processors do; before a GPU, whose driver changes between contexts slowly and not always soundly, they
// stand in line.
std::unique_lock<ForkMutex> turn() {
  std::unique_lock lock(context_mutex(), std::defer_lock);
  if (EglContext::on_gpu()) lock.lock();
  return lock;
}

template <typename Function>
Function* gl(const char* name) {
  const auto function = reinterpret_cast<Function*>(EglContext::function(name));
  if (!function) throw Error(text("this OpenGL has no ", name, "; draw with path = 'cpu'"));
  return function;
}

constexpr unsigned texture_2d = 0x0DE1, texture_cube = 0x8513, cube_face = 0x8515, format_rgba = 0x1908, format_rgb = 0x1907,
                   unsigned_byte = 0x1401, minify = 0x2801, magnify = 0x2800, wrap_s = 0x2802, wrap_t = 0x2803, wrap_r = 0x8072,
                   linear = 0x2601, linear_mipmap_linear = 0x2703, repeat = 0x2901, clamp_to_edge = 0x812F, vendor = 0x1F00,
                   renderer = 0x1F01, version = 0x1F02;

}  // namespace

struct MujocoGl::Impl {
  EglContext context;
  mjrContext drawing{};
  int height = 0, width = 0, samples = 0;
  std::vector<std::uint8_t> bottom_up;
};

MujocoGl::MujocoGl(const mjModel& model, int height, int width, int samples) {
  install_mujoco_handlers();
  mjModel sized = model;  // a shallow copy: its arrays stay the model's
  sized.vis.global.offwidth = width;
  sized.vis.global.offheight = height;
  sized.vis.quality.offsamples = samples > 1 ? samples : 0;
  const std::lock_guard lock(context_mutex());
  auto impl = std::unique_ptr<Impl>(new Impl{.height = height, .width = width, .samples = samples});
  {
    const EglContext::Current current(impl->context);
    const MujocoCall call;
    mjr_defaultContext(&impl->drawing);
    mjr_makeContext(&sized, &impl->drawing, mjFONTSCALE_50);
    mjr_setBuffer(mjFB_OFFSCREEN, &impl->drawing);
  }
  impl_ = std::move(impl);
}

MujocoGl::~MujocoGl() {
  const std::lock_guard lock(context_mutex());
  try {
    const EglContext::Current current(impl_->context);
    const MujocoCall call;
    mjr_freeContext(&impl_->drawing);
  } catch (const Error&) {  // what the context held goes with the context
  }
  impl_.reset();
}

bool MujocoGl::fits(int height, int width, int samples) const {
  return height <= impl_->height && width <= impl_->width && samples == impl_->samples;
}

void MujocoGl::draw(mjvScene& scene, int height, int width, std::span<std::uint8_t> rgb) {
  const auto lock = turn();
  const EglContext::Current current(impl_->context);
  impl_->bottom_up.resize(rgb.size());
  const mjrRect viewport{0, 0, width, height};
  const MujocoCall call;
  mjr_render(viewport, &scene, &impl_->drawing);
  mjr_readPixels(impl_->bottom_up.data(), nullptr, viewport, &impl_->drawing);
  const std::size_t row = static_cast<std::size_t>(width) * 3;
  for (int y = 0; y < height; ++y) std::memcpy(rgb.data() + row * y, impl_->bottom_up.data() + row * (height - 1 - y), row);
}

void MujocoGl::replace_texture(int index, const Texture& texture) {
  const auto lock = turn();
  const EglContext::Current current(impl_->context);
  const bool flat = texture.kind() == Texture::Kind::flat;
  const unsigned target = flat ? texture_2d : texture_cube;
  gl<void(unsigned, unsigned)>("glBindTexture")(target, impl_->drawing.texture[index]);
  const auto set = gl<void(unsigned, unsigned, int)>("glTexParameteri");
  set(target, minify, linear_mipmap_linear);
  set(target, magnify, linear);
  for (const unsigned axis : {wrap_s, wrap_t, wrap_r}) set(target, axis, flat ? repeat : clamp_to_edge);
  const auto upload = gl<void(unsigned, int, int, int, int, int, unsigned, unsigned, const void*)>("glTexImage2D");
  const Texture::Level& level = texture.levels().front();
  for (int face = 0; face < (flat ? 1 : 6); ++face)
    upload(flat ? texture_2d : cube_face + face, 0, format_rgb, level.width, level.height, 0, format_rgba, unsigned_byte,
           texture.texels().data() + level.offset + static_cast<std::size_t>(face) * level.face_size);
  // As MuJoCo does it for the model's own, so that bringing one of them back brings back the same picture.
  gl<void(unsigned)>("glGenerateMipmap")(target);
}

std::string describe_gl() {
  try {
    const std::lock_guard lock(context_mutex());
    const EglContext context;
    const EglContext::Current current(context);
    const auto read = [&](unsigned name) {
      const auto* value = gl<const unsigned char*(unsigned)>("glGetString")(name);
      return value ? std::string(reinterpret_cast<const char*>(value)) : std::string("?");
    };
    return text(read(renderer), " (", read(vendor), ", OpenGL ", read(version), ")");
  } catch (const Error& error) {
    return text("none: ", error.what());
  }
}

}  // namespace iap
