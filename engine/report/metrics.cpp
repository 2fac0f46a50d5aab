module;
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>
module iap.report;
import iap.core;

namespace iap {
namespace {

std::vector<std::string_view> split(std::string_view line, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = line.find(separator, begin);
    parts.push_back(line.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

double parse_cell(std::string_view cell, const std::string& where) {
  if (cell.empty()) return std::numeric_limits<double>::quiet_NaN();
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc{} || end != cell.data() + cell.size()) throw Error(text(where, ": '", cell, "' is not a number"));
  return value;
}

}  // namespace

std::vector<double> Metrics::column(const std::string& name) const {
  const auto found = std::ranges::find(columns, name);
  if (found == columns.end()) throw Error(text("metrics have no column '", name, "'", did_you_mean(name, columns)));
  const auto index = static_cast<std::size_t>(found - columns.begin());
  std::vector<double> values;
  for (const auto& row : rows) values.push_back(row[index]);
  return values;
}

Metrics read_metrics(const std::filesystem::path& csv) {
  const std::string content = read_file(csv);
  Metrics metrics;
  int number = 0;
  for (const auto line : split(content, '\n')) {
    ++number;
    if (line.empty()) continue;
    const auto cells = split(line, ',');
    if (metrics.columns.empty()) {
      metrics.columns.assign(cells.begin(), cells.end());
      continue;
    }
    const std::string where = text(csv.string(), ":", number);
    if (cells.size() != metrics.columns.size())
      throw Error(text(where, ": has ", cells.size(), " cells under ", metrics.columns.size(), " columns"));
    auto& row = metrics.rows.emplace_back();
    for (const auto cell : cells) row.push_back(parse_cell(cell, where));
  }
  if (metrics.columns.empty()) throw Error(text(csv.string(), ": is empty"));
  return metrics;
}

}  // namespace iap
