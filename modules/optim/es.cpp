module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>
module iap.optim;
import iap.core;
import :ascent;
import :pair_search;
import :shaping;
import :turn;

// Salimans, Ho, Chen, Sidor, Sutskever 2017, "Evolution strategies as a scalable alternative to reinforcement learning",
// algorithm 2 with antithetic pairs (section 2.1). For member weights F the gradient of the smoothed objective is
//   g = 1 / (n sigma) sum_k (F_{2k} - F_{2k+1}) eps_k,    members 2k, 2k+1 at mean +- sigma eps_k.

namespace iap {
namespace {

class EvolutionStrategy : public PairSearch {
 public:
  EvolutionStrategy(Options& options, std::span<const float> initial, std::uint64_t seed)
      : PairSearch("es", "antithetic", options, initial, seed) {
    sigma_ = options.number_in("sigma", 1e-8, 1e3, 0.1);
    sigma_decay_ = options.number_in("sigma_decay", 1e-3, 1, 1.0);
    sigma_min_ = options.number_in("sigma_min", 1e-8, sigma_, std::min(sigma_, 0.01));
    read_learning_rate(options);
    weight_decay_ = options.number_in("weight_decay", 0, 1, 0.0);
    shaping_ = read_shaping(options, "centred_ranks", true);
    ascent_ = make_ascent(options.choice("optimizer", ascent_names(), "adam"), options, mean_.size());
    gradient_.resize(mean_.size());
  }

  void ask(std::span<float> population) override {
    place([this](std::size_t) { return sigma_; }, population);
  }

  void write_member(std::size_t k, std::span<float> out) override {
    place_member([this](std::size_t) { return sigma_; }, k, out);
  }

  void tell(std::span<const double> fitness) override {
    weigh(fitness);
    estimate_gradient();
    const double gradient_norm = norm(gradient_);
    if (!std::isfinite(gradient_norm))
      throw Error("es: the gradient is not finite because fitness is too large; use shaping = \"centred_ranks\"");
    gradient_norm_ = gradient_norm;
    for (std::size_t i = 0; i < mean_.size(); ++i) gradient_[i] -= weight_decay_ * mean_[i];
    ascent_->step(gradient_, learning_rate_, mean_);
    round_mean("lower learning_rate");
    sigma_ = std::max(sigma_min_, sigma_ * sigma_decay_);
    end_turn(fitness);
  }

  std::vector<std::pair<std::string, double>> metrics() const override {
    return {
        {"sigma", sigma_}, {"learning_rate", learning_rate_}, {"gradient_norm", gradient_norm_}, {"parameter_norm", norm(mean_)}};
  }

  void adopt(const Optimizer& before, bool same_parameters) override {
    const auto& other = same_kind<EvolutionStrategy>(before);
    go_on_from(other, same_parameters);
    sigma_ = other.sigma_;
    gradient_norm_ = other.gradient_norm_;
    if (same_parameters) copy_moments(*other.ascent_, *ascent_);
  }

  void save(Writer& writer) const override {
    turn_.save(writer);
    for (const double value : {sigma_, learning_rate_, gradient_norm_}) writer.put(value);
    writer.put_all(std::span<const double>(mean_));
    ascent_->save(writer);
    plateau_.save(writer);
  }

  void load(Reader& reader) override {
    turn_.load(reader);
    for (double* value : {&sigma_, &learning_rate_, &gradient_norm_}) *value = reader.get<double>();
    load_mean(reader);
    ascent_->load(reader);
    plateau_.load(reader);
  }

 private:
  void estimate_gradient() {
    std::ranges::fill(gradient_, 0.0);
    const double scale = 1 / (static_cast<double>(turn_.population()) * sigma_);
    for (std::size_t pair = 0; pair < pairs(); ++pair) {
      const double weight = scale * (weights_[2 * pair] - weights_[2 * pair + 1]);
      if (weight == 0) continue;
      const auto eps = noise(pair);
      for (std::size_t i = 0; i < gradient_.size(); ++i) gradient_[i] += weight * eps[i];
    }
  }

  double sigma_ = 0, sigma_decay_ = 1, sigma_min_ = 0;
  double weight_decay_ = 0;
  std::unique_ptr<Ascent> ascent_;
  double gradient_norm_ = 0;
  std::vector<double> gradient_;
};

}  // namespace

/// @lua function iap.optim.es
/// Evolution strategy with antithetic Gaussian perturbations and a gradient step (Salimans et al. 2017).
/// @option population integer 2..1048576 = 64 - members an iteration, in antithetic pairs: even
/// @option sigma number 1e-8..1000 = 0.1 - standard deviation of the perturbations
/// @option sigma_decay number 0.001..1 = 1 - factor an iteration
/// @option sigma_min number 1e-8..sigma = (0.01, or sigma if smaller) - where the decay ends
/// @option learning_rate number 0..1e6 = 0.05 - of a step of the mean
/// @option learning_rate_decay number 0.001..1 = 1 - factor an iteration
/// @option plateau {optim.plateau} ? - the learning rate falls where returns stop rising
/// @option weight_decay number 0..1 = 0 - an L2 penalty: this times the parameters is taken off the gradient, which `optimizer`
/// makes a step of
/// @option shaping "centred_ranks"|"standardised"|"none"|"pair_ranks" = "centred_ranks" - what of returns counts: ranks, units of
/// their deviation, they themselves, ranks of the leads over twins
/// @option directions "gaussian"|"orthogonal"|"hadamard" = "gaussian" - how the directions of the pairs stand to each other
/// @use optim.step
/// @return optimizer - for iap.train, or to start
/// @example iap.optim.es { population = 32, sigma = 0.1, learning_rate = 0.05 }
/// @see training.md#optimizers
std::unique_ptr<Optimizer> make_es(Options& options, std::span<const float> initial, std::uint64_t seed) {
  return std::make_unique<EvolutionStrategy>(options, initial, seed);
}

}  // namespace iap
