module;
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>
module iap.core;

namespace iap {

std::string csv_cell(double value) {
  if (std::isnan(value)) return "";
  char buffer[32];
  constexpr double exact_limit = 9007199254740992.0;
  const bool whole = std::trunc(value) == value && std::abs(value) < exact_limit;
  const auto end = whole ? std::to_chars(buffer, buffer + sizeof buffer, static_cast<std::int64_t>(value))
                         : std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, end.ptr};
}

bool read_cell(std::string_view cell, double& value) {
  const char* end = cell.data() + cell.size();
  double read = 0;
  const auto result = std::from_chars(cell.data(), end, read);
  if (result.ec != std::errc() || result.ptr != end) return false;
  value = read;
  return true;
}

std::vector<std::string> csv_cells(std::string_view line) {
  std::vector<std::string> cells(1);
  for (const char c : line) c == ',' ? (void)cells.emplace_back() : cells.back().push_back(c);
  return cells;
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) line += (i ? "," : "") + cells[i];
  return line + "\n";
}

std::vector<double> Table::column(const std::string& name) const {
  const auto found = std::ranges::find(columns, name);
  if (found == columns.end()) throw Error(text("the table has no column '", name, "'", did_you_mean(name, columns)));
  const auto index = static_cast<std::size_t>(found - columns.begin());
  std::vector<double> values;
  for (const auto& row : rows) values.push_back(row[index]);
  return values;
}

Table read_table(const std::filesystem::path& csv) {
  const std::string content = read_file(csv);
  Table table;
  int number = 0;
  for (std::string_view rest = content; !rest.empty();) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    ++number;
    if (line.empty()) continue;
    constexpr std::size_t long_line = 1 << 20, bytes_a_cell = 128;
    if (line.size() > long_line) check_memory(text(csv.string(), ":", number), static_cast<double>(bytes_a_cell * line.size()));
    const auto cells = csv_cells(line);
    if (table.columns.empty()) {
      table.columns = cells;
      continue;
    }
    const std::string where = text(csv.string(), ":", number);
    if (cells.size() != table.columns.size())
      throw Error(text(where, ": has ", cells.size(), " cells under ", table.columns.size(), " columns"));
    auto& row = table.rows.emplace_back();
    for (const auto& cell : cells) {
      double& value = row.emplace_back(std::numeric_limits<double>::quiet_NaN());
      if (!cell.empty() && !read_cell(cell, value)) throw Error(text(where, ": '", cell, "' is not a number"));
    }
  }
  if (table.columns.empty()) throw Error(text(csv.string(), ": is empty"));
  return table;
}

}  // namespace iap
