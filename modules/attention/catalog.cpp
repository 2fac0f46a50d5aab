module;
#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>
module iap.attention;
import iap.core;
import :internal;

namespace iap {

KernelEntry exp_kernel();
KernelEntry favor_plus_plus_kernel();
KernelEntry hybrid_kernel();
KernelEntry relu_kernel();
KernelEntry softmax_kernel_entry();
KernelEntry trig_kernel();

std::span<const KernelEntry> kernel_catalog() {
  static const std::vector<KernelEntry> catalog = {relu_kernel(), exp_kernel(),    favor_plus_plus_kernel(),
                                                   trig_kernel(), hybrid_kernel(), softmax_kernel_entry()};
  return catalog;
}

std::string abilities(const KernelEntry& entry) {
  std::string line = "rank";
  if (entry.transform) line += ", trans";
  if (entry.map) line += ", cross";
  if (entry.features && entry.features->kind == FeatureKind::exp) line += ", drawn patches";
  if (entry.exact) line += ", exact rows";
  return line;
}

namespace {

/// Refuses what other kernels read, by the name of these: the nearest name that this one reads means something else.
void refuse_others(Options& options, const KernelEntry& entry) {
  const auto readers_of = [](bool (*reads)(const RandomFeatures&)) {
    std::string readers;
    for (const auto& other : kernel_catalog())
      if (other.features && reads(*other.features)) readers += (readers.empty() ? "" : ", ") + other.name;
    return readers;
  };
  const auto goes_with = [&](const char* option, bool (*reads)(const RandomFeatures&)) {
    if (!options.has(option) || (entry.features && reads(*entry.features))) return;
    throw OptionError(
        text(options.owner(), ": option '", option, "' is none of kernel '", entry.name, "'; it goes with ", readers_of(reads)));
  };
  const auto any = [](const RandomFeatures&) { return true; };
  goes_with("m", any);
  for (const char* option : {"ensemble", "feature_seed", "redraw"})
    options.goes_with(option, text("the kernels ", readers_of(any)));
  options.goes_with("spread", "kernel = \"favor++\"");
  goes_with("r", [](const RandomFeatures& features) { return features.kind == FeatureKind::hybrid; });
}

/// That option `kernel` names.
const KernelEntry& read_scoring_kernel(Options& options, int d) {
  if (d < 1) options.fail(text("d (the size of queries and keys) must be positive, got ", d));
  return read_kernel(options, "score patches", [](const KernelEntry&) { return true; });
}

const KernelEntry& read_mixing_kernel(Options& options) {
  return read_kernel(options, "mix values (IAP-trans)", [](const KernelEntry& kernel) { return kernel.transform != nullptr; });
}

void check_head(const Options& options, double bytes) { check_memory(text(options.owner(), ": what a head keeps"), bytes); }

}  // namespace

const KernelEntry& read_kernel(Options& options, std::string_view what, bool (*can)(const KernelEntry&)) {
  std::vector<std::string> names;
  for (const auto& entry : kernel_catalog()) names.push_back(entry.name);
  const std::string name = options.choice("kernel", names, "relu");
  const KernelEntry& found = *std::ranges::find(kernel_catalog(), name, &KernelEntry::name);
  if (can(found)) {
    refuse_others(options, found);
    return found;
  }
  std::string able;
  for (const auto& entry : kernel_catalog())
    if (can(entry)) able += (able.empty() ? "" : ", ") + entry.name;
  throw OptionError(text(options.owner(), ": kernel '", name, "' cannot ", what, "; kernels that can: ", able));
}

double scorer_bytes(Options& options, const PatchGrid& grid, int d, bool encoded) {
  const KernelEntry& entry = read_scoring_kernel(options, d);
  return entry.score_bytes(entry, options, grid, d, encoded);
}

std::unique_ptr<Scorer> make_scorer(Options& options, const PatchGrid& grid, int d) {
  const KernelEntry& entry = read_scoring_kernel(options, d);
  check_head(options, entry.score_bytes(entry, options, grid, d, false));
  return entry.score(entry, options, grid, d);
}

double trans_bytes(Options& options, const PatchGrid& grid, const TransShape& shape, bool encoded) {
  const KernelEntry& entry = read_mixing_kernel(options);
  return entry.transform_bytes(entry, options, grid, shape, encoded);
}

std::unique_ptr<Trans> make_trans(Options& options, const PatchGrid& grid, const TransShape& shape) {
  const KernelEntry& entry = read_mixing_kernel(options);
  check_head(options, entry.transform_bytes(entry, options, grid, shape, false));
  return entry.transform(entry, options, grid, shape);
}

MapOptions read_map(Options& options, int c, int d) {
  const KernelEntry& entry = read_kernel(options, "keep the features of keys, it has none",
                                         [](const KernelEntry& kernel) { return kernel.map != nullptr; });
  return entry.map(entry, options, c, d);
}

KernelWork kernel_work(Options& options, const PatchGrid& grid, int d) {
  const KernelEntry& entry = read_scoring_kernel(options, d);
  KernelWork work = entry.work(entry, options, grid, d);
  const ImageShape& image = grid.image();
  const auto pixels = static_cast<double>(image.count());
  // Every pixel value becomes a float once.
  work.fma += pixels;
  work.bytes = static_cast<double>(image.bytes()) + static_cast<double>(grid.count()) * sizeof(float);
  return work;
}

}  // namespace iap
