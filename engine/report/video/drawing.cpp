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

namespace {

std::unique_ptr<Env> drawn_or_resized(const Config& config, PictureSize size) {
  if (auto env = drawn_at(config, size)) return env;
  auto env = make_env(config);
  if (env->spec().observation.images.empty()) throw Error(text("environment '", env->spec().name, "' draws no pictures"));
  return resize_images(std::move(env), size.height, size.width);
}

}  // namespace

struct EnvDrawing::Impl {
  PlayedAlong world;
  PictureSize size;
  float white = 1;
};

EnvDrawing::EnvDrawing(const Config& config, PictureSize size)
    : impl_(new Impl{.world = PlayedAlong(drawn_or_resized(config, size), config), .size = size}) {}

EnvDrawing::~EnvDrawing() = default;
PictureSize EnvDrawing::size() const { return impl_->size; }

void EnvDrawing::reset(std::uint64_t seed) {
  impl_->world.reset(seed);
  impl_->white = 1;
}

void EnvDrawing::step(std::span<const float> action, const StepResult& result) { impl_->world.step(action, result); }

Image EnvDrawing::picture(const EnvSpec& watched, const Observation& seen) {
  const Observation present = impl_->world.present(watched, seen);
  if (const auto& astray = impl_->world.astray(); !astray.empty())
    throw Error(text("drawn in this size, the environment ", astray, ", so that it is not the same episode"));
  const ImageView& image = present.images.front();
  // Who has once seen so far goes on to see so far, be everything ever so near.
  impl_->white = std::max(impl_->white, white_of(image));
  return rgb_copy(image, impl_->white);
}

}  // namespace iap
