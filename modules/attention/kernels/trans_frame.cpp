module;
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>

#include "attention/simd/simd.hpp"
#include "attention/simd/trans.hpp"
module iap.attention;
import iap.core;
import :internal;
import :projector;
import :trans_frame;

namespace iap {

TransFrame::TransFrame(const PatchGrid& grid, int n, const TransShape& shape, InputForm form)
    : projector_(grid, n, shape.projected ? shape.values : 0),
      shape_(shape),
      form_(form),
      pitch_(pitch_of(grid)),
      queries_(pitch_ * n),
      keys_(pitch_ * n),
      values_(pitch_ * (shape.values + 1)),
      compression_(pitch_ * shape.tokens),
      sums_(static_cast<std::size_t>(shape.tokens) * shape.values) {
  std::fill_n(values(0) + shape.values * pitch_, grid.count(), 1.0F);
}

std::size_t TransFrame::pitch_of(const PatchGrid& grid) {
  return (static_cast<std::size_t>(grid.count()) + simd::lanes - 1) / simd::lanes * simd::lanes + simd::padding;
}

double TransFrame::bytes(const PatchGrid& grid, int n, const TransShape& shape, bool encoded) {
  const double rows = 2.0 * n + (shape.values + 1.0) + shape.tokens, sums = static_cast<double>(shape.tokens) * shape.values;
  return PatchProjector::bytes(grid, n, shape.projected ? shape.values : 0, 1, encoded) +
         sizeof(float) * static_cast<double>(pitch_of(grid)) * rows + sizeof(double) * sums;
}

void TransFrame::bind(const HeadWeights& head, std::span<const float> value, std::span<const float> compression) {
  const std::size_t patches = count();
  if (compression.size() != patches * shape_.tokens)
    throw Error(text("attention: the compression P holds ", compression.size(), " values where ", patches * shape_.tokens,
                     " (l x L) were expected"));
  const std::size_t wanted = shape_.projected ? static_cast<std::size_t>(grid().values()) * shape_.values : 0;
  if (value.size() != wanted)
    throw Error(text("attention: the value matrix holds ", value.size(), " values where ", wanted, " (c x dV) were expected"));
  projector_.bind(head, form_.normalised ? 1.0F : form_.factor, value);
  compression_scale_ = scale_down(largest_magnitude(compression), largest_value);
  for (int i = 0; i < shape_.tokens; ++i)
    std::ranges::transform(compression.subspan(i * patches, patches), compression_.data() + i * pitch_,
                           [&](float weight) { return static_cast<float>(compression_scale_ * weight); });
}

void TransFrame::project(const ImageView& image, float pixel_offset, std::size_t out_size) {
  if (out_size != sums_.size())
    throw Error(text("attention: room for ", out_size, " outputs, IAP-trans has ", shape_.tokens, " x ", shape_.values));
  projector_.begin(image, pixel_offset);
  for (int chunk = 0; chunk < projector_.chunks(); ++chunk) {
    projector_.project(chunk);
    const auto take = [&](const float* rows, int row_count, float* target) {
      for (int k = 0; k < row_count; ++k)
        std::memcpy(target + k * pitch_, rows + k * projector_.pitch(), projector_.count(chunk) * sizeof(float));
    };
    const int first = projector_.first(chunk);
    take(projector_.queries(), inputs(), queries(first));
    take(projector_.keys(chunk), inputs(), keys(first));
    if (shape_.projected) take(projector_.values(), shape_.values, values(first));
  }
  largest_square_ = 0;
  for (float* x : {queries(0), keys(0)}) {
    if (form_.normalised) simd::normalise_columns(x, pitch_, inputs(), count(), form_.factor);
    largest_square_ = std::max(largest_square_, simd::largest_square(x, pitch_, inputs(), count()));
  }
  scale_values();
  std::ranges::fill(sums_, 0.0);
}

void TransFrame::scale_values() {
  value_scale_ = projector_.value_scale();
  if (shape_.projected) return;
  double largest = 0;
  for (int k = 0; k < shape_.values; ++k)
    largest = std::max<double>(largest, largest_magnitude({values(0) + k * pitch_, static_cast<std::size_t>(count())}));
  value_scale_ = scale_down(largest, largest_value);
  if (value_scale_ == 1) return;
  for (int k = 0; k < shape_.values; ++k)
    for (int j = 0; j < count(); ++j) {
      float& value = values(0)[k * pitch_ + j];
      value = static_cast<float>(value_scale_ * value);
    }
}

void TransFrame::add_attended(float* rows, int first, int patches) {
  if (shape_.residual) simd::add_rows(rows, shape_.values, values(first), pitch_, patches);
  simd::clear_tail(rows, shape_.values, patches);
  simd::add_products(compression(first), pitch_, shape_.tokens, rows, simd::block, shape_.values, patches, sums_.data());
}

void TransFrame::add_votes(float* rows, int first, int patches) {
  if (shape_.residual) simd::add_rows(rows, shape_.tokens, compression(first), pitch_, patches);
  simd::clear_tail(rows, shape_.tokens, patches);
  simd::add_products(rows, simd::block, shape_.tokens, values(first), pitch_, shape_.values, patches, sums_.data());
}

void TransFrame::write(std::span<float> out) const {
  constexpr double most = 1e30;
  const double scale = 1 / (value_scale_ * compression_scale_);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double value = sums_[i] * scale;
    out[i] = static_cast<float>(value > most ? most : value < -most ? -most : value);
  }
}

}  // namespace iap
