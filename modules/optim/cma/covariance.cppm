module;
#include <cstddef>
#include <memory>
#include <span>
/// The covariance matrix C of CMA-ES and the factor A of the sampling distribution, C = A A^T.
module iap.optim:cma_covariance;
import iap.core;

namespace iap {

/// Vectors are columns: a matrix of m of them is n x m, column-major. Starts as the identity.
class Covariance {
 public:
  virtual ~Covariance() = default;
  /// Back to the identity.
  virtual void reset() = 0;
  /// y = A z, both n x m.
  virtual void transform(std::span<const double> z, std::span<double> y) = 0;
  /// C = keep C + sum_k weights[k] y_k y_k^T over the columns of y. A stays as it is until `refresh`.
  virtual void update(double keep, std::span<const double> weights, std::span<const double> y) = 0;
  /// Makes A the factor of C.
  virtual void refresh() = 0;
  /// Generations between two refreshes, given the sum of the learning rates of C.
  virtual double refresh_every(double learning_rate) const = 0;
  /// C's diagonal element i.
  virtual double variance(std::size_t i) const = 0;
  /// Row `row` of A's column `column`.
  virtual double factor(std::size_t row, std::size_t column) const = 0;
  /// The longest over the shortest axis of what A draws. Its square is the condition number of A A^T, for a full matrix to within
  /// some percent from below.
  virtual double axis_ratio() const = 0;
  virtual void save(Writer& writer) const = 0;
  virtual void load(Reader& reader) = 0;
};

/// A full matrix with its Cholesky factor: O(n^2) a vector, O(n^3) a refresh.
std::unique_ptr<Covariance> make_full_covariance(std::size_t parameters);
/// A diagonal matrix: O(n) everything.
std::unique_ptr<Covariance> make_diagonal_covariance(std::size_t parameters);

}  // namespace iap
