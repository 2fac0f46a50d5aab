module;
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>
module iap.legged;
import iap.core;
import :cholesky;

namespace iap::legged {
namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double infinity = std::numeric_limits<double>::infinity();
/// Relative to the size of what is compared.
constexpr double violation = 1e-9, dependence = 1e-10;

}  // namespace

std::string_view name_of(QpStatus status) {
  switch (status) {
    case QpStatus::solved: return "solved";
    case QpStatus::infeasible: return "infeasible";
    case QpStatus::not_convex: return "not convex";
    case QpStatus::not_finite: return "not finite";
    case QpStatus::gave_up: break;
  }
  return "gave up";
}

/// Rows are scaled to length 1 inside, so that "most violated" is a distance.
struct QuadraticProgram::Impl {
  explicit Impl(int variables) : n(variables), factor(n, n), turned(n, n), r(n, n), d(n), z(n), step(n), active(n), sign(n), u(n) {}

  struct Entry {
    int column;
    double value;
  };
  std::span<const Entry> row(int constraint) const {
    return std::span(entries).subspan(starts[constraint], starts[constraint + 1] - starts[constraint]);
  }
  double slack(int constraint, std::span<const double> x) const {
    double sum = -bounds[constraint];
    for (const auto& [column, value] : row(constraint)) sum += value * x[column];
    return sum;
  }
  double tolerance(int constraint, double size) const { return violation * (1 + std::abs(bounds[constraint]) + size); }

  bool take_in(int constraint, std::span<double> x, double size, int& steps);
  void add(double norm);
  void drop(int position);
  int most_violated(std::span<const double> x, double size) const;

  int n, equalities = 0;
  std::vector<Entry> entries;
  std::vector<std::size_t> starts{0};
  std::vector<double> bounds, lengths, multipliers;
  std::vector<unsigned char> held;  // whether a constraint is active
  bool convex = false;
  RowMatrix factor, turned;  // J as given, and with its columns turned
  MatrixXd r;                // upper triangular, q x q: turned.leftCols(q)' N = r for the active normals N
  VectorXd d, z, step;
  int q = 0;
  std::vector<int> active;
  std::vector<double> sign, u;  // of the active constraints: how an equality is read, and multipliers
};

/// Takes the next column in: d = J' normal has the part d1 in the span of what is active and d2, of length `norm`, outside, and
/// z = J2 d2. One reflection turns d2 into a multiple of the first of J's free columns.
void QuadraticProgram::Impl::add(double norm) {
  const int free = n - q;
  const double first = d[q] > 0 ? -norm : norm;
  if (free > 1) {
    // J2 <- J2 (I - 2 v v' / v'v), v = d2 - first e1; J2 v = z - first * column.
    auto v = d.tail(free);
    z -= first * turned.col(q);
    v[0] -= first;
    const double scale = 2 / v.squaredNorm();
    for (int i = 0; i < n; ++i) turned.row(i).tail(free) -= (scale * z[i]) * v.transpose();
  } else if (d[q] != first) {
    turned.col(q) *= -1;
  }
  r.col(q).head(q) = d.head(q);
  r(q, q) = first;
  ++q;
}

void QuadraticProgram::Impl::drop(int position) {
  held[active[position]] = 0;
  --q;
  for (int j = position; j < q; ++j) {
    r.col(j).head(j + 2) = r.col(j + 1).head(j + 2);
    active[j] = active[j + 1];
    sign[j] = sign[j + 1];
    u[j] = u[j + 1];
  }
  for (int j = position; j < q; ++j) {
    const double a = r(j, j), b = r(j + 1, j), length = std::hypot(a, b);
    const double c = a / length, s = b / length;
    for (int k = j; k < q; ++k) {
      const double above = r(j, k), below = r(j + 1, k);
      r(j, k) = c * above + s * below;
      r(j + 1, k) = c * below - s * above;
    }
    for (int i = 0; i < n; ++i) {
      const double left = turned(i, j), right = turned(i, j + 1);
      turned(i, j) = c * left + s * right;
      turned(i, j + 1) = c * right - s * left;
    }
  }
}

