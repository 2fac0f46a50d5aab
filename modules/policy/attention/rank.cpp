module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>
module iap.policy;
import iap.core;
import iap.attention;
import :attention_parts;
import :internal;
import :retina;
import :rank_head;
#include "attention/shared_planes.hpp"

namespace iap {
namespace {

constexpr int centroid_size = 4;

/// All that the options say, read before the base class needs the number of outputs.
struct RankOptions {
  RankOptions(Options& options, const BlockContext& context, ParameterLayout& layout)
      : image(options, *context.observation),
        grid(read_grid(options, image.shape())),
        d(static_cast<int>(options.integer_in("d", 1, 4096, 8))),
        top(read_patch_count(options, "top", grid)),
        pixel_offset(image.pixel_offset(options)),
        position(options, grid),
        masked(options.boolean("masked", false)) {
    const auto count = static_cast<int>(options.integer_in("heads", 1, 64, 1));
    const double centres = options.boolean("motion", false) ? 4.0 * sizeof(float) : 0.0;  // of a patch, now and before
    names = read_value_names(options, "position", {"centroid"});
    centroid = std::ranges::find(names, "centroid") != names.end();
    const double all_places = centroid ? static_cast<double>(sizeof(places.front())) * grid.count() : 0.0;
    check_memory(text(options.owner(), ": what its heads keep"),
                 all_places + count * (RankHead::bytes(options, grid, d, top) + centres * top));
    places.reserve(centroid ? static_cast<std::size_t>(grid.count()) : 0);
    if (centroid)
      for (int patch = 0; patch < grid.count(); ++patch) places.push_back(position(grid, patch));
    for (int head = 0; head < count; ++head) heads.emplace_back(options, grid, d, top, context.path, head, count, layout);
    encoding = std::make_unique<PositionEncoding>(options, grid, context.path, layout);
    values = make_values(names, {options, grid, position, pixel_offset, context.path, 0, 1, layout});
    motion = options.boolean("motion", false);
    if (motion && masked)
      throw OptionError(options.owner() +
                        ": option 'motion' follows patches by rank, which option 'masked' gives up; take one of them out");
    outputs =
        checked_outputs(options, count * (rows() * total_size(values) + (centroid ? centroid_size : 0) + (motion ? 2 * top : 0)));
  }

  std::int64_t rows() const { return masked ? grid.count() : top; }

  Retina image;
  PatchGrid grid;
  int d, top;
  float pixel_offset;
  PositionForm position;
  bool masked, motion = false, centroid = false;
  std::vector<RankHead> heads;
  std::unique_ptr<PositionEncoding> encoding;
  std::vector<std::string> names;
  std::vector<MadeValues> values;
  std::vector<std::pair<float, float>> places;  // of all patches, where a centroid is made of them
  int outputs = 0;
};

/// IAP-rank (v1 section 3, v2 section 3.2): every head scores all patches, chooses `top` of them and hands over their values, one
/// kind of values after the other: a matrix of l rows in rank order or, masked, of L rows in patch order that are zero where a
/// patch was not chosen; then the centroid of its scores; then the motion of the patch of every rank. The outputs of heads follow
/// each other.
class Rank final : public Block {
 public:
  Rank(RankOptions options, const BlockContext& context)
      : Block(context, options.outputs),
        options_(std::move(options)),
        centres_(options_.motion ? 2 * options_.heads.size() * options_.top : 0),
        centres_before_(centres_.size()) {}

  std::string_view kind() const override { return "rank"; }
  std::string memory() const override {
    return options_.motion || options_.image.compares_frames() ? Block::memory() : drawn_memory(config());
  }
  std::string describe() const override {
    const auto& grid = options_.grid;
    std::string line = text(options_.heads.front().describe(), ", patch ", grid.size(), ", stride ", grid.stride(), ", L ",
                            grid.count(), ", d ", options_.d, ", top ", options_.top, ", values ");
    for (std::size_t i = 0; i < options_.names.size(); ++i) line += (i ? " + " : "") + options_.names[i];
    if (options_.motion) line += " + motion";
    if (options_.heads.size() > 1) line += text(", heads ", options_.heads.size());
    if (options_.masked) line += ", masked";
    return line + options_.image.describe() + options_.encoding->describe();
  }
  void initialise(std::span<float> parameters, Random& random) const override {
    for (const RankHead& head : options_.heads) head.initialise(parameters, random);
    options_.encoding->initialise(parameters, random);
    for (const auto& kind : options_.values) kind->initialise(parameters, random);
  }
  void bind(std::span<const float> parameters) override {
    options_.encoding->bind(parameters);
    const auto encoding = options_.encoding->table();
    for (RankHead& head : options_.heads) head.bind(parameters, encoding);
    for (const auto& kind : options_.values) kind->bind(parameters, encoding);
  }
  void reset(std::uint64_t episode_seed) override {
    has_frame_before_ = false;
    options_.image.reset();
    for (RankHead& head : options_.heads) head.new_episode(episode_seed);
  }

