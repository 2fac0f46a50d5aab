module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>
module iap.report;
import iap.core;
import iap.policy;
import iap.rollout;
import :probe;
import :readout;
import :recording;

namespace iap {
namespace {

constexpr int fewest_episodes = 3;

int fitted_of(int episodes) { return (2 * episodes + 1) / 3; }

void check(const Policy& policy, const ProbeOptions& options) {
  if (options.episodes < fewest_episodes)
    throw Error(text("probe: ", options.episodes, options.episodes == 1 ? " episode is" : " episodes are",
                     " too few to fit on two thirds and test on the rest; play at least ", fewest_episodes));
  if (options.steps < 0) throw Error(text("probe: the number of steps must not be negative, got ", options.steps));
  if (options.threads < 0) throw Error(text("probe: the number of threads must not be negative, got ", options.threads));
  std::set<std::string> seen;
  for (const auto& path : options.blocks) {
    if (policy.block(path).outputs() > most_features)
      throw Error(text("probe: block '", path, "' hands over ", policy.block(path).outputs(), " values, at most ", most_features,
                       " can be fitted; probe another block"));
    if (!seen.insert(path).second) throw Error(text("probe: block '", path, "' is named twice"));
  }
}

double mean_of(const std::vector<double>& r2) {
  double sum = 0, count = 0;
  for (const double value : r2)
    if (!std::isnan(value)) sum += std::max(value, 0.0), ++count;
  return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

ProbeResult probe(const Policy& policy, const Config& env, const ProbeOptions& given) {
  ProbeOptions options = given;
  if (options.blocks.empty()) options.blocks = probed_blocks(policy);
  check(policy, options);
  return read_out(record(policy, env, options), policy, options);
}

ProbeResult read_out(const Recording& recording, const Policy& policy, const ProbeOptions& options) {
  check(policy, options);
  ProbeResult result{.variables = recording.variables};
  result.per_episode = options.per_episode;
  const int episodes = static_cast<int>(recording.episodes.size());
  result.fitted_episodes = fitted_of(episodes);
  result.tested_episodes = episodes - result.fitted_episodes;
  for (std::size_t e = 0; e < recording.episodes.size(); ++e) {
    const bool fitted = static_cast<int>(e) < result.fitted_episodes;
    (fitted ? result.fitted_rows : result.tested_rows) += recording.state.rows(e);
    result.returns.push_back(recording.episodes[e].total);
    result.mean_return += result.returns.back();
  }
  result.mean_return /= episodes;
  for (std::size_t i = 0; i < recording.paths.size(); ++i) {
    const Block& block = policy.block(recording.paths[i]);
    const Readout readout = linear_readout(recording.outputs[i], recording.state,
                                           {.fitted = static_cast<std::size_t>(result.fitted_episodes),
                                            .per_episode = options.per_episode,
                                            .ridge = options.ridge,
                                            .threads = options.threads});
    result.blocks.push_back({.path = block.path(),
                             .kind = std::string(block.kind()),
                             .outputs = block.outputs(),
                             .r2 = readout.r2,
                             .ridge = readout.ridge,
                             .mean = mean_of(readout.r2)});
  }
  return result;
}

}  // namespace iap
