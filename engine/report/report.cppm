module;
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>
export module iap.report;
import iap.core;
import iap.policy;
export import iap.train;
export import :figures;
export import :page;
export import :video;

export namespace iap {

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
  bool from_zero = false;         ///< the x axis begins at 0 and ends beyond the last point
};

/// Draws `chart` as a PNG, atomically. @throws Error naming the path, or when no point is finite.
void write_chart(const std::filesystem::path& path, const Chart& chart);

/// Learning curve of a run folder: the population's mean return and the mean policy's evaluations over iterations.
void write_learning_curve(const std::filesystem::path& run, const std::filesystem::path& png);

/// Runs that differ in their seed alone, drawn as one line.
struct CurveGroup {
  std::string label;
  std::vector<std::filesystem::path> runs;  ///< folders
};

/// The mean of a column of metrics.csv over the runs of `group`, at the iterations at which each of them has a value; of several
/// runs, with a band of one standard deviation (n - 1) to either side. @throws Error naming the group or the file.
Series mean_curve(const CurveGroup& group, const std::string& column);

/// Draws the mean curves of all groups as a PNG, atomically. @throws as `mean_curve` and `write_chart`.
void write_comparison(const std::filesystem::path& png, const std::vector<CurveGroup>& groups, const std::string& column,
                      const std::string& title);

/// `frames` pictures of one episode, evenly spaced, side by side, with the attended patches drawn on them, each at least
/// `min_height` pixels high. Returns the episode's return. @throws Error as `write_video`.
double write_strip(const std::filesystem::path& png, Policy& policy, const Config& env, std::uint64_t seed, int frames,
                   int min_height);

/// What a figure of importance was made of.
struct ImportanceInfo {
  std::size_t frames = 0;
  int patches = 0, chosen = 0;  ///< a frame
  double mean_return = 0;       ///< of the episodes
};

/// Draws, as a PNG, the histogram of the scores that the policy's first attention block gives to patches, and patches drawn at
/// random from four ranges of scores (AttentionAgent, "Region of Interest to Importance Mapping"), from evenly spread frames of
/// `episodes` episodes on the evaluation seeds of `seed`. @throws Error naming the path; for a policy that scores no patches; as
/// `make_env`.
ImportanceInfo write_importance(const std::filesystem::path& png, Policy& policy, const Config& env, int episodes,
                                std::uint64_t seed);

}  // namespace iap
