#include "cli/failed_episodes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
import iap.core;
import iap.train;

namespace iap::cli {
namespace {

/// The sum of a column that only runs with `failed_return` have.
double failed_in_training(const std::filesystem::path& folder, int iterations) try {
  const Table table = read_table(run_file(folder, "metrics.csv"), Torn::skipped);
  double sum = 0;
  if (std::ranges::find(table.columns, "failed") == table.columns.end()) return sum;
  const auto iteration = table.column("iteration"), failed = table.column("failed");
  for (std::size_t i = 0; i < failed.size(); ++i)
    if (iteration[i] <= iterations && std::isfinite(failed[i])) sum += failed[i];
  return sum;
} catch (const Error&) {
  return 0;
}

}  // namespace

FailedEpisodes& FailedEpisodes::operator+=(const FailedEpisodes& other) {
  training += other.training;
  best += other.best;
  confirmed += other.confirmed;
  return *this;
}

std::string FailedEpisodes::places() const {
  std::string words;
  for (const auto& [count, where] :
       {std::pair(training, "training"), std::pair(best, "best evaluations"), std::pair(confirmed, "confirmations")})
    if (count > 0) words += text(words.empty() ? "" : ", ", count, " in ", where);
  return words;
}

FailedEpisodes failed_episodes(const std::filesystem::path& folder, int iterations) {
  FailedEpisodes failed{.training = failed_in_training(folder, iterations)};
  const auto summary = sound_summary(folder);
  if (!summary || std::cmp_greater(summary->iterations, iterations)) return failed;
  failed.best = summary->best_failed;
  if (summary->confirmed) failed.confirmed = summary->confirmed->failed;
  return failed;
}

}  // namespace iap::cli
