#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace iap {

/// Why there is nothing to show of a run, or "". What else is wrong with it is told by who reads it.
std::string emptiness(const std::filesystem::path& folder);

/// Those of the runs of a page that have something to show; all where none has, which is an error of who makes the page.
struct ShownRuns {
  std::vector<std::filesystem::path> folders;
  std::string notes;  ///< a line for each run that is left out
};
ShownRuns shown_runs(const std::vector<std::filesystem::path>& runs);

}  // namespace iap
