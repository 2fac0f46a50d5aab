// The attention blocks by their definitions: plain loops in double precision over every pair of patches.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "helpers.hpp"
import iap.attention;

namespace reference {

using Rows = std::vector<std::vector<double>>;

/// X: the patches of an image, row-major, values in row, column, channel order.
inline Rows patches(const iap::Image& image, int size, int stride, double offset) {
  const auto& shape = image.shape();
  Rows rows;
  for (int top = 0; top + size <= shape.height; top += stride)
    for (int left = 0; left + size <= shape.width; left += stride) {
      rows.emplace_back();
      for (int y = top; y < top + size; ++y)
        for (int x = left; x < left + size; ++x)
          for (int channel = 0; channel < shape.channels; ++channel) {
            const auto at = static_cast<std::size_t>((y * shape.width + x) * shape.channels + channel);
            rows.back().push_back(offset + (shape.type == iap::PixelType::uint8 ? image.bytes()[at] / 255.0 : image.floats()[at]));
          }
    }
  return rows;
}

/// The sinusoidal encoding as documented: the first ceil(c / 2) values from the row, the others from the column.
inline Rows sinusoidal(int rows, int columns, int c, double scale) {
  Rows table;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      table.emplace_back();
      for (int v = 0; v < c; ++v) {
        const int n = v < (c + 1) / 2 ? (c + 1) / 2 : c / 2, at = v < (c + 1) / 2 ? v : v - (c + 1) / 2;
        const double angle = (v < (c + 1) / 2 ? row : column) / std::pow(10000.0, 2.0 * (at / 2) / n);
        table.back().push_back(scale * (at % 2 == 0 ? std::sin(angle) : std::cos(angle)));
      }
    }
  return table;
}

/// A slice as a matrix of rows with `columns` values.
inline Rows matrix(const iap::Policy& policy, const std::string& name, std::size_t columns) {
  const auto values = slice(policy, name);
  Rows rows;
  for (std::size_t at = 0; at < values.size(); at += columns) rows.emplace_back(values.begin() + at, values.begin() + at + columns);
  return rows;
}

inline Rows add(Rows a, const Rows& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t k = 0; k < a[i].size(); ++k) a[i][k] += b[i][k];
  return a;
}

/// A B, A being rows of b.size() values.
inline Rows product(const Rows& a, const Rows& b) {
  Rows out;
  for (const auto& row : a) {
    out.emplace_back(b.front().size());
    for (std::size_t k = 0; k < row.size(); ++k)
      for (std::size_t j = 0; j < b[k].size(); ++j) out.back()[j] += row[k] * b[k][j];
  }
  return out;
}

inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// K(q, k) of projections q and k.
using Kernel = std::function<double(const std::vector<double>&, const std::vector<double>&)>;

inline double relu(const std::vector<double>& q, const std::vector<double>& k) {
  double sum = 0;
  for (std::size_t i = 0; i < q.size(); ++i) sum += std::max(q[i], 0.0) * std::max(k[i], 0.0);
  return sum;
}

inline double softmax(const std::vector<double>& q, const std::vector<double>& k) {
  return std::exp(dot(q, k) / std::sqrt(static_cast<double>(q.size())));
}

/// The estimate of the softmax kernel by the projections of `seed`, from one pair (v1 section 4.1).
inline Kernel estimate(iap::FeatureKind kind, int d, int m, int r, std::uint64_t seed) {
  const auto drawn = iap::draw_projections(iap::Ensemble::orthogonal, d, m, r, seed);
  return [=](const std::vector<double>& q, const std::vector<double>& k) {
    const double root = std::pow(d, 0.25);
    const auto along = [&](const std::vector<float>& rows, int row, const std::vector<double>& x) {
      double sum = 0;
      for (int i = 0; i < d; ++i) sum += rows[static_cast<std::size_t>(row * d + i)] * x[static_cast<std::size_t>(i)] / root;
      return sum;
    };
    const double squares = (dot(q, q) + dot(k, k)) / root / root / 2;
    double exponential = 0, trigonometric = 0, angular = 0;
    for (int i = 0; i < m; ++i) {
      const double a = along(drawn.omega, i, q), b = along(drawn.omega, i, k);
      exponential += std::exp(a + b - squares) / m;
      trigonometric += std::cos(a - b) * std::exp(squares) / m;
    }
    if (kind == iap::FeatureKind::exp) return exponential;
    if (kind == iap::FeatureKind::trig) return trigonometric;
    for (int j = 0; j < r; ++j) angular += ((along(drawn.xi, j, q) < 0) == (along(drawn.xi, j, k) < 0) ? 1.0 : -1.0) / r;
    return (trigonometric + exponential + angular * trigonometric - angular * exponential) / 2;
  };
}

/// A, L x L; rows divided by their sums if `normalise`, else by L.
inline Rows attention(const Rows& queries, const Rows& keys, const Kernel& kernel, bool normalise) {
  Rows rows;
  for (const auto& q : queries) {
    rows.emplace_back();
    for (const auto& k : keys) rows.back().push_back(kernel(q, k));
    const double total =
        normalise ? std::accumulate(rows.back().begin(), rows.back().end(), 0.0) : static_cast<double>(keys.size());
    for (double& a : rows.back()) a = total == 0 ? 0 : a / total;
  }
  return rows;
}

/// The indices of the largest, best first, the lower one among equals.
inline std::vector<int> best(const std::vector<double>& scores, int top) {
  std::vector<int> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](int a, int b) {
    const double x = scores[static_cast<std::size_t>(a)], y = scores[static_cast<std::size_t>(b)];
    return x > y || (x == y && a < b);
  });
  order.resize(static_cast<std::size_t>(top));
  return order;
}

}  // namespace reference
