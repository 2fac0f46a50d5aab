module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.train;
import iap.core;
import :metrics;
import :run_table;
#include "core/there.hpp"

namespace iap {
namespace {

constexpr std::size_t rows_between_looks = 10000;

std::vector<std::string> names_of(const Columns& columns) {
  std::vector<std::string> names;
  for (const auto& [name, value] : columns) names.push_back(name);
  return names;
}

bool comes_and_goes(const std::string& name) { return name == "messages" || name == "bytes"; }

std::vector<std::string> lasting(std::vector<std::string> names) {
  std::erase_if(names, comes_and_goes);
  return names;
}

struct Rows {
  std::vector<std::string_view> kept;  ///< the complete ones of iterations up to the one asked for, lines of the table
  std::uint32_t beyond = 0;            ///< how many iterations the last one is after it
};

/// The names in the first line of `table`, the content of `path`. @throws Error unless they are those `wanted`.
std::vector<std::string> checked_columns(const std::filesystem::path& path, std::string_view table,
                                         const std::vector<std::string>& wanted) {
  const auto end = table.find('\n');
  auto there = csv_cells(table.substr(0, end));
  if (end != std::string_view::npos && lasting(there) == lasting(wanted)) return there;
  read_table(path, Torn::skipped);  // which says so where the columns are the same but for what an editor did to the text
  const std::string expected = csv_line(wanted);
  throw Error(text("'", path.string(), "' does not begin with the columns ", expected.substr(0, expected.size() - 1),
                   "; move it away to continue the run with a new table"));
}

/// "" where there is none.
std::string table_at(const std::filesystem::path& path) { return is_there(path) ? read_file(path) : ""; }

Rows rows_up_to(std::string_view table, std::size_t columns, std::int64_t iteration) {
  Rows rows;
  for (;;) {
    const auto end = table.find('\n');
    if (end == std::string_view::npos) return rows;
    const auto line = table.substr(0, end), first = line.substr(0, line.find(','));
    table.remove_prefix(end + 1);
    double number = 0;
    if (static_cast<std::size_t>(std::ranges::count(line, ',')) + 1 != columns || !read_cell(first, number)) continue;
    const auto found = iteration_of(number);
    if (!found) continue;
    if (*found > iteration) {
      rows.beyond = static_cast<std::uint32_t>(*found - iteration);
      continue;
    }
    reserve_growing(rows.kept, 1, "metrics.csv", sizeof(line));
    rows.kept.push_back(line);
    if (rows.kept.size() % rows_between_looks == 0) check_interrupt();
  }
}

}  // namespace

std::vector<std::string> cells_of(const std::vector<std::string>& names, const Columns& columns) {
  std::vector<std::string> cells;
  for (const auto& name : names) {
    const auto found = std::ranges::find(columns, name, &Columns::value_type::first);
    cells.push_back(found == columns.end() ? "" : csv_cell(found->second));
  }
  return cells;
}

void keep_row(std::vector<std::vector<std::string>>& rows, std::vector<std::string> cells) {
  reserve_growing(rows, 1, "metrics.csv", static_cast<double>(sizeof(cells) + cells.size() * sizeof(std::string)));
  rows.push_back(std::move(cells));
}

MetricsFile::MetricsFile(const std::filesystem::path& path, const Columns& columns) : names_(names_of(columns)) {
  write_file_atomic(path, csv_line(names_));
  file_ = AppendFile(path);
}

void MetricsFile::check(const std::filesystem::path& path, const Columns& columns) {
  const std::string table = table_at(path);
  if (table.empty()) return;
  checked_columns(path, table, names_of(columns));
  AppendFile{path};
}

MetricsFile MetricsFile::resume(const std::filesystem::path& path, const Columns& columns, std::int64_t iteration,
                                const Columns& replacements) {
  const std::string table = table_at(path);
  if (table.empty()) return {path, columns};
  const auto wanted = names_of(columns), there = checked_columns(path, table, wanted);
  auto [rows, beyond] = rows_up_to(std::string_view(table).substr(table.find('\n') + 1), there.size(), iteration);
  MetricsFile metrics;
  metrics.beyond_ = beyond;
  metrics.rows_ = static_cast<std::uint32_t>(rows.size());
  metrics.names_ = there;
  for (const auto& name : wanted)
    if (std::ranges::find(there, name) == there.end()) metrics.names_.push_back(name);
  std::string kept = csv_line(metrics.names_);
  kept.reserve(table.size());  // growing, it would be there twice
  for (const auto& line : rows) {
    auto row = csv_cells(line);
    row.resize(metrics.names_.size());
    double number = 0;
    // The last row may be an earlier one, where rows are lost.
    const bool replaced = &line == &rows.back() && read_cell(row.front(), number) && number == static_cast<double>(iteration);
    for (std::size_t i = 0; i < row.size(); ++i) {
      for (const auto& [name, value] : replacements)
        if (replaced && metrics.names_[i] == name) row[i] = csv_cell(value);
      if (metrics.names_[i] == "seconds") read_cell(row[i], metrics.seconds_);
    }
    kept += csv_line(row);
  }
  if (kept != table) write_file_atomic(path, kept);
  metrics.file_ = AppendFile(path);
  return metrics;
}

bool MetricsFile::has_iterations(const std::filesystem::path& path) {
  if (!is_there(path)) return false;
  const std::string table = read_file(path);
  const auto lines = std::ranges::count(table, '\n');
  return lines > 2 || last_iteration(path) > 0;  // beside the header and iteration 0
}

Columns MetricsFile::row(const std::filesystem::path& path, std::uint32_t iteration) {
  if (!is_there(path)) return {};
  const std::string table = read_file(path);
  const auto names = csv_cells(std::string_view(table).substr(0, table.find('\n')));
  const auto rows = rows_up_to(table, names.size(), iteration).kept;
  double found = 0;
  const auto cells = rows.empty() ? std::vector<std::string>() : csv_cells(rows.back());
  if (cells.empty() || !read_cell(cells.front(), found) || found != iteration) return {};
  Columns columns;
  for (std::size_t i = 0; i < names.size(); ++i) {
    double value = std::numeric_limits<double>::quiet_NaN();
    read_cell(cells[i], value);
    columns.emplace_back(names[i], value);
  }
  return columns;
}

std::int64_t MetricsFile::last_iteration(const std::filesystem::path& path) {
  if (!is_there(path)) return 0;
  const std::string table = read_file(path);
  const auto columns = csv_cells(std::string_view(table).substr(0, table.find('\n'))).size();
  const auto rows = rows_up_to(table, columns, std::numeric_limits<std::uint32_t>::max()).kept;
  double iteration = 0;
  if (!rows.empty()) read_cell(csv_cells(rows.back()).front(), iteration);
  return static_cast<std::int64_t>(iteration);
}

void MetricsFile::append(const Columns& columns) { file_.append(csv_line(cells_of(names_, columns))); }

}  // namespace iap
