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
import :plateau;
import :turn;

// Such, Madhavan, Conti, Lehman, Stanley, Clune 2017, "Deep neuroevolution: genetic algorithms are a competitive alternative for
// training deep neural networks for reinforcement learning", algorithm 1: no crossover. Member 0 is the elite, evaluated again in
// every generation; the others are a parent drawn uniformly plus Gaussian noise.

namespace iap {
namespace {

class GeneticAlgorithm : public Optimizer {
 public:
  GeneticAlgorithm(Options& options, std::span<const float> initial, std::uint64_t seed)
      : seed_(seed),
        turn_("simple_ga", initial.size(), static_cast<std::size_t>(options.integer_in("population", 2, 1 << 20, 64))) {
    const auto members = static_cast<std::int64_t>(turn_.population());
    parents_ = static_cast<std::size_t>(options.integer_in("parents", 1, members, std::max<std::int64_t>(1, members / 5)));
    refuse_plateau(options, "simple_ga");
    sigma_ = options.number_in("sigma", 1e-8, 1e3, 0.1);
    sigma_decay_ = options.number_in("sigma_decay", 1e-3, 1, 1.0);
    sigma_min_ = options.number_in("sigma_min", 1e-8, sigma_, std::min(sigma_, 0.01));
    for (std::size_t parent = 0; parent < parents_; ++parent) genes_.insert(genes_.end(), initial.begin(), initial.end());
    next_genes_.resize(genes_.size());
    noise_.resize(initial.size());
  }

  std::string_view name() const override { return turn_.name(); }
  std::size_t parameters() const override { return turn_.parameters(); }
  std::size_t population() const override { return turn_.population(); }
  /// The elite: a genetic algorithm keeps no distribution whose mean could be taken.
  std::span<const float> mean() const override { return std::span(genes_).first(turn_.parameters()); }
  std::uint32_t iteration() const override { return turn_.iteration(); }

  void ask(std::span<float> population) override {
    turn_.ask(population.size());
    for (std::size_t k = 0; k < turn_.population(); ++k) mutate(k, population.subspan(k * noise_.size(), noise_.size()));
  }

  bool derives() const override { return true; }
  void write_member(std::size_t k, std::span<float> out) override {
    turn_.check_member(k, out.size());
    mutate(k, out);
  }

  void tell(std::span<const double> fitness) override {
    turn_.check_tell(fitness.size());
    order_best_first(name(), fitness, order_);
    for (std::size_t parent = 0; parent < parents_; ++parent) {
      const auto out = std::span(next_genes_).subspan(parent * noise_.size(), noise_.size());
      mutate(order_[parent], out);
      for (std::size_t i = 0; i < out.size(); ++i)
        if (!std::isfinite(out[i])) throw Error(text("simple_ga: parameter ", i + 1, " diverged to ", out[i], "; lower sigma"));
    }
    improved_ = order_[0] != 0;
    genes_.swap(next_genes_);
    sigma_ = std::max(sigma_min_, sigma_ * sigma_decay_);
    turn_.told();
  }

  std::vector<std::pair<std::string, double>> metrics() const override {
    double square = 0;
    for (const double value : mean()) square += value * value;
    return {{"sigma", sigma_}, {"improved", improved_ ? 1.0 : 0.0}, {"parameter_norm", std::sqrt(square)}};
  }

  void save(Writer& writer) const override {
    turn_.save(writer);
    writer.put(sigma_);
    writer.put(static_cast<std::uint8_t>(improved_));
    writer.put_all(std::span<const float>(genes_));
  }

  void load(Reader& reader) override {
    turn_.load(reader);
    sigma_ = reader.get<double>();
    improved_ = reader.get<std::uint8_t>() != 0;
    reader.get_into(std::span<float>(genes_));
  }

 private:
  void mutate(std::size_t k, std::span<float> out) {
    Random random(
        {.seed = seed_, .iteration = turn_.iteration(), .member = static_cast<std::uint32_t>(k), .purpose = Purpose::perturbation});
    const std::size_t parent = k == 0 ? 0 : random.below(static_cast<std::uint32_t>(parents_));
    const float* genes = genes_.data() + parent * out.size();
    if (k == 0) {
      std::copy_n(genes, out.size(), out.begin());
      return;
    }
    random.fill_normal(noise_);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(genes[i] + sigma_ * noise_[i]);
  }

  std::uint64_t seed_;
  Turn turn_;
  std::size_t parents_ = 1;
  double sigma_ = 0, sigma_decay_ = 1, sigma_min_ = 0;
  bool improved_ = false;
  std::vector<float> genes_, next_genes_;  ///< parents, the best first
  std::vector<float> noise_;
  std::vector<std::uint32_t> order_;
};

}  // namespace

/// @lua function iap.optim.simple_ga
/// Genetic algorithm with truncation selection, Gaussian mutation and an elite (Such et al. 2017).
/// @option population integer 2..1048576 = 64 - members an iteration
/// @option parents integer 1..population = (a fifth of population) - members that have children
/// @option sigma number 1e-8..1000 = 0.1 - standard deviation of a mutation
/// @option sigma_decay number 0.001..1 = 1 - factor an iteration
/// @option sigma_min number 1e-8..sigma = (0.01, or sigma if smaller) - where the decay ends
/// @return optimizer - for iap.train, or to start
/// @example iap.optim.simple_ga { parents = 8 }
/// @see training.md#optimizers
std::unique_ptr<Optimizer> make_simple_ga(Options& options, std::span<const float> initial, std::uint64_t seed) {
  return std::make_unique<GeneticAlgorithm>(options, initial, seed);
}

}  // namespace iap
