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
import :cma_covariance;
import :cma_rates;
import :cma_restarts;
import :cma_stop;
import :mean_search;
import :memory;
import :plateau;
import :turn;

// Hansen 2016 (2023 revision), "The CMA evolution strategy: a tutorial", appendix A; equations are quoted by its numbers. Members
// are x_k = m + sigma y_k with y_k = A z_k, C = A A^T.

namespace iap {
namespace {

/// Stands in a saved state before the reason of a search that ended, where the next turn begins another one.
constexpr std::string_view restarting = "restart ";

class CovarianceMatrixAdaptation : public MeanSearch {
 public:
  CovarianceMatrixAdaptation(std::string_view name, Options& options, std::span<const float> initial, std::uint64_t seed,
                             bool diagonal)
      : MeanSearch(name, initial,
                   static_cast<std::size_t>(
                       options.integer_in("population", 4, 1 << 20, static_cast<std::int64_t>(cma_population(initial.size()))))),
        seed_(seed),
        diagonal_(diagonal),
        active_(options.boolean("active", !diagonal)),
        base_population_(turn_.population()),
        initial_(initial.begin(), initial.end()),
        stop_(options, initial.size()),
        restarts_(options, base_population_, options.number_in("sigma", 1e-8, 1e3, 0.1)),
        covariance_(diagonal ? make_diagonal_covariance(initial.size()) : make_full_covariance(initial.size())),
        path_sigma_(initial.size()),
        path_c_(initial.size()),
        shift_(initial.size()) {
    refuse_plateau(options, name);
    const std::size_t most = restarts_.largest_population();
    require_memory(name, text("a population of up to ", most, " x ", initial.size(), " parameters"),
                   (sizeof(float) + 2 * sizeof(double)) * static_cast<double>(most) * static_cast<double>(initial.size()),
                   most > base_population_ ? "lower population or max_restarts" : "lower population");
    start_run();
  }

  std::string stop_reason() const override { return stop_reason_; }
  std::string restart_reason() const override { return restart_reason_; }

  void ask(std::span<float> population) override {
    turn_.ask(population.size());
    if (!restart_reason_.empty()) restart();
    draw();
    for (std::size_t k = 0; k < turn_.population(); ++k) {
      const double* y = y_.data() + k * mean_.size();
      float* member = population.data() + k * mean_.size();
      for (std::size_t i = 0; i < mean_.size(); ++i) member[i] = static_cast<float>(mean_[i] + sigma_ * y[i]);
    }
  }

  void tell(std::span<const double> fitness) override {
    turn_.check_tell(fitness.size());
    order_best_first(name(), fitness, order_);
    draw();
    stop_.record(fitness, order_);
    ++generation_;
    weigh_members();
    move_mean();
    adapt_paths_and_covariance();
    adapt_sigma();
    if (generation_ - refreshed_ > covariance_->refresh_every(rates_.c_1 + rates_.c_mu)) {
      covariance_->refresh();
      refreshed_ = generation_;
      if (diagonal_) balance();
    }
    restarts_.spend(turn_.population());
    turn_.told();
    drawn_ = false;
    // A search that ended stays ended, whoever asks on.
    if (stop_reason_.empty()) {
      stop_reason_ = reason_to_stop();
      if (!stop_reason_.empty() && stop_reason_ != "target" && announce_restart())
        restart_reason_ = std::exchange(stop_reason_, "");
    }
  }

  std::vector<std::pair<std::string, double>> metrics() const override {
    double variance = 0;
    for (std::size_t i = 0; i < mean_.size(); ++i) variance += covariance_->variance(i);
    return {{"sigma", sigma_},
            {"deviation", sigma_ * std::sqrt(variance / static_cast<double>(mean_.size()))},
            {"axis_ratio", covariance_->axis_ratio()},
            {"path_length", norm(path_sigma_) / rates_.chi},
            {"parameter_norm", norm(mean_)},
            {"population", static_cast<double>(restarts_.population())},
            {"restarts", restarts_.count()}};
  }

  void fitness_changes() override { stop_.restart(turn_.population()); }

  void save(Writer& writer) const override {
    Turn head = turn_;
    head.set_population(base_population_);
    head.save(writer);
    restarts_.save(writer);
    stop_.save(writer);
    writer.put_string(restart_reason_.empty() ? stop_reason_ : text(restarting, restart_reason_));
    writer.put(sigma_);
    writer.put(generation_);
    writer.put(refreshed_);
    for (const auto* values : {&mean_, &path_sigma_, &path_c_}) writer.put_all(std::span<const double>(*values));
    covariance_->save(writer);
  }

  void load(Reader& reader) override {
    turn_.set_population(base_population_);
    turn_.load(reader);
    restarts_.load(reader);
    set_population(restarts_.population());
    stop_.load(reader);
    stop_reason_ = reader.get_string();
    restart_reason_.clear();
    if (stop_reason_.starts_with(restarting)) restart_reason_ = std::exchange(stop_reason_, "").substr(restarting.size());
    sigma_ = reader.get<double>();
    generation_ = reader.get<std::uint32_t>();
    refreshed_ = reader.get<std::uint32_t>();
    load_mean(reader);
    for (auto* values : {&path_sigma_, &path_c_}) reader.get_into(std::span<double>(*values));
    covariance_->load(reader);
    drawn_ = false;
    if (!restart_reason_.empty() && !announce_restart())
      throw Error(text(reader.source(), ": is about to begin anew, where this schedule ends; the file is damaged"));
  }

