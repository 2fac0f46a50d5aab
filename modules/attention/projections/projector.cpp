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

// What pixels plus their offset hardly exceed.
constexpr double largest_pixel = 2;

std::size_t padded(int count) { return (static_cast<std::size_t>(count) + 15) / 16 * 16 + simd::padding; }

simd::RowLayout row_layout(const PatchGrid& grid, int width, std::size_t plane_pitch) {
  return {width, grid.image().channels, grid.stride(), std::min(grid.size(), grid.stride()), plane_pitch};
}

}  // namespace

FloatBuffer::FloatBuffer(std::size_t size)
    : data_(static_cast<float*>(::operator new(std::max<std::size_t>(size, 1) * sizeof(float), std::align_val_t{64}))),
      size_(size) {
  std::fill_n(data_.get(), size, 0.0F);
}

PatchProjector::PatchProjector(const PatchGrid& grid, int d, int values, int threads)
    : grid_(grid),
      d_(d),
      columns_(2 * d + values),
      one_pixel_(grid.size() == 1 && grid.stride() == 1),
      chunk_rows_(std::min(grid.rows(), (chunk_patches + grid.columns() - 1) / grid.columns())),
      pitch_(padded(chunk_rows_ * grid.columns())),
      weights_(static_cast<std::size_t>(grid.values()) * columns_),
      bias_(columns_),
      column_sums_(columns_),
      frame_bias_(columns_),
      workers_(threads) {
  const std::size_t key_count = pitch_ * d * chunks();
  const bool keep = key_count * sizeof(float) <= most_kept_bytes;
  if (keep) keys_ = FloatBuffer(key_count);
  const int width = one_pixel_ ? count(0) : grid.image().width;
  plane_pitch_ = padded((width + grid.stride() - 1) / grid.stride());
  const simd::RowLayout layout = row_layout(grid, width, plane_pitch_);
  slot_size_ = layout.plane_pitch * layout.phases * layout.channels;
  for (int x = 0; x < grid.size(); ++x)
    for (int channel = 0; channel < layout.channels; ++channel)
      in_slot_.push_back((x % grid.stride() * layout.channels + channel) * layout.plane_pitch + x / grid.stride());
  for (Worker& worker : workers_) {
    worker.planes = FloatBuffer(slot_size_ * grid.size());
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
  patch_bias_.resize(encoding.empty() ? 0 : patches * columns_);
  if (encoding.empty()) return;
  const float unit = grid_.image().type == PixelType::uint8 ? 255.0F : 1;
  std::ranges::fill(patch_bias_, 0.0F);
  // Beyond that, bytes' factor may take an encoding past floats.
  constexpr float most = 1e36F;
  for (std::size_t patch = 0; patch < patches; ++patch)
    for (std::size_t v = 0; v < values; ++v) {
      const float value = unit * std::clamp(encoding[patch * values + v], -most, most);
      const float* weight = weights_.data() + v * columns_;
      for (int o = 0; o < columns_; ++o) patch_bias_[o * patches + patch] += value * weight[o];
    }
}

void PatchProjector::begin(const ImageView& image, float pixel_offset) {
  image_ = image;
  for (Worker& worker : workers_) worker.next_chunk = -1;
  for (int o = 0; o < columns_; ++o) frame_bias_[o] = bias_[o] + pixel_offset * column_sums_[o];
}

void PatchProjector::load_row(std::size_t first_pixel, int width, float* planes, Worker& worker) {
  const simd::RowLayout layout = row_layout(grid_, width, plane_pitch_);
  const std::size_t begin = first_pixel * layout.channels;
  if (grid_.image().type == PixelType::uint8)
    simd::load_row(layout, image_.bytes() + begin, worker.byte_scratch.data(), planes);
  else
    simd::load_row(layout, image_.floats() + begin, worker.float_scratch.data(), planes);
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
  const int size = grid_.size(), columns = one_pixel_ ? count(chunk) : grid_.columns(), width = grid_.image().width;
  if (chunk != worker.next_chunk) worker.next_row = 0;
  worker.next_chunk = chunk + 1;
  const int first_row = chunk * chunk_rows_, end_row = one_pixel_ ? first_row + 1 : std::min(grid_.rows(), first_row + chunk_rows_);
  int at = 0;
  for (int row = first_row; row < end_row; ++row, at += columns) {
    const int top = row * grid_.stride();
    for (int y = std::max(worker.next_row, top); y < top + size; ++y)
      load_row(static_cast<std::size_t>(y) * width, one_pixel_ ? columns : width, worker.planes.data() + y % size * slot_size_,
               worker);
    worker.next_row = one_pixel_ ? 0 : top + size;
    const float** value = worker.values.data();
    for (int y = top; y < top + size; ++y) {
      const float* slot = worker.planes.data() + y % size * slot_size_;
      for (const std::size_t position : in_slot_) *value++ = slot + position;
    }
    for (int o = first_column; o < end_column; ++o) worker.outputs[o] = row_of(o, chunk, worker) + at;
    // Vectors overrun the end of the row; the next row of patches writes over that.
    simd::linear(worker.values.data(), grid_.values(), weights_.data() + first_column, columns_, frame_bias_.data() + first_column,
                 end_column - first_column, columns, worker.outputs.data() + first_column);
    if (patch_bias_.empty()) continue;
    for (int o = first_column; o < end_column; ++o) {
      const float* bias = patch_bias_.data() + static_cast<std::size_t>(o) * grid_.count() + row * grid_.columns();
      for (int j = 0; j < columns; ++j) worker.outputs[o][j] += bias[j];
    }
  }
}

}  // namespace iap
