module;
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>
export module iap.report;
import iap.core;
import iap.policy;
export import :figures;

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

/// One line of a chart; points whose y is NaN are skipped. `low`/`high` (may be empty) draw a band.
struct Series {
  std::string label;
  std::vector<double> x, y, low, high;
  bool dots = false;  ///< mark the points
  bool line = true;   ///< join them
  int colour = -1;    ///< of the palette's six, from 0; -1: the series's own position
};

struct Chart {
  std::string title, x_label, y_label;
  std::vector<Series> series;
  int width = 900, height = 540;  ///< pixels
};

/// Draws `chart` as a PNG, atomically. @throws Error naming the path, or when no point is finite.
void write_chart(const std::filesystem::path& path, const Chart& chart);

/// Learning curve of a run folder: the population's mean return and the mean policy's evaluations over iterations.
void write_learning_curve(const std::filesystem::path& run, const std::filesystem::path& png);

/// `frames` pictures of one episode, evenly spaced, side by side, with the attended patches drawn on them, each enlarged to at
/// least `min_height` pixels. Returns the episode's return. @throws Error if the policy sees no RGB image.
double write_strip(const std::filesystem::path& png, Policy& policy, const Config& env, std::uint64_t seed, int frames,
                   int min_height);

}  // namespace iap
