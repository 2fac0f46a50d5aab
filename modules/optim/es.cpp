module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.optim;
import iap.core;
import :ascent;
import :shaping;

// Salimans, Ho, Chen, Sidor, Sutskever 2017, "Evolution strategies as a scalable alternative to reinforcement learning",
// algorithm 2 with antithetic pairs (section 2.1). For member weights F the gradient of the smoothed objective is
//   g = 1 / (n sigma) sum_k (F_{2k} - F_{2k+1}) eps_k,    members 2k, 2k+1 at mean +- sigma eps_k.

namespace iap {
namespace {

double norm(std::span<const double> values) {
  double square = 0;
  for (const double value : values) square += value * value;
  return std::sqrt(square);
}

class EvolutionStrategy : public Optimizer {
 public:
  EvolutionStrategy(Options& options, std::span<const float> initial, std::uint64_t seed)
      : seed_(seed), mean_(initial.begin(), initial.end()), rounded_(initial.begin(), initial.end()) {
    population_ = static_cast<std::size_t>(options.integer_in("population", 2, 1 << 20, 64));
    if (population_ % 2)
      options.fail(text("option 'population' must be even (members come in antithetic pairs), got ", population_));
    sigma_ = options.number_in("sigma", 1e-8, 1e3, 0.1);
    sigma_decay_ = options.number_in("sigma_decay", 1e-3, 1, 1.0);
    sigma_min_ = options.number_in("sigma_min", 1e-8, sigma_, std::min(sigma_, 0.01));
    learning_rate_ = options.number_in("learning_rate", 0, 1e6, 0.05);
    learning_rate_decay_ = options.number_in("learning_rate_decay", 1e-3, 1, 1.0);
    weight_decay_ = options.number_in("weight_decay", 0, 1, 0.0);
    const auto shaping = options.choice("shaping", shaping_names(), "centred_ranks");
    shaping_ = static_cast<Shaping>(std::ranges::find(shaping_names(), shaping) - shaping_names().begin());
    ascent_ = make_ascent(options.choice("optimizer", ascent_names(), "adam"), options, mean_.size());
    noise_.resize(mean_.size());
    gradient_.resize(mean_.size());
    weights_.resize(population_);
  }

  std::string_view name() const override { return "es"; }
  std::size_t parameters() const override { return mean_.size(); }
  std::size_t population() const override { return population_; }
  std::span<const float> mean() const override { return rounded_; }
  std::uint32_t iteration() const override { return iteration_; }

  void ask(std::span<float> population) override {
    if (population.size() != population_ * mean_.size())
      throw Error(text("es: ask needs room for ", population_, " x ", mean_.size(), " values, got ", population.size()));
    for (std::size_t pair = 0; pair < population_ / 2; ++pair) {
      draw_noise(pair);
      float* plus = population.data() + 2 * pair * mean_.size();
      float* minus = plus + mean_.size();
      for (std::size_t i = 0; i < mean_.size(); ++i) {
        plus[i] = static_cast<float>(mean_[i] + sigma_ * noise_[i]);
        minus[i] = static_cast<float>(mean_[i] - sigma_ * noise_[i]);
      }
    }
    asked_ = true;
  }

  void tell(std::span<const double> fitness) override {
    if (!asked_) throw Error("es: tell without a population; call ask first");
    if (fitness.size() != population_)
      throw Error(text("es: tell needs the fitness of ", population_, " members, got ", fitness.size()));
    shape_fitness(shaping_, fitness, weights_);
    estimate_gradient();
    const double gradient_norm = norm(gradient_);
    if (!std::isfinite(gradient_norm))
      throw Error("es: the gradient is not finite because fitness is too large; use shaping = \"centred_ranks\"");
    gradient_norm_ = gradient_norm;
    for (std::size_t i = 0; i < mean_.size(); ++i) gradient_[i] -= weight_decay_ * mean_[i];
    ascent_->step(gradient_, learning_rate_, mean_);
    for (std::size_t i = 0; i < mean_.size(); ++i) {
      rounded_[i] = static_cast<float>(mean_[i]);
      if (!std::isfinite(rounded_[i])) throw Error(text("es: parameter ", i, " diverged to ", mean_[i], "; lower learning_rate"));
    }
    sigma_ = std::max(sigma_min_, sigma_ * sigma_decay_);
    learning_rate_ *= learning_rate_decay_;
    asked_ = false;
    ++iteration_;
  }

  std::vector<std::pair<std::string, double>> metrics() const override {
    return {
        {"sigma", sigma_}, {"learning_rate", learning_rate_}, {"gradient_norm", gradient_norm_}, {"parameter_norm", norm(mean_)}};
  }

  void save(Writer& writer) const override {
    writer.put_string(name());
    writer.put(std::uint64_t{population_});
    writer.put(iteration_);
    writer.put(static_cast<std::uint8_t>(asked_));
    for (const double value : {sigma_, learning_rate_, gradient_norm_}) writer.put(value);
    writer.put_all(std::span<const double>(mean_));
    ascent_->save(writer);
  }

  void load(Reader& reader) override {
    if (const auto kind = reader.get_string(); kind != name())
      throw Error(text(reader.source(), ": holds the state of the optimizer '", kind, "', not of 'es'"));
    if (const auto members = reader.get<std::uint64_t>(); members != population_)
      throw Error(text(reader.source(), ": holds a population of ", members, ", this optimizer has ", population_));
    iteration_ = reader.get<std::uint32_t>();
    asked_ = reader.get<std::uint8_t>() != 0;
    for (double* value : {&sigma_, &learning_rate_, &gradient_norm_}) *value = reader.get<double>();
    reader.get_into(std::span<double>(mean_));
    ascent_->load(reader);
    std::ranges::transform(mean_, rounded_.begin(), [](double value) { return static_cast<float>(value); });
  }

 private:
  void draw_noise(std::size_t pair) {
    Random({.seed = seed_, .iteration = iteration_, .member = static_cast<std::uint32_t>(pair), .purpose = Purpose::perturbation})
        .fill_normal(noise_);
  }

  void estimate_gradient() {
    std::ranges::fill(gradient_, 0.0);
    const double scale = 1 / (static_cast<double>(population_) * sigma_);
    for (std::size_t pair = 0; pair < population_ / 2; ++pair) {
      const double weight = scale * (weights_[2 * pair] - weights_[2 * pair + 1]);
      if (weight == 0) continue;
      draw_noise(pair);
      for (std::size_t i = 0; i < gradient_.size(); ++i) gradient_[i] += weight * noise_[i];
    }
  }

  std::uint64_t seed_;
  std::size_t population_ = 0;
  double sigma_ = 0, sigma_decay_ = 1, sigma_min_ = 0;
  double learning_rate_ = 0, learning_rate_decay_ = 1, weight_decay_ = 0;
  Shaping shaping_ = Shaping::centred_ranks;
  std::unique_ptr<Ascent> ascent_;
  std::uint32_t iteration_ = 0;
  bool asked_ = false;
  double gradient_norm_ = 0;
  std::vector<double> mean_;
  std::vector<float> rounded_;  ///< `mean_` as the policy takes it
  std::vector<float> noise_;
  std::vector<double> gradient_, weights_;
};

}  // namespace

std::unique_ptr<Optimizer> make_es(Options& options, std::span<const float> initial, std::uint64_t seed) {
  return std::make_unique<EvolutionStrategy>(options, initial, seed);
}

}  // namespace iap
