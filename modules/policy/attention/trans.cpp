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
#include <utility>
#include <vector>
module iap.policy;
import iap.core;
import iap.attention;
import :attention_parts;
import :compression;
import :internal;
import :retina;
#include "attention/shared_planes.hpp"

namespace iap {
namespace {

struct TransHead {
  HeadParameters parameters;
  Compression compression;
  std::vector<MadeValues> values;
  std::size_t value_offset = 0, value_size = 0;  // of W_V, where V is one projection
  std::unique_ptr<Trans> attention;
};

/// All that the options say, read before the base class needs the number of outputs.
struct TransOptions {
  TransOptions(Options& options, const BlockContext& context, ParameterLayout& layout)
      : image(options, *context.observation),
        grid(read_grid(options, image.shape())),
        pixel_offset(image.pixel_offset(options)),
        position(options, grid),
        names(read_value_names(options, "projection")) {
    shape.d = static_cast<int>(options.integer_in("d", 1, 4096, 8));
    shape.tokens = read_patch_count(options, "tokens", grid);
    shape.residual = options.boolean("residual", true);
    // The usual case has a fast path: V comes from the pixels together with queries and keys.
    shape.projected = names.size() == 1 && names.front() == "projection";
    const bool bias = options.boolean("bias", false);
    const auto head_count = static_cast<int>(options.integer_in("heads", 1, 64, 1));
    for (int head = 0; head < head_count; ++head) heads.push_back(make_head(options, context.path, bias, head, head_count, layout));
    encoding = std::make_unique<PositionEncoding>(options, grid, context.path, layout);
    width = checked_outputs(options, std::int64_t{head_count} * shape.values);
    outputs = checked_outputs(options, std::int64_t{shape.tokens} * width);
    layer_norm = options.boolean("layer_norm", false);
    if (!layer_norm) return;
    if (width < 2)
      options.fail("option 'layer_norm' would make a zero of every row, which has only one value; raise 'dv' or 'heads'");
    gain = layout.add(context.path + ".norm_gain", {width});
    shift = layout.add(context.path + ".norm_bias", {width});
  }

  TransHead make_head(Options& options, const std::string& path, bool bias, int head, int count, ParameterLayout& layout) {
    TransHead made{HeadParameters(grid, shape.d, bias, false, path, head, count, layout),
                   Compression(options, grid.count(), shape.tokens, path, head, count, layout),
                   {},
                   0,
                   0,
                   nullptr};
    if (shape.projected) {
      shape.values = read_projection_size(options);
      made.value_offset = layout.add(path + "." + head_name("value", head, count), {grid.values(), shape.values});
      made.value_size = static_cast<std::size_t>(grid.values()) * shape.values;
    } else {
      made.values = make_values(names, {options, grid, position, pixel_offset, path, head, count, layout});
      shape.values = checked_outputs(options, total_size(made.values));
    }
    if (head == 0) {
      check_heads(options, count);
      made.attention = make_trans(options, grid, shape);
    } else {
      const Config own = head_options(options, head);
      Options reader(options.owner(), own);
      made.attention = make_trans(reader, grid, shape);
    }
    return made;
  }

  /// What all of them take beside the P of the first, which is there already, with what is kept for pictures.
  void check_heads(Options& options, int count) const {
    const bool encoded = read_encoding(options) != "none";
    const double a_head = trans_bytes(options, grid, shape, encoded) + sizeof(float) * static_cast<double>(grid.count());
    check_memory(text(options.owner(), ": what its heads keep"),
                 count * a_head + (count - 1) * Compression::bytes(grid.count(), shape.tokens));
  }

