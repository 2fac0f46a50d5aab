module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>
module iap.report;
import iap.core;
import :moments;
import :readout;

namespace iap {
namespace {

constexpr std::array<double, 9> grid{1e6, 1e5, 1e4, 1e3, 1e2, 10, 1, 0.1, 0.01};
constexpr std::size_t most_folds = 10;

/// Columns in double precision, scaled to mean 0 and variance 1 over the fitted episodes, and without those that are constant
/// there.
struct Scaled {
  std::size_t columns = 0;
  std::vector<std::size_t> kept;  ///< which of the original columns
  std::vector<std::vector<double>> episodes;

  const double* row(std::size_t episode, std::size_t row) const { return episodes[episode].data() + row * columns; }
};

void check_finite(const Samples& samples, const char* what) {
  const auto width = static_cast<std::size_t>(samples.columns);
  for (std::size_t e = 0; e < samples.episodes.size(); ++e) {
    check_interrupt();
    for (std::size_t i = 0; i < samples.episodes[e].size(); ++i)
      if (const float value = samples.episodes[e][i]; !std::isfinite(value))
        throw Error(text("ridge regression: ", what, " ", i % width + 1, " is ", value, " in row ", i / width + 1, " of episode ",
                         e + 1, "; values must be finite"));
  }
}

void check(const Samples& features, const Samples& targets, const ReadoutOptions& options) {
  if (features.columns > most_features)
    throw Error(text("ridge regression: ", features.columns, " features are too many, at most ", most_features, " can be fitted"));
  if (features.columns < 1 || targets.columns < 1) throw Error("ridge regression: needs at least one feature and one target");
  if (features.episodes.size() != targets.episodes.size())
    throw Error(
        text("ridge regression: ", features.episodes.size(), " episodes of features, ", targets.episodes.size(), " of targets"));
  if (options.fitted < 2 || options.fitted >= features.episodes.size())
    throw Error(text("ridge regression: cannot fit ", options.fitted, " of ", features.episodes.size(),
                     " episodes; it takes at least two to fit and one to test"));
  for (std::size_t e = 0; e < features.episodes.size(); ++e)
    if (features.rows(e) == 0 || features.rows(e) != targets.rows(e))
      throw Error(text("ridge regression: episode ", e + 1, " has ", features.rows(e), " rows of features and ", targets.rows(e),
                       " of targets"));
  if (options.ridge && !(*options.ridge >= least_ridge && *options.ridge <= most_ridge))
    throw Error(text("ridge regression: lambda must be from ", least_ridge, " to ", most_ridge, ", got ", *options.ridge));
  check_finite(features, "feature");
  check_finite(targets, "target");
}

/// The values of one column, episode by episode, its means taken off where that is wanted; and its largest size before.
std::vector<std::vector<double>> column_of(const Samples& samples, std::size_t column, bool per_episode, double& largest) {
  const auto width = static_cast<std::size_t>(samples.columns);
  std::vector<std::vector<double>> values;
  for (const auto& episode : samples.episodes) {
    check_interrupt();
    auto& own = values.emplace_back();
    own.reserve(episode.size() / width);
    double mean = 0;
    for (std::size_t at = column; at < episode.size(); at += width) {
      own.push_back(double{episode[at]});
      largest = std::max(largest, std::abs(own.back()));
      mean += own.back();
    }
    mean /= static_cast<double>(own.size());
    if (per_episode)
      for (double& value : own) value -= mean;
  }
  return values;
}

/// Whatever varies in floats varies by more than this part of its size; what is less came from rounding in the means.
constexpr double least_variation = 1e-10;

Scaled scaled(const Samples& samples, const ReadoutOptions& options) {
  Scaled result;
  // As columns, each episode's part a vector of its own, then as rows.
  constexpr double part = sizeof(std::vector<double>) + 24;
  double numbers = 0;
  for (const auto& episode : samples.episodes) numbers += static_cast<double>(episode.size());
  check_memory(text("ridge regression: scaling ", samples.columns, " columns"),
               2 * sizeof(double) * numbers + part * samples.columns * static_cast<double>(samples.episodes.size()));
  std::vector<std::vector<std::vector<double>>> columns;
  for (std::size_t column = 0; column < static_cast<std::size_t>(samples.columns); ++column) {
    double largest = 0, mean = 0, variance = 0, rows = 0;
    auto values = column_of(samples, column, options.per_episode, largest);
    for (std::size_t e = 0; e < options.fitted; ++e) {
      for (const double value : values[e]) mean += value;
      rows += static_cast<double>(values[e].size());
    }
    mean /= rows;
    for (std::size_t e = 0; e < options.fitted; ++e)
      for (const double value : values[e]) variance += (value - mean) * (value - mean);
    const double deviation = std::sqrt(variance / rows);
    if (!(deviation > least_variation * largest)) continue;
    for (auto& episode : values)
      for (double& value : episode) value = (value - mean) / deviation;
    result.kept.push_back(column);
    columns.push_back(std::move(values));
  }
  result.columns = columns.size();
  for (std::size_t e = 0; e < samples.episodes.size(); ++e) {
    auto& rows = result.episodes.emplace_back(samples.rows(e) * result.columns);
    for (std::size_t column = 0; column < result.columns; ++column) {
      check_interrupt();
      for (std::size_t i = 0; i < columns[column][e].size(); ++i) rows[i * result.columns + column] = columns[column][e][i];
    }
  }
  return result;
}

/// R^2 where the prediction is the mean of the fitted rows throughout, as it is where they do not vary; NaN where the tested ones
/// do not either.
double explained_by_mean(const Samples& samples, std::size_t column, const ReadoutOptions& options) {
  double largest = 0, mean = 0, fitted = 0, tested_mean = 0, tested = 0, missed = 0, spread = 0;
  const auto values = column_of(samples, column, options.per_episode, largest);
  for (std::size_t e = 0; e < values.size(); ++e)
    for (const double value : values[e]) {
      (e < options.fitted ? mean : tested_mean) += value;
      ++(e < options.fitted ? fitted : tested);
    }
  mean /= fitted;
  tested_mean /= tested;
  for (std::size_t e = options.fitted; e < values.size(); ++e)
    for (const double value : values[e]) {
      missed += (value - mean) * (value - mean);
      spread += (value - tested_mean) * (value - tested_mean);
    }
  const bool varies = std::sqrt(spread / tested) > least_variation * largest;
  return varies ? 1 - missed / spread : std::numeric_limits<double>::quiet_NaN();
}

/// Moments of all fitted rows, once there is room for what is made of them: the moments of each fold, each target's errors, and on
/// each thread those without a fold with their solution.
Moments weighed_moments(std::size_t p, std::size_t q, std::size_t folds, const ReadoutOptions& options) {
  const auto features = static_cast<double>(p), targets = static_cast<double>(q), parts = static_cast<double>(folds);
  const double one = features * features + features * targets + features + targets;
  const auto tasks = options.ridge ? 1 : static_cast<int>(folds * grid.size());
  const int threads = std::min(options.threads > 0 ? options.threads : hardware_threads(), tasks);
  const double numbers = (1 + parts + 2 * threads) * one + static_cast<double>(tasks) * targets;
  check_memory(
      text("ridge regression: fitting ", q, " targets to ", p, " features on ", threads, threads == 1 ? " thread" : " threads"),
      sizeof(double) * numbers);
  return {p, q};
}

class Regression {
 public:
  Regression(const Samples& features, const Samples& targets, const ReadoutOptions& options)
      : options_(options),
        x_(scaled(features, options)),
        y_(scaled(targets, options)),
        folds_(std::min(options.fitted, most_folds)),
        total_(weighed_moments(x_.columns, y_.columns, folds_, options)) {
    for (std::size_t e = 0; e < features.episodes.size(); ++e) rows_.push_back(features.rows(e));
    parts_.reserve(folds_);
    for (std::size_t fold = 0; fold < folds_; ++fold) {
      check_interrupt();
      parts_.push_back(total_);
    }
    parallel_for(folds_, options.threads, [&](std::size_t fold, int) {
      for (std::size_t e = fold; e < options_.fitted; e += folds_)
        for (std::size_t i = 0; i < rows_[e]; ++i) parts_[fold].add_row(x_.row(e, i), y_.row(e, i));
    });
    for (const Moments& part : parts_) total_ += part;
  }

