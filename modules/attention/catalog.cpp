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

std::string names_of(bool (*reads)(const KernelEntry&), bool (*can)(const KernelEntry&)) {
  std::string names;
  for (const auto& entry : kernel_catalog())
    if (reads(entry) && can(entry)) names += (names.empty() ? "" : ", ") + entry.name;
  return names;
}

bool anything(const KernelEntry&) { return true; }
bool mixes(const KernelEntry& entry) { return entry.transform != nullptr; }

/// Refuses what other kernels that can do the same read, by the name of these: the nearest name that this one reads means something
/// else.
void refuse_others(Options& options, const KernelEntry& entry, bool (*can)(const KernelEntry&)) {
  const auto goes_with = [&](const char* option, bool (*reads)(const KernelEntry&)) {
    if (!options.has(option) || reads(entry)) return;
    throw OptionError(text(options.owner(), ": option '", option, "' is none of kernel '", entry.name, "'; it goes with ",
                           names_of(reads, anything)));
  };
  const auto drawn = [](const KernelEntry& other) { return other.features.has_value(); };
  goes_with("m", drawn);
  for (const char* option : {"ensemble", "feature_seed", "redraw"})
    options.goes_with(option, text("the kernels ", names_of(drawn, anything)));
  options.goes_with("spread", "kernel = \"favor++\"");
  goes_with("r", [](const KernelEntry& other) { return other.features && other.features->kind == FeatureKind::hybrid; });
  for (const char* option : {"input", "scale", "temperature"})
    options.goes_with(option, text("the kernels ", names_of([](const KernelEntry& other) { return other.name != "relu"; }, can)));
}

/// The same of what kernels read that form a frame's attention, which kept features do not.
void refuse_others_of_frames(Options& options, bool (*can)(const KernelEntry&)) {
  options.goes_with("brute_force",
                    text("the kernels ", names_of([](const KernelEntry& other) { return other.map != nullptr; }, can)));
  const auto shifted = [](const KernelEntry& other) {
    return other.features ? other.features->kind == FeatureKind::exp : other.map != nullptr;
  };
  options.goes_with("epsilon", text("the kernels ", names_of(shifted, can)));
}

/// That option `kernel` names.
const KernelEntry& read_scoring_kernel(Options& options, int d) {
  if (d < 1) options.fail(text("d (the size of queries and keys) must be positive, got ", d));
  refuse_others_of_frames(options, anything);
  options.goes_with("normalise_rows", "kernel = \"softmax\"");
  return read_kernel(options, "score patches", anything);
}

const KernelEntry& read_mixing_kernel(Options& options) {
  refuse_others_of_frames(options, mixes);
  const auto ordered = [](const KernelEntry& entry) { return entry.map != nullptr; };
  options.goes_with("order", text("the kernels ", names_of(ordered, mixes)));
  return read_kernel(options, "mix values (IAP-trans)", mixes);
}

void check_head(const Options& options, double bytes) { check_memory(text(options.owner(), ": what a head keeps"), bytes); }

}  // namespace

const KernelEntry& read_kernel(Options& options, std::string_view what, bool (*can)(const KernelEntry&)) {
  std::vector<std::string> names;
  for (const auto& entry : kernel_catalog()) names.push_back(entry.name);
  const std::string name = options.choice("kernel", names, "relu");
  const KernelEntry& found = *std::ranges::find(kernel_catalog(), name, &KernelEntry::name);
  if (can(found)) {
    refuse_others(options, found, can);
    return found;
  }
  throw OptionError(text(options.owner(), ": kernel '", name, "' cannot ", what, "; kernels that can: ", names_of(anything, can)));
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
