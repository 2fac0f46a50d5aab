module;
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>
module iap.report;
import iap.core;
import :moments;

namespace iap {
namespace {

void combine(std::vector<double>& to, const std::vector<double>& other, double sign) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += sign * other[i];
}

void combine(Moments& to, const Moments& other, double sign) {
  check_interrupt();
  to.rows += sign * other.rows;
  combine(to.x, other.x, sign);
  combine(to.y, other.y, sign);
  combine(to.xx, other.xx, sign);
  combine(to.xy, other.xy, sign);
}

/// Puts the lower factor L of A = L L' in the place of A's lower triangle.
void factorise(std::vector<double>& a, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    check_interrupt();
    double* row = &a[i * n];
    for (std::size_t j = 0; j < i; ++j) row[j] = (row[j] - dot(row, &a[j * n], j)) / a[j * n + j];
    const double pivot = row[i] - dot(row, row, i);
    if (!(pivot > 0)) throw Error("ridge regression: the features are too alike for a lambda this small; choose a larger one");
    row[i] = std::sqrt(pivot);
  }
}

/// Solves L L' w = w in place.
void substitute(const std::vector<double>& factor, std::size_t n, double* w) {
  for (std::size_t i = 0; i < n; ++i) w[i] = (w[i] - dot(&factor[i * n], w, i)) / factor[i * n + i];
  for (std::size_t i = n; i-- > 0;) {
    w[i] /= factor[i * n + i];
    for (std::size_t j = 0; j < i; ++j) w[j] -= factor[i * n + j] * w[i];
  }
}

}  // namespace

double dot(const double* a, const double* b, std::size_t count) {
  constexpr std::size_t lanes = 8;
  std::array<double, lanes> sums{};
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  double sum = ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
  for (; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

void Moments::add_row(const double* features, const double* targets) {
  check_interrupt();
  ++rows;
  for (std::size_t i = 0; i < p; ++i) {
    x[i] += features[i];
    double* row = &xx[i * p];
    for (std::size_t j = 0; j <= i; ++j) row[j] += features[i] * features[j];
  }
  for (std::size_t k = 0; k < q; ++k) {
    check_interrupt();
    y[k] += targets[k];
    for (std::size_t i = 0; i < p; ++i) xy[k * p + i] += targets[k] * features[i];
  }
}

Moments& Moments::operator+=(const Moments& other) {
  combine(*this, other, 1);
  return *this;
}

Moments& Moments::operator-=(const Moments& other) {
  combine(*this, other, -1);
  return *this;
}

LinearMaps solve_ridge(const Moments& moments, double lambda) {
  const std::size_t p = moments.p, q = moments.q;
  std::vector<double> factor = moments.xx;
  for (std::size_t i = 0; i < p; ++i) {
    for (std::size_t j = 0; j <= i; ++j) factor[i * p + j] -= moments.x[i] * moments.x[j] / moments.rows;
    factor[i * p + i] += lambda;
  }
  factorise(factor, p);
  LinearMaps maps{.weights = moments.xy, .offsets = moments.y};
  for (std::size_t k = 0; k < q; ++k) {
    check_interrupt();
    double* w = maps.weights.data() + k * p;
    for (std::size_t i = 0; i < p; ++i) w[i] -= moments.x[i] * moments.y[k] / moments.rows;
    substitute(factor, p, w);
    maps.offsets[k] = (moments.y[k] - dot(w, moments.x.data(), p)) / moments.rows;
  }
  return maps;
}

}  // namespace iap
