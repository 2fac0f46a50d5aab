// Random-feature scores by plain loops in double precision, feature by feature.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "cases.hpp"

struct Settings {
  FeatureKind kind;
  int m, r;
  bool normalised, orthogonal;
  std::uint64_t seed;

  Config config() const {
    const char* names[] = {"exp", "trig", "hybrid"};
    Config::Map map{{"kernel", names[static_cast<int>(kind)]},
                    {"m", m},
                    {"feature_seed", static_cast<std::int64_t>(seed)},
                    {"input", normalised ? "normalised" : "plain"},
                    {"ensemble", orthogonal ? "orthogonal" : "iid"}};
    if (kind == FeatureKind::hybrid) map["r"] = r;
    return map;
  }
  Projections projections(int d) const {
    return draw_projections(orthogonal ? Ensemble::orthogonal : Ensemble::iid, d, m, kind == FeatureKind::hybrid ? r : 0, seed);
  }
};

// Whether the sign of some xi . x is too close to call in single precision.
inline bool ambiguous(const Projections& projections, const std::vector<double>& x) {
  for (int j = 0; j < projections.r; ++j) {
    double sum = 0, scale = 0;
    for (int k = 0; k < projections.d; ++k) {
      sum += projections.xi[j * projections.d + k] * x[k];
      scale += std::abs(projections.xi[j * projections.d + k]);
    }
    if (std::abs(sum) < 1e-4 * scale) return true;
  }
  return false;
}

inline std::pair<Rows, Rows> inputs(const Case& c, bool normalised, double offset) {
  Rows q = project(c, c.query, c.query_bias, offset), k = project(c, c.key, c.key_bias, offset);
  const double root = std::pow(c.d, 0.25);
  for (Rows* rows : {&q, &k})
    if (normalised)
      to_length(*rows, root);
    else
      for (auto& row : *rows)
        for (double& u : row) u /= root;
  return {q, k};
}

// z = sum of P phi(q), scores z . phi(k) / L, feature by feature in double precision. No weights: P is all ones.
inline std::vector<double> slow_scores(const Settings& settings, const Projections& projections, const Rows& queries,
                                       const Rows& keys, const std::vector<float>& weights = {}) {
  std::vector<double> phi(feature_count(settings.kind, projections.m, projections.r)), z(phi.size()), scores;
  for (std::size_t j = 0; j < queries.size(); ++j) {
    feature_map(settings.kind, projections, Side::query, queries[j], phi);
    const double weight = (weights.empty() ? 1.0 : weights[j]) / static_cast<double>(queries.size());
    for (std::size_t i = 0; i < phi.size(); ++i) z[i] += weight * phi[i];
  }
  for (const auto& k : keys) {
    feature_map(settings.kind, projections, Side::key, k, phi);
    scores.push_back(dot(z, phi));
  }
  return scores;
}

inline double largest(const std::vector<double>& values) {
  double result = 0;
  for (const double value : values) result = std::max(result, std::abs(value));
  return result;
}
