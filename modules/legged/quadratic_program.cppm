module;
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
export module iap.legged:quadratic_program;

export namespace iap::legged {

enum class QpStatus : std::uint8_t {
  solved,
  infeasible,  ///< no x obeys all constraints
  not_convex,  ///< G has no Cholesky factor
  not_finite,  ///< the gradient or the solution is not finite
  gave_up      ///< too many steps; x obeys no promise
};

/// "solved", "infeasible", "not convex", "not finite", "gave up".
std::string_view name_of(QpStatus status);

/// Minimises x' G x / 2 + g' x for positive definite G, subject to a x = b and a x >= b, by the dual method of Goldfarb & Idnani
/// (1983): it begins at the minimum without constraints and takes in the most violated one at a time.
///
/// J with J J' = G^-1 is kept turned so that its first columns span the active constraints; one step costs 2 n (n - q)
/// multiplications, n variables and q active constraints, because columns are turned by one reflection instead of rotations, and
/// because constraints are kept sparse. Dense storage otherwise; after construction nothing is allocated but by `set_constraints`.
class QuadraticProgram {
 public:
  /// @throws Error if `variables` is not positive.
  explicit QuadraticProgram(int variables);
  QuadraticProgram(QuadraticProgram&&) noexcept;
  QuadraticProgram& operator=(QuadraticProgram&&) noexcept;
  ~QuadraticProgram();

  int variables() const;
  int constraints() const;
  /// `rows` is constraints x variables, row-major; the first `equalities` of them are a x = b, the others a x >= b, b = `bounds`.
  /// @throws Error where sizes do not fit, a number is not finite or a row is zero.
  void set_constraints(std::span<const double> rows, std::span<const double> bounds, int equalities);
  /// G, variables x variables; its lower triangle is read. False, and not_convex of `solve`, if it is not positive definite.
  bool set_hessian(std::span<const double> g);
  /// In place of `set_hessian`: room for J with J J' = G^-1, variables x variables, row-major, for who has it more cheaply.
  std::span<double> factor();

  struct Result {
    QpStatus status = QpStatus::solved;
    int steps = 0;  ///< constraints taken in or dropped
  };
  /// Writes the minimum into `x`, both of variables() values. The same calls give the same bits.
  Result solve(std::span<const double> gradient, std::span<double> x);
  /// Lagrange multipliers of the last solution: G x + g = sum of multiplier times row; those of inequalities are >= 0.
  std::span<const double> multipliers() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace iap::legged
