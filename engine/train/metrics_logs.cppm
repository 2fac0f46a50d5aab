module;
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>
/// metrics.csv in the forms of other programs, beside it: metrics.jsonl, one JSON object a line, and events.out.tfevents.iap, which
/// TensorBoard reads. Each row of them follows from the table's row alone, so that they can be made anew from it.
module iap.train:metrics_logs;
import iap.core;
import :metrics;

namespace iap {

/// What the option `log` may name: "jsonl", "tensorboard".
const std::vector<std::string>& log_names();

/// @throws Error naming the option for what is no log, with the nearest name.
void check_logs(const std::vector<std::string>& names);

/// A row of metrics.csv as text: the names of its columns and its cells.
struct MetricsRow {
  const std::vector<std::string>& names;
  std::vector<std::string> cells;

  /// The value of a column, or NaN.
  double value(std::string_view name) const;
};

class MetricsLogs {
 public:
  /// The logs of `names`, and those that `folder` has already, each with the rows that its metrics.csv has now, and no others.
  /// @throws Error naming the file and the reason.
  MetricsLogs(const std::filesystem::path& folder, const std::vector<std::string>& names);
  /// @throws Error where the constructor would for a file that is there and cannot be replaced or written; changes nothing.
  static void check(const std::filesystem::path& folder);
  /// What `MetricsFile::append` appended. @throws Error.
  void append(const Columns& columns);
  /// The files that others changed, replaced or removed since the last row, by their names in the folder.
  std::vector<std::string> disturbed() const;
  /// Of the logs that are written, as `log_names`.
  std::vector<std::string> names() const;
  /// Waits until everything is on disk.
  void sync();

 private:
  struct Log {
    const char *name, *file_name;
    std::string (*row)(const MetricsRow& row, double start);
    double start;
    AppendFile file;
  };
  std::vector<std::string> columns_;
  std::vector<Log> logs_;
};

/// A line of metrics.jsonl: a number for each column, null where the table has no finite one.
std::string json_row(const MetricsRow& row, double start);

/// The beginning of a file of events, and the event of a row, for TensorBoard: records of TFRecord, in each an Event of TensorFlow.
/// Times are `start` (seconds since 1970, in UTC) and the column "seconds" after it; empty cells have no value.
std::string event_head(double start);
std::string event_row(const MetricsRow& row, double start);
/// The time with which a file of events begins; NaN if it is none.
double event_start(std::string_view file);

}  // namespace iap