  Retina image;
  PatchGrid grid;
  float pixel_offset;
  PositionForm position;
  std::vector<std::string> names;
  TransShape shape;
  std::vector<TransHead> heads;
  std::unique_ptr<PositionEncoding> encoding;
  int width = 0, outputs = 0;
  bool layer_norm = false;
  std::size_t gain = 0, shift = 0;
};

/// IAP-trans (v2 section 3.2): the image compressed to l rows, P (A V / L) + P V of every head side by side, each row then
/// normalised if wanted: (x - mean) / sqrt(variance + 1e-5) times gain plus bias.
class TransBlock final : public Block {
 public:
  TransBlock(TransOptions options, const BlockContext& context)
      : Block(context, options.outputs),
        options_(std::move(options)),
        part_(static_cast<std::size_t>(options_.shape.tokens) * options_.shape.values),
        patch_(options_.shape.values) {}

  std::string_view kind() const override { return "trans"; }
  std::string memory() const override { return options_.image.compares_frames() ? Block::memory() : drawn_memory(config()); }
  std::string describe() const override {
    const auto& grid = options_.grid;
    std::string line = text("kernel ", heads().front().attention->kernel(), ", patch ", grid.size(), ", stride ", grid.stride(),
                            ", L ", grid.count(), ", d ", options_.shape.d, ", tokens ", options_.shape.tokens, ", values ");
    for (std::size_t i = 0; i < options_.names.size(); ++i) line += (i ? " + " : "") + options_.names[i];
    line += text(" (", options_.shape.values, "), P ", heads().front().compression.name());
    if (heads().size() > 1) line += text(", heads ", heads().size());
    if (options_.shape.residual) line += ", residual";
    if (options_.layer_norm) line += ", layer norm";
    return line + options_.image.describe() + options_.encoding->describe();
  }
  /// W_V begins as N(0, 1/c).
  void initialise(std::span<float> parameters, Random& random) const override {
    for (const TransHead& head : heads()) {
      head.parameters.initialise(parameters, random);
      head.compression.initialise(parameters, random);
      fill_normal(parameters.subspan(head.value_offset, head.value_size), 1 / std::sqrt(options_.grid.values()), random);
      for (const auto& kind : head.values) kind->initialise(parameters, random);
    }
    options_.encoding->initialise(parameters, random);
    if (options_.layer_norm) std::ranges::fill(parameters.subspan(options_.gain, options_.width), 1.0F);
  }
  void bind(std::span<const float> parameters) override {
    options_.encoding->bind(parameters);
    const auto encoding = options_.encoding->table();
    for (TransHead& head : options_.heads) {
      for (const auto& kind : head.values) kind->bind(parameters, encoding);
      head.attention->bind({head.parameters.weights(parameters, encoding), parameters.subspan(head.value_offset, head.value_size),
                            head.compression.bind(parameters)});
    }
    if (!options_.layer_norm) return;
    gain_ = parameters.subspan(options_.gain, options_.width);
    shift_ = parameters.subspan(options_.shift, options_.width);
  }
  void reset(std::uint64_t episode_seed) override {
    options_.image.reset();
    for (TransHead& head : options_.heads) head.attention->new_episode(episode_seed);
  }

  void forward(const Observation& observation, std::span<const float>, std::span<float> out) override {
    const ImageView& image = options_.image.look(observation);
    std::optional<SharedPlanes::Look> shared;
    if (heads().size() > 1) shared.emplace(planes_);
    const std::size_t values = patch_.size(), width = options_.width;
    for (std::size_t h = 0; h < heads().size(); ++h) {
      const TransHead& head = heads()[h];
      check_interrupt();
      if (!head.values.empty()) write_values(head, image);
      head.attention->apply(image, options_.pixel_offset, part_);
      for (std::size_t token = 0; token * width < out.size(); ++token)
        std::copy_n(part_.begin() + token * values, values, out.begin() + token * width + h * values);
    }
    if (options_.layer_norm)
      for (std::size_t begin = 0; begin < out.size(); begin += width) normalise(out.subspan(begin, width));
    looked_ = true;
    weighed_ = false;
  }

  void collect_grids(std::vector<GridParameters>& grids) const override {
    for (const TransHead& head : heads()) head.compression.collect_grids(options_.grid, grids);
    options_.encoding->collect_grids(options_.grid, grids);
  }

