module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>
module iap.optim;
import iap.core;
import :pair_search;
import :plateau;

namespace iap {
namespace {

constexpr std::int64_t most = 1'000'000;

}  // namespace

/// @lua options optim.plateau
/// The table `plateau` of es, ars and pgpe; {} takes the defaults.
/// @option patience integer 1..1e6 = 10 - iterations without a new best before the learning rate falls
/// @option factor number 1e-6..1 = 0.5 - by which it falls
/// @option window integer 1..1e6 = 5 - iterations whose mean return is watched
/// @option minimum number 0..learning_rate = (learning_rate / 100) - it falls no further
/// @see training.md#plateaus
Plateau::Plateau(Options& options, double learning_rate) {
  const Config& given = options.value("plateau");
  on_ = !given.is_null();
  if (!on_) return;
  Options own(text(options.owner(), ".plateau"), given);
  patience_ = static_cast<std::uint32_t>(own.integer_in("patience", 1, most, 10));
  factor_ = own.number_in("factor", 1e-6, 1, 0.5);
  window_ = static_cast<std::uint32_t>(own.integer_in("window", 1, most, 5));
  minimum_ = own.number_in("minimum", 0, learning_rate, learning_rate / 100);
  own.finish();
  options.complete("plateau", own.completed());
}

double Plateau::next_rate(std::span<const double> fitness, double learning_rate) {
  if (!on_) return learning_rate;
  double sum = 0;
  std::size_t count = 0;
  for (const double value : fitness) {
    if (!std::isfinite(value)) continue;
    ++count;
    // A running mean, because the sum of huge values may not be finite.
    sum += (value - sum) / static_cast<double>(count);
  }
  if (count == 0) return learning_rate;
  recent_.push_back(sum);
  if (recent_.size() < window_) return learning_rate;
  if (recent_.size() > window_) recent_.erase(recent_.begin());
  double mean = 0;
  for (const double value : recent_) mean += value / static_cast<double>(window_);
  if (mean > best_) {
    best_ = mean;
    waited_ = 0;
    return learning_rate;
  }
  if (++waited_ < patience_) return learning_rate;
  waited_ = 0;
  // A rate that decays to below the minimum by itself stays there.
  return std::max(std::min(learning_rate, minimum_), learning_rate * factor_);
}

void Plateau::forget() {
  recent_.clear();
  best_ = -std::numeric_limits<double>::infinity();
  waited_ = 0;
}

void Plateau::go_on_from(const Plateau& before) {
  recent_ = before.recent_;
  best_ = before.best_;
  waited_ = before.waited_;
}

void Plateau::save(Writer& writer) const {
  if (!on_) return;
  writer.put_all(std::span<const double>(recent_));
  writer.put(best_);
  writer.put(waited_);
}

void Plateau::load(Reader& reader) {
  if (!on_) return;
  recent_ = reader.get_all<double>();
  best_ = reader.get<double>();
  waited_ = reader.get<std::uint32_t>();
}

void refuse_plateau(const Options& options, std::string_view kind) {
  if (options.has("plateau"))
    throw OptionError(text(options.owner(), ": option 'plateau' lowers a learning rate, which ", kind,
                           " does not have; take it out, or use one of ", pair_search_names()));
}

}  // namespace iap
