#include "axes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>
import iap.core;

namespace iap {
namespace {

using Vector = std::vector<double>;

// Partial sums in a fixed order, which the compiler may keep in vectors.
double dot(const double* a, const double* b, std::size_t count) {
  std::array<double, 8> sums{};
  std::size_t i = 0;
  for (; i + sums.size() <= count; i += sums.size())
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += a[i + k] * b[i + k];
  double sum = 0;
  for (; i < count; ++i) sum += a[i] * b[i];
  for (const double part : sums) sum += part;
  return sum;
}

double length(const Vector& v) { return std::sqrt(dot(v.data(), v.data(), v.size())); }

/// A lower triangle, column-major: products with a vector and the solutions of systems, in place.
class Triangle {
 public:
  Triangle(const double* data, std::size_t n) : data_(data), n_(n) {}

  void multiply(Vector& x) const {
    for (std::size_t j = n_; j-- > 0;) {
      const double* column = data_ + j * n_;
      for (std::size_t i = j + 1; i < n_; ++i) x[i] += column[i] * x[j];
      x[j] *= column[j];
    }
  }

  void multiply_transposed(Vector& x) const {
    for (std::size_t j = 0; j < n_; ++j) x[j] = dot(data_ + j * n_ + j, x.data() + j, n_ - j);
  }

  void solve(Vector& x) const {
    for (std::size_t j = 0; j < n_; ++j) {
      const double* column = data_ + j * n_;
      x[j] /= column[j];
      for (std::size_t i = j + 1; i < n_; ++i) x[i] -= column[i] * x[j];
    }
  }

  void solve_transposed(Vector& x) const {
    for (std::size_t j = n_; j-- > 0;) {
      const double* column = data_ + j * n_;
      x[j] = (x[j] - dot(column + j + 1, x.data() + j + 1, n_ - j - 1)) / column[j];
    }
  }

 private:
  const double* data_;
  std::size_t n_;
};

/// A symmetric tridiagonal matrix.
struct Tridiagonal {
  Vector diagonal, beside;  ///< beside[i] stands between diagonal[i - 1] and diagonal[i]

  double largest_eigenvalue() const {
    double low = *std::ranges::max_element(diagonal), high = low;
    for (std::size_t i = 0; i < diagonal.size(); ++i)  // Gershgorin's circles
      high = std::max(high, diagonal[i] + beside[i] + (i + 1 < diagonal.size() ? beside[i + 1] : 0));
    constexpr int halvings = 60;
    for (int step = 0; step < halvings; ++step) {
      const double middle = low + (high - low) / 2;
      (all_below(middle) ? high : low) = middle;
    }
    return high;
  }

 private:
  /// Sylvester's law of inertia: the pivots of this matrix less `x` times the identity have the signs of its eigenvalues.
  bool all_below(double x) const {
    double pivot = -1;
    for (std::size_t i = 0; i < diagonal.size(); ++i) {
      pivot = diagonal[i] - x - beside[i] * beside[i] / pivot;
      if (!(pivot < 0)) return false;
    }
    return true;
  }
};

/// The largest eigenvalue of a symmetric n x n matrix that `multiply` stands for, as Lanczos' process bounds it from below.
template <typename Multiply>
double largest_eigenvalue(std::size_t n, Multiply multiply) {
  constexpr std::size_t least = 6, most = 24;
  constexpr double settled = 1e-3, nothing = 1e-12;
  Vector v(n), before(n);
  Random random(0);
  for (double& value : v) value = random.normal();
  double beside = length(v), largest = 0;
  for (double& value : v) value /= beside;
  Tridiagonal found;
  beside = 0;
  for (std::size_t step = 1; step <= std::min(n, most); ++step) {
    Vector next = v;
    multiply(next);
    const double along =
        dot(v.data(), next.data(), n) / dot(v.data(), v.data(), n);  // 1 for the identity, however v's length rounds
    for (std::size_t i = 0; i < n; ++i) next[i] -= along * v[i] + beside * before[i];
    found.diagonal.push_back(along);
    found.beside.push_back(beside);
    const double known = largest;
    largest = found.largest_eigenvalue();
    beside = length(next);
    if (beside <= nothing * largest || (step > least && largest <= known * (1 + settled))) break;
    for (double& value : next) value /= beside;
    before = std::exchange(v, std::move(next));
  }
  return largest;
}

}  // namespace

double axis_ratio(const double* factor, std::size_t n) {
  const Triangle a(factor, n);
  const double longest = largest_eigenvalue(n, [&](Vector& v) {
    a.multiply_transposed(v);
    a.multiply(v);
  });
  const double shortest = largest_eigenvalue(n, [&](Vector& v) {
    a.solve(v);
    a.solve_transposed(v);
  });
  return std::max(1.0, std::sqrt(longest) * std::sqrt(shortest));
}

}  // namespace iap
