#include <iostream>

#include "cli/commands.hpp"
#include "cli/interrupts.hpp"
#include "cli/values.hpp"
import iap.report;

namespace iap::cli {

int report(const ReportCommand& command) {
  catch_interrupts(nullptr);
  catch_termination();
  const auto out = command.out ? *command.out : report_place(command.runs);
  check_outputs({{"--out", command.out}});
  const auto shown = shown_runs(command.runs);
  std::cerr << shown.notes;
  write_report(shown.folders, out, command.options);
  std::cout << "report   " << one_line(out.string()) << " (" << file_size_text(out) << ")\n";
  return Exit::success;
}

}  // namespace iap::cli
