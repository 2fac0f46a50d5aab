module;
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>
module iap.optim;
import iap.core;

namespace iap {

std::unique_ptr<Optimizer> make_es(Options& options, std::span<const float> initial, std::uint64_t seed);

namespace {

const OptimizerEntry entries[] = {
    {"es", "evolution strategy with antithetic Gaussian perturbations and an Adam or SGD step (Salimans et al. 2017)", make_es},
};

}  // namespace

std::span<const OptimizerEntry> optimizer_catalog() { return entries; }

std::unique_ptr<Optimizer> make_optimizer(const Config& config, std::span<const float> initial, std::uint64_t seed) {
  Options options("optimizer", config);
  std::vector<std::string> names;
  for (const auto& entry : entries) names.push_back(entry.name);
  const std::string kind = options.choice("kind", names, entries[0].name);
  if (initial.empty()) options.fail("there are no parameters to optimise; the policy has none");
  for (std::size_t i = 0; i < initial.size(); ++i)
    if (!std::isfinite(initial[i])) options.fail(text("initial parameter ", i, " is ", initial[i], "; it must be finite"));
  for (const auto& entry : entries) {
    if (entry.name != kind) continue;
    auto optimizer = entry.make(options, initial, seed);
    options.finish();
    return optimizer;
  }
  options.fail(text("kind '", kind, "' has no maker"));
}

}  // namespace iap
