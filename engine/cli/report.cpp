#include <filesystem>
#include <iostream>

#include "cli/commands.hpp"
#include "cli/interrupts.hpp"
#include "cli/values.hpp"
import iap.core;
import iap.report;

namespace iap::cli {

int report(const ReportCommand& command) {
  catch_interrupts(nullptr);
  catch_termination();
  const auto out = command.out.value_or(report_place(command.runs));
  check_outputs({{"--out", command.out}});
  write_report(command.runs, out, command.options);
  std::cout << "report   " << out.string() << " (" << file_size_text(out) << ")\n";
  return Exit::success;
}

}  // namespace iap::cli
