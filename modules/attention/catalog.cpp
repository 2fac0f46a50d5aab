module;
#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>
module iap.attention;
import iap.core;
import :internal;

namespace iap {

std::unique_ptr<Scorer> make_exp(Options& options, const PatchGrid& grid, int d);
std::unique_ptr<Scorer> make_hybrid(Options& options, const PatchGrid& grid, int d);
std::unique_ptr<Scorer> make_relu(Options& options, const PatchGrid& grid, int d);
std::unique_ptr<Scorer> make_softmax(Options& options, const PatchGrid& grid, int d);
std::unique_ptr<Scorer> make_trig(Options& options, const PatchGrid& grid, int d);

std::span<const KernelEntry> kernel_catalog() {
  static const std::vector<KernelEntry> catalog = {
      {"relu", "max(q, 0) . max(k, 0): deterministic, the fastest", make_relu},
      {"exp", "softmax kernel by m positive exponential features (FAVOR+)", make_exp},
      {"trig", "softmax kernel by m sines and cosines", make_trig},
      {"hybrid", "softmax kernel by exponential and trigonometric features, mixed by the angle of query and key (v1 section 4.1)",
       make_hybrid},
      {"softmax", "exp(x . y), exact, rows of the attention matrix normalised or not: O(L^2)", make_softmax},
  };
  return catalog;
}

std::unique_ptr<Scorer> make_scorer(Options& options, const PatchGrid& grid, int d) {
  if (d < 1) options.fail(text("d (the size of queries and keys) must be positive, got ", d));
  std::vector<std::string> names;
  for (const auto& entry : kernel_catalog()) names.push_back(entry.name);
  const std::string name = options.choice("kernel", names, "relu");
  return std::ranges::find(kernel_catalog(), name, &KernelEntry::name)->make(options, grid, d);
}

}  // namespace iap
