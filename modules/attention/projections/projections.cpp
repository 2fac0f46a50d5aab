module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>
module iap.attention;
import iap.core;
import :internal;

namespace iap {
namespace {

double dot(const double* a, const double* b, int d) {
  double sum = 0;
  for (int i = 0; i < d; ++i) sum += a[i] * b[i];
  return sum;
}

// Gram-Schmidt on Gaussian rows, each row made orthogonal twice because once loses digits when the row is nearly dependent. All d
// rows are drawn, of which the first `wanted` become orthonormal: how many are wanted does not change them.
void orthonormal_block(int d, int wanted, Random& random, std::span<double> block) {
  for (double& value : block) value = random.normal();
  Looks looks;
  for (int i = 0; i < wanted; ++i) {
    if (looks.due(4 * static_cast<std::size_t>(i) * d)) check_interrupt();
    double* row = block.data() + static_cast<std::size_t>(i) * d;
    for (int pass = 0; pass < 2; ++pass)
      for (int j = 0; j < i; ++j) {
        const double* other = block.data() + static_cast<std::size_t>(j) * d;
        const double overlap = dot(row, other, d);
        for (int k = 0; k < d; ++k) row[k] -= overlap * other[k];
      }
    const double length = std::sqrt(dot(row, row, d));
    for (int k = 0; k < d; ++k) row[k] /= length;
  }
}

void draw_directions(Ensemble ensemble, int d, Random& random, std::span<double> block, std::span<float> rows) {
  if (ensemble == Ensemble::iid) {
    random.fill_normal(rows);
    return;
  }
  const std::size_t count = rows.size() / d;
  for (std::size_t row = 0; row < count; ++row) {
    if (row % d == 0) orthonormal_block(d, static_cast<int>(std::min<std::size_t>(d, count - row)), random, block);
    double square = 0;
    for (int k = 0; k < d; ++k) {
      const double value = random.normal();
      square += value * value;
    }
    const double length = std::sqrt(square);
    for (int k = 0; k < d; ++k) rows[row * d + k] = static_cast<float>(length * block[row % d * d + k]);
  }
}

}  // namespace

void draw_directions(Ensemble ensemble, int d, Random& random, std::span<float> rows) {
  std::vector<double> block(static_cast<std::size_t>(d) * d);
  draw_directions(ensemble, d, random, std::span<double>(block), rows);
}

void draw_projections(Ensemble ensemble, std::uint64_t seed, std::span<double> block, Projections& drawn) {
  Random for_omega({.seed = seed, .member = 0, .purpose = Purpose::projection});
  Random for_xi({.seed = seed, .member = 1, .purpose = Purpose::projection});
  draw_directions(ensemble, drawn.d, for_omega, block, drawn.omega);
  draw_directions(ensemble, drawn.d, for_xi, block, drawn.xi);
}

Projections draw_projections(Ensemble ensemble, int d, int m, int r, std::uint64_t seed) {
  Projections drawn{d, m, r, std::vector<float>(static_cast<std::size_t>(m) * d),
                    std::vector<float>(static_cast<std::size_t>(r) * d)};
  std::vector<double> block(static_cast<std::size_t>(d) * d);
  draw_projections(ensemble, seed, std::span<double>(block), drawn);
  return drawn;
}

}  // namespace iap
