module;
#include <Eigen/Dense>
#include <cmath>
#include <cstddef>
module iap.legged;
import :cholesky;

namespace iap::legged {

bool invert_cholesky(double* g, int n, int stride, double* out, int out_stride) {
  using Matrix = Eigen::Map<Eigen::MatrixXd, 0, Eigen::OuterStride<>>;
  using Vector = Eigen::Map<Eigen::VectorXd>;
  Matrix lower(g, n, n, Eigen::OuterStride<>(stride));
  for (int j = 0; j < n; ++j) {
    const double pivot = lower(j, j);
    if (!(pivot > 0) || !std::isfinite(pivot)) return false;
    const int rest = n - j - 1;
    lower.col(j).tail(rest + 1) /= std::sqrt(pivot);
    for (int k = 0; k < rest; ++k) {
      const double value = lower(j + 1 + k, j);
      lower.col(j + 1 + k).tail(rest - k) -= value * lower.col(j).tail(rest - k);
    }
  }
  for (int j = 0; j < n; ++j) {
    Vector column(out + static_cast<std::ptrdiff_t>(j) * out_stride, n);
    column.setZero();
    column[j] = 1;
    for (int i = j; i < n; ++i) {
      column[i] /= lower(i, i);
      column.tail(n - i - 1) -= column[i] * lower.col(i).tail(n - i - 1);
    }
  }
  return true;
}

}  // namespace iap::legged
