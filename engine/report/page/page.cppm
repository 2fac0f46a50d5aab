module;
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>
/// Runs as a page.
export module iap.report:page;
import iap.policy;
import iap.train;

export namespace iap {

/// The pictures of the last report, by the policy that they were made of.
struct ReportMemory {
  std::map<std::string, std::string> pictures;
};

struct ReportOptions {
  std::optional<PolicyChoice> policy;  ///< which of a run's policies is shown; best.iap without a choice
  bool pictures = true;                ///< plays episodes for the video, the frames and the histogram of importance
  int episodes = 10;                   ///< of which the histogram is made
  std::uint64_t seed = 0;              ///< of these episodes; the first of them is the one that the video shows
  Trust trust = Trust::no;             ///< in Lua that the runs' policies bring along
  /// Seconds after which a browser loads the page again, for runs that go on; 0: never.
  int refresh = 0;
  /// Where set, pictures of policies that have not changed since the last report are taken from here.
  std::shared_ptr<ReportMemory> memory;
};

/// Writes one self-contained HTML file about the runs in `folders`: learning curves, what the policies attend to, their parameters
/// and settings. Runs that differ in nothing but the seed form one group, whose best run is shown; several groups are compared.
/// Where an environment cannot be played (a Lua file that is gone), the page says so in place of its pictures.
/// @throws Error naming the folder that is missing, not a run's, or without a finished iteration, and if `out` cannot be written.
void write_report(std::span<const std::filesystem::path> folders, const std::filesystem::path& out, const ReportOptions& options);

/// Why there is nothing to show of a run, or "". What else is wrong with it is told by who reads it.
std::string emptiness(const std::filesystem::path& folder);

/// Those of the runs of a page that have something to show; all where none has, which `write_report` refuses.
struct ShownRuns {
  std::vector<std::filesystem::path> folders;
  std::string notes;  ///< a line for each run that is left out
};
ShownRuns shown_runs(const std::vector<std::filesystem::path>& runs);

/// Writes the page of a run that has nothing to report yet.
void write_waiting_page(const std::filesystem::path& folder, const std::filesystem::path& out, int refresh);

/// Makes a page that browsers load again into one that they do not. @throws Error as `read_file` and `write_file_atomic`.
void settle_page(const std::filesystem::path& out);

/// Where a report goes that nobody named a place for: report.html in the folder of a single run, or in the current one.
std::filesystem::path report_place(std::span<const std::filesystem::path> folders);

}  // namespace iap
