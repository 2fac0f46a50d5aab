module;
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>
export module iap.report;
import iap.core;
import iap.policy;
import iap.rollout;
export import iap.train;
export import :controls;
export import :drawing;
export import :figures;
export import :live;
export import :page;
export import :probe;
export import :readout;
export import :video;

export namespace iap {

/// One line of a chart. A point whose x or y is not finite leaves a gap; a point between gaps is marked. `low`/`high` (may be
/// empty) draw a band around a line, and around points that no line joins a whisker each; where they are not finite, neither.
struct Series {
  std::string label;
  std::vector<double> x, y, low, high;
  bool dots = false;  ///< mark the points
  bool line = true;   ///< join them
  int colour = -1;  ///< of the palette's six, from 0, then the same six with dashes and other points; -1: the series's own position
};

struct Chart {
  std::string title, x_label, y_label;
  std::string caption = {};  ///< under the chart, in lines as they fit
  std::vector<Series> series = {};
  int width = 900, height = 540;  ///< pixels
  bool from_zero = false;         ///< the x axis begins at 0 and ends on a tick; else it holds the points and no more
  bool log_x = false;             ///< a logarithmic x axis
  bool y_from_zero = true;        ///< the y axis holds 0; it always begins and ends on a tick
};

/// Draws `chart` as a PNG, atomically: a long title in two lines, what does not fit shortened. @throws Error naming the path, which
/// must end in .png; when no point is finite, when words leave no room, and for an x that a logarithmic axis has no
/// place for.
void write_chart(const std::filesystem::path& path, const Chart& chart);

/// Learning curve of a run folder: the population's mean return and the mean policy's evaluations over iterations, these with a
/// band of one standard deviation between their episodes.
void write_learning_curve(const std::filesystem::path& run, const std::filesystem::path& png);

/// Runs of one environment that are drawn as one line: they differ in their seed, or in what else is to be averaged over.
struct CurveGroup {
  std::string label;
  std::vector<std::filesystem::path> runs;  ///< folders
};

/// How a band shows what differs between runs: from the lowest to the highest, or one standard error of the mean or one standard
/// deviation (n - 1) to either side of it.
enum class Band : std::uint8_t { range, error, deviation };

/// "range", "error", "deviation".
const std::vector<std::string>& band_names();

/// The mean of a column of metrics.csv over the runs of `group`, at the iterations at which each of them has a value, NaN at one in
/// between at which one of them has none, but for evaluations, which are not of every iteration; of several runs, with a band.
/// @throws Error naming the group or the file; naming two runs of different environments, and two that have the
/// same settings and the same seed, as far as the folders have a config.json.
Series mean_curve(const CurveGroup& group, const std::string& column, Band band);

/// Draws the mean curves of all groups as a PNG, atomically, and says below what the bands are, and which settings beside the seed
/// the runs of a line differ in. @throws as `mean_curve` and `write_chart`.
void write_comparison(const std::filesystem::path& png, const std::vector<CurveGroup>& groups, const std::string& column,
                      const std::string& title, Band band);

struct StripOptions {
  PictureView view = PictureView::overlay;
  std::uint64_t seed = 0;  ///< of the episode
  int frames = 6;          ///< pictures, evenly spaced from the first step to the last; fewer if the episode has fewer steps
  int steps = 0;           ///< ends the episode after so many of the policy's steps; 0: its own end
  int scale = 0;           ///< pixels per pixel of the policy's; 0: the smallest that gives `min_height` rows
  int min_height = 200;    ///< rows
  bool redraw = true;      ///< as in VideoOptions
  bool captions = true;    ///< below each picture the time and the return so far; below heat maps their colours
};

struct StripInfo {
  Episode episode;
  int pictures = 0, height = 0, width = 0;
  bool attention = false;  ///< as in VideoInfo
};

/// Pictures of one episode side by side, as a PNG. @throws Error for a path with an ending other than ".png", before anything is
/// played for a strip of more than 32767 columns, and as `write_video`.
StripInfo write_strip(const std::filesystem::path& png, Policy& policy, const Config& env, const StripOptions& options);

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
