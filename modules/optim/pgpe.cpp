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
import :directions;
import :mean_search;
import :pairs;
import :plateau;
import :shaping;
import :turn;

// Sehnke, Osendorfer, Rueckstiess, Graves, Peters, Schmidhuber 2010, "Parameter-exploring policy gradients", section 3 (PGPE with
// symmetric sampling). Members 2k, 2k+1 stand at m +- sigma eps_k, elementwise; for member weights F with mean b
//   dm     = mean over k of (F_{2k} - F_{2k+1}) / 2 sigma eps_k
//   dsigma = mean over k of ((F_{2k} + F_{2k+1}) / 2 - b) sigma (eps_k^2 - 1).

namespace iap {
namespace {

class ParameterExploration : public MeanSearch {
 public:
  ParameterExploration(Options& options, std::span<const float> initial, std::uint64_t seed)
      : MeanSearch("pgpe", initial, read_pair_population(options, "symmetric")),
        pairs_(options, seed, initial.size(), turn_.population()) {
    const double sigma = options.number_in("sigma", 1e-8, 1e3, 0.1);
    sigma_min_ = options.number_in("sigma_min", 1e-8, sigma, std::min(sigma, 0.01));
    sigma_rate_ = options.number_in("sigma_learning_rate", 0, 1e3, 0.1);
    sigma_change_ = options.number_in("sigma_max_change", 0, 1, 0.2);
    learning_rate_ = options.number_in("learning_rate", 0, 1e6, 0.05);
    learning_rate_decay_ = options.number_in("learning_rate_decay", 1e-3, 1, 1.0);
    plateau_ = Plateau(options, learning_rate_);
    shaping_ = read_shaping(options, "centred_ranks");
    ascent_ = make_ascent(options.choice("optimizer", ascent_names(), "adam"), options, mean_.size());
    deviations_.assign(mean_.size(), sigma);
    gradient_.resize(mean_.size());
    deviation_gradient_.resize(mean_.size());
    weights_.resize(turn_.population());
  }

  void ask(std::span<float> population) override {
    turn_.ask(population.size());
    pairs_.place(turn_.iteration(), mean_, [this](std::size_t i) { return deviations_[i]; }, population);
  }

  void tell(std::span<const double> fitness) override {
    turn_.check_tell(fitness.size());
    shape_fitness(shaping_, fitness, weights_);
    estimate_gradients();
    gradient_norm_ = norm(gradient_);
    if (!std::isfinite(gradient_norm_))
      throw Error("pgpe: the gradient is not finite because fitness is too large; use shaping = \"centred_ranks\"");
    ascent_->step(gradient_, learning_rate_, mean_);
    round_mean("lower learning_rate");
    for (std::size_t i = 0; i < mean_.size(); ++i) {
      const double limit = sigma_change_ * deviations_[i];
      deviations_[i] = std::max(sigma_min_, deviations_[i] + std::clamp(sigma_rate_ * deviation_gradient_[i], -limit, limit));
    }
    learning_rate_ = plateau_.next_rate(fitness, learning_rate_ * learning_rate_decay_);
    turn_.told();
  }

  std::vector<std::pair<std::string, double>> metrics() const override {
    return {{"sigma", norm(deviations_) / std::sqrt(static_cast<double>(mean_.size()))},
            {"sigma_lowest", *std::ranges::min_element(deviations_)},
            {"learning_rate", learning_rate_},
            {"gradient_norm", gradient_norm_},
            {"parameter_norm", norm(mean_)}};
  }

  /// Other parameters begin with the root mean square of the deviations so far.
  void adopt(const Optimizer& before, bool same_parameters) override {
    const auto& other = same_kind<ParameterExploration>(before);
    go_on_from(other, same_parameters);
    learning_rate_ = other.learning_rate_;
    plateau_.go_on_from(other.plateau_);
    gradient_norm_ = other.gradient_norm_;
    if (same_parameters) {
      deviations_ = other.deviations_;
      copy_moments(*other.ascent_, *ascent_);
    } else {
      std::ranges::fill(deviations_, norm(other.deviations_) / std::sqrt(static_cast<double>(other.deviations_.size())));
    }
  }

  void fitness_changes() override { plateau_.forget(); }

  void save(Writer& writer) const override {
    turn_.save(writer);
    writer.put(learning_rate_);
    writer.put(gradient_norm_);
    writer.put_all(std::span<const double>(mean_));
    writer.put_all(std::span<const double>(deviations_));
    ascent_->save(writer);
    plateau_.save(writer);
  }

  void load(Reader& reader) override {
    turn_.load(reader);
    learning_rate_ = reader.get<double>();
    gradient_norm_ = reader.get<double>();
    load_mean(reader);
    reader.get_into(std::span<double>(deviations_));
    ascent_->load(reader);
    plateau_.load(reader);
  }

 private:
  void estimate_gradients() {
    std::ranges::fill(gradient_, 0.0);
    std::ranges::fill(deviation_gradient_, 0.0);
    const double pairs = static_cast<double>(turn_.population()) / 2;
    double baseline = 0;
    for (const double weight : weights_) baseline += weight / (2 * pairs);
    for (std::size_t pair = 0; pair < turn_.population() / 2; ++pair) {
      const double plus = weights_[2 * pair], minus = weights_[2 * pair + 1];
      const double slope = (plus / 2 - minus / 2) / pairs, excess = (plus / 2 + minus / 2 - baseline) / pairs;
      const auto eps = pairs_.noise(turn_.iteration(), pair);
      for (std::size_t i = 0; i < mean_.size(); ++i) {
        const double noise = eps[i];
        gradient_[i] += slope * deviations_[i] * noise;
        deviation_gradient_[i] += excess * deviations_[i] * (noise * noise - 1);
      }
    }
  }

  Pairs pairs_;
  Plateau plateau_;
  double sigma_min_ = 0, sigma_rate_ = 0, sigma_change_ = 0;
  double learning_rate_ = 0, learning_rate_decay_ = 1;
  Shaping shaping_ = Shaping::centred_ranks;
  std::unique_ptr<Ascent> ascent_;
  double gradient_norm_ = 0;
  std::vector<double> deviations_;
  std::vector<double> gradient_, deviation_gradient_, weights_;
};

}  // namespace

std::unique_ptr<Optimizer> make_pgpe(Options& options, std::span<const float> initial, std::uint64_t seed) {
  return std::make_unique<ParameterExploration>(options, initial, seed);
}

}  // namespace iap
