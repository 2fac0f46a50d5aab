module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>
module iap.train;
import iap.core;
import :metrics;

namespace iap {
namespace {

std::string header_of(const Columns& columns) {
  std::vector<std::string> names;
  for (const auto& [name, value] : columns) names.push_back(name);
  return csv_line(names);
}

/// The complete rows of `table` for iterations up to `iteration`.
std::vector<std::vector<std::string>> rows_up_to(std::string_view table, std::size_t columns, std::uint32_t iteration) {
  std::vector<std::vector<std::string>> rows;
  for (;;) {
    const auto end = table.find('\n');
    if (end == std::string_view::npos) return rows;
    auto cells = csv_cells(table.substr(0, end));
    table.remove_prefix(end + 1);
    double number = 0;
    if (cells.size() == columns && read_cell(cells[0], number) && number <= iteration) rows.push_back(std::move(cells));
  }
}

}  // namespace

MetricsFile::MetricsFile(const std::filesystem::path& path, const Columns& columns) {
  write_file_atomic(path, header_of(columns));
  file_ = AppendFile(path);
}

MetricsFile MetricsFile::resume(const std::filesystem::path& path, const Columns& columns, std::uint32_t iteration,
                                const Columns& replacements) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {path, columns};
  const std::string table = read_file(path), header = header_of(columns);
  if (!std::string_view(table).starts_with(header))
    throw Error(text("'", path.string(), "' does not begin with the columns ", header.substr(0, header.size() - 1),
                     "; move it away to continue the run with a new table"));
  auto rows = rows_up_to(std::string_view(table).substr(header.size()), columns.size(), iteration);
  MetricsFile metrics;
  metrics.rows_ = static_cast<std::uint32_t>(rows.size());
  std::string kept = header;
  for (auto& row : rows) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      for (const auto& [name, value] : replacements)
        if (&row == &rows.back() && columns[i].first == name) row[i] = csv_cell(value);
      if (columns[i].first == "seconds") read_cell(row[i], metrics.seconds_);
    }
    kept += csv_line(row);
  }
  if (kept != table) write_file_atomic(path, kept);
  metrics.file_ = AppendFile(path);
  return metrics;
}

bool MetricsFile::has_iterations(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return false;
  const std::string table = read_file(path);
  const auto lines = std::ranges::count(table, '\n');
  return lines > 2;  // beside the header and iteration 0
}

std::int64_t MetricsFile::last_iteration(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return 0;
  const std::string table = read_file(path);
  const auto columns = csv_cells(std::string_view(table).substr(0, table.find('\n'))).size();
  const auto rows = rows_up_to(table, columns, std::numeric_limits<std::uint32_t>::max());
  double iteration = 0;
  if (!rows.empty()) read_cell(rows.back().front(), iteration);
  return static_cast<std::int64_t>(iteration);
}

void MetricsFile::append(const Columns& columns) {
  std::vector<std::string> cells;
  for (const auto& [name, value] : columns) cells.push_back(csv_cell(value));
  file_.append(csv_line(cells));
}

}  // namespace iap
