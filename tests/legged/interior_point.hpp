#pragma once
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

struct InteriorPoint {
  Eigen::VectorXd x;
  double residual;  ///< the largest of all conditions of optimality
};

/// An oracle for quadratic programs that shares nothing with the engine's: min x' G x / 2 + g' x, A x = b, C x >= d, by Mehrotra's
/// predictor-corrector method, every linear system solved densely.
inline InteriorPoint interior_point(const Eigen::MatrixXd& G, const Eigen::VectorXd& g, const Eigen::MatrixXd& A,
                                    const Eigen::VectorXd& b, const Eigen::MatrixXd& C, const Eigen::VectorXd& d) {
  using Eigen::MatrixXd;
  using Eigen::VectorXd;
  const auto n = G.rows(), equalities = A.rows(), m = C.rows();
  VectorXd x = VectorXd::Zero(n), y = VectorXd::Zero(equalities);
  VectorXd s = (C * x - d).cwiseAbs().cwiseMax(1.0), z = VectorXd::Ones(m);
  MatrixXd kkt = MatrixXd::Zero(n + equalities, n + equalities);
  kkt.topRightCorner(n, equalities) = -A.transpose();
  kkt.bottomLeftCorner(equalities, n) = A;
  // Redundant equalities would leave the system singular.
  kkt.bottomRightCorner(equalities, equalities) = 1e-11 * MatrixXd::Identity(equalities, equalities);
  VectorXd best = x;
  double least = std::numeric_limits<double>::infinity();
  for (int iteration = 0; iteration < 200; ++iteration) {
    const VectorXd dual = G * x + g - A.transpose() * y - C.transpose() * z, primal = A * x - b, inner = C * x - s - d;
    const double gap = m > 0 ? s.dot(z) / static_cast<double>(m) : 0;
    const double wrong = std::max({dual.size() ? dual.cwiseAbs().maxCoeff() : 0, primal.size() ? primal.cwiseAbs().maxCoeff() : 0,
                                   inner.size() ? inner.cwiseAbs().maxCoeff() : 0, gap});
    if (!(wrong < 1e100)) break;  // without an inside, the last steps may lead anywhere
    if (wrong < least) {
      least = wrong;
      best = x;
    }
    if (wrong < 1e-11) break;
    const VectorXd weight = z.cwiseQuotient(s);
    kkt.topLeftCorner(n, n) = G + C.transpose() * weight.asDiagonal() * C;
    const Eigen::PartialPivLU<MatrixXd> solver(kkt);
    VectorXd dx, dy, ds, dz;
    const auto direction = [&](const VectorXd& complementarity) {  // wanted: S dz + Z ds = complementarity
      VectorXd right(n + equalities);
      right.head(n) = -dual + C.transpose() * (complementarity - z.cwiseProduct(inner)).cwiseQuotient(s);
      right.tail(equalities) = -primal;
      const VectorXd step = solver.solve(right);
      dx = step.head(n), dy = step.tail(equalities);
      ds = C * dx + inner;
      dz = (complementarity - z.cwiseProduct(ds)).cwiseQuotient(s);
    };
    const auto longest = [&](const VectorXd& value, const VectorXd& change) {
      double length = 1;
      for (Eigen::Index i = 0; i < value.size(); ++i)
        if (change[i] < 0) length = std::min(length, -value[i] / change[i]);
      return length;
    };
    const VectorXd product = s.cwiseProduct(z);
    direction(-product);
    const double reach = std::min(longest(s, ds), longest(z, dz));
    const double left = m > 0 ? (s + reach * ds).dot(z + reach * dz) / static_cast<double>(m) : 0;
    const double centre = gap > 0 ? std::pow(left / gap, 3) * gap : 0;
    direction(VectorXd::Constant(m, centre) - product - ds.cwiseProduct(dz));
    const double length = std::min(1.0, 0.995 * std::min(longest(s, ds), longest(z, dz)));
    const double whole = m > 0 ? length : 1.0;
    x += whole * dx, y += whole * dy, s += whole * ds, z += whole * dz;
  }
  return {best, least};
}
