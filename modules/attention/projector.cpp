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

int split_count(int count, int parts) { return (count + parts - 1) / parts; }

}  // namespace

FloatBuffer::FloatBuffer(std::size_t size)
    : data_(static_cast<float*>(::operator new(std::max<std::size_t>(size, 1) * sizeof(float), std::align_val_t{64}))),
      size_(size) {
  std::fill_n(data_.get(), size, 0.0F);
}

PatchProjector::PatchProjector(const PatchGrid& grid, int d)
    : grid_(grid),
      d_(d),
      phases_(std::min(grid.size(), grid.stride())),
      chunk_rows_(std::min(grid.rows(), (chunk_patches + grid.columns() - 1) / grid.columns())),
      plane_pitch_(padded(split_count(grid.image().width, grid.stride()))),
      pitch_(padded(chunk_rows_ * grid.columns())),
      planes_(plane_pitch_ * grid.size() * phases_ * grid.image().channels),
      queries_(pitch_ * d),
      keys_(pitch_ * d * chunks()),
      values_(grid.values()) {
  // Room for the row split by channel, and for one channel split by stride.
  const int channels = grid.image().channels;
  const std::size_t scratch = padded(grid.image().width) * channels + plane_pitch_ * grid.stride();
  if (grid.image().type == PixelType::uint8)
    byte_scratch_.resize(scratch);
  else
    float_scratch_ = FloatBuffer(scratch);
}

int PatchProjector::count(int chunk) const { return std::min(chunk_rows_, grid_.rows() - chunk * chunk_rows_) * grid_.columns(); }

void PatchProjector::bind_head(Head& head, std::span<const float> weights, std::span<const float> bias, float factor) {
  head.weights.assign(weights.begin(), weights.end());
  head.bias.assign(d_, 0.0F);
  std::ranges::copy(bias, head.bias.begin());
  for (float& value : head.bias) value *= factor;
  head.column_sums.resize(d_);
  head.shifted_bias.resize(d_);
  const float pixel = grid_.image().type == PixelType::uint8 ? factor / 255.0F : factor;
  for (int o = 0; o < d_; ++o) {
    double sum = 0;
    for (int v = 0; v < grid_.values(); ++v) sum += weights[static_cast<std::size_t>(v) * d_ + o];
    head.column_sums[o] = factor * static_cast<float>(sum);
  }
  for (float& value : head.weights) value *= pixel;
}

void PatchProjector::bind(const HeadWeights& weights, float factor) {
  bind_head(query_, weights.query, weights.query_bias, factor);
  bind_head(key_, weights.key, weights.key_bias, factor);
  bound_ = true;
}

void PatchProjector::begin(const ImageView& image, float pixel_offset) {
  image_ = image;
  next_row_ = 0;
  for (Head* head : {&query_, &key_})
    for (int o = 0; o < d_; ++o) head->shifted_bias[o] = head->bias[o] + pixel_offset * head->column_sums[o];
}

float* PatchProjector::plane(int slot, int phase, int channel) {
  return planes_.data() + plane_pitch_ * (channel + grid_.image().channels * (phase + static_cast<std::size_t>(phases_) * slot));
}

void PatchProjector::load_row(int y) {
  const int width = grid_.image().width, channels = grid_.image().channels, stride = grid_.stride(), slot = y % grid_.size();
  const std::size_t begin = static_cast<std::size_t>(y) * width * channels, channel_pitch = padded(width);
  const auto split_into_planes = [&](const auto* row, auto* scratch, const auto& store) {
    auto* by_phase = scratch + channel_pitch * channels;
    if (channels > 1) simd::split(row, width * channels, channels, scratch, channel_pitch);
    for (int channel = 0; channel < channels; ++channel) {
      const auto* values = channels > 1 ? scratch + channel * channel_pitch : row;
      if (stride > 1) simd::split(values, width, stride, by_phase, plane_pitch_);
      for (int phase = 0; phase < phases_; ++phase)
        store(stride > 1 ? by_phase + phase * plane_pitch_ : values, split_count(width - phase, stride),
              plane(slot, phase, channel));
    }
  };
  if (grid_.image().type == PixelType::uint8)
    split_into_planes(image_.bytes() + begin, byte_scratch_.data(), simd::widen);
  else
    split_into_planes(image_.floats() + begin, float_scratch_.data(),
                      [](const float* in, int count, float* out) { std::copy_n(in, count, out); });
}

void PatchProjector::project(int chunk) {
  const int size = grid_.size(), stride = grid_.stride(), channels = grid_.image().channels;
  float* keys = keys_.data() + static_cast<std::size_t>(chunk) * d_ * pitch_;
  const int last = std::min(grid_.rows(), (chunk + 1) * chunk_rows_);
  int at = 0;
  for (int row = chunk * chunk_rows_; row < last; ++row, at += grid_.columns()) {
    const int top = row * stride;
    for (int y = std::max(next_row_, top); y < top + size; ++y) load_row(y);
    next_row_ = top + size;
    const float** value = values_.data();
    for (int y = top; y < top + size; ++y)
      for (int x = 0; x < size; ++x)
        for (int channel = 0; channel < channels; ++channel) *value++ = plane(y % size, x % stride, channel) + x / stride;
    // Vectors overrun the end of the row; the next row of patches writes over that.
    simd::linear(values_.data(), grid_.values(), query_.weights.data(), query_.shifted_bias.data(), d_, grid_.columns(),
                 queries_.data() + at, pitch_);
    simd::linear(values_.data(), grid_.values(), key_.weights.data(), key_.shifted_bias.data(), d_, grid_.columns(), keys + at,
                 pitch_);
  }
}

}  // namespace iap
