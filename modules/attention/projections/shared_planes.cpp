module;
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>
module iap.attention;
import iap.core;
import :projector;
#include "attention/shared_planes.hpp"

namespace iap {
namespace {

thread_local FramePlanes* looked_through = nullptr;

// What is larger leaves the inner caches before the next one reads it, which costs more than making it again.
constexpr std::size_t most_shared_bytes = 1 << 20;

}  // namespace

FramePlanes* FramePlanes::of_look(const ImageView& image, const PatchGrid& grid, std::size_t blocks, std::size_t block_floats) {
  FramePlanes* shared = looked_through;
  if (!shared || blocks * block_floats * sizeof(float) > most_shared_bytes) return nullptr;
  if (!shared->data_) {
    shared->data_ = image.data;
    shared->shape_ = image.shape;
    shared->size_ = grid.size();
    shared->stride_ = grid.stride();
    shared->block_floats_ = block_floats;
    shared->made_.assign(blocks, false);
    if (shared->planes_.size() < blocks * block_floats) shared->planes_ = FloatBuffer(blocks * block_floats);
    return shared;
  }
  const bool same = shared->data_ == image.data && shared->shape_ == image.shape && shared->size_ == grid.size() &&
                    shared->stride_ == grid.stride() && shared->made_.size() == blocks && shared->block_floats_ == block_floats;
  return same ? shared : nullptr;
}

extern "C++" {

struct SharedPlanes::Impl {
  FramePlanes planes;
};

SharedPlanes::SharedPlanes() : impl_(std::make_unique<Impl>()) {}
SharedPlanes::~SharedPlanes() = default;

SharedPlanes::Look::Look(SharedPlanes& shared) : outer_(std::exchange(looked_through, &shared.impl_->planes)) {
  shared.impl_->planes.forget();
}
SharedPlanes::Look::~Look() { looked_through = static_cast<FramePlanes*>(outer_); }
}

}  // namespace iap
