module;
#include <filesystem>
#include <string>
#include <vector>
/// Tables that runs leave.
export module iap.report:metrics;

export namespace iap {

/// metrics.csv of a run: column names and rows; a cell that is empty in the file is NaN.
struct Metrics {
  std::vector<std::string> columns;
  std::vector<std::vector<double>> rows;
  /// The values of one column. @throws Error with the nearest name if there is no such column.
  std::vector<double> column(const std::string& name) const;
};

/// @throws Error naming the path and the line.
Metrics read_metrics(const std::filesystem::path& csv);

}  // namespace iap
