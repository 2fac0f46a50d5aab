module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>
module iap.report;
import iap.core;
import iap.train;
import :run_data;

namespace iap {
namespace {

// The values of a column that are there, by iteration.
std::map<double, std::vector<double>> values_by_iteration(const std::vector<std::filesystem::path>& runs,
                                                          const std::string& column) {
  std::map<double, std::vector<double>> values;
  for (const auto& run : runs) {
    const auto file = run_file(run, "metrics.csv");
    const Table metrics = read_table(file);
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

/// What lines and bands are, where there are bands.
std::string caption_of(const std::vector<CurveGroup>& groups, Band band) {
  std::size_t least = std::numeric_limits<std::size_t>::max(), most = 0;
  for (const auto& group : groups) {
    least = std::min(least, group.runs.size());
    most = std::max(most, group.runs.size());
  }
  if (most < 2) return "";
  const std::string seeds = least == most ? text(most, " seeds") : text(least, " to ", most, " seeds");
  constexpr std::array<std::string_view, 3> kinds{"from the lowest to the highest seed",
                                                  "one standard error of the mean to either side",
                                                  "one standard deviation between the seeds to either side"};
  return text("Line: mean of ", seeds, ". Band: ", kinds[static_cast<std::size_t>(band)], ".");
}

}  // namespace

const std::vector<std::string>& band_names() {
  static const std::vector<std::string> names{"range", "error", "deviation"};
  return names;
}

Series mean_curve(const CurveGroup& group, const std::string& column, Band band) {
  if (group.runs.empty()) throw Error(text("curve '", group.label, "': there are no runs to take the mean of"));
  check_distinct(group.runs);
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
    const auto [lowest, highest] = std::ranges::minmax(values);
    const double deviation = std::sqrt(square / (count - 1)), half = band == Band::error ? deviation / std::sqrt(count) : deviation;
    curve.low.push_back(band == Band::range ? lowest : mean - half);
    curve.high.push_back(band == Band::range ? highest : mean + half);
  }
  if (curve.x.empty()) throw Error(text("curve '", group.label, "': no iteration has a '", column, "' in every run"));
  return curve;
}

void write_comparison(const std::filesystem::path& png, const std::vector<CurveGroup>& groups, const std::string& column,
                      const std::string& title, Band band) {
  Chart chart{.title = title, .x_label = "iteration", .y_label = column == "eval_mean" ? "return" : column};
  for (const auto& group : groups) chart.series.push_back(mean_curve(group, column, band));
  chart.caption = caption_of(groups, band);
  write_chart(png, chart);
}

}  // namespace iap
