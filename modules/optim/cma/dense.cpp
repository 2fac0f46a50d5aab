#include "dense.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dense.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

// Blocked as in Goto & van de Geijn 2008, "Anatomy of high-performance matrix multiplication": panels of both operands are packed
// so that a tile of the product is accumulated in registers while it reads memory in order.

HWY_BEFORE_NAMESPACE();
namespace iap::dense::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::CappedTag<double, 8>;
constexpr std::size_t tile_columns = 4, tile_vectors = 2, row_block = 96, depth_block = 320;

HWY_INLINE std::size_t lanes() { return hn::Lanes(Doubles()); }
HWY_INLINE std::size_t tile_rows() { return tile_vectors * lanes(); }

/// The right operand of a product: element (k, j) stands at data[k * by_depth + j * by_column] and counts weights[k] times
/// (`sign` times if there are no weights).
struct Right {
  const double* data;
  std::size_t by_depth, by_column;
  const double* weights = nullptr;
  double sign = 1;
};

/// Panels of tile_rows() rows, each depth x tile_rows(), the last one padded with zeros.
HWY_INLINE void pack_left(const double* a, std::size_t pitch, std::size_t rows, std::size_t depth, double* out) {
  const std::size_t height = tile_rows();
  for (std::size_t i = 0; i < rows; i += height) {
    const std::size_t count = std::min(height, rows - i);
    for (std::size_t k = 0; k < depth; ++k, out += height) {
      for (std::size_t r = 0; r < count; ++r) out[r] = a[k * pitch + i + r];
      for (std::size_t r = count; r < height; ++r) out[r] = 0;
    }
  }
}

/// Panels of tile_columns columns, each depth x tile_columns, the last one padded with zeros.
HWY_INLINE void pack_right(const Right& b, std::size_t first, std::size_t depth, std::size_t columns, double* out) {
  for (std::size_t j = 0; j < columns; j += tile_columns) {
    const std::size_t count = std::min(tile_columns, columns - j);
    for (std::size_t k = 0; k < depth; ++k, out += tile_columns) {
      const double weight = b.weights ? b.weights[first + k] : b.sign;
      for (std::size_t c = 0; c < tile_columns; ++c)
        out[c] = c < count ? weight * b.data[(first + k) * b.by_depth + (j + c) * b.by_column] : 0;
    }
  }
}

/// out (tile_rows() x tile_columns) = a packed left panel times a packed right panel.
HWY_INLINE void multiply_tile(const double* HWY_RESTRICT a, const double* HWY_RESTRICT b, std::size_t depth,
                              double* HWY_RESTRICT out) {
  const Doubles d;
  const std::size_t n = lanes();
  hn::Vec<Doubles> sum[tile_columns][tile_vectors];
  for (auto& column : sum)
    for (auto& value : column) value = hn::Zero(d);
  for (std::size_t k = 0; k < depth; ++k, a += tile_vectors * n, b += tile_columns) {
    hn::Vec<Doubles> left[tile_vectors];
    for (std::size_t v = 0; v < tile_vectors; ++v) left[v] = hn::Load(d, a + v * n);
    for (std::size_t c = 0; c < tile_columns; ++c) {
      const auto right = hn::Set(d, b[c]);
      for (std::size_t v = 0; v < tile_vectors; ++v) sum[c][v] = hn::Add(sum[c][v], hn::Mul(left[v], right));
    }
  }
  for (std::size_t c = 0; c < tile_columns; ++c)
    for (std::size_t v = 0; v < tile_vectors; ++v) hn::Store(sum[c][v], d, out + (c * tile_vectors + v) * n);
}

/// c (rows x columns, column-major) = keep c + a b. `lower`: only rows i >= j of column j are touched.
void add_product(const double* a, std::size_t a_pitch, const Right& b, double* c, std::size_t c_pitch, std::size_t rows,
                 std::size_t columns, std::size_t depth, double keep, bool lower, Workspace& workspace) {
  const std::size_t blocks = (depth + depth_block - 1) / depth_block, block = (depth + blocks - 1) / blocks;
  const std::size_t height = tile_rows(), packed_columns = (columns + tile_columns - 1) / tile_columns * tile_columns;
  double* left = workspace.at_least((row_block + packed_columns) * depth_block);
  double* right = left + row_block * depth_block;
  HWY_ALIGN double tile[tile_columns * tile_vectors * 8];
  for (std::size_t first = 0; first < depth; first += block) {
    const std::size_t count = std::min(block, depth - first);
    pack_right(b, first, count, columns, right);
    for (std::size_t row = 0; row < rows; row += row_block) {
      const std::size_t row_end = std::min(rows, row + row_block);
      pack_left(a + first * a_pitch + row, a_pitch, row_end - row, count, left);
      for (std::size_t j = 0; j < (lower ? std::min(columns, row_end) : columns); j += tile_columns) {
        for (std::size_t i = row; i < row_end; i += height) {
          if (lower && i + height <= j) continue;
          multiply_tile(left + (i - row) * count, right + j * count, count, tile);
          for (std::size_t column = j; column < std::min(columns, j + tile_columns); ++column) {
            const double* sum = tile + (column - j) * height;
            double* out = c + column * c_pitch + i;
            const std::size_t begin = lower && column > i ? column - i : 0, end = std::min(height, row_end - i);
            for (std::size_t r = begin; r < end; ++r) out[r] = keep * out[r] + sum[r];
          }
        }
      }
    }
    keep = 1;
  }
}

