// The three O(n^2) and O(n^3) operations of a full covariance matrix, dispatched at run time to the best instruction set.
// Matrices are n x n doubles, column-major; only the lower triangle counts. Products and sums are rounded one by one and added in
// index order, so that results are the same on every instruction set.
#pragma once
#include <cstddef>
#include <vector>

namespace iap::dense {

/// Memory for packed blocks; grows on first use.
class Workspace {
 public:
  /// At least `count` doubles, aligned to 64 bytes.
  double* at_least(std::size_t count);

 private:
  std::vector<double> memory_;
};

/// y = lower(a) z, both n x columns, column-major. The strict upper triangle of `a` must hold zeros.
void multiply_lower(const double* a, std::size_t n, const double* z, std::size_t columns, double* y, Workspace& workspace);

/// lower(c) = keep lower(c) + sum_k weights[k] y_k y_k^T, where y_k is column k of the n x columns matrix y.
void update_lower(double* c, std::size_t n, double keep, const double* y, const double* weights, std::size_t columns,
                  Workspace& workspace);

/// Replaces lower(c) by its Cholesky factor. Returns false, leaving rubbish, if c is not positive definite.
bool factor_lower(double* c, std::size_t n, Workspace& workspace);

}  // namespace iap::dense
