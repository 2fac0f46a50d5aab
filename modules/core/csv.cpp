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
namespace {

/// Shorter texts are read to their end: they belong to what is still done after an interrupt.
constexpr std::size_t long_text = std::size_t{1} << 20;

/// What the cells of `line` take at most, of one that is all commas.
double bytes_of_cells(std::string_view line) {
  constexpr double bytes_a_cell = 128;
  return bytes_a_cell * static_cast<double>(line.size());
}

/// What a row takes of a table that is held as numbers.
double bytes_a_row(std::size_t columns) {
  constexpr std::size_t bytes_of_an_allocation = 32;
  return static_cast<double>(sizeof(std::vector<double>) + bytes_of_an_allocation + columns * sizeof(double));
}

/// Editors and spreadsheets of other systems write what would pass for a part of the first or the last column's name.
void check_form(std::string_view table, const std::string& name) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  const auto header = table.substr(0, table.find('\n'));
  if (header.starts_with(mark))
    throw Error(
        text(name, ": begins with a byte order mark, as spreadsheets write it; take it away (sed -i '1s/^\\xEF\\xBB\\xBF//')"));
  if (header.ends_with('\r'))
    throw Error(text(name, ": its lines end in CR LF, as on Windows; give it the ends of Unix (sed -i 's/\\r$//')"));
}

}  // namespace

std::string csv_cell(double value) {
  if (std::isnan(value)) return "";
  char buffer[32];
  constexpr double exact_limit = 9007199254740992.0;
  const bool negative_zero = value == 0 && std::signbit(value);
  const bool whole = std::trunc(value) == value && std::abs(value) < exact_limit && !negative_zero;
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
  if (line.size() > long_text) check_memory("a line of a table", bytes_of_cells(line));
  std::vector<std::string> cells;
  for (;;) {
    const auto cell = line.substr(0, line.find(','));
    cells.emplace_back(cell);
    if (cells.size() % long_text == 0) check_interrupt();
    if (cell.size() == line.size()) return cells;
    line.remove_prefix(cell.size() + 1);
  }
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

Table read_table(const std::filesystem::path& csv, Torn torn) {
  const std::string content = read_file(csv), name = csv.string();
  check_form(content, name);
  Table table;
  std::size_t number = 0, next_look = long_text;
  for (std::string_view rest = content; !rest.empty();) {
    const auto line = rest.substr(0, rest.find('\n'));
    const bool terminated = line.size() < rest.size();
    rest.remove_prefix(line.size() + terminated);
    ++number;
    if (const std::size_t done = content.size() - rest.size(); done >= next_look) {
      check_interrupt();
      next_look = done + long_text;
    }
    // Whoever reads while rows are written meets half a row sooner or later.
    if (line.empty() || (!terminated && (torn == Torn::skipped || !table.columns.empty()))) continue;
    if (line.size() > long_text) check_memory(text(name, ":", number), bytes_of_cells(line));
    const auto cells = csv_cells(line);
    if (table.columns.empty()) {
      table.columns = cells;
      continue;
    }
    const auto where = [&name, number] { return text(name, ":", number); };
    const bool whole = cells.size() == table.columns.size();
    if (!whole && torn == Torn::skipped) continue;
    if (!whole) throw Error(text(where(), ": has ", cells.size(), " cells under ", table.columns.size(), " columns"));
    reserve_growing(table.rows, 1, name, bytes_a_row(table.columns.size()));
    auto& row = table.rows.emplace_back();
    row.reserve(cells.size());
    for (const auto& cell : cells) {
      double& value = row.emplace_back(std::numeric_limits<double>::quiet_NaN());
      if (!cell.empty() && !read_cell(cell, value) && torn == Torn::refused)
        throw Error(text(where(), ": '", cell, "' is not a number"));
    }
  }
  if (table.columns.empty() && torn == Torn::refused) throw Error(text(name, ": is empty"));
  return table;
}

}  // namespace iap
