module;
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>
module iap.attention;
import iap.core;

namespace iap {
namespace {

double project(std::span<const float> rows, int row, std::span<const double> x) {
  double sum = 0;
  for (std::size_t k = 0; k < x.size(); ++k) sum += static_cast<double>(rows[row * x.size() + k]) * x[k];
  return sum;
}

// Doubles hold exp of anything up to this size, and exp of its negative with all their digits.
constexpr double harmless_exponent = 700;

double sign(double value) { return value < 0 ? -1.0 : 1.0; }

}  // namespace

int feature_count(FeatureKind kind, int m, int r) {
  switch (kind) {
    case FeatureKind::exp: return m;
    case FeatureKind::trig: return 2 * m;
    case FeatureKind::hybrid: return 3 * m * (1 + r);
  }
  return 0;
}

void feature_map(FeatureKind kind, const Projections& projections, Side side, std::span<const double> x, std::span<double> phi) {
  const int m = projections.m, r = projections.r;
  double square = 0;
  for (const double value : x) square += value * value;
  const double lambda = std::exp(-square / 2), root = std::sqrt(static_cast<double>(m));
  const auto exp_feature = [&](int i) {
    const double offset = projections.offset.empty() ? 0.0 : projections.offset[i];
    const double exponent = offset + project(projections.omega, i, x);
    // Long inputs would make one factor 0 and the other infinite.
    if (square / 2 < harmless_exponent && exponent < harmless_exponent) return lambda / root * std::exp(exponent);
    return std::exp(exponent - square / 2) / root;
  };
  const auto sin_feature = [&](int i) { return std::sin(project(projections.omega, i, x)) / (lambda * root); };
  const auto cos_feature = [&](int i) { return std::cos(project(projections.omega, i, x)) / (lambda * root); };
  double* out = phi.data();
  if (kind == FeatureKind::exp) {
    for (int i = 0; i < m; ++i) *out++ = exp_feature(i);
    return;
  }
  const double half = kind == FeatureKind::hybrid ? std::sqrt(0.5) : 1;
  for (int i = 0; i < m; ++i) *out++ = half * sin_feature(i);
  for (int i = 0; i < m; ++i) *out++ = half * cos_feature(i);
  if (kind == FeatureKind::trig) return;
  for (int i = 0; i < m; ++i) *out++ = half * exp_feature(i);
  for (int j = 0; j < r; ++j) {
    const double weight = half * sign(project(projections.xi, j, x)) / std::sqrt(static_cast<double>(r));
    for (int i = 0; i < m; ++i) *out++ = weight * sin_feature(i);
    for (int i = 0; i < m; ++i) *out++ = weight * cos_feature(i);
    for (int i = 0; i < m; ++i) *out++ = (side == Side::query ? -weight : weight) * exp_feature(i);
  }
}

}  // namespace iap
