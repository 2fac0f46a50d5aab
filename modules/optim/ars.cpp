module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>
module iap.optim;
import iap.core;
import :pair_search;
import :shaping;
import :turn;

// Mania, Guy, Recht 2018, "Simple random search of static linear policies is competitive for reinforcement learning", algorithm 1
// (V1, and V1-t with `top` below all directions). Members 2k, 2k+1 stand at m +- sigma delta_k. Over the b directions of largest
// max(F_{2k}, F_{2k+1}), whose 2b returns have the deviation s,
//   m += learning_rate / (b s) sum_k (F_{2k} - F_{2k+1}) delta_k.

namespace iap {
namespace {

class RandomSearch : public PairSearch {
 public:
  RandomSearch(Options& options, std::span<const float> initial, std::uint64_t seed)
      : PairSearch("ars", "antithetic", options, initial, seed) {
    const auto directions = static_cast<std::int64_t>(pairs());
    top_ = static_cast<std::size_t>(options.integer_in("top", 1, directions, directions));
    sigma_ = options.number_in("sigma", 1e-8, 1e3, 0.05);
    read_learning_rate(options);
    shaping_ = read_shaping(options, "none");
    step_.resize(mean_.size());
    order_.resize(pairs());
  }

  void ask(std::span<float> population) override {
    place([this](std::size_t) { return sigma_; }, population);
  }

  void write_member(std::size_t k, std::span<float> out) override {
    place_member([this](std::size_t) { return sigma_; }, k, out);
  }

  void tell(std::span<const double> fitness) override {
    weigh(fitness);
    choose_directions();
    scale_returns();
    std::ranges::fill(step_, 0.0);
    // In the order of the members, so that equal returns cannot change the sum.
    std::ranges::sort(std::span(order_).first(top_));
    for (const std::size_t pair : std::span(order_).first(top_)) {
      const double weight = learning_rate_ / static_cast<double>(top_) * (weights_[2 * pair] - weights_[2 * pair + 1]);
      const auto eps = noise(pair);
      for (std::size_t i = 0; i < mean_.size(); ++i) step_[i] += weight * eps[i];
    }
    for (std::size_t i = 0; i < mean_.size(); ++i) mean_[i] += step_[i];
    round_mean("lower learning_rate");
    end_turn(fitness);
  }

  std::vector<std::pair<std::string, double>> metrics() const override {
    return {{"sigma", sigma_}, {"learning_rate", learning_rate_}, {"step_norm", norm(step_)}, {"parameter_norm", norm(mean_)}};
  }

  void adopt(const Optimizer& before, bool same_parameters) override {
    const auto& other = same_kind<RandomSearch>(before);
    go_on_from(other, same_parameters);
    if (same_parameters) step_ = other.step_;
  }

  void save(Writer& writer) const override {
    turn_.save(writer);
    writer.put(learning_rate_);
    writer.put_all(std::span<const double>(mean_));
    writer.put_all(std::span<const double>(step_));
    plateau_.save(writer);
  }

  void load(Reader& reader) override {
    turn_.load(reader);
    learning_rate_ = reader.get<double>();
    load_mean(reader);
    reader.get_into(std::span<double>(step_));
    plateau_.load(reader);
  }

 private:
  /// Puts the `top_` best directions first; of equal ones the earlier.
  void choose_directions() {
    std::iota(order_.begin(), order_.end(), 0U);
    const auto best = [&](std::uint32_t pair) { return std::max(weights_[2 * pair], weights_[2 * pair + 1]); };
    std::ranges::sort(order_, [&](std::uint32_t a, std::uint32_t b) { return best(a) != best(b) ? best(a) > best(b) : a < b; });
  }

  /// Divides the chosen returns by their deviation; by 0 they become 0.
  void scale_returns() {
    // Scaling first keeps the sums of huge values finite; the result does not depend on the scale.
    double scale = 0, mean = 0, variance = 0;
    const auto each = [&](auto&& body) {
      for (const std::size_t pair : std::span(order_).first(top_))
        for (const std::size_t member : {2 * pair, 2 * pair + 1}) body(weights_[member]);
    };
    each([&](double value) { scale = std::max(scale, std::abs(value)); });
    if (scale == 0) return;
    const auto count = static_cast<double>(2 * top_);
    each([&](double& value) { mean += (value /= scale) / count; });
    each([&](double value) { variance += (value - mean) * (value - mean) / count; });
    // Equal values differ from their computed mean by rounding alone, which must not be blown up.
    const double deviation = std::sqrt(variance);
    each([&](double& value) { value = deviation > 1e-15 ? (value - mean) / deviation : 0; });
  }

  std::size_t top_ = 1;
  double sigma_ = 0;
  std::vector<double> step_;
  std::vector<std::uint32_t> order_;
};

}  // namespace

/// @lua function iap.optim.ars
/// Augmented random search along the best directions (Mania et al. 2018).
/// @option population integer 2..1048576 = 64 - members an iteration, in antithetic pairs: even
/// @option top integer 1..population/2 = (all directions) - best directions that are used
/// @option sigma number 1e-8..1000 = 0.05 - standard deviation of the perturbations
/// @option learning_rate number 0..1e6 = 0.05 - of a step of the mean
/// @option learning_rate_decay number 0.001..1 = 1 - factor an iteration
/// @option plateau {optim.plateau} ? - the learning rate falls where returns stop rising
/// @option shaping "centred_ranks"|"standardised"|"none" = "none" - what of returns counts, before they are divided by their
/// deviation
/// @option directions "gaussian"|"orthogonal"|"hadamard" = "gaussian" - how the directions of the pairs stand to each other
/// @return optimizer - for iap.train, or to start
/// @example iap.optim.ars { population = 32, top = 8 }
/// @see training.md#optimizers
std::unique_ptr<Optimizer> make_ars(Options& options, std::span<const float> initial, std::uint64_t seed) {
  return std::make_unique<RandomSearch>(options, initial, seed);
}

}  // namespace iap
