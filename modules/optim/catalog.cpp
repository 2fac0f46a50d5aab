module;
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>
module iap.optim;
import iap.core;
import :pair_search;

namespace iap {

std::unique_ptr<Optimizer> make_es(Options& options, std::span<const float> initial, std::uint64_t seed);
std::unique_ptr<Optimizer> make_cma_es(Options& options, std::span<const float> initial, std::uint64_t seed);
std::unique_ptr<Optimizer> make_sep_cma_es(Options& options, std::span<const float> initial, std::uint64_t seed);
std::unique_ptr<Optimizer> make_pgpe(Options& options, std::span<const float> initial, std::uint64_t seed);
std::unique_ptr<Optimizer> make_ars(Options& options, std::span<const float> initial, std::uint64_t seed);
std::unique_ptr<Optimizer> make_simple_ga(Options& options, std::span<const float> initial, std::uint64_t seed);

namespace {

// A condition number of 2 ends every run after a few iterations.
constexpr const char* restarting = R"([{"restarts": "ipop", "population": 4, "tol_condition": 2, "max_restarts": 3},
                                       {"restarts": "bipop", "population": 4, "tol_condition": 2, "max_restarts": 3}])";

constexpr const char* es_examples = R"([
    {"optimizer": "sgd", "momentum": 0.8, "shaping": "standardised", "directions": "orthogonal", "learning_rate_decay": 0.9},
    {"optimizer": "clipup", "max_speed": 0.1, "shaping": "none", "directions": "hadamard", "sigma_decay": 0.9},
    {"beta1": 0.5, "weight_decay": 0.1, "plateau": {"patience": 1, "factor": 0.5}}])";
constexpr const char* pgpe_examples = R"([
    {"optimizer": "sgd", "momentum": 0.8, "shaping": "standardised", "directions": "orthogonal", "learning_rate_decay": 0.9},
    {"optimizer": "clipup", "max_speed": 0.1, "shaping": "none", "directions": "hadamard", "sigma_learning_rate": 0.5},
    {"beta1": 0.5, "sigma_max_change": 0.5, "plateau": {"patience": 1, "factor": 0.5}}])";
constexpr const char* ars_examples = R"([
    {"top": 2, "shaping": "standardised", "directions": "orthogonal", "learning_rate_decay": 0.9},
    {"shaping": "centred_ranks", "directions": "hadamard", "plateau": {"patience": 1, "factor": 0.5}}])";
constexpr const char* cma_examples = R"([
    {"active": false, "stagnation": false, "sigma": 0.5}, {"active": true, "tol_fun": 0, "tol_x": 0}])";
constexpr const char* ga_examples = R"([{"parents": 3, "sigma": 0.5, "sigma_decay": 0.8}])";

const OptimizerEntry entries[] = {
    {"es", "evolution strategy with antithetic Gaussian perturbations and an Adam, SGD or ClipUp step (Salimans et al. 2017)",
     make_es, "", es_examples, "", true},
    {"cma_es", "covariance matrix adaptation with active updates, optional IPOP or BIPOP restarts (Hansen 2016)", make_cma_es,
     restarting, cma_examples},
    {"sep_cma_es", "CMA-ES with a diagonal covariance matrix, linear in the parameters (Ros & Hansen 2008)", make_sep_cma_es,
     restarting, cma_examples},
    {"pgpe", "policy gradients with parameter-based exploration and a step size for each parameter (Sehnke et al. 2010)", make_pgpe,
     "", pgpe_examples, "pepg", true},
    {"ars", "augmented random search along the best directions (Mania et al. 2018)", make_ars, "", ars_examples, "", true},
    {"simple_ga", "genetic algorithm with truncation selection, Gaussian mutation and an elite (Such et al. 2017)", make_simple_ga,
     "", ga_examples},
};

}  // namespace

std::span<const OptimizerEntry> optimizer_catalog() { return entries; }

std::string pair_search_names() {
  std::string names;
  for (const auto& entry : entries)
    if (entry.pairs) names += (names.empty() ? "" : ", ") + entry.name;
  return names;
}

std::string current_optimizer_name(std::string_view name) {
  for (const auto& entry : entries)
    if (!entry.old_name.empty() && entry.old_name == name) return entry.name;
  return std::string(name);
}

Config current_optimizer(Config config) {
  const Config* kind = config.find("kind");
  if (kind && kind->string()) config["kind"] = current_optimizer_name(*kind->string());
  return config;
}

void Optimizer::adopt(const Optimizer&, bool) {
  throw Error(text(name(), ": keeps its population and its parameters to the end; those that can change them on the way are ",
                   pair_search_names()));
}

void Optimizer::write_member(std::size_t, std::span<float>) {
  throw Error(text(name(), ": a member follows from the whole state of the search; call ask for the population"));
}

std::unique_ptr<Optimizer> make_optimizer(const Config& given, std::span<const float> initial, std::uint64_t seed) {
  const Config config = current_optimizer(given);
  Options options("optimizer", config);
  std::vector<std::string> names;
  for (const auto& entry : entries) names.push_back(entry.name);
  const std::string kind = options.choice("kind", names, entries[0].name);
  if (initial.empty()) options.fail("there are no parameters to optimise; the policy has none");
  for (std::size_t i = 0; i < initial.size(); ++i)
    if (!std::isfinite(initial[i])) options.fail(text("initial parameter ", i + 1, " is ", initial[i], "; it must be finite"));
  for (const auto& entry : entries) {
    if (entry.name != kind) continue;
    auto optimizer = entry.make(options, initial, seed);
    options.finish();
    optimizer->given_ = config;
    optimizer->config_ = options.completed();
    return optimizer;
  }
  options.fail(text("kind '", kind, "' has no maker"));
}

}  // namespace iap