  /// Computed on demand: pictures want it, actions do not.
  void collect_views(std::vector<AttentionView>& views) const override {
    if (!looked_) return;
    const auto& grid = options_.grid;
    const int count = static_cast<int>(heads().size()), pool = options_.image.pool();
    importance_.resize(static_cast<std::size_t>(count) * grid.count());
    selected_.resize(static_cast<std::size_t>(count) * options_.shape.tokens);
    for (int head = 0; head < count; ++head) {
      const auto scores = std::span(importance_).subspan(static_cast<std::size_t>(head) * grid.count(), grid.count());
      const auto selected =
          std::span(selected_).subspan(static_cast<std::size_t>(head) * options_.shape.tokens, options_.shape.tokens);
      if (!weighed_) {
        heads()[head].attention->importance(scores);
        select_top(scores, selected);
      }
      views.push_back({count == 1 ? path() : path() + "." + head_name("head", head, count), options_.image.name(), grid.rows(),
                       grid.columns(), pool * grid.size(), pool * grid.stride(), scores, selected});
    }
    weighed_ = true;
  }

 private:
  const std::vector<TransHead>& heads() const { return options_.heads; }

  void write_values(const TransHead& head, const ImageView& image) {
    for (int patch = 0; patch < options_.grid.count(); ++patch) {
      check_interrupt();
      auto rest = std::span(patch_);
      for (const auto& kind : head.values) {
        kind->write(image, patch, rest.first(kind->size()));
        rest = rest.subspan(kind->size());
      }
      for (std::size_t v = 0; v < patch_.size(); ++v) head.attention->value_row(static_cast<int>(v))[patch] = patch_[v];
    }
  }

  void normalise(std::span<float> row) const {
    constexpr double epsilon = 1e-5;
    const double count = static_cast<double>(row.size());
    double mean = 0, square = 0;
    for (const float value : row) mean += value / count;
    for (const float value : row) square += (value - mean) * (value - mean) / count;
    const double scale = 1 / std::sqrt(square + epsilon);
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = static_cast<float>((row[i] - mean) * scale) * gain_[i] + shift_[i];
  }

  TransOptions options_;
  SharedPlanes planes_;
  std::vector<float> part_, patch_;
  std::span<const float> gain_, shift_;
  bool looked_ = false;
  mutable bool weighed_ = false;
  mutable std::vector<float> importance_;
  mutable std::vector<int> selected_;
};

}  // namespace

/// @lua function iap.attention.trans
/// IAP-trans: the image compressed by attention to a few rows of values, P (A V / L) + P V, every head's side by side.
/// @option tokens integer 1.. = 10 - rows of the output; at most as many as there are patches
/// @option values "position"|"content"|"projection"|"histogram"|"convolution"|string[] = "projection" - what V holds of a patch
/// @option heads integer 1..64 = 1 - each with W_Q, W_K, V, P and random projections of its own
/// @option compression "learned"|"average"|"random" = "learned" - P: parameters (N(0, 1) at first, over sqrt(L)), means of runs of
/// patches, or N(0, 1/L)
/// @option compression_seed integer 0.. = 0 - of a random P, which is another one for other patches: such a policy goes to another
/// size pooled alone
/// @option residual boolean = true - the term P V
/// @option layer_norm boolean = false - each row is normalised, with gain and bias
/// @option normalise_rows boolean = (softmax true, relu, exp and favor++ false) - rows of A sum to 1; trig and hybrid cannot.
/// Without, what goes beyond +-1e30 is clamped
/// @option order "auto"|"values_first"|"queries_first" = "auto" - how the product is bracketed; auto takes what multiplies less
/// @use attention.common
/// @use attention.retina
/// @use attention.values
/// @use attention.kernel
/// @return blueprint - for sequence and concat
/// @example iap.attention.trans { patch = 4, tokens = 5, dv = 8, kernel = "exp", layer_norm = true }
/// @see attention-blocks.md
MadeBlock make_trans_block(Options& options, const BlockContext& context, ParameterLayout& layout) {
  return std::make_unique<TransBlock>(TransOptions(options, context, layout), context);
}

}  // namespace iap