 private:
  void set_population(std::size_t population) {
    turn_.set_population(population);
    rates_ = cma_rates(mean_.size(), population, active_, diagonal_);
    stop_.restart(population);
    z_.resize(population * mean_.size());
    y_.resize((population + 1) * mean_.size());
    weights_.resize(population + 1);
  }

  void start_run() {
    set_population(restarts_.population());
    sigma_ = restarts_.sigma();
    std::ranges::fill(path_sigma_, 0.0);
    std::ranges::fill(path_c_, 0.0);
    covariance_->reset();
    generation_ = refreshed_ = 0;
  }

  /// Of the restart after the last tell.
  Random random_of_restart() const {
    return Random({.seed = seed_, .iteration = turn_.iteration() - 1, .purpose = Purpose::initial_parameters});
  }

  /// Makes the next turn as large as the run that begins with it; false if the schedule has none left. Until then the mean and all
  /// figures are those of the search that ended.
  bool announce_restart() {
    Restarts after = restarts_;
    Random random = random_of_restart();
    if (!after.next(random)) return false;
    turn_.set_population(after.population());
    return true;
  }

  void restart() {
    Random random = random_of_restart();
    restarts_.next(random);
    restart_reason_.clear();
    start_run();
    for (std::size_t i = 0; i < mean_.size(); ++i) mean_[i] = initial_[i] + restarts_.spread() * random.normal();
    round_mean("lower sigma");
  }

  void draw() {
    if (drawn_) return;
    const std::size_t size = mean_.size();
    for (std::size_t k = 0; k < turn_.population(); ++k) {
      Random random({.seed = seed_,
                     .iteration = turn_.iteration(),
                     .member = static_cast<std::uint32_t>(k),
                     .purpose = Purpose::perturbation});
      for (std::size_t i = 0; i < size; ++i) z_[k * size + i] = random.normal();
    }
    covariance_->transform(z_, std::span(y_).first(z_.size()));
    drawn_ = true;
  }

  /// Weights by member: by rank, the negative ones scaled to the length of their step (46).
  void weigh_members() {
    const auto size = mean_.size();
    for (std::size_t rank = 0; rank < order_.size(); ++rank) {
      const std::size_t k = order_[rank];
      double weight = rates_.weights[rank];
      if (weight < 0) {
        double square = 0;
        for (const double value : std::span(z_).subspan(k * size, size)) square += value * value;
        weight *= static_cast<double>(size) / square;
      }
      weights_[k] = weight;
    }
  }

  /// sum_k w_k columns_k over the positive weights (41), in the order of the members.
  void average(const std::vector<double>& columns) {
    std::ranges::fill(shift_, 0.0);
    const auto size = mean_.size();
    for (std::size_t k = 0; k < turn_.population(); ++k) {
      if (weights_[k] <= 0) continue;
      for (std::size_t i = 0; i < size; ++i) shift_[i] += weights_[k] * columns[k * size + i];
    }
  }

  void move_mean() {
    // A^-1 times the mean step is the mean z (43).
    average(z_);
    const double gain = std::sqrt(rates_.c_sigma * (2 - rates_.c_sigma) * rates_.mu_eff);
    for (std::size_t i = 0; i < mean_.size(); ++i) path_sigma_[i] = (1 - rates_.c_sigma) * path_sigma_[i] + gain * shift_[i];
    average(y_);
    for (std::size_t i = 0; i < mean_.size(); ++i) mean_[i] += sigma_ * shift_[i];
    round_mean("lower sigma");
  }

  void adapt_paths_and_covariance() {
    const auto n = static_cast<double>(mean_.size());
    const double unbiased = std::sqrt(1 - std::pow(1 - rates_.c_sigma, 2.0 * generation_));
    const bool moving = norm(path_sigma_) / unbiased < (1.4 + 2 / (n + 1)) * rates_.chi;
    const double gain = moving ? std::sqrt(rates_.c_c * (2 - rates_.c_c) * rates_.mu_eff) : 0;
    for (std::size_t i = 0; i < mean_.size(); ++i) path_c_[i] = (1 - rates_.c_c) * path_c_[i] + gain * shift_[i];

    double keep = 1 - rates_.c_1 + (moving ? 0 : rates_.c_1 * rates_.c_c * (2 - rates_.c_c));
    for (const double weight : rates_.weights) keep -= rates_.c_mu * weight;
    for (double& weight : weights_) weight *= rates_.c_mu;
    weights_.back() = rates_.c_1;
    std::ranges::copy(path_c_, y_.end() - static_cast<std::ptrdiff_t>(mean_.size()));
    covariance_->update(keep, weights_, y_);
  }

