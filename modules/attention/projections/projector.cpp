module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "attention/simd/simd.hpp"
module iap.attention;
import iap.core;
import :internal;
import :projector;

namespace iap {
namespace {

// Patches a chunk, at least: enough to fill vectors, few enough that a chunk's queries stay in the cache.
constexpr int chunk_patches = 512;
// Keys up to this size stay near until they are scored.
constexpr std::size_t most_kept_bytes = 512 << 10;

// Planes of rows that are projected together stay in the first cache, beside weights and results.
constexpr std::size_t most_block_bytes = 24 << 10;

// What pixels plus their offset hardly exceed.
constexpr double largest_pixel = 2;

// By how much, of its size, a pixel may miss minus the offset: both were rounded.
constexpr float few_roundings = 0x1p-22F;

int rows_in_block(const PatchGrid& grid) {
  const std::size_t row_bytes = sizeof(float) * grid.values() * grid.columns();
  return static_cast<int>(std::max<std::size_t>(1, most_block_bytes / row_bytes));
}

std::size_t padded(int count) { return (static_cast<std::size_t>(count) + 15) / 16 * 16 + simd::padding; }

simd::PlaneLayout plane_layout(const PatchGrid& grid, bool tiled, int block_rows) {
  const int width = grid.image().width, stride = grid.stride();
  simd::PlaneLayout layout{.width = width,
                           .channels = grid.image().channels,
                           .stride = stride,
                           .phases = std::min(grid.size(), stride),
                           .plane_pitch = padded(tiled ? block_rows * grid.columns() : (width + stride - 1) / stride),
                           .slots = grid.size(),
                           .step = tiled ? grid.columns() : 0,
                           .rows = block_rows * grid.size()};
  layout.slot_pitch = layout.plane_pitch * layout.phases * layout.channels;
  return layout;
}

bool touch_without_overlap(const PatchGrid& grid) {
  return grid.size() == grid.stride() && grid.image().width % grid.stride() == 0;
}

/// Of rows of patches that are projected together.
int block_rows_of(const PatchGrid& grid) {
  return touch_without_overlap(grid) ? std::min(PatchProjector::chunk_rows(grid), rows_in_block(grid)) : 1;
}

std::size_t pitch_of(const PatchGrid& grid) { return padded(PatchProjector::chunk_rows(grid) * grid.columns()); }

/// Numbers that the keys of all chunks are.
std::size_t key_count(const PatchGrid& grid, int d) {
  const int rows = PatchProjector::chunk_rows(grid);
  return pitch_of(grid) * d * ((grid.rows() + rows - 1) / rows);
}

bool keys_stay(const PatchGrid& grid, int d) { return key_count(grid, d) * sizeof(float) <= most_kept_bytes; }

}  // namespace

FloatBuffer::FloatBuffer(std::size_t size) : size_(size) {
  check_memory("attention: its workspace", sizeof(float) * static_cast<double>(size));
  data_.reset(static_cast<float*>(::operator new(std::max<std::size_t>(size, 1) * sizeof(float), std::align_val_t{64})));
  std::fill_n(data_.get(), size, 0.0F);
}

PatchProjector::PatchProjector(const PatchGrid& grid, int d, int values, int threads)
    : grid_(grid),
      d_(d),
      columns_(2 * d + values),
      tiled_(touch_without_overlap(grid)),
      chunk_rows_(chunk_rows(grid)),
      block_rows_(block_rows_of(grid)),
      pitch_(pitch_of(grid)),
      weights_(static_cast<std::size_t>(grid.values()) * columns_),
      bias_(columns_),
      column_sums_(columns_),
      frame_bias_(columns_),
      workers_(threads) {
  const bool keep = keys_stay(grid, d);
  if (keep) keys_ = FloatBuffer(key_count(grid, d));
  const simd::PlaneLayout layout = plane_layout(grid, tiled_, block_rows_);
  slot_pitch_ = layout.slot_pitch;
  for (int x = 0; x < grid.size(); ++x)
    for (int channel = 0; channel < layout.channels; ++channel)
      in_slot_.push_back((x % layout.stride * layout.channels + channel) * layout.plane_pitch + x / layout.stride);
  for (Worker& worker : workers_) {
    worker.planes = FloatBuffer(slot_pitch_ * grid.size());
    worker.values.resize(grid.values());
    worker.outputs.resize(columns_);
    worker.queries = FloatBuffer(pitch_ * d);
    worker.value_rows = FloatBuffer(pitch_ * values);
    if (!keep) worker.keys = FloatBuffer(pitch_ * d);
    if (grid.image().type == PixelType::uint8)
      worker.byte_scratch.resize(layout.scratch());
    else
      worker.float_scratch = FloatBuffer(layout.scratch());
  }
}

int PatchProjector::chunk_rows(const PatchGrid& grid) {
  return std::min(grid.rows(), (chunk_patches + grid.columns() - 1) / grid.columns());
}

// What the constructor makes, and `bind_encoding`.
double PatchProjector::bytes(const PatchGrid& grid, int d, int values, int threads, bool encoded) {
  const simd::PlaneLayout layout = plane_layout(grid, touch_without_overlap(grid), block_rows_of(grid));
  const bool keep = keys_stay(grid, d);
  const double inputs = grid.values(), columns = 2.0 * d + values, pitch = static_cast<double>(pitch_of(grid));
  const double rows = pitch * (static_cast<double>(d) * (keep ? 1 : 2) + values);
  const double worker = sizeof(float) * (rows + static_cast<double>(layout.slot_pitch) * grid.size()) +
                        sizeof(float*) * (inputs + columns) +
                        static_cast<double>(layout.scratch()) * static_cast<double>(grid.image().value_bytes()) + sizeof(Worker);
  const double weights = (inputs + 3) * columns + (keep ? static_cast<double>(key_count(grid, d)) : 0.0);
  const double added = encoded ? columns * grid.count() : 0.0, slots = static_cast<double>(grid.size()) * layout.channels;
  return sizeof(float) * (weights + added) + sizeof(std::size_t) * slots + threads * worker;
}

int PatchProjector::count(int chunk) const { return std::min(chunk_rows_, grid_.rows() - chunk * chunk_rows_) * grid_.columns(); }

void PatchProjector::bind(const HeadWeights& weights, float factor, std::span<const float> value_weights) {
  const float unit = grid_.image().type == PixelType::uint8 ? 1 / 255.0F : 1;
  const double reach = largest_pixel + largest_magnitude(weights.encoding);
  const auto bind_part = [&](std::span<const float> matrix, std::span<const float> bias, int first, int columns, float scale,
                             double most) {
    double longest = 0;
    for (int o = 0; o < columns; ++o) {
      double sum = 0;
      for (int v = 0; v < grid_.values(); ++v) sum += std::abs(matrix[static_cast<std::size_t>(v) * columns + o]);
      longest = std::max(longest, scale * (sum * reach + (bias.empty() ? 0 : std::abs(bias[o]))));
    }
    const double down = scale_down(longest, most);
    for (int o = 0; o < columns; ++o) {
      double sum = 0;
      for (int v = 0; v < grid_.values(); ++v) {
        const float weight = matrix[static_cast<std::size_t>(v) * columns + o];
        weights_[static_cast<std::size_t>(v) * columns_ + first + o] = static_cast<float>(down * (scale * unit) * weight);
        sum += weight;
      }
      column_sums_[first + o] = down == 1 ? scale * static_cast<float>(sum) : static_cast<float>(down * scale * sum);
      bias_[first + o] = bias.empty() ? 0.0F : static_cast<float>(down * scale * bias[o]);
    }
    return down;
  };
  query_scale_ = bind_part(weights.query, weights.query_bias, 0, d_, factor, longest_input);
  value_scale_ = bind_part(value_weights, {}, d_, columns_ - 2 * d_, 1, largest_value);
  key_scale_ = bind_part(weights.key, weights.key_bias, columns_ - d_, d_, factor, longest_input);
  bind_encoding(weights.encoding);
  bound_ = true;
}

void PatchProjector::bind_encoding(std::span<const float> encoding) {
  const std::size_t patches = grid_.count(), values = grid_.values();
  const std::size_t added = encoding.empty() ? 0 : patches * columns_;
  if (added > patch_bias_.capacity())
    check_memory("attention: its position encoding, projected", sizeof(float) * static_cast<double>(added));
  patch_bias_.resize(added);
  if (encoding.empty()) return;
  const float unit = grid_.image().type == PixelType::uint8 ? 255.0F : 1;
  std::ranges::fill(patch_bias_, 0.0F);
  // Beyond that, bytes' factor may take an encoding past floats.
  constexpr float most = 1e36F;
  Looks looks;
  for (std::size_t patch = 0; patch < patches; ++patch) {
    if (looks.due(values * columns_)) check_interrupt();
    for (std::size_t v = 0; v < values; ++v) {
      const float value = unit * std::clamp(encoding[patch * values + v], -most, most);
      const float* weight = weights_.data() + v * columns_;
      for (int o = 0; o < columns_; ++o) patch_bias_[o * patches + patch] += value * weight[o];
    }
  }
}

void PatchProjector::begin(const ImageView& image, float pixel_offset) {
  image_ = image;
  // Several threads would make and read blocks at the same time.
  const std::size_t blocks = static_cast<std::size_t>(chunks()) * blocks_a_chunk();
  shared_ = tiled_ && workers_.size() == 1 ? FramePlanes::of_look(image, grid_, blocks, slot_pitch_ * grid_.size()) : nullptr;
  for (Worker& worker : workers_) worker.next_chunk = -1;
  for (int o = 0; o < columns_; ++o) frame_bias_[o] = bias_[o] + pixel_offset * column_sums_[o];
  const bool bytes = image.shape.type == PixelType::uint8;
  zero_pixel_ = -pixel_offset * (bytes ? 255.0F : 1.0F);
  zero_slack_ = few_roundings * std::abs(zero_pixel_);
  may_cancel_ = pixel_offset != 0 && std::isfinite(zero_pixel_) &&
                (!bytes || std::abs(zero_pixel_ - std::nearbyint(zero_pixel_)) <= zero_slack_);
}

// The planes of `rows` rows of patches. Those of patches that overlap stay from one row of patches to the next.
const float* PatchProjector::load(int chunk, int first_row, int rows, Worker& worker) {
  float* planes = worker.planes.data();
  if (shared_) {
    const int block = chunk * blocks_a_chunk() + (first_row - chunk * chunk_rows_) / block_rows_;
    planes = shared_->block(block);
    if (shared_->made(block)) return planes;
  }
  const simd::PlaneLayout layout = plane_layout(grid_, tiled_, block_rows_);
  const int top = first_row * grid_.stride(), end = top + (rows - 1) * grid_.stride() + grid_.size();
  const int begin = tiled_ ? top : std::max(worker.next_row, top);
  worker.next_row = end;
  const std::size_t skipped = static_cast<std::size_t>(begin) * layout.width * layout.channels;
  const int first = tiled_ ? 0 : begin;
  if (grid_.image().type == PixelType::uint8)
    simd::load_rows(layout, image_.bytes() + skipped, first, end - begin, worker.byte_scratch.data(), planes);
  else
    simd::load_rows(layout, image_.floats() + skipped, first, end - begin, worker.float_scratch.data(), planes);
  return planes;
}

float* PatchProjector::row_of(int column, int chunk, Worker& worker) {
  if (column < d_) return worker.queries.data() + column * pitch_;
  if (column < columns_ - d_) return worker.value_rows.data() + (column - d_) * pitch_;
  const std::size_t key = column - (columns_ - d_);
  return keeps_keys() ? keys_.data() + (static_cast<std::size_t>(chunk) * d_ + key) * pitch_ : worker.keys.data() + key * pitch_;
}

void PatchProjector::project(int chunk, int worker) {
  project(chunk, workers_[worker], 0, keeps_keys() ? columns_ : columns_ - d_);
}

const float* PatchProjector::keys(int chunk, int worker) {
  if (!keeps_keys()) project(chunk, workers_[worker], columns_ - d_, columns_);
  return row_of(columns_ - d_, chunk, workers_[worker]);
}

void PatchProjector::project(int chunk, Worker& worker, int first_column, int end_column) {
  const int size = grid_.size(), first_row = chunk * chunk_rows_, end_row = std::min(grid_.rows(), first_row + chunk_rows_);
  if (chunk != worker.next_chunk) worker.next_row = 0;
  worker.next_chunk = chunk + 1;
  int at = 0, count = 0;
  for (int row = first_row; row < end_row; row += block_rows_, at += count) {
    const int rows = std::min(block_rows_, end_row - row), top = row * grid_.stride();
    count = rows * grid_.columns();
    const float* planes = load(chunk, row, rows, worker);
    const float** value = worker.values.data();
    for (int y = top; y < top + size; ++y) {
      const float* slot = planes + y % size * slot_pitch_;
      for (const std::size_t position : in_slot_) *value++ = slot + position;
    }
    for (int o = first_column; o < end_column; ++o) worker.outputs[o] = row_of(o, chunk, worker) + at;
    const auto columns =
        static_cast<int>(std::min<std::size_t>(columns_, things_between_looks(static_cast<std::size_t>(grid_.values()) * count)));
    for (int o = first_column; o < end_column; o += columns) {
      check_interrupt();
      // Vectors overrun the end of the block; the next block writes over that.
      simd::linear(worker.values.data(), grid_.values(), weights_.data() + o, columns_, frame_bias_.data() + o,
                   std::min(columns, end_column - o), count, worker.outputs.data() + o);
    }
    if (may_cancel_)
      simd::replace_constant(worker.values.data(), grid_.values(), zero_pixel_, zero_slack_, bias_.data() + first_column,
                             end_column - first_column, count, worker.outputs.data() + first_column);
    if (patch_bias_.empty()) continue;
    for (int o = first_column; o < end_column; ++o) {
      const float* bias = patch_bias_.data() + static_cast<std::size_t>(o) * grid_.count() + row * grid_.columns();
      for (int j = 0; j < count; ++j) worker.outputs[o][j] += bias[j];
    }
  }
}

}  // namespace iap
