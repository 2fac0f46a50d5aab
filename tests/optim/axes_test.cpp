#include "../../modules/optim/cma/axes.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <vector>

#include "../../modules/optim/cma/dense.hpp"

namespace {

/// The factor of the identity with variance `along` in the direction (1, ..., 1).
std::vector<double> factor(std::size_t n, double along) {
  std::vector<double> matrix(n * n, (along - 1) / static_cast<double>(n));
  for (std::size_t i = 0; i < n; ++i) matrix[i * n + i] += 1;
  iap::dense::Workspace workspace;
  REQUIRE(iap::dense::factor_lower(matrix.data(), n, workspace));
  return matrix;
}

}  // namespace

TEST_CASE("axes that no coordinate shows are found, the longest and the shortest", "[cma]") {
  CHECK(iap::axis_ratio(factor(1, 9).data(), 1) == Catch::Approx(1).epsilon(1e-12));
  for (const std::size_t n : {2, 10, 300})
    for (const double along : {1e-8, 0.5, 1.0, 2.0, 1e8}) {
      INFO(n << ", " << along);
      CHECK(iap::axis_ratio(factor(n, along).data(), n) == Catch::Approx(std::sqrt(along < 1 ? 1 / along : along)).epsilon(0.01));
    }
}

// A search that is resumed computes it of the factor that it began with, and goes on as if it had not ended.
TEST_CASE("the axes of a search that has not turned yet are of the same length, to the bit", "[cma]") {
  for (std::size_t n = 1; n <= 60; ++n) {
    INFO(n);
    CHECK(iap::axis_ratio(factor(n, 1).data(), n) == 1);
  }
}
