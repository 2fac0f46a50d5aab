module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>
module iap.optim;
import :cma_rates;

namespace iap {

std::size_t cma_population(std::size_t parameters) {
  return 4 + static_cast<std::size_t>(3 * std::log(static_cast<double>(parameters)));
}

CmaRates cma_rates(std::size_t parameters, std::size_t population, bool active, bool diagonal) {
  const auto n = static_cast<double>(parameters);
  CmaRates rates;
  auto& weights = rates.weights;
  weights.resize(population);
  double positive = 0, positive_square = 0, negative = 0, negative_square = 0;
  for (std::size_t i = 0; i < population; ++i) {
    const double weight = std::log((static_cast<double>(population) + 1) / 2) - std::log(static_cast<double>(i + 1));
    weights[i] = weight;
    (weight > 0 ? positive : negative) += std::abs(weight);
    (weight > 0 ? positive_square : negative_square) += weight * weight;
  }
  const double mu_eff = positive * positive / positive_square;
  const double mu_eff_negative = negative_square > 0 ? negative * negative / negative_square : 0;

  rates.mu_eff = mu_eff;
  rates.c_sigma = (mu_eff + 2) / (n + mu_eff + 5);
  rates.d_sigma = 1 + 2 * std::max(0.0, std::sqrt((mu_eff - 1) / (n + 1)) - 1) + rates.c_sigma;
  rates.c_c = (4 + mu_eff / n) / (n + 4 + 2 * mu_eff / n);
  const double raise = diagonal ? (n + 2) / 3 : 1;
  rates.c_1 = std::min(1.0, raise * 2 / ((n + 1.3) * (n + 1.3) + mu_eff));
  rates.c_mu = std::min(1 - rates.c_1, raise * 2 * (0.25 + mu_eff + 1 / mu_eff - 2) / ((n + 2) * (n + 2) + mu_eff));
  rates.chi = std::sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));

  // Three bounds on the sum of the negative weights: no decay of the covariance, few effective members, positive definiteness.
  const double decay = 1 + rates.c_1 / rates.c_mu;
  const double effective = 1 + 2 * mu_eff_negative / (mu_eff + 2);
  const double definite = (1 - rates.c_1 - rates.c_mu) / (n * rates.c_mu);
  const double share = active && rates.c_mu > 0 ? std::max(0.0, std::min({decay, effective, definite})) : 0;
  for (double& weight : weights) weight = weight > 0 ? weight / positive : (negative > 0 ? share * weight / negative : 0.0);
  return rates;
}

}  // namespace iap