  Readout run(const Samples& targets) {
    const std::vector<double> ridge = options_.ridge ? std::vector<double>(y_.columns, *options_.ridge) : choose();
    const double none = std::numeric_limits<double>::quiet_NaN();
    Readout readout{.r2 = std::vector<double>(static_cast<std::size_t>(targets.columns), none), .ridge = {}};
    readout.ridge = readout.r2;
    for (std::size_t column = 0; column < readout.r2.size(); ++column)
      if (std::ranges::find(y_.kept, column) == y_.kept.end()) readout.r2[column] = explained_by_mean(targets, column, options_);
    std::vector<double> used = ridge;
    std::ranges::sort(used);
    used.erase(std::ranges::unique(used).begin(), used.end());
    for (const double lambda : used) {
      const LinearMaps maps = solve_ridge(total_, lambda);
      for (std::size_t k = 0; k < y_.columns; ++k) {
        if (ridge[k] != lambda) continue;
        readout.r2[y_.kept[k]] = explained(maps, k);
        readout.ridge[y_.kept[k]] = lambda;
      }
    }
    return readout;
  }

 private:
  double error(const LinearMaps& maps, std::size_t target, std::size_t episode) const {
    check_interrupt();
    double sum = 0;
    const double* w = maps.weights.data() + target * x_.columns;
    for (std::size_t i = 0; i < rows_[episode]; ++i) {
      const double miss = y_.row(episode, i)[target] - maps.offsets[target] - dot(w, x_.row(episode, i), x_.columns);
      sum += miss * miss;
    }
    return sum;
  }

