#include <iostream>
#include <string>

#include "cli/commands.hpp"
#include "cli/interrupts.hpp"
import iap.bench;
import iap.core;
import iap.script;

namespace iap::cli {

int bench(const std::string& name) {
  catch_interrupts(nullptr);
  catch_termination();
  run_benchmarks(name, std::cout);
  return Exit::success;
}

}  // namespace iap::cli
