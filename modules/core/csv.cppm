module;
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>
/// Tables of numbers as comma-separated values: a line of column names, then rows; an empty cell is NaN.
export module iap.core:csv;

export namespace iap {

/// A table in memory, such as metrics.csv of a run.
struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<double>> rows;
  /// The values of one column. @throws Error with the nearest name if there is no such column.
  std::vector<double> column(const std::string& name) const;
};

/// What becomes of lines that a crash has torn: rows of too few or too many cells, cells that are no numbers. A last row without
/// its end is left out in either case: it is still being written, or never was.
enum class Torn {
  refused,
  skipped,  ///< such rows are left out, such cells are NaN; an empty file is an empty table
};

/// @throws Error naming the path and the line.
Table read_table(const std::filesystem::path& csv, Torn torn = Torn::refused);

/// The shortest text that reads back as `value`; "" for NaN.
std::string csv_cell(double value);
/// Reads a whole cell. False, without a change of `value`, for what is no number.
bool read_cell(std::string_view cell, double& value);
/// The cells of a line without its newline; none of them is quoted.
std::vector<std::string> csv_cells(std::string_view line);
/// `cells` as a line, newline included.
std::string csv_line(const std::vector<std::string>& cells);

}  // namespace iap
