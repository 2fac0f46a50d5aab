module;
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
module iap.optim;
import iap.core;
import :directions;
import :mean_search;
import :pair_search;
import :plateau;
import :shaping;
import :turn;

namespace iap {
namespace {

std::size_t read_population(Options& options, std::string_view kind) {
  const auto population = static_cast<std::size_t>(options.integer_in("population", 2, 1 << 20, 64));
  if (population % 2)
    throw OptionError(
        text(options.owner(), ": option 'population' must be even (members come in ", kind, " pairs), got ", population));
  return population;
}

}  // namespace

PairSearch::PairSearch(std::string_view name, std::string_view kind, Options& options, std::span<const float> initial,
                       std::uint64_t seed, Norms norms)
    : MeanSearch(name, initial, read_population(options, kind)),
      weights_(population()),
      directions_(make_directions(options, seed, initial.size(), pairs(), norms)),
      noise_(initial.size()) {}

void PairSearch::read_learning_rate(Options& options) {
  learning_rate_ = options.number_in("learning_rate", 0, 1e6, 0.05);
  learning_rate_decay_ = options.number_in("learning_rate_decay", 1e-3, 1, 1.0);
  plateau_ = Plateau(options, learning_rate_);
}

std::span<const float> PairSearch::noise(std::size_t pair) {
  directions_->draw(iteration(), pair, std::span<float>(noise_));
  return std::span<const float>(noise_);
}

void PairSearch::weigh(std::span<const double> fitness) {
  turn_.check_tell(fitness.size());
  shape_fitness(shaping_, fitness, std::span<double>(weights_));
}

void PairSearch::end_turn(std::span<const double> fitness) {
  learning_rate_ = plateau_.next_rate(fitness, learning_rate_ * learning_rate_decay_);
  turn_.told();
}

void PairSearch::go_on_from(const PairSearch& before, bool same_parameters) {
  MeanSearch::go_on_from(before, same_parameters);
  learning_rate_ = before.learning_rate_;
  plateau_.go_on_from(before.plateau_);
}

}  // namespace iap
