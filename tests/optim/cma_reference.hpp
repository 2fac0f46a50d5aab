// The textbook's CMA-ES (Hansen 2016, appendix A) in plain loops. It ranks populations that another optimizer drew, and computes
// where the distribution goes from the members alone.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace reference {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;  // rows

inline Matrix identity(std::size_t n) {
  Matrix matrix(n, Vector(n));
  for (std::size_t i = 0; i < n; ++i) matrix[i][i] = 1;
  return matrix;
}

/// Eigenvalues and eigenvectors (columns) by cyclic Jacobi rotations.
inline std::pair<Vector, Matrix> eigen(Matrix a) {
  const std::size_t n = a.size();
  Matrix vectors = identity(n);
  for (int sweep = 0; sweep < 60; ++sweep) {
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        if (a[p][q] == 0) continue;
        const double theta = 0.5 * std::atan2(2 * a[p][q], a[p][p] - a[q][q]);
        const double c = std::cos(theta), s = std::sin(theta);
        for (std::size_t k = 0; k < n; ++k) {
          const double kp = a[k][p], kq = a[k][q];
          a[k][p] = c * kp + s * kq;
          a[k][q] = c * kq - s * kp;
        }
        for (std::size_t k = 0; k < n; ++k) {
          const double pk = a[p][k], qk = a[q][k];
          a[p][k] = c * pk + s * qk;
          a[q][k] = c * qk - s * pk;
          const double kp = vectors[k][p], kq = vectors[k][q];
          vectors[k][p] = c * kp + s * kq;
          vectors[k][q] = c * kq - s * kp;
        }
      }
    }
  }
  Vector values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = a[i][i];
  return {values, vectors};
}

/// The longest over the shortest axis of what has this covariance.
inline double axis_ratio(const Matrix& covariance) {
  const auto [low, high] = std::ranges::minmax(eigen(covariance).first);
  return std::sqrt(high / low);
}

enum class Root { symmetric, cholesky };

/// The inverse of the symmetric root, or of the Cholesky factor, of C, times y.
inline Vector whiten(const Matrix& covariance, const Vector& y, Root root) {
  const std::size_t n = y.size();
  Vector out(n);
  if (root == Root::symmetric) {
    const auto [values, vectors] = eigen(covariance);
    for (std::size_t axis = 0; axis < n; ++axis) {
      double along = 0;
      for (std::size_t i = 0; i < n; ++i) along += vectors[i][axis] * y[i];
      for (std::size_t i = 0; i < n; ++i) out[i] += vectors[i][axis] * along / std::sqrt(values[axis]);
    }
    return out;
  }
  Matrix factor(n, Vector(n));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = covariance[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= factor[i][k] * factor[j][k];
      factor[i][j] = i == j ? std::sqrt(sum) : sum / factor[j][j];
    }
    double rest = y[i];
    for (std::size_t k = 0; k < i; ++k) rest -= factor[i][k] * out[k];
    out[i] = rest / factor[i][i];
  }
  return out;
}

inline double square_of(const Vector& v) { return std::inner_product(v.begin(), v.end(), v.begin(), 0.0); }

struct Cma {
  Cma(Vector start, double step, std::size_t members, Root kind, bool separable)
      : mean(std::move(start)), sigma(step), lambda(members), root(kind), diagonal(separable), covariance(identity(mean.size())) {
    path_sigma.assign(mean.size(), 0);
    path_c = path_sigma;
  }

