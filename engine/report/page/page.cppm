module;
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
/// Runs as a page.
export module iap.report:page;
import iap.policy;
import iap.train;

export namespace iap {

struct ReportOptions {
  std::optional<PolicyChoice> policy;  ///< which of a run's policies is shown; best.iap without a choice
  bool pictures = true;                ///< plays episodes for the video, the frames and the histogram of importance
  int episodes = 10;                   ///< of which the histogram is made
  std::uint64_t seed = 0;              ///< of these episodes; the first of them is the one that the video shows
  Trust trust = Trust::no;             ///< in Lua that the runs' policies bring along
};

/// Writes one self-contained HTML file about the runs in `folders`: learning curves, what the policies attend to, their parameters
/// and settings. Runs that differ in nothing but the seed form one group, whose best run is shown; several groups are compared.
/// Where an environment cannot be played (a Lua file that is gone), the page says so in place of its pictures.
/// @throws Error naming the folder that is missing, not a run's, or without a finished iteration, and if `out` cannot be written.
void write_report(std::span<const std::filesystem::path> folders, const std::filesystem::path& out, const ReportOptions& options);

/// Where a report goes that nobody named a place for: report.html in the folder of a single run, or in the current one.
std::filesystem::path report_place(std::span<const std::filesystem::path> folders);

}  // namespace iap
