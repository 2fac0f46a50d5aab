module;
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>
/// metrics.csv: a header, then one row per iteration, the first being iteration 0.
module iap.train:metrics;
import iap.core;

namespace iap {

using Columns = std::vector<std::pair<std::string, double>>;

/// The cells of a row of the table with columns `names`; those that `columns` lacks are empty.
std::vector<std::string> cells_of(const std::vector<std::string>& names, const Columns& columns);

/// Appends the cells of a line of a table that may be a stranger's. @throws Error, before it grows, where `rows` would take more
/// memory than an object out of a file may.
void keep_row(std::vector<std::vector<std::string>>& rows, std::vector<std::string> cells);

class MetricsFile {
 public:
  /// An empty table with the names of `columns`.
  MetricsFile(const std::filesystem::path& path, const Columns& columns);
  /// The table that a run left, cut back to the rows of iterations up to `iteration` (-1: none); a torn last row is dropped. In the
  /// row of `iteration` the cells of the columns in `replacements` take the values given there. A missing or empty file becomes an
  /// empty table. Columns that only some processes of a run have (messages, bytes) stay or are added, with empty cells where there
  /// is nothing. @throws Error if the file has other columns.
  static MetricsFile resume(const std::filesystem::path& path, const Columns& columns, std::int64_t iteration,
                            const Columns& replacements);
  /// @throws Error where `resume` would for the columns of the file, or because it cannot be written; changes nothing.
  static void check(const std::filesystem::path& path, const Columns& columns);
  /// Appends a row; NaN becomes an empty cell, every other number its shortest exact form. @throws Error.
  void append(const Columns& columns);
  /// What others did to the file since the last row.
  FileStanding standing() const { return file_.standing(); }
  void sync() { file_.sync(); }
  /// Whether `path` has rows of iterations after 0.
  static bool has_iterations(const std::filesystem::path& path);
  /// The cells of the row of `iteration`, NaN where one is empty; nothing if the file has no such row.
  static Columns row(const std::filesystem::path& path, std::uint32_t iteration);
  /// The iteration of the last complete row; 0 for a file that has none or is missing.
  static std::int64_t last_iteration(const std::filesystem::path& path);
  /// Rows that `resume` kept, and the value of "seconds" in the last of them.
  std::uint32_t rows() const { return rows_; }
  double seconds() const { return seconds_; }
  /// How many iterations beyond the last kept row the file had, which `resume` dropped.
  std::uint32_t beyond() const { return beyond_; }

 private:
  MetricsFile() = default;

  AppendFile file_;
  std::vector<std::string> names_;
  std::uint32_t rows_ = 0, beyond_ = 0;
  double seconds_ = 0;
};

}  // namespace iap
