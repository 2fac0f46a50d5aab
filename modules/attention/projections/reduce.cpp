module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>
module iap.attention;
import iap.core;
import :internal;

namespace iap {
namespace {

double dot(const double* a, const double* b, int d) {
  double sum = 0;
  for (int k = 0; k < d; ++k) sum += a[k] * b[k];
  return sum;
}

}  // namespace

ReducedHead::ReducedHead(int values, int size)
    : c(values),
      d(size),
      n(dimensions(values, size)),
      weights(static_cast<std::size_t>(values) * n),
      bias(n),
      basis(static_cast<std::size_t>(n) * size) {
  for (int k = 0; k < n; ++k) basis[static_cast<std::size_t>(k) * d + k] = 1;
}

double ReducedHead::bytes(int c, int d) {
  const double n = dimensions(c, d);
  return sizeof(float) * (c + 1.0) * n + sizeof(double) * n * d;
}

void ReducedHead::bind(std::span<const float> matrix, std::span<const float> offset) {
  const auto row = [&](int i) { return i < c ? matrix.subspan(static_cast<std::size_t>(i) * d, d) : offset; };
  const std::size_t a_row = static_cast<std::size_t>(n) * d;
  Looks looks;
  if (n < d) {
    // Gram-Schmidt, twice a row; a row that depends on those before it leaves a zero behind.
    for (int i = 0; i <= c; ++i) {
      if (looks.due(4 * a_row)) check_interrupt();
      double* vector = basis.data() + static_cast<std::size_t>(i) * d;
      std::fill_n(vector, d, 0.0);
      std::ranges::copy(row(i), vector);
      const double length = std::sqrt(dot(vector, vector, d));
      for (int pass = 0; pass < 2; ++pass)
        for (int j = 0; j < i; ++j) {
          const double* other = basis.data() + static_cast<std::size_t>(j) * d;
          const double overlap = dot(vector, other, d);
          for (int k = 0; k < d; ++k) vector[k] -= overlap * other[k];
        }
      const double rest = std::sqrt(dot(vector, vector, d));
      const double scale = rest > 1e-12 * length ? 1 / rest : 0;
      for (int k = 0; k < d; ++k) vector[k] *= scale;
    }
  }
  const auto into_basis = [&](std::span<const float> u, std::span<float> out) {
    for (int o = 0; o < n; ++o) {
      double sum = 0;
      for (std::size_t k = 0; k < u.size(); ++k) sum += basis[static_cast<std::size_t>(o) * d + k] * u[k];
      // A rotation can make one number of many that are as large as floats can be.
      constexpr double most = 3e38;
      out[o] = static_cast<float>(sum > most ? most : sum < -most ? -most : sum);
    }
  };
  for (int i = 0; i < c; ++i) {
    if (looks.due(a_row)) check_interrupt();
    into_basis(row(i), std::span(weights).subspan(static_cast<std::size_t>(i) * n, n));
  }
  into_basis(offset, bias);
}

void ReducedHead::fold(std::span<const float> rows, int first_column, int columns, std::span<float> out) const {
  Looks looks;
  for (std::size_t i = 0; i < rows.size() / d; ++i) {
    if (looks.due(static_cast<std::size_t>(n) * d)) check_interrupt();
    for (int o = 0; o < n; ++o) {
      double sum = 0;
      for (int k = 0; k < d; ++k) sum += basis[static_cast<std::size_t>(o) * d + k] * rows[i * d + k];
      out[static_cast<std::size_t>(o) * columns + first_column + i] = static_cast<float>(sum);
    }
  }
}

}  // namespace iap
