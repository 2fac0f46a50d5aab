#include <Eigen/Dense>
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "interior_point.hpp"
import iap.core;
import iap.legged;

#include "helpers.hpp"

using namespace iap;
using namespace iap::legged;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

struct Problem {
  MatrixXd G;
  VectorXd g;
  RowMatrix rows;
  VectorXd bounds;
  int equalities = 0;
};

double uniform(Random& random, double low, double high) { return low + (high - low) * random.uniform(); }
int below(Random& random, int count) { return static_cast<int>(random.below(static_cast<std::uint32_t>(count))); }

VectorXd normal(Random& random, Eigen::Index size) {
  VectorXd v(size);
  for (double& value : v) value = random.normal();
  return v;
}

/// A problem that some x solves. Many constraints touch there, some rows are sparse, repeated, or sums of others.
Problem feasible(Random& random) {
  const int n = 1 + below(random, 20);
  Problem p;
  const MatrixXd root = MatrixXd::NullaryExpr(n, n, [&] { return random.normal(); });
  p.G = root * root.transpose() / n + std::pow(10, uniform(random, -4, 0)) * MatrixXd::Identity(n, n);
  p.g = 3 * normal(random, n);
  p.equalities = below(random, n / 2 + 1);
  const int count = p.equalities + below(random, 3 * n + 1);
  p.rows.resize(count, n);
  p.bounds.resize(count);
  const VectorXd x = normal(random, n);
  for (int i = 0; i < count; ++i) {
    VectorXd row = normal(random, n);
    const double kind = random.uniform();
    if (kind < 0.3) {
      row.setZero();
      row[below(random, n)] = uniform(random, -2, 2);
    } else if (i >= 2 && kind < 0.5) {
      row = p.rows.row(below(random, i)) * uniform(random, 0.5, 2);
      if (kind < 0.4) row += p.rows.row(below(random, i));
    }
    if (row.norm() < 1e-3) row[0] = 1;
    p.rows.row(i) = row;
    p.bounds[i] = row.dot(x);
    if (i >= p.equalities && random.uniform() < 0.6) p.bounds[i] -= uniform(random, 0, 2);
  }
  return p;
}

std::span<const double> span(const RowMatrix& m) { return {m.data(), static_cast<std::size_t>(m.size())}; }
std::span<const double> span(const VectorXd& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }

struct Solved {
  QpStatus status;
  VectorXd x, multipliers;
};

Solved solve(const Problem& p) {
  QuadraticProgram qp(static_cast<int>(p.g.size()));
  qp.set_constraints(span(p.rows), span(p.bounds), p.equalities);
  const RowMatrix G = p.G;
  qp.set_hessian(span(G));
  Solved out{QpStatus::solved, VectorXd(p.g.size()), {}};
  out.status = qp.solve(span(p.g), std::span<double>(out.x.data(), static_cast<std::size_t>(out.x.size()))).status;
  out.multipliers = Eigen::Map<const VectorXd>(qp.multipliers().data(), p.bounds.size());
  return out;
}

}  // namespace

TEST_CASE("a thousand quadratic programs, degenerate ones among them, are solved as an interior point method solves them") {
  Random random(1);
  int touching = 0, compared = 0;
  for (int run = 0; run < 1000; ++run) {
    INFO("problem " << run);
    const Problem p = feasible(random);
    const auto [status, x, multipliers] = solve(p);
    REQUIRE(status == QpStatus::solved);
    // Karush, Kuhn and Tucker: the gradient is a sum of rows, of inequalities that touch and with multipliers that are not
    // negative.
    const double scale = 1 + x.cwiseAbs().maxCoeff() + multipliers.cwiseAbs().sum();
    const VectorXd gradient = p.G * x + p.g - p.rows.transpose() * multipliers;
    CHECK(gradient.cwiseAbs().maxCoeff() < 1e-7 * scale);
    const VectorXd slack = p.rows * x - p.bounds;
    for (int i = 0; i < slack.size(); ++i) {
      if (i < p.equalities) {
        CHECK_THAT(slack[i], WithinAbs(0, 1e-7 * scale));
        continue;
      }
      CHECK(slack[i] > -1e-7 * scale);
      CHECK(multipliers[i] >= 0);
      CHECK_THAT(multipliers[i] * slack[i], WithinAbs(0, 1e-6 * scale));
      touching += multipliers[i] > 0;
    }
    const auto [other, residual] =
        interior_point(p.G, p.g, p.rows.topRows(p.equalities), p.bounds.head(p.equalities),
                       p.rows.bottomRows(p.rows.rows() - p.equalities), p.bounds.tail(p.bounds.size() - p.equalities));
    // Inequalities with no point inside all of them, such as a pair that leaves a plane, are beyond interior points.
    if (residual > 1e-8) continue;
    ++compared;
    CHECK((x - other).cwiseAbs().maxCoeff() < 1e-5 * scale);
  }
  CHECK(touching > 2000);
  CHECK(compared > 980);
}