/// Moves x and the multipliers until `constraint` holds; false if nothing can make it hold.
bool QuadraticProgram::Impl::take_in(int constraint, std::span<double> x, double size, int& steps) {
  double missing = slack(constraint, x), multiplier = 0;
  const bool equality = constraint < equalities;
  const double way = equality && missing > 0 ? -1 : 1;
  missing *= way;
  const int most = 20 * (n + static_cast<int>(bounds.size()));
  while (steps < most) {
    ++steps;
    d.setZero();
    for (const auto& [column, value] : row(constraint)) d += (way * value) * turned.row(column).transpose();
    const auto free = d.tail(n - q);
    const double squares = free.squaredNorm(), whole = d.squaredNorm();
    const bool dependent = squares <= dependence * dependence * whole;
    step.head(q) = d.head(q);
    for (int j = q - 1; j >= 0; --j) {
      step[j] /= r(j, j);
      if (j > 0) step.head(j) -= step[j] * r.col(j).head(j);
    }
    // How far until the multiplier of an active inequality would turn negative.
    const double rounding = q > 0 ? 1e-12 * step.head(q).cwiseAbs().maxCoeff() : 0;
    double until = infinity;
    int blocking = -1;
    for (int j = 0; j < q; ++j)
      if (active[j] >= equalities && step[j] > rounding && u[j] < until * step[j]) {
        until = u[j] / step[j];
        blocking = j;
      }
    const double whole_step = dependent ? infinity : -missing / squares;
    if (dependent && equality) return std::abs(missing) <= tolerance(constraint, size);
    const double length = std::min(until, whole_step);
    if (length == infinity) return false;
    for (int j = 0; j < q; ++j) u[j] -= length * step[j];
    multiplier += length;
    if (!dependent) {
      z.noalias() = turned.rightCols(n - q) * free;
      for (int i = 0; i < n; ++i) x[i] += length * z[i];
      if (whole_step <= until) {
        add(std::sqrt(squares));
        active[q - 1] = constraint;
        sign[q - 1] = way;
        u[q - 1] = multiplier;
        held[constraint] = 1;
        return true;
      }
    }
    drop(blocking);
    missing = way * slack(constraint, x);
    if (missing > 0) missing = 0;
  }
  return true;
}

int QuadraticProgram::Impl::most_violated(std::span<const double> x, double size) const {
  int worst = -1;
  double least = 0;
  for (int i = equalities; i < static_cast<int>(bounds.size()); ++i) {
    if (held[i]) continue;
    const double value = slack(i, x);
    if (value < least && value < -tolerance(i, size)) {
      least = value;
      worst = i;
    }
  }
  return worst;
}

QuadraticProgram::QuadraticProgram(int variables) {
  if (variables < 1) throw Error(text("a quadratic program has at least 1 variable, got ", variables));
  impl_ = std::make_unique<Impl>(variables);
}
QuadraticProgram::QuadraticProgram(QuadraticProgram&&) noexcept = default;
QuadraticProgram& QuadraticProgram::operator=(QuadraticProgram&&) noexcept = default;
QuadraticProgram::~QuadraticProgram() = default;

int QuadraticProgram::variables() const { return impl_->n; }
int QuadraticProgram::constraints() const { return static_cast<int>(impl_->bounds.size()); }
std::span<double> QuadraticProgram::factor() {
  impl_->convex = true;
  return {impl_->factor.data(), static_cast<std::size_t>(impl_->factor.size())};
}
std::span<const double> QuadraticProgram::multipliers() const { return std::span<const double>(impl_->multipliers); }

