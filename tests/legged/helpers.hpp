#pragma once
// Included after `import iap.core; import iap.legged;`.
#include <Eigen/Dense>
#include <vector>

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Each coordinate in +-size.
inline iap::legged::Vector3 drawn(iap::Random& random, double size) {
  return {size * (2 * random.uniform() - 1), size * (2 * random.uniform() - 1), size * (2 * random.uniform() - 1)};
}

/// Feet below a body, from its centre.
inline std::vector<iap::legged::Vector3> draw_feet(iap::Random& random, int count) {
  std::vector<iap::legged::Vector3> feet;
  for (int i = 0; i < count; ++i) {
    feet.push_back(drawn(random, 0.3));
    feet.back()[2] = -0.4;
  }
  return feet;
}