void multiply_lower(const double* a, std::size_t n, const double* z, std::size_t columns, double* y, Workspace& workspace) {
  std::fill_n(y, n * columns, 0.0);
  for (std::size_t k = 0; k < n; k += depth_block) {
    const std::size_t depth = std::min(depth_block, n - k);
    add_product(a + k * n + k, n, {z + k, 1, n}, y + k, n, n - k, columns, depth, 1, false, workspace);
  }
}

void update_lower(double* c, std::size_t n, double keep, const double* y, const double* weights, std::size_t columns,
                  Workspace& workspace) {
  add_product(y, n, {y, n, 1, weights}, c, n, n, n, columns, keep, true, workspace);
}

/// Columns [begin, end) of the factor, when those before them have been subtracted.
bool factor_columns(double* c, std::size_t n, std::size_t begin, std::size_t end) {
  for (std::size_t j = begin; j < end; ++j) {
    for (std::size_t k = begin; k < j; ++k)
      for (std::size_t i = j; i < end; ++i) c[j * n + i] -= c[k * n + i] * c[k * n + j];
    const double pivot = c[j * n + j];
    if (!(pivot > 0) || !std::isfinite(pivot)) return false;
    const double root = std::sqrt(pivot);
    for (std::size_t i = j; i < end; ++i) c[j * n + i] /= root;
  }
  constexpr std::size_t strip = 64;
  for (std::size_t row = end; row < n; row += strip) {
    const std::size_t count = std::min(strip, n - row);
    for (std::size_t j = begin; j < end; ++j) {
      double* HWY_RESTRICT out = c + j * n + row;
      for (std::size_t k = begin; k < j; ++k) {
        const double factor = c[k * n + j];
        const double* HWY_RESTRICT in = c + k * n + row;
        for (std::size_t i = 0; i < count; ++i) out[i] -= in[i] * factor;
      }
      const double pivot = c[j * n + j];
      for (std::size_t i = 0; i < count; ++i) out[i] /= pivot;
    }
  }
  return true;
}

bool factor_lower(double* c, std::size_t n, Workspace& workspace) {
  constexpr std::size_t outer = 192, inner = 32;
  const auto subtract = [&](std::size_t begin, std::size_t end, std::size_t columns_end) {
    const double* a = c + begin * n + end;
    add_product(a, n, {a, n, 1, nullptr, -1}, c + end * n + end, n, n - end, columns_end - end, end - begin, 1, true, workspace);
  };
  for (std::size_t panel = 0; panel < n; panel += outer) {
    const std::size_t panel_end = std::min(n, panel + outer);
    for (std::size_t j = panel; j < panel_end; j += inner) {
      const std::size_t end = std::min(panel_end, j + inner);
      if (!factor_columns(c, n, j, end)) return false;
      if (end < panel_end) subtract(j, end, panel_end);
    }
    if (panel_end < n) subtract(panel, panel_end, n);
  }
  return true;
}

}  // namespace iap::dense::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace iap::dense {

HWY_EXPORT(multiply_lower);
HWY_EXPORT(update_lower);
HWY_EXPORT(factor_lower);

double* Workspace::at_least(std::size_t count) {
  constexpr std::size_t alignment = 64, slack = alignment / sizeof(double);
  if (memory_.size() < count + slack) memory_.resize(count + slack);
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
  return memory_.data() + ((address + alignment - 1) / alignment * alignment - address) / sizeof(double);
}

void multiply_lower(const double* a, std::size_t n, const double* z, std::size_t columns, double* y, Workspace& workspace) {
  HWY_DYNAMIC_DISPATCH(multiply_lower)(a, n, z, columns, y, workspace);
}

void update_lower(double* c, std::size_t n, double keep, const double* y, const double* weights, std::size_t columns,
                  Workspace& workspace) {
  HWY_DYNAMIC_DISPATCH(update_lower)(c, n, keep, y, weights, columns, workspace);
}

bool factor_lower(double* c, std::size_t n, Workspace& workspace) { return HWY_DYNAMIC_DISPATCH(factor_lower)(c, n, workspace); }

}  // namespace iap::dense
#endif
