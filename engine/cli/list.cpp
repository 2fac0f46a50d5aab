#include <algorithm>
#include <iomanip>
#include <iostream>
#include <string>
#include <string_view>

#include "cli/commands.hpp"
import iap.attention;
import iap.core;
import iap.envs;
import iap.optim;
import iap.policy;

namespace iap::cli {
namespace {

template <typename Catalog>
void print(std::string_view title, const Catalog& catalog) {
  std::size_t widest = 0;
  for (const auto& entry : catalog) widest = std::max(widest, entry.name.size());
  std::cout << title << "\n";
  for (const auto& entry : catalog)
    std::cout << "  " << std::left << std::setw(static_cast<int>(widest) + 2) << entry.name << entry.summary << "\n";
}

void print_kernels() {
  std::size_t widest = 0;
  for (const auto& entry : kernel_catalog()) widest = std::max(widest, entry.name.size());
  std::cout << "kernels\n";
  for (const auto& entry : kernel_catalog())
    std::cout << "  " << std::left << std::setw(static_cast<int>(widest) + 2) << entry.name << entry.summary << "\n"
              << std::string(widest + 4, ' ') << "for " << abilities(entry) << "\n";
}

}  // namespace

int list(const std::string& what) {
  const bool all = what == "all";
  if (all || what == "envs") {
    print("environments", env_catalog());
    std::cout << "  All take action_repeat, and time_limit in control steps (before action repeat).\n";
  }
  if (all || what == "kernels") print_kernels();
  if (all || what == "blocks") print("blocks", block_catalog());
  if (all || what == "optimizers") print("optimizers", optimizer_catalog());
  return Exit::success;
}

}  // namespace iap::cli