  /// One generation from the members and their fitness (larger is better).
  void tell(std::span<const float> population, std::span<const double> fitness) {
    const std::size_t size = mean.size();
    const auto n = static_cast<double>(size), lam = static_cast<double>(lambda);
    ++generation;

    // Table 1.
    Vector w(lambda);
    double positive = 0, positive_square = 0, negative = 0, negative_square = 0;
    for (std::size_t i = 0; i < lambda; ++i) {
      w[i] = std::log((lam + 1) / 2) - std::log(static_cast<double>(i + 1));
      if (i < lambda / 2) {
        positive += w[i];
        positive_square += w[i] * w[i];
      } else {
        negative -= w[i];
        negative_square += w[i] * w[i];
      }
    }
    const double mu_eff = positive * positive / positive_square, mu_eff_minus = negative * negative / negative_square;
    const double c_sigma = (mu_eff + 2) / (n + mu_eff + 5);
    const double d_sigma = 1 + 2 * std::max(0.0, std::sqrt((mu_eff - 1) / (n + 1)) - 1) + c_sigma;
    const double c_c = (4 + mu_eff / n) / (n + 4 + 2 * mu_eff / n);
    const double faster = diagonal ? (n + 2) / 3 : 1;
    const double c_1 = faster * 2 / (std::pow(n + 1.3, 2) + mu_eff);
    const double c_mu = std::min(1 - c_1, faster * 2 * (mu_eff - 1.75 + 1 / mu_eff) / (std::pow(n + 2, 2) + mu_eff));
    const double alpha = std::min({1 + c_1 / c_mu, 1 + 2 * mu_eff_minus / (mu_eff + 2), (1 - c_1 - c_mu) / (n * c_mu)});
    for (std::size_t i = 0; i < lambda; ++i) w[i] *= i < lambda / 2 ? 1 / positive : (diagonal ? 0 : alpha / negative);
    const double chi = std::sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));

    // Selection and recombination.
    std::vector<std::size_t> order(lambda);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order,
                      [&](std::size_t a, std::size_t b) { return fitness[a] != fitness[b] ? fitness[a] > fitness[b] : a < b; });
    std::vector<Vector> steps;
    Vector step(size);
    for (std::size_t rank = 0; rank < lambda; ++rank) {
      Vector y(size);
      for (std::size_t i = 0; i < size; ++i) {
        y[i] = (population[order[rank] * size + i] - mean[i]) / sigma;
        if (rank < lambda / 2) step[i] += w[rank] * y[i];
      }
      steps.push_back(y);
    }

    const Vector whitened = whiten(covariance, step, root);
    for (std::size_t i = 0; i < size; ++i) {
      mean[i] += sigma * step[i];
      path_sigma[i] = (1 - c_sigma) * path_sigma[i] + std::sqrt(c_sigma * (2 - c_sigma) * mu_eff) * whitened[i];
    }
    const double length = std::sqrt(square_of(path_sigma));
    const double h = length / std::sqrt(1 - std::pow(1 - c_sigma, 2 * generation)) < (1.4 + 2 / (n + 1)) * chi ? 1 : 0;
    for (std::size_t i = 0; i < size; ++i) path_c[i] = (1 - c_c) * path_c[i] + h * std::sqrt(c_c * (2 - c_c) * mu_eff) * step[i];

    Matrix next = covariance;
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < size; ++j) {
        if (diagonal && i != j) continue;
        double keep = 1 + c_1 * (1 - h) * c_c * (2 - c_c) - c_1, sum = c_1 * path_c[i] * path_c[j];
        for (std::size_t rank = 0; rank < lambda; ++rank) {
          keep -= c_mu * w[rank];
          const double scale = w[rank] < 0 ? n / square_of(whiten(covariance, steps[rank], Root::symmetric)) : 1;
          sum += c_mu * w[rank] * scale * steps[rank][i] * steps[rank][j];
        }
        next[i][j] = keep * covariance[i][j] + sum;
      }
    covariance = next;
    sigma *= std::exp(c_sigma / d_sigma * (length / chi - 1));
  }

  double trace() const {
    double sum = 0;
    for (std::size_t i = 0; i < mean.size(); ++i) sum += covariance[i][i];
    return sum;
  }

  Vector mean;
  double sigma;
  std::size_t lambda;
  Root root;
  bool diagonal;
  Matrix covariance;
  Vector path_sigma, path_c;
  int generation = 0;
};

}  // namespace reference
