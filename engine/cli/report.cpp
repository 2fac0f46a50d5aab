#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/interrupts.hpp"
#include "cli/values.hpp"
import iap.core;
import iap.report;
import iap.train;

namespace iap::cli {
namespace {

/// Why there is nothing to show of a run, or "". What else is wrong with it is told by who reads it.
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

/// Those of `runs` that have something to show; all where none has, which is an error.
std::vector<std::filesystem::path> worth_showing(const std::vector<std::filesystem::path>& runs) {
  std::vector<std::filesystem::path> shown;
  std::string notes;
  for (const auto& run : runs)
    if (const auto why = emptiness(run); why.empty())
      shown.push_back(run);
    else
      notes += one_line(text("note: the page leaves out '", run.string(), "', which ", why)) + "\n";
  if (shown.empty()) return runs;
  std::cerr << notes;
  return shown;
}

}  // namespace

int report(const ReportCommand& command) {
  catch_interrupts(nullptr);
  catch_termination();
  const auto out = command.out.value_or(report_place(command.runs));
  check_outputs({{"--out", command.out}});
  write_report(worth_showing(command.runs), out, command.options);
  std::cout << "report   " << out.string() << " (" << file_size_text(out) << ")\n";
  return Exit::success;
}

}  // namespace iap::cli
