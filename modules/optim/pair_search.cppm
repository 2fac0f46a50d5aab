module;
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>
/// What optimizers of antithetic pairs keep and answer in the same way.
module iap.optim:pair_search;
import iap.core;
import :directions;
import :mean_search;
import :plateau;
import :shaping;

namespace iap {

/// The catalog's rows of this kind, in words: "es, pgpe, ars".
std::string pair_search_names();

/// Moves a mean by the fitness of antithetic pairs: members 2k and 2k + 1 stand at mean + and - deviation eps_k, where each eps_k
/// has mean 0 and covariance I. The directions eps_k are no state: each is a function of (seed, iteration, k) and may be drawn
/// again where it is needed. The learning rate decays, and is lowered on a plateau. Who derives saves `learning_rate_` and
/// `plateau_`.
class PairSearch : public MeanSearch {
 public:
  void fitness_changes() final { plateau_.forget(); }
  bool derives() const final { return true; }

 protected:
  /// Reads the options `population` (64), which must be even, and `directions`; `kind` is what the message calls the pairs.
  PairSearch(std::string_view name, std::string_view kind, Options& options, std::span<const float> initial, std::uint64_t seed,
             Norms norms = Norms::any);

  /// Reads the options `learning_rate` (0.05), `learning_rate_decay` (1) and `plateau`.
  void read_learning_rate(Options& options);

  std::size_t pairs() const { return population() / 2; }
  /// eps of a pair in this turn, until the next call.
  std::span<const float> noise(std::size_t pair);
  /// Writes this turn's members; `deviation(i)` is parameter i's.
  template <class Deviation>
  void place(const Deviation& deviation, std::span<float> population) {
    turn_.ask(population.size());
    const std::size_t size = mean_.size();
    for (std::size_t pair = 0; pair < pairs(); ++pair) {
      const auto eps = noise(pair);
      float* plus = population.data() + 2 * pair * size;
      float* minus = plus + size;
      for (std::size_t i = 0; i < size; ++i) {
        plus[i] = static_cast<float>(mean_[i] + deviation(i) * eps[i]);
        minus[i] = static_cast<float>(mean_[i] - deviation(i) * eps[i]);
      }
    }
  }
  /// Writes member k alone.
  template <class Deviation>
  void place_member(const Deviation& deviation, std::size_t k, std::span<float> out) {
    turn_.check_member(k, out.size());
    const auto eps = noise(k / 2);
    const double side = k % 2 == 0 ? 1 : -1;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(mean_[i] + side * (deviation(i) * eps[i]));
  }
  /// Begins a tell: the members' weights by `shaping_`.
  void weigh(std::span<const double> fitness);
  /// Ends it: the next turn's learning rate.
  void end_turn(std::span<const double> fitness);
  /// As that of MeanSearch, and the learning rate.
  void go_on_from(const PairSearch& before, bool same_parameters);

  Plateau plateau_;
  double learning_rate_ = 0;
  Shaping shaping_ = Shaping::none;
  std::vector<double> weights_;  // of the members

 private:
  double learning_rate_decay_ = 1;
  std::unique_ptr<Directions> directions_;
  std::vector<float> noise_;
};

}  // namespace iap
