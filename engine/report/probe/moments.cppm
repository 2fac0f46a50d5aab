module;
#include <cstddef>
#include <vector>
/// Ridge regression from sums over rows.
module iap.report:moments;

namespace iap {

/// Sums over rows of p features x and q targets y.
struct Moments {
  /// All zero.
  Moments(std::size_t p, std::size_t q) : p(p), q(q), x(p), y(q), xx(p * p), xy(q * p) {}
  /// @throws Interrupted on Ctrl-C, as `solve_ridge` does.
  void add_row(const double* features, const double* targets);
  Moments& operator+=(const Moments& other);
  Moments& operator-=(const Moments& other);

  std::size_t p, q;
  double rows = 0;
  std::vector<double> x, y;
  std::vector<double> xx;  ///< p x p, of which the lower triangle is kept
  std::vector<double> xy;  ///< q x p
};

/// Linear functions of x, one for each target.
struct LinearMaps {
  std::vector<double> weights;  ///< q x p
  std::vector<double> offsets;  ///< q
};

/// Minimises |y - x w - b|^2 + lambda |w|^2 over the rows that `moments` summed, by a Cholesky factor of the centred X'X + lambda
/// I.
LinearMaps solve_ridge(const Moments& moments, double lambda);

/// In eight lanes that are summed pairwise: the order of additions is fixed, and compilers can use vector registers.
double dot(const double* a, const double* b, std::size_t count);

}  // namespace iap
