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
import :pair_search;
import :shaping;
import :turn;

// Sehnke, Osendorfer, Rueckstiess, Graves, Peters, Schmidhuber 2010, "Parameter-exploring policy gradients", section 3 (PGPE with
// symmetric sampling). Members 2k, 2k+1 stand at m +- sigma eps_k, elementwise; for member weights F with mean b
//   dm     = mean over k of (F_{2k} - F_{2k+1}) / 2 sigma eps_k
//   dsigma = mean over k of ((F_{2k} + F_{2k+1}) / 2 - b) sigma (eps_k^2 - 1).
// What all deviations have in common shows in the norms of eps_k alone, so that they have to vary.

namespace iap {
namespace {

/// Members are floats, which are finite up to here wherever their directions point.
constexpr double most_deviation = 1e30;

class ParameterExploration : public PairSearch {
 public:
  ParameterExploration(Options& options, std::span<const float> initial, std::uint64_t seed)
      : PairSearch("pgpe", "symmetric", options, initial, seed, Norms::chi) {
    const double sigma = options.number_in("sigma", 1e-8, 1e3, 0.1);
    sigma_min_ = options.number_in("sigma_min", 1e-8, sigma, std::min(sigma, 0.01));
    sigma_rate_ = options.number_in("sigma_learning_rate", 0, 1e3, 0.1);
    sigma_change_ = options.number_in("sigma_max_change", 0, 1, 0.2);
    read_learning_rate(options);
    shaping_ = read_shaping(options, "centred_ranks");
    ascent_ = make_ascent(options.choice("optimizer", ascent_names(), "adam"), options, mean_.size());
    deviations_.assign(mean_.size(), sigma);
    gradient_.resize(mean_.size());
    deviation_gradient_.resize(mean_.size());
  }

  void ask(std::span<float> population) override {
    place([this](std::size_t i) { return deviations_[i]; }, population);
  }

  void write_member(std::size_t k, std::span<float> out) override {
    place_member([this](std::size_t i) { return deviations_[i]; }, k, out);
  }

  void tell(std::span<const double> fitness) override {
    weigh(fitness);
    estimate_gradients();
    gradient_norm_ = norm(gradient_);
    if (!std::isfinite(gradient_norm_))
      throw Error("pgpe: the gradient is not finite because fitness is too large; use shaping = \"centred_ranks\"");
    ascent_->step(gradient_, learning_rate_, mean_);
    round_mean("lower learning_rate");
    for (std::size_t i = 0; i < mean_.size(); ++i) {
      const double limit = sigma_change_ * deviations_[i];
      deviations_[i] = std::max(sigma_min_, deviations_[i] + std::clamp(sigma_rate_ * deviation_gradient_[i], -limit, limit));
      if (deviations_[i] > most_deviation)
        throw Error(text("pgpe: the deviation of parameter ", i + 1, " diverged to ", deviations_[i],
                         "; lower sigma_learning_rate or sigma_max_change"));
    }
    end_turn(fitness);
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
    gradient_norm_ = other.gradient_norm_;
    if (same_parameters) {
      deviations_ = other.deviations_;
      copy_moments(*other.ascent_, *ascent_);
    } else {
      std::ranges::fill(deviations_, norm(other.deviations_) / std::sqrt(static_cast<double>(other.deviations_.size())));
    }
  }

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
    const auto count = static_cast<double>(pairs());
    double baseline = 0;
    for (const double weight : weights_) baseline += weight / (2 * count);
    for (std::size_t pair = 0; pair < pairs(); ++pair) {
      const double plus = weights_[2 * pair], minus = weights_[2 * pair + 1];
      const double slope = (plus / 2 - minus / 2) / count, excess = (plus / 2 + minus / 2 - baseline) / count;
      const auto eps = noise(pair);
      for (std::size_t i = 0; i < mean_.size(); ++i) {
        const double noise = eps[i];
        gradient_[i] += slope * deviations_[i] * noise;
        deviation_gradient_[i] += excess * deviations_[i] * (noise * noise - 1);
      }
    }
  }

  double sigma_min_ = 0, sigma_rate_ = 0, sigma_change_ = 0;
  std::unique_ptr<Ascent> ascent_;
  double gradient_norm_ = 0;
  std::vector<double> deviations_;
  std::vector<double> gradient_, deviation_gradient_;
};

}  // namespace

/// @lua function iap.optim.pgpe
/// Policy gradients with parameter-based exploration: as es, with a learned deviation for each parameter (Sehnke et al. 2010).
/// @option population integer 2..1048576 = 64 - members an iteration, in antithetic pairs: even
/// @option sigma number 1e-8..1000 = 0.1 - standard deviation at first
/// @option sigma_min number 1e-8..sigma = (0.01, or sigma if smaller) - the least that one may become
/// @option sigma_learning_rate number 0..1000 = 0.1 - of the deviations
/// @option sigma_max_change number 0..1 = 0.2 - most that one changes in an iteration, as a share
/// @option learning_rate number 0..1e6 = 0.05 - of a step of the mean
/// @option learning_rate_decay number 0.001..1 = 1 - factor an iteration
/// @option plateau {optim.plateau} ? - the learning rate falls where returns stop rising
/// @option shaping "centred_ranks"|"standardised"|"none" = "centred_ranks" - what of returns counts: ranks, units of their
/// deviation, they themselves
/// @option directions "gaussian"|"orthogonal"|"hadamard" = "gaussian" - how the directions of the pairs stand to each other
/// @use optim.step
/// @return optimizer - for iap.train, or to start
/// @example iap.optim.pgpe { population = 64 }
/// @see training.md#optimizers

/// @lua function iap.optim.pepg
/// The old name of iap.optim.pgpe, which older runs hold.
/// @use iap.optim.pgpe
/// @return optimizer - a pgpe
std::unique_ptr<Optimizer> make_pgpe(Options& options, std::span<const float> initial, std::uint64_t seed) {
  return std::make_unique<ParameterExploration>(options, initial, seed);
}

}  // namespace iap