  void adapt_sigma() {
    const double exponent = rates_.c_sigma / rates_.d_sigma * (norm(path_sigma_) / rates_.chi - 1);
    sigma_ *= std::exp(std::min(1.0, exponent));
  }

  /// Along a valley that no axis follows, sigma grows and the variances shrink without end, to the smallest doubles, which adapt no
  /// more (a full matrix turns into the valley). C / 4^h with sigma 2^h draws the same members to the last bit, now and from then
  /// on; only far from where other searches come to, so that their sigma is the tutorial's.
  void balance() {
    constexpr int far = 300, most = 500;
    double low = covariance_->variance(0), high = low;
    for (std::size_t i = 1; i < mean_.size(); ++i) {
      low = std::min(low, covariance_->variance(i));
      high = std::max(high, covariance_->variance(i));
    }
    const int middle = (std::ilogb(low) + std::ilogb(high)) / 2;
    if (std::abs(middle) < far) return;
    const int half = std::clamp(middle / 2, -most, most);
    covariance_->update(std::ldexp(1.0, -2 * half), {}, {});
    covariance_->refresh();
    sigma_ *= std::ldexp(1.0, half);
    for (double& value : path_c_) value *= std::ldexp(1.0, -half);
  }

  std::string reason_to_stop() const {
    const auto reason = stop_.reason({mean_, path_c_, sigma_, restarts_.sigma(), generation_, covariance_.get()});
    return reason.empty() && restarts_.exhausted() ? "restart_budget" : reason;
  }

  std::uint64_t seed_;
  bool diagonal_, active_;
  std::size_t base_population_;
  std::vector<float> initial_;
  StopConditions stop_;
  Restarts restarts_;
  std::unique_ptr<Covariance> covariance_;
  CmaRates rates_;
  std::string stop_reason_, restart_reason_;
  double sigma_ = 0;
  std::uint32_t generation_ = 0, refreshed_ = 0;  ///< since the (re)start: now, at the last refresh
  std::vector<double> path_sigma_, path_c_, shift_;
  std::vector<double> z_, y_, weights_;  ///< a column a member; the last of `y_` and `weights_` is the path's
  std::vector<std::uint32_t> order_;
  bool drawn_ = false;  ///< z_ and y_ are those of this iteration
};

}  // namespace

/// @lua options optim.cma
/// Options of cma_es and sep_cma_es. `stop_reason` of the result says what ended a search.
/// @option population integer 4..1048576 = (4 + 3 ln n for n parameters) - members an iteration
/// @option sigma number 1e-8..1000 = 0.1 - standard deviation at first
/// @option active boolean = (full covariance true, diagonal false) - the worst members count negatively
/// @option restarts "none"|"ipop"|"bipop" = "none" - begin anew where a search ended: with twice the population, or in turn with
/// small ones
/// @option max_restarts integer 0..19 = 9 - doublings of the population; with restarts only
/// @option restart_spread number 0..1e6 = sigma - standard deviation of new starting points around the first; with restarts only
/// @option target number ? - ends the search when a return reaches it
/// @option tol_fun number 0..1e300 = 1e-12 - ends it when returns differ by less: all of an iteration, and the best of each of
/// the last 10 + 30 n / population ones
/// @option tol_x number 0..1e300 = 1e-12 - ends it when all steps are shorter, in parts of the first sigma
/// @option tol_x_up number 1..1e300 = 1e4 - ends it when the longest step, sigma times the largest deviation of a parameter, is
/// longer than the first sigma by this factor
/// @option tol_condition number 1..1e300 = 1e14 - ends it when the covariance's condition number, `axis_ratio` squared, is worse
/// @option stagnation boolean = true - ends it when returns have not risen for long
/// @see training.md#optimizers

/// @lua function iap.optim.cma_es
/// Covariance matrix adaptation with active updates and optional restarts (Hansen 2016). Takes 16 n^2 bytes for n parameters,
/// and up to 70 n^2 while a run with a folder puts an iteration on record. The path of its step size uses C's Cholesky factor,
/// where the tutorial has the symmetric root.
/// @use optim.cma
/// @return optimizer - for iap.train, or to start
/// @example iap.optim.cma_es { sigma = 0.3 }
/// @see training.md#the-step-size-path-of-cma_es
std::unique_ptr<Optimizer> make_cma_es(Options& options, std::span<const float> initial, std::uint64_t seed) {
  return std::make_unique<CovarianceMatrixAdaptation>("cma_es", options, initial, seed, false);
}

/// @lua function iap.optim.sep_cma_es
/// CMA-ES with a diagonal covariance matrix, linear in the parameters (Ros & Hansen 2008).
/// @use optim.cma
/// @return optimizer - for iap.train, or to start
/// @example iap.optim.sep_cma_es { population = 32 }
std::unique_ptr<Optimizer> make_sep_cma_es(Options& options, std::span<const float> initial, std::uint64_t seed) {
  return std::make_unique<CovarianceMatrixAdaptation>("sep_cma_es", options, initial, seed, true);
}

}  // namespace iap
