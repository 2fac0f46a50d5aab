module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <vector>
module iap.attention:projector;
import iap.core;
import :kernel;
import :patches;

namespace iap {

/// With queries and keys, and with values and weights P, of at most these sizes, floats hold what kernels make of them.
inline constexpr double longest_input = 1 << 27, largest_value = 1 << 12;

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

/// The planes of one frame for several projectors of alike grids (`SharedPlanes`), block by block.
class FramePlanes {
 public:
  /// Those through which this thread looks at the image; null where it shares none, or others.
  static FramePlanes* of_look(const ImageView& image, const PatchGrid& grid, std::size_t blocks, std::size_t block_floats);
  /// Another frame comes.
  void forget() { data_ = nullptr; }
  float* block(std::size_t index) { return planes_.data() + index * block_floats_; }
  /// Whether they are there; from now on they are.
  bool made(std::size_t index) {
    const bool before = made_[index];
    made_[index] = true;
    return before;
  }

 private:
  const void* data_ = nullptr;  // of what is shown; null: nobody has looked yet
  ImageShape shape_;
  int size_ = 0, stride_ = 0;
  std::size_t block_floats_ = 0;
  std::vector<bool> made_;
  FloatBuffer planes_;
};

/// Queries, keys and, if wanted, a third projection of a frame, chunk by chunk (whole rows of patches), without ever forming the
/// L x c matrix of patches: each image row is split once into planes of equal channel and equal column modulo the stride, where
/// neighbouring patches are neighbouring floats; where patches touch without overlap, those of the next row follow. A chunk is d
/// rows of count(chunk) floats at distance `pitch`. Queries and values live until the worker's next chunk. A position encoding is a
/// constant of the weights: PE W becomes a bias of every patch, so that a frame pays one addition a number for it, and nothing
/// where there is none. Patches whose pixels all are minus the offset, to a few roundings, project to b + PE W exactly: kernels
/// would take for a direction, or for a sign, what rounding leaves of pixels and offset, which every instruction set does in its
/// own way.
class PatchProjector {
 public:
  /// `values`: columns of the third projection, V = X' W_V. Up to `threads` threads may project chunks of a frame at the same time,
  /// each under its own worker number in [0, threads).
  PatchProjector(const PatchGrid& grid, int d, int values = 0, int threads = 1);
  /// Bytes that such a projector takes; `encoded`: with what a position encoding adds to them when weights are bound.
  static double bytes(const PatchGrid& grid, int d, int values, int threads, bool encoded);
  /// Rows of patches in a chunk.
  static int chunk_rows(const PatchGrid& grid);

  /// Takes W and b of queries and keys times `factor`, and W_V (c x values()) as it is; copies them. Parameters so large that
  /// products of what they project would pass floats are scaled down, each of the three with its bias and encoding by a power of
  /// two.
  void bind(const HeadWeights& weights, float factor, std::span<const float> value_weights = {});
  bool bound() const { return bound_; }
  /// Those powers of two; 1 where nothing was scaled down.
  double query_scale() const { return query_scale_; }
  double key_scale() const { return key_scale_; }
  double value_scale() const { return value_scale_; }
  const PatchGrid& grid() const { return grid_; }
  int d() const { return d_; }
  int chunks() const { return (grid_.rows() + chunk_rows_ - 1) / chunk_rows_; }
  int first(int chunk) const { return chunk * chunk_rows_ * grid_.columns(); }
  int count(int chunk) const;
  std::size_t pitch() const { return pitch_; }

  /// A new frame; chunks are then projected in any order. A worker whose next chunk follows its last keeps the image rows they
  /// share.
  void begin(const ImageView& image, float pixel_offset);
  void project(int chunk, int worker = 0);
  const float* queries(int worker = 0) const { return workers_[worker].queries.data(); }
  const float* values(int worker = 0) const { return workers_[worker].value_rows.data(); }
  /// Of a chunk that was projected. Keys of small frames are kept; those of large ones would leave the inner caches, from where
  /// fetching them costs more than projecting them again when they are asked for: they live until the worker asks for others.
  const float* keys(int chunk, int worker = 0);

