module;
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
module iap.report;
import iap.core;
import iap.env;
import iap.envs;
import :drawing;
import :viewer;

namespace iap {

std::unique_ptr<Env> drawn_at(Config config, PictureSize size) {
  config["pixels"] = Config::List{size.height, size.width};
  std::unique_ptr<Env> env;
  try {
    env = make_env(config);
  } catch (const OptionError&) {
    return nullptr;  // nobody reads `pixels`
  } catch (const Error& error) {
    if (is_lua_env(config)) return nullptr;  // its own option may be called so
    throw Error(text("cannot be drawn in ", size.height, " x ", size.width, " pixels: ", error.what()));
  }
  const auto& images = env->spec().observation.images;
  if (images.empty() || images.front().shape.height != size.height || images.front().shape.width != size.width) return nullptr;
  return env;
}

struct EnvDrawing::Impl {
  std::unique_ptr<Env> env;
  PictureSize size;
  double total = 0;
  float white = 1;
};

EnvDrawing::EnvDrawing(const Config& config, PictureSize size) : impl_(std::make_unique<Impl>()) {
  impl_->size = size;
  impl_->env = drawn_at(config, size);
  if (impl_->env) return;
  auto env = make_env(config);
  if (env->spec().observation.images.empty()) throw Error(text("environment '", env->spec().name, "' draws no pictures"));
  impl_->env = resize_images(std::move(env), size.height, size.width);
}

EnvDrawing::~EnvDrawing() = default;
PictureSize EnvDrawing::size() const { return impl_->size; }
double EnvDrawing::total() const { return impl_->total; }

void EnvDrawing::reset(std::uint64_t seed) {
  impl_->env->reset(seed);
  impl_->total = 0;
  impl_->white = 1;
}

void EnvDrawing::step(std::span<const float> action) { impl_->total += impl_->env->step(action).reward; }

Image EnvDrawing::picture() {
  const ImageView& seen = impl_->env->observe().images.front();
  // Who has once seen so far goes on to see so far, be everything ever so near.
  impl_->white = std::max(impl_->white, white_of(seen));
  return rgb_copy(seen, impl_->white);
}

}  // namespace iap
