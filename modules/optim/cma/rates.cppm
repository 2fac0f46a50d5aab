module;
#include <cstddef>
#include <vector>
/// The strategy parameters of CMA-ES.
module iap.optim:cma_rates;

namespace iap {

/// Hansen 2016 (2023 revision), "The CMA evolution strategy: a tutorial", table 1. Weights stand in the order of rank, the best
/// first; the positive ones sum to 1.
struct CmaRates {
  std::vector<double> weights;
  double mu_eff = 0;                ///< variance-effective number of parents
  double c_sigma = 0, d_sigma = 0;  ///< step-size path: learning rate, damping
  double c_c = 0;                   ///< covariance path: learning rate
  double c_1 = 0, c_mu = 0;         ///< covariance: rank-one and rank-mu learning rates
  double chi = 0;                   ///< expected norm of a standard normal vector
};

/// For n parameters. Without `active` the negative weights are 0. `diagonal` raises the covariance's learning rates by (n + 2) / 3
/// (Ros & Hansen 2008, "A simple modification in CMA-ES achieving linear time and space complexity", section 3).
CmaRates cma_rates(std::size_t parameters, std::size_t population, bool active, bool diagonal);

/// 4 + floor(3 ln n), the tutorial's population.
std::size_t cma_population(std::size_t parameters);

}  // namespace iap
