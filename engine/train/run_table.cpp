module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>
module iap.train;
import iap.core;
import :run_table;

namespace iap {
namespace {

const std::string stage_column = "stage";

bool has_stages(const Table& metrics) {
  return !metrics.rows.empty() && std::ranges::find(metrics.columns, stage_column) != metrics.columns.end();
}

}  // namespace

std::optional<std::uint32_t> iteration_of(double cell) {
  if (!(cell >= 0 && cell <= std::numeric_limits<std::uint32_t>::max())) return {};
  return static_cast<std::uint32_t>(cell);
}

std::vector<double> stage_starts(const Table& metrics) {
  if (!has_stages(metrics)) return {};
  const auto stage = metrics.column(stage_column), iteration = metrics.column("iteration");
  std::vector<double> starts;
  for (std::size_t i = 1; i < stage.size(); ++i)
    if (stage[i] > stage[i - 1]) starts.push_back(iteration[i]);
  return starts;
}

double last_stage(const Table& metrics) { return has_stages(metrics) ? metrics.column(stage_column).back() : 1; }

}  // namespace iap