TEST_CASE("programs that no point solves are reported") {
  Random random(2);
  int reported = 0;
  for (int run = 0; run < 300; ++run) {
    Problem p = feasible(random);
    const auto count = p.bounds.size(), n = p.g.size();
    // A half-space, and one beyond its other side; or an equality twice, with different values.
    const VectorXd row = normal(random, n);
    p.rows.conservativeResize(count + 2, n);
    p.bounds.conservativeResize(count + 2);
    const double gap = uniform(random, 0.01, 3);
    if (run % 3 == 0) {
      p.rows = RowMatrix(2, n);
      p.bounds = VectorXd(2);
      p.rows << row.transpose(), 2 * row.transpose();
      p.bounds << 1, 2 + gap;
      p.equalities = 2;
    } else {
      p.rows.row(count) = row;
      p.rows.row(count + 1) = -1.5 * row;
      p.bounds[count] = 0.3;
      p.bounds[count + 1] = -1.5 * 0.3 + gap;
    }
    reported += solve(p).status == QpStatus::infeasible;
  }
  CHECK(reported == 300);
}

TEST_CASE("programs solved by hand") {
  // min x^2 + y^2 - 2 x - 5 y ... Nocedal & Wright, example 16.4: the answer is (1.4, 1.7) with the first constraint active.
  Problem p;
  p.G = 2 * MatrixXd::Identity(2, 2);
  p.g = VectorXd{{-2, -5}};
  p.rows = RowMatrix{{1, -2}, {-1, -2}, {-1, 2}, {1, 0}, {0, 1}};
  p.bounds = VectorXd{{-2, -6, -2, 0, 0}};
  const auto [status, x, multipliers] = solve(p);
  CHECK(status == QpStatus::solved);
  CHECK_THAT(x[0], WithinAbs(1.4, 1e-12));
  CHECK_THAT(x[1], WithinAbs(1.7, 1e-12));
  CHECK_THAT(multipliers[0], WithinAbs(0.8, 1e-12));
  for (int i = 1; i < 5; ++i) CHECK(multipliers[i] == 0);
  // An equality approached from either side has a multiplier of either sign: min x^2 / 2 on x = b has the multiplier b.
  for (const double bound : {-3.0, 3.0}) {
    const auto on = solve({MatrixXd::Identity(1, 1), VectorXd::Zero(1), RowMatrix::Ones(1, 1), VectorXd::Constant(1, bound), 1});
    CHECK_THAT(on.x[0], WithinAbs(bound, 1e-12));
    CHECK_THAT(on.multipliers[0], WithinAbs(bound, 1e-12));
  }
}

TEST_CASE("a factor stands in for the Hessian, and solving again gives the same bits") {
  Random random(3);
  for (int run = 0; run < 50; ++run) {
    const Problem p = feasible(random);
    const auto n = p.g.size();
    QuadraticProgram by_factor(static_cast<int>(n));
    by_factor.set_constraints(span(p.rows), span(p.bounds), p.equalities);
    // Any J with J J' = G^-1: the symmetric root.
    const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(p.G);
    const RowMatrix root = eigen.operatorInverseSqrt();
    std::ranges::copy(span(root), by_factor.factor().begin());
    VectorXd first(n), second(n);
    REQUIRE(by_factor.solve(span(p.g), std::span<double>(first.data(), n)).status == QpStatus::solved);
    CHECK((first - solve(p).x).cwiseAbs().maxCoeff() < 1e-6 * (1 + first.cwiseAbs().maxCoeff()));
    const VectorXd elsewhere = normal(random, n);
    by_factor.solve(span(elsewhere), std::span<double>(second.data(), n));
    by_factor.solve(span(p.g), std::span<double>(second.data(), n));
    CHECK(first == second);
  }
}

TEST_CASE("what is no program is refused or reported") {
  CHECK_THROWS_WITH(QuadraticProgram(0), ContainsSubstring("at least 1 variable, got 0"));
  QuadraticProgram qp(2);
  const std::vector<double> row{1, 0}, zero{0, 0}, bound{1}, two{1, 2};
  CHECK_THROWS_WITH(qp.set_constraints(row, two, 0), ContainsSubstring("got 2 coefficients for 2 constraints"));
  CHECK_THROWS_WITH(qp.set_constraints(row, bound, 2), ContainsSubstring("cannot have 2 equalities"));
  CHECK_THROWS_WITH(qp.set_constraints(zero, bound, 0), ContainsSubstring("constraint 1") && ContainsSubstring("length is 0"));
  std::vector<double> x(2);
  CHECK(qp.solve(row, x).status == QpStatus::not_convex);
  CHECK_FALSE(qp.set_hessian(std::vector<double>{1, 2, 2, 1}));
  CHECK(qp.solve(row, x).status == QpStatus::not_convex);
  CHECK(qp.set_hessian(std::vector<double>{2, 0, 0, 1}));
  const std::vector<double> nan{std::numeric_limits<double>::quiet_NaN(), 0};
  CHECK(qp.solve(nan, x).status == QpStatus::not_finite);
  CHECK(qp.solve(row, x).status == QpStatus::solved);
  CHECK_THAT(x[0], WithinAbs(-0.5, 1e-15));
  CHECK(name_of(QpStatus::infeasible) == "infeasible");
}
