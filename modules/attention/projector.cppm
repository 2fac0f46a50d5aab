module;
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>
module iap.attention:projector;
import iap.core;
import :kernel;
import :patches;

namespace iap {

/// Zeroed floats that start on a cache line.
class FloatBuffer {
 public:
  explicit FloatBuffer(std::size_t size = 0);
  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(float* data) const { ::operator delete(data, std::align_val_t{64}); }
  };
  std::unique_ptr<float, Free> data_;
  std::size_t size_ = 0;
};

/// Queries and keys of a frame, chunk by chunk (whole rows of patches), without ever forming the L x c matrix of patches: each
/// image row is split once into planes of equal channel and equal column modulo the stride, where neighbouring patches are
/// neighbouring floats. A chunk is d rows of count(chunk) floats at distance `pitch`. Queries live until the next chunk, keys until
/// the next frame.
class PatchProjector {
 public:
  PatchProjector(const PatchGrid& grid, int d);

  /// Takes W and b times `factor`; copies them.
  void bind(const HeadWeights& weights, float factor);
  bool bound() const { return bound_; }
  const PatchGrid& grid() const { return grid_; }
  int d() const { return d_; }
  int chunks() const { return (grid_.rows() + chunk_rows_ - 1) / chunk_rows_; }
  int first(int chunk) const { return chunk * chunk_rows_ * grid_.columns(); }
  int count(int chunk) const;
  std::size_t pitch() const { return pitch_; }

  /// A new frame; chunks are then projected in order.
  void begin(const ImageView& image, float pixel_offset);
  void project(int chunk);
  const float* queries() const { return queries_.data(); }
  const float* keys(int chunk) const { return keys_.data() + static_cast<std::size_t>(chunk) * d_ * pitch_; }

 private:
  void load_row(int y);

  PatchGrid grid_;
  int d_, chunk_rows_;
  std::size_t pitch_;
  std::vector<float> weights_;      // c x 2 d: query, key
  std::vector<float> bias_;         // 2 d
  std::vector<float> column_sums_;  // 2 d
  std::vector<float> frame_bias_;   // 2 d, the pixel offset folded in
  bool bound_ = false;
  ImageView image_;
  int next_row_ = 0;
  std::size_t slot_size_ = 0;         // floats of one image row's planes
  FloatBuffer planes_;                // row y in slot y modulo the patch size
  std::vector<std::size_t> in_slot_;  // position in a slot of a patch row's values, for the first patch of a row
  std::vector<const float*> values_;  // c
  std::vector<float*> outputs_;       // 2 d
  FloatBuffer queries_, keys_, float_scratch_;
  std::vector<std::uint8_t> byte_scratch_;
};

}  // namespace iap