 private:
  struct Worker {
    int next_chunk = -1, next_row = 0;
    FloatBuffer planes;
    std::vector<const float*> values;  // c
    std::vector<float*> outputs;       // columns_
    FloatBuffer queries, value_rows, keys, float_scratch;
    std::vector<std::uint8_t> byte_scratch;
  };

  int blocks_a_chunk() const { return (chunk_rows_ + block_rows_ - 1) / block_rows_; }
  bool keeps_keys() const { return keys_.size() > 0; }
  const float* load(int chunk, int row, int rows, Worker& worker);
  void project(int chunk, Worker& worker, int first_column, int end_column);
  float* row_of(int column, int chunk, Worker& worker);
  void bind_encoding(std::span<const float> encoding);

  PatchGrid grid_;
  int d_, columns_;  // columns_: of queries, values and keys together, in this order
  bool tiled_;       // patches touch without overlap: rows of patches are one long row
  int chunk_rows_;
  int block_rows_;  // rows of patches that are projected together; 1 unless tiled
  std::size_t pitch_;
  std::vector<float> weights_;      // c x columns_
  std::vector<float> bias_;         // columns_
  std::vector<float> column_sums_;  // columns_
  std::vector<float> frame_bias_;   // columns_, the pixel offset folded in
  std::vector<float> patch_bias_;   // columns_ x L, or empty: the position encoding's projections
  // What a pixel that is minus the offset is in the planes, to so much; looked for where pixels can be that, unless they are 0.
  float zero_pixel_ = 0, zero_slack_ = 0;
  bool may_cancel_ = false;
  bool bound_ = false;
  double query_scale_ = 1, key_scale_ = 1, value_scale_ = 1;
  ImageView image_;
  FramePlanes* shared_ = nullptr;     // of the frame, where several look at it
  std::size_t slot_pitch_ = 0;        // floats of one image row's planes
  std::vector<std::size_t> in_slot_;  // position in a slot of a patch row's values, for the first patch of a row
  FloatBuffer keys_;                  // of all chunks, or empty
  std::vector<Worker> workers_;
};

/// Runs of chunks that threads take turns at. Where they begin depends on the grid alone; who sums over a frame sums within bands,
/// then over bands in order, and gets the same bits for any number of threads.
class Bands {
 public:
  Bands(const PatchProjector& projector, int threads)
      : chunks_(projector.chunks()),
        chunks_a_band_((band_patches + projector.count(0) - 1) / projector.count(0)),
        threads_(threads) {}

  int count() const { return (chunks_ + chunks_a_band_ - 1) / chunks_a_band_; }
  /// How many there are on a grid.
  static int count(const PatchGrid& grid) {
    const int rows = PatchProjector::chunk_rows(grid), chunks = (grid.rows() + rows - 1) / rows;
    const int patches = rows * grid.columns(), chunks_a_band = (band_patches + patches - 1) / patches;
    return (chunks + chunks_a_band - 1) / chunks_a_band;
  }
  /// Calls body(band, worker) once for every band.
  template <class Body>
  void for_each(const Body& body) const {
    const auto run = [&](std::size_t band, int worker) { body(static_cast<int>(band), worker); };
    parallel_for(static_cast<std::size_t>(count()), threads_, std::ref(run));
  }
  int first_chunk(int band) const { return band * chunks_a_band_; }
  int end_chunk(int band) const { return std::min(chunks_, (band + 1) * chunks_a_band_); }

 private:
  // Work for some ten microseconds at least, which is what starting threads costs.
  static constexpr int band_patches = 4096;
  int chunks_, chunks_a_band_, threads_;
};

}  // namespace iap
