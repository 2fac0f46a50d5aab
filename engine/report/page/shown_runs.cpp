module;
#include <filesystem>
#include <string>
#include <vector>
module iap.report;
import iap.core;
import iap.train;
import :page;

namespace iap {

std::string emptiness(const std::filesystem::path& folder) {
  try {
    for (const double cell : read_table(run_file(folder, "metrics.csv")).column("iteration"))
      if (const auto iteration = iteration_of(cell); !iteration || *iteration > 0) return "";
  } catch (const Error&) {
    return "";
  }
  const auto summary = sound_summary(folder);
  return summary && summary->iterations < 1 ? "trained no iteration" : "has not finished its first iteration";
}

ShownRuns shown_runs(const std::vector<std::filesystem::path>& runs) {
  ShownRuns shown;
  for (const auto& run : runs)
    if (const auto why = emptiness(run); why.empty())
      shown.folders.push_back(run);
    else
      shown.notes += one_line(text("note: the page leaves out '", run.string(), "', which ", why)) + "\n";
  if (shown.folders.empty()) return {.folders = runs, .notes = ""};
  return shown;
}

}  // namespace iap
