module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "simd.hpp"
module iap.attention;
import iap.core;
import :projector;

namespace iap {
namespace {

// Patches a chunk, at least: enough to fill vectors, few enough that a chunk's queries stay in the cache.
constexpr int chunk_patches = 512;

std::size_t padded(int count) { return (static_cast<std::size_t>(count) + 15) / 16 * 16 + simd::padding; }

simd::RowLayout row_layout(const PatchGrid& grid) {
  const ImageShape& image = grid.image();
  return {image.width, image.channels, grid.stride(), std::min(grid.size(), grid.stride()),
          padded((image.width + grid.stride() - 1) / grid.stride())};
}

}  // namespace

FloatBuffer::FloatBuffer(std::size_t size)
    : data_(static_cast<float*>(::operator new(std::max<std::size_t>(size, 1) * sizeof(float), std::align_val_t{64}))),
      size_(size) {
  std::fill_n(data_.get(), size, 0.0F);
}

PatchProjector::PatchProjector(const PatchGrid& grid, int d, int threads, int values)
    : grid_(grid),
      d_(d),
      columns_(2 * d + values),
      chunk_rows_(std::min(grid.rows(), (chunk_patches + grid.columns() - 1) / grid.columns())),
      pitch_(padded(chunk_rows_ * grid.columns())),
      weights_(static_cast<std::size_t>(grid.values()) * columns_),
      bias_(columns_),
      column_sums_(columns_),
      frame_bias_(columns_),
      keys_(pitch_ * d * chunks()),
      workers_(threads) {
  const simd::RowLayout layout = row_layout(grid);
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
    if (grid.image().type == PixelType::uint8)
      worker.byte_scratch.resize(layout.scratch());
    else
      worker.float_scratch = FloatBuffer(layout.scratch());
  }
}

int PatchProjector::count(int chunk) const { return std::min(chunk_rows_, grid_.rows() - chunk * chunk_rows_) * grid_.columns(); }

void PatchProjector::bind(const HeadWeights& weights, float factor, std::span<const float> value_weights) {
  const float unit = grid_.image().type == PixelType::uint8 ? 1 / 255.0F : 1;
  const auto bind_part = [&](std::span<const float> matrix, std::span<const float> bias, int first, int columns, float scale) {
    for (int o = 0; o < columns; ++o) {
      double sum = 0;
      for (int v = 0; v < grid_.values(); ++v) {
        const float weight = matrix[static_cast<std::size_t>(v) * columns + o];
        weights_[static_cast<std::size_t>(v) * columns_ + first + o] = scale * unit * weight;
        sum += weight;
      }
      column_sums_[first + o] = scale * static_cast<float>(sum);
      bias_[first + o] = bias.empty() ? 0.0F : scale * bias[o];
    }
  };
  bind_part(weights.query, weights.query_bias, 0, d_, factor);
  bind_part(weights.key, weights.key_bias, d_, d_, factor);
  bind_part(value_weights, {}, 2 * d_, columns_ - 2 * d_, 1);
  bind_encoding(weights.encoding);
  bound_ = true;
}

void PatchProjector::bind_encoding(std::span<const float> encoding) {
  const std::size_t patches = grid_.count(), values = grid_.values();
  patch_bias_.resize(encoding.empty() ? 0 : patches * columns_);
  if (encoding.empty()) return;
  const float unit = grid_.image().type == PixelType::uint8 ? 255.0F : 1;
  std::ranges::fill(patch_bias_, 0.0F);
  for (std::size_t patch = 0; patch < patches; ++patch)
    for (std::size_t v = 0; v < values; ++v) {
      const float value = unit * encoding[patch * values + v];
      const float* weight = weights_.data() + v * columns_;
      for (int o = 0; o < columns_; ++o) patch_bias_[o * patches + patch] += value * weight[o];
    }
}

void PatchProjector::begin(const ImageView& image, float pixel_offset) {
  image_ = image;
  for (Worker& worker : workers_) worker.next_chunk = -1;
  for (int o = 0; o < columns_; ++o) frame_bias_[o] = bias_[o] + pixel_offset * column_sums_[o];
}

void PatchProjector::load_row(int y, Worker& worker) {
  const simd::RowLayout layout = row_layout(grid_);
  const std::size_t begin = static_cast<std::size_t>(y) * layout.width * layout.channels;
  float* planes = worker.planes.data() + y % grid_.size() * slot_size_;
  if (grid_.image().type == PixelType::uint8)
    simd::load_row(layout, image_.bytes() + begin, worker.byte_scratch.data(), planes);
  else
    simd::load_row(layout, image_.floats() + begin, worker.float_scratch.data(), planes);
}

void PatchProjector::project(int chunk, int number) {
  const int size = grid_.size();
  Worker& worker = workers_[number];
  if (chunk != worker.next_chunk) worker.next_row = 0;
  worker.next_chunk = chunk + 1;
  float* keys = keys_.data() + static_cast<std::size_t>(chunk) * d_ * pitch_;
  const int last = std::min(grid_.rows(), (chunk + 1) * chunk_rows_);
  int at = 0;
  for (int row = chunk * chunk_rows_; row < last; ++row, at += grid_.columns()) {
    const int top = row * grid_.stride();
    for (int y = std::max(worker.next_row, top); y < top + size; ++y) load_row(y, worker);
    worker.next_row = top + size;
    const float** value = worker.values.data();
    for (int y = top; y < top + size; ++y) {
      const float* slot = worker.planes.data() + y % size * slot_size_;
      for (const std::size_t position : in_slot_) *value++ = slot + position;
    }
    for (int o = 0; o < d_; ++o) {
      worker.outputs[o] = worker.queries.data() + o * pitch_ + at;
      worker.outputs[d_ + o] = keys + o * pitch_ + at;
    }
    for (int o = 2 * d_; o < columns_; ++o) worker.outputs[o] = worker.value_rows.data() + (o - 2 * d_) * pitch_ + at;
    // Vectors overrun the end of the row; the next row of patches writes over that.
    simd::linear(worker.values.data(), grid_.values(), weights_.data(), frame_bias_.data(), columns_, grid_.columns(),
                 worker.outputs.data());
    if (patch_bias_.empty()) continue;
    for (int o = 0; o < columns_; ++o) {
      const float* bias = patch_bias_.data() + static_cast<std::size_t>(o) * grid_.count() + row * grid_.columns();
      for (int j = 0; j < grid_.columns(); ++j) worker.outputs[o][j] += bias[j];
    }
  }
}

}  // namespace iap
