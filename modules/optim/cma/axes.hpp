// The longest and the shortest axis of a factored covariance C = A A^T.
#pragma once
#include <cstddef>

namespace iap {

/// Largest over smallest singular value of A, a lower triangle of n x n doubles, column-major; its square is the condition number
/// of C. By Lanczos' process on C and on its inverse (Golub & Van Loan, Matrix Computations, 10.1), from the same start each time:
/// a bound from below, exact for n up to 6 and beyond some percent short of it where many axes are about as long. O(n^2).
double axis_ratio(const double* factor, std::size_t n);

}  // namespace iap
