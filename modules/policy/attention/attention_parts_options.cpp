module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.policy;
import iap.core;
import iap.attention;
import :attention_parts;

namespace iap {

std::size_t read_image(Options& options, const ObservationSpec& observation) {
  if (observation.images.empty()) options.fail("the environment draws no images; make it with pixels = {height, width}");
  std::vector<std::string> names;
  for (const auto& image : observation.images) names.push_back(image.name);
  const std::string name = options.choice("image", names, names.front());
  return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

/// @lua options attention.common
/// Options of rank, trans, cross and look: what patches, queries and keys are.
/// @option image string = (the observation's first image) - name of the image that is looked at; an environment in Lua has them in
/// the order of their names, `depth` before `rgb`
/// @option patch integer 1..4096 - side of a patch, pixels
/// @option stride integer 1..4096 = patch - pixels from one patch to the next, in both directions
/// @option d integer 1..4096 = 8 - size of queries and keys
/// @option bias boolean = false - biases of W_Q and W_K
/// @option pixel_offset number -1..1 = -0.5 - added to pixels, which are in [0, 1]; 0 unless given where `contrast` shows an image
/// of floats
/// @option encoding "none"|"sinusoidal"|"learned" = "none" - of a patch's position, added to its pixels for queries, keys and
/// projections
/// @option encoding_scale number 0..1e6 = 1 - factor of a sinusoidal encoding
/// @option position_range "signed"|"unit" = "signed" - positions in [-1, 1], or in [0, 1]; centroid, motion and the keys of
/// look are made of them
/// @option centre "exact"|"pixel" = "exact" - a patch's position is its middle, or the corner of its middle pixel, as in
/// AttentionAgent
/// @use policy.block
/// @see attention-blocks.md#options-of-both
PatchGrid read_grid(Options& options, const ImageShape& shape) {
  constexpr int largest = 1 << 12;
  const auto size = options.integer_in("patch", 1, largest);
  const auto stride = options.integer_in("stride", 1, largest, size);
  return PatchGrid(shape, static_cast<int>(size), static_cast<int>(stride), options.owner());
}

GridParameters grid_parameters(const PatchGrid& grid, std::size_t offset) {
  const auto axis = [&](int count, int extent) {
    const double size = extent;
    return PatchAxis{count, 0.5 * grid.size() / size, grid.stride() / size};
  };
  return {.offset = offset, .rows = axis(grid.rows(), grid.image().height), .columns = axis(grid.columns(), grid.image().width)};
}

int read_patch_count(Options& options, std::string_view key, const PatchGrid& grid) {
  const auto count = options.integer_in(key, 1, std::int64_t{1} << 30, 10);
  if (count > grid.count())
    options.fail(text("option '", key, "' is ", count, ", but a ", grid.image().height, " x ", grid.image().width,
                      " image has only ", grid.count(), " patches of size ", grid.size(), " and stride ", grid.stride()));
  return static_cast<int>(count);
}

PositionForm::PositionForm(Options& options, const PatchGrid& grid)
    : unit_(options.choice("position_range", {"signed", "unit"}, "signed") == "unit"),
      shift_(options.choice("centre", {"exact", "pixel"}, "exact") == "pixel" && grid.size() % 2 == 1 ? 0.5F : 0.0F) {}

std::pair<float, float> PositionForm::operator()(const PatchGrid& grid, int patch) const {
  auto [row, column] = grid.centre(patch);
  row -= shift_ / static_cast<float>(grid.image().height);
  column -= shift_ / static_cast<float>(grid.image().width);
  if (unit_) return {row, column};
  return {2 * row - 1, 2 * column - 1};
}

std::string drawn_memory(const Config& config) {
  const Config *selection = config.find("selection"), *redraw = config.find("redraw");
  if (selection && *selection == Config("sample")) return "draws its patches anew each time (selection = \"sample\")";
  if (redraw && redraw->number()) return text("counts frames (redraw = ", redraw->describe(), "; \"episode\" counts none)");
  return "";
}

void check_query_weights(const Options& options, const CrossAttention& sampler, bool learned) {
  if (learned && sampler.ranking() == Ranking::sample && sampler.pooling() == Pooling::features)
    options.fail("learned query weights can be negative, and so would be what pooling = \"features\" draws by; take \"mean\"");
}

std::string head_name(const std::string& name, int head, int heads) { return heads == 1 ? name : text(name, "_", head + 1); }

Config head_options(const Options& options, int head) {
  Config own = options.config();
  const Config* seed = own.find("feature_seed");
  const auto given = seed ? seed->integer() : std::nullopt;
  own["feature_seed"] = static_cast<std::int64_t>(derive_seed({.seed = static_cast<std::uint64_t>(given.value_or(0)),
                                                               .member = static_cast<std::uint32_t>(head),
                                                               .purpose = Purpose::projection}) >>
                                                  1);
  return own;
}

}  // namespace iap