  /// For each target the lambda that predicts best what is left out.
  std::vector<double> choose() {
    std::vector<std::vector<double>> errors(folds_ * grid.size(), std::vector<double>(y_.columns));
    parallel_for(errors.size(), options_.threads, [&](std::size_t index, int) {
      const std::size_t fold = index / grid.size();
      Moments others = total_;
      others -= parts_[fold];
      const LinearMaps maps = solve_ridge(others, grid[index % grid.size()]);
      for (std::size_t k = 0; k < y_.columns; ++k)
        for (std::size_t e = fold; e < options_.fitted; e += folds_) errors[index][k] += error(maps, k, e);
    });
    std::vector<double> chosen;
    for (std::size_t k = 0; k < y_.columns; ++k) {
      double least = std::numeric_limits<double>::infinity();
      std::size_t best = 0;
      for (std::size_t i = 0; i < grid.size(); ++i) {
        double sum = 0;
        for (std::size_t fold = 0; fold < folds_; ++fold) sum += errors[fold * grid.size() + i][k];
        if (sum < least) least = sum, best = i;
      }
      chosen.push_back(grid[best]);
    }
    return chosen;
  }

  double explained(const LinearMaps& maps, std::size_t target) const {
    double rows = 0, mean = 0, missed = 0, spread = 0;
    for (std::size_t e = options_.fitted; e < rows_.size(); ++e) {
      for (std::size_t i = 0; i < rows_[e]; ++i) mean += y_.row(e, i)[target];
      rows += static_cast<double>(rows_[e]);
      missed += error(maps, target, e);
    }
    mean /= rows;
    for (std::size_t e = options_.fitted; e < rows_.size(); ++e)
      for (std::size_t i = 0; i < rows_[e]; ++i) spread += std::pow(y_.row(e, i)[target] - mean, 2);
    // In units of the fitted rows' variance: less than this is rounding.
    constexpr double least_spread = 1e-18;
    return spread > least_spread * rows ? 1 - missed / spread : std::numeric_limits<double>::quiet_NaN();
  }

  ReadoutOptions options_;
  Scaled x_, y_;
  std::size_t folds_;
  Moments total_;
  std::vector<Moments> parts_;
  std::vector<std::size_t> rows_;
};

}  // namespace

Readout linear_readout(const Samples& features, const Samples& targets, const ReadoutOptions& options) {
  check(features, targets, options);
  return Regression(features, targets, options).run(targets);
}

}  // namespace iap
