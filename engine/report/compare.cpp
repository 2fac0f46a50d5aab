module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>
module iap.report;
import iap.core;
import iap.train;

namespace iap {
namespace {

// The values of a column that are there, by iteration.
std::map<double, std::vector<double>> values_by_iteration(const std::vector<std::filesystem::path>& runs,
                                                          const std::string& column) {
  std::map<double, std::vector<double>> values;
  for (const auto& run : runs) {
    const auto file = run / "metrics.csv";
    const Metrics metrics = read_metrics(file);
    try {
      const auto iteration = metrics.column("iteration"), value = metrics.column(column);
      for (std::size_t i = 0; i < value.size(); ++i)
        if (std::isfinite(value[i])) values[iteration[i]].push_back(value[i]);
    } catch (const Error& error) {
      throw Error(text(file.string(), ": ", error.what()));
    }
  }
  return values;
}

}  // namespace

Series mean_curve(const CurveGroup& group, const std::string& column) {
  if (group.runs.empty()) throw Error(text("curve '", group.label, "': there are no runs to take the mean of"));
  const auto count = static_cast<double>(group.runs.size());
  Series curve{.label = group.label};
  for (const auto& [iteration, values] : values_by_iteration(group.runs, column)) {
    if (values.size() < group.runs.size()) continue;
    double mean = 0, square = 0;
    for (const double value : values) mean += value / count;
    for (const double value : values) square += (value - mean) * (value - mean);
    curve.x.push_back(iteration);
    curve.y.push_back(mean);
    if (values.size() < 2) continue;
    const double deviation = std::sqrt(square / (count - 1));
    curve.low.push_back(mean - deviation);
    curve.high.push_back(mean + deviation);
  }
  if (curve.x.empty()) throw Error(text("curve '", group.label, "': no iteration has a '", column, "' in every run"));
  return curve;
}

void write_comparison(const std::filesystem::path& png, const std::vector<CurveGroup>& groups, const std::string& column,
                      const std::string& title) {
  Chart chart{.title = title, .x_label = "iteration", .y_label = column == "eval_mean" ? "return" : column};
  for (const auto& group : groups) chart.series.push_back(mean_curve(group, column));
  write_chart(png, chart);
}

}  // namespace iap
