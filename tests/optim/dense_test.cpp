#include "../../modules/optim/cma/dense.hpp"

#include <hwy/targets.h>

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>
import iap.core;

// The blocked kernels against three plain loops, for sizes around every block, and bit for bit between instruction sets.

using namespace iap;

namespace {

using Matrix = std::vector<double>;  // column-major

Matrix normals(std::size_t count, std::uint32_t member) {
  Random random({.seed = 3, .member = member});
  Matrix values(count);
  for (double& value : values) value = random.normal();
  return values;
}

Matrix lower_of(Matrix matrix, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < j; ++i) matrix[j * n + i] = 0;
  return matrix;
}

struct Results {
  Matrix product, updated, factor;
  bool definite = false;
  bool operator==(const Results&) const = default;
};

Matrix weights_of(std::size_t count) {
  Matrix weights(count);
  for (std::size_t k = 0; k < count; ++k) weights[k] = 0.02 + 0.001 * static_cast<double>(k) - (k % 5 == 1 ? 0.021 : 0);
  return weights;
}

Results run(std::size_t n, std::size_t columns) {
  Results results;
  dense::Workspace workspace;
  const auto a = lower_of(normals(n * n, 1), n), z = normals(n * columns, 2);
  results.product.assign(n * columns, 7);
  dense::multiply_lower(a.data(), n, z.data(), columns, results.product.data(), workspace);
  results.updated = normals(n * n, 3);
  for (std::size_t i = 0; i < n; ++i) results.updated[i * n + i] += 10 * static_cast<double>(n);
  dense::update_lower(results.updated.data(), n, 0.75, z.data(), weights_of(columns).data(), columns, workspace);
  results.factor = lower_of(results.updated, n);
  results.definite = dense::factor_lower(results.factor.data(), n, workspace);
  return results;
}

double largest_difference(const Matrix& a, const Matrix& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

}  // namespace

TEST_CASE("products, updates and factors equal plain loops") {
  for (const auto& [n, columns] :
       {std::pair<std::size_t, std::size_t>{1, 1}, {2, 5}, {7, 3}, {33, 8}, {95, 257}, {100, 31}, {193, 17}, {401, 20}}) {
    INFO(n << " x " << columns);
    const Results results = run(n, columns);
    const auto a = lower_of(normals(n * n, 1), n), z = normals(n * columns, 2), weights = weights_of(columns);
    auto updated = normals(n * n, 3);
    for (std::size_t i = 0; i < n; ++i) updated[i * n + i] += 10 * static_cast<double>(n);
    const auto untouched = updated;
    Matrix product(n * columns), square(n * n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t c = 0; c < columns; ++c)
        for (std::size_t k = 0; k <= i; ++k) product[c * n + i] += a[k * n + i] * z[c * n + k];
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = 0.75 * updated[j * n + i];
        for (std::size_t k = 0; k < columns; ++k) sum += weights[k] * z[k * n + i] * z[k * n + j];
        updated[j * n + i] = sum;
        for (std::size_t k = 0; k <= j; ++k) square[j * n + i] += results.factor[k * n + i] * results.factor[k * n + j];
      }
    }
    const double scale = 1e-13 * static_cast<double>(n);
    CHECK(largest_difference(results.product, product) < scale);
    CHECK(largest_difference(lower_of(results.updated, n), lower_of(updated, n)) < 100 * scale);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < j; ++i) REQUIRE(results.updated[j * n + i] == untouched[j * n + i]);
    REQUIRE(results.definite);
    CHECK(largest_difference(square, lower_of(results.updated, n)) < 100 * scale);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < j; ++i) REQUIRE(results.factor[j * n + i] == 0);
  }
}

TEST_CASE("a matrix that is not positive definite has no factor") {
  dense::Workspace workspace;
  for (const std::size_t n : {1, 40, 250}) {
    for (const double bad : {0.0, -1.0, std::nan(""), static_cast<double>(INFINITY)}) {
      Matrix matrix(n * n);
      for (std::size_t i = 0; i < n; ++i) matrix[i * n + i] = i + 1 == n ? bad : 1;
      CHECK_FALSE(dense::factor_lower(matrix.data(), n, workspace));
    }
  }
}

TEST_CASE("every instruction set gives the same bits") {
  // Every test after this one runs on the best instruction set again.
  struct OnlyTarget {
    explicit OnlyTarget(std::int64_t target) { hwy::SetSupportedTargetsForTest(target); }
    ~OnlyTarget() { hwy::SetSupportedTargetsForTest(0); }
  };
  const Results best = run(230, 41);
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    const OnlyTarget only(target);
    INFO(hwy::TargetName(target));
    CHECK(run(230, 41) == best);
  }
}
