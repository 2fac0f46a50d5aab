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

/// Queries, keys and, if wanted, a third projection of a frame, chunk by chunk (whole rows of patches), without ever forming the L x c matrix of patches: each
/// image row is split once into planes of equal channel and equal column modulo the stride, where neighbouring patches are
/// neighbouring floats. A chunk is d rows of count(chunk) floats at distance `pitch`. Queries and values live until the next chunk,
/// keys until the next frame. A position encoding is a constant of the weights: PE W becomes a bias of every patch, so that a frame
/// pays one addition a number for it, and nothing where there is none.
class PatchProjector {
 public:
  /// `values`: columns of the third projection, V = X' W_V.
  PatchProjector(const PatchGrid& grid, int d, int values = 0);

  /// Takes W and b of queries and keys times `factor`, and W_V (c x values()) as it is; copies them.
  void bind(const HeadWeights& weights, float factor, std::span<const float> value_weights = {});
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
  const float* values() const { return value_rows_.data(); }
  const float* keys(int chunk) const { return keys_.data() + static_cast<std::size_t>(chunk) * d_ * pitch_; }

 private:
  void load_row(int y);
  void bind_encoding(std::span<const float> encoding);

  PatchGrid grid_;
  int d_, columns_, chunk_rows_;    // columns_: of queries, keys and values together
  std::size_t pitch_;
  std::vector<float> weights_;      // c x columns_
  std::vector<float> bias_;         // columns_
  std::vector<float> column_sums_;  // columns_
  std::vector<float> frame_bias_;   // columns_, the pixel offset folded in
  std::vector<float> patch_bias_;   // columns_ x L, or empty: the position encoding's projections
  bool bound_ = false;
  ImageView image_;
  int next_row_ = 0;
  std::size_t slot_size_ = 0;         // floats of one image row's planes
  FloatBuffer planes_;                // row y in slot y modulo the patch size
  std::vector<std::size_t> in_slot_;  // position in a slot of a patch row's values, for the first patch of a row
  std::vector<const float*> values_;  // c
  std::vector<float*> outputs_;       // columns_
  FloatBuffer queries_, keys_, value_rows_, float_scratch_;
  std::vector<std::uint8_t> byte_scratch_;
};

}  // namespace iap