  void forward(const Observation& observation, std::span<const float>, std::span<float> out) override {
    const ImageView& image = options_.image.look(observation);
    std::optional<SharedPlanes::Look> shared;
    if (options_.heads.size() > 1) shared.emplace(planes_);
    auto centres = std::span(centres_), before = std::span(centres_before_);
    for (RankHead& head : options_.heads) {
      check_interrupt();
      head.choose(image, options_.pixel_offset);
      for (const auto& kind : options_.values) out = write_values(*kind, head.selected(), image, out);
      if (options_.centroid) out = write_centroid(head.scores(), out);
      if (!options_.motion) continue;
      const std::size_t size = 2 * head.selected().size();
      locate(head.selected(), centres.first(size));
      for (std::size_t i = 0; i < size; ++i) out[i] = has_frame_before_ ? centres[i] - before[i] : 0.0F;
      out = out.subspan(size);
      centres = centres.subspan(size);
      before = before.subspan(size);
    }
    centres_.swap(centres_before_);
    has_frame_before_ = looked_ = true;
  }

  void collect_grids(std::vector<GridParameters>& grids) const override {
    for (const RankHead& head : options_.heads) head.collect_grids(options_.grid, grids);
    options_.encoding->collect_grids(options_.grid, grids);
  }

  void collect_views(std::vector<AttentionView>& views) const override {
    if (!looked_) return;
    const auto& grid = options_.grid;
    const int pool = options_.image.pool();
    for (const RankHead& head : options_.heads)
      views.push_back({head.path(), options_.image.name(), grid.rows(), grid.columns(), pool * grid.size(), pool * grid.stride(),
                       head.scores(), head.selected()});
  }

 private:
  // Returns what is left of `out`.
  std::span<float> write_values(PatchValues& kind, std::span<const int> selected, const ImageView& image,
                                std::span<float> out) const {
    const auto size = static_cast<std::size_t>(kind.size()), all = static_cast<std::size_t>(options_.rows()) * size;
    if (options_.masked) std::ranges::fill(out.first(all), 0.0F);
    for (std::size_t rank = 0; rank < selected.size(); ++rank) {
      check_interrupt();
      kind.write(image, selected[rank], out.subspan((options_.masked ? selected[rank] : rank) * size, size));
    }
    return out.subspan(all);
  }

  // Mean (row, column) of all patches and its standard deviations, weighted by how far a score is above the frame's lowest: unlike
  // the place of the first patch it moves smoothly with the picture, and every patch votes. Returns what is left of `out`.
  std::span<float> write_centroid(std::span<const float> scores, std::span<float> out) const {
    const auto [lowest, highest] = std::ranges::minmax(scores);
    const bool blank = lowest == highest;  // every patch weighs the same: the centroid is the middle
    double total = 0, row = 0, column = 0, row_square = 0, column_square = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const double weight = blank ? 1.0 : static_cast<double>(scores[i]) - lowest;
      const auto [y, x] = options_.places[i];
      total += weight;
      row += weight * y;
      column += weight * x;
      row_square += weight * y * y;
      column_square += weight * x * x;
    }
    row /= total;
    column /= total;
    out[0] = static_cast<float>(row);
    out[1] = static_cast<float>(column);
    out[2] = static_cast<float>(std::sqrt(std::max(0.0, row_square / total - row * row)));
    out[3] = static_cast<float>(std::sqrt(std::max(0.0, column_square / total - column * column)));
    return out.subspan(centroid_size);
  }

  void locate(std::span<const int> selected, std::span<float> centres) const {
    for (std::size_t rank = 0; rank < selected.size(); ++rank)
      std::tie(centres[2 * rank], centres[2 * rank + 1]) = options_.position(options_.grid, selected[rank]);
  }

  RankOptions options_;
  SharedPlanes planes_;
  std::vector<float> centres_, centres_before_;
  bool has_frame_before_ = false, looked_ = false;
};

}  // namespace

/// @lua function iap.attention.rank
/// IAP-rank: every head scores all patches by how much all queries attend to them, r = (1/L) P A, and hands over what its best
/// `top` ones
/// show. O(L) in the number of patches for all kernels but softmax.
/// @option top integer 1.. = 10 - patches that each head chooses; at most as many as there are
/// @option heads integer 1..64 = 1 - each with W_Q, W_K, P and random projections of its own
/// @option query_weights "ones"|"learned" = "ones" - P: every query counts the same, or L parameters
/// @option masked boolean = false - values are L rows in patch order, zero where a patch was not chosen, instead of `top` rows in
/// rank order
/// @option motion boolean = false - also how far the patch of each rank moved since the frame before
/// @option selection "top"|"sample" = "top" - the highest scores, or draws with softmax weights (kernels exp and
/// favor++)
/// @option pooling "mean"|"sum"|"features" = "mean" - of draws: what the queries are pooled to
/// @option replacement boolean = false - whether draws may repeat
/// @option normalise_rows boolean = true - of kernel softmax: rows of A sum to 1
/// @option threads integer 1..1024 = 1 - inside one frame, as far as the machine has them; changes no bit
/// @use attention.common
/// @use attention.retina
/// @use attention.values
/// @use attention.kernel
/// @return blueprint - for sequence and concat
/// @example iap.attention.rank {
///   patch = 4, top = 5, kernel = "hybrid", values = { "position", "projection" },
/// }
/// @see attention-blocks.md
/// @see eyes.md
MadeBlock make_rank(Options& options, const BlockContext& context, ParameterLayout& layout) {
  return std::make_unique<Rank>(RankOptions(options, context, layout), context);
}

}  // namespace iap