void QuadraticProgram::set_constraints(std::span<const double> rows, std::span<const double> bounds, int equalities) {
  const std::size_t n = impl_->n, count = bounds.size();
  if (rows.size() != count * n)
    throw Error(text("a quadratic program of ", n, " variables got ", rows.size(), " coefficients for ", count, " constraints"));
  if (equalities < 0 || static_cast<std::size_t>(equalities) > count)
    throw Error(text("a quadratic program of ", count, " constraints cannot have ", equalities, " equalities"));
  std::vector<Impl::Entry> entries;
  std::vector<std::size_t> starts{0};
  std::vector<double> scaled(bounds.begin(), bounds.end()), lengths;
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = rows.subspan(i * n, n);
    double length = 0;
    for (const double value : row) length = std::hypot(length, value);
    if (!(length > 0 && std::isfinite(length) && std::isfinite(bounds[i])))
      throw Error(text("constraint ", i + 1, " of a quadratic program must be finite and not zero; its row's length is ", length,
                       ", its bound ", bounds[i]));
    for (std::size_t column = 0; column < n; ++column)
      if (row[column] != 0) entries.push_back({static_cast<int>(column), row[column] / length});
    starts.push_back(entries.size());
    scaled[i] /= length;
    lengths.push_back(length);
  }
  impl_->entries = std::move(entries);
  impl_->starts = std::move(starts);
  impl_->bounds = std::move(scaled);
  impl_->lengths = std::move(lengths);
  impl_->multipliers.assign(count, 0);
  impl_->held.assign(count, 0);
  impl_->equalities = equalities;
}

bool QuadraticProgram::set_hessian(std::span<const double> g) {
  const int n = impl_->n;
  if (g.size() != static_cast<std::size_t>(n) * n)
    throw Error(text("a quadratic program of ", n, " variables got a matrix of ", g.size(), " values"));
  // G = L L'; J = L^-T, row-major, has the columns of L^-1 as its rows.
  RowMatrix& factor = impl_->factor;
  MatrixXd& lower = impl_->r;
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) lower(i, j) = g[static_cast<std::size_t>(i) * n + j];
  impl_->convex = invert_cholesky(lower.data(), n, n, factor.data(), n);
  return impl_->convex;
}

QuadraticProgram::Result QuadraticProgram::solve(std::span<const double> gradient, std::span<double> x) {
  Impl& qp = *impl_;
  const std::size_t n = qp.n;
  if (gradient.size() != n || x.size() != n)
    throw Error(text("a quadratic program of ", n, " variables got a gradient of ", gradient.size(), " and a solution of ",
                     x.size(), " values"));
  std::ranges::fill(qp.multipliers, 0);
  std::ranges::fill(qp.held, 0);
  std::ranges::fill(x, 0);
  if (!qp.convex) return {QpStatus::not_convex, 0};
  qp.q = 0;
  qp.turned = qp.factor;
  // x = -J J' g.
  qp.d.noalias() = qp.turned.transpose() * Eigen::Map<const VectorXd>(gradient.data(), qp.n);
  qp.z.noalias() = qp.turned * qp.d;
  double size = 0;
  bool finite = true;
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = -qp.z[i];
    size = std::max(size, std::abs(x[i]));
    finite = finite && std::isfinite(x[i]);
  }
  if (!finite) return {QpStatus::not_finite, 0};

  Result result;
  const int most = 20 * (qp.n + constraints());
  for (int equality = 0; equality < qp.equalities; ++equality)
    if (!qp.take_in(equality, x, size, result.steps)) return {QpStatus::infeasible, result.steps};
  for (int next; (next = qp.most_violated(x, size)) >= 0;) {
    if (!qp.take_in(next, x, size, result.steps)) return {QpStatus::infeasible, result.steps};
    if (result.steps >= most) return {QpStatus::gave_up, result.steps};
  }
  for (const double value : x)
    if (!std::isfinite(value)) return {QpStatus::not_finite, result.steps};
  for (int j = 0; j < qp.q; ++j) {
    const int i = qp.active[j];
    qp.multipliers[i] = (i < qp.equalities ? qp.sign[j] * qp.u[j] : std::max(qp.u[j], 0.0)) / qp.lengths[i];
  }
  return result;
}

}  // namespace iap::legged
