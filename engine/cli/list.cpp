#include <algorithm>
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
int width_of_names(const Catalog& catalog) {
  std::size_t widest = 0;
  for (const auto& entry : catalog) widest = std::max(widest, entry.name.size());
  return static_cast<int>(widest) + 2;
}

template <typename Catalog>
void print(std::string_view title, const Catalog& catalog) {
  std::cout << title << "\n";
  const int width = width_of_names(catalog);
  for (const auto& entry : catalog) std::cout << "  " << left_text(entry.name, width) << entry.summary << "\n";
}

void print_kernels() {
  const int width = width_of_names(kernel_catalog());
  std::cout << "kernels\n";
  for (const auto& entry : kernel_catalog())
    std::cout << "  " << left_text(entry.name, width) << entry.summary << "\n  " << left_text("", width) << "for "
              << abilities(entry) << "\n";
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
