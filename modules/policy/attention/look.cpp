module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.policy;
import iap.core;
import iap.attention;
import :attention_parts;
import :internal;
import :retina;

namespace iap {
namespace {

constexpr int place_size = 4;  // row, column and their squares

/// All that the options say, read before the base class needs the number of outputs.
struct LookOptions {
  LookOptions(Options& options, const BlockContext& context, ParameterLayout& layout)
      : image(options, *context.observation),
        grid(read_grid(options, image.shape())),
        d(static_cast<int>(options.integer_in("d", 1, 4096, 8))),
        queries(static_cast<int>(options.integer_in("queries", 1, 64, 1))),
        pixel_offset(image.pixel_offset(options)),
        temperature(options.number_in("temperature", 1e-6, 1e6, 1)),
        position(options, grid) {
    require_inputs(options, context);
    const bool bias = options.boolean("bias", false);
    query = Affine(layout, context.path, "query", bias ? "query_bias" : "", queries * d, context.inputs);
    key = Affine(layout, context.path, "key", bias ? "key_bias" : "", d, grid.values() + place_size);
    encoding = std::make_unique<PositionEncoding>(options, grid, context.path, layout);
    names = read_value_names(options, "position");
    values = make_values(names, {options, grid, position, pixel_offset, context.path, 0, 1, layout});
    size = checked_outputs(options, total_size(values));
    outputs = checked_outputs(options, static_cast<std::int64_t>(queries) * size);
    check_memory(context.path + ": its values and weights",
                 sizeof(float) * (static_cast<double>(grid.count()) * (size + queries) + grid.values() + place_size));
  }

  Retina image;
  PatchGrid grid;
  int d, queries;
  float pixel_offset;
  double temperature;
  PositionForm position;
  Affine query, key;
  std::unique_ptr<PositionEncoding> encoding;
  std::vector<std::string> names;
  std::vector<MadeValues> values;
  int size = 0, outputs = 0;
};

/// Attention of a few queries that are made of the block's input: softmax(Q K' / (sqrt(d) temperature)) V, one row of V's columns
/// for each query. Q = x W_Q; K = (X', y, x, y^2, x^2) W_K, so that a query can ask for what lies near a place, as -|p - q|^2 is
/// linear in (y, x, y^2, x^2). O(L) in the number of patches, as there are few queries, with the exact kernel.
class Look final : public Block {
 public:
  Look(LookOptions options, const BlockContext& context)
      : Block(context, options.outputs),
        options_(std::move(options)),
        queries_(static_cast<std::size_t>(options_.queries) * options_.d),
        patch_(static_cast<std::size_t>(options_.grid.values()) + place_size),
        key_(options_.d),
        value_(options_.size),
        values_(static_cast<std::size_t>(options_.grid.count()) * options_.size),
        weights_(static_cast<std::size_t>(options_.queries) * options_.grid.count()),
        heaviest_(options_.queries) {}

  std::string_view kind() const override { return "look"; }
  std::string memory() const override { return options_.image.compares_frames() ? Block::memory() : ""; }
  std::string describe() const override {
    const auto& grid = options_.grid;
    std::string line = text("queries ", options_.queries, ", patch ", grid.size(), ", stride ", grid.stride(), ", L ", grid.count(),
                            ", d ", options_.d, ", values ");
    for (std::size_t i = 0; i < options_.names.size(); ++i) line += (i ? " + " : "") + options_.names[i];
    return line + options_.image.describe() + options_.encoding->describe();
  }
  /// W_Q and W_K begin as N(0, 1 / columns), biases at 0.
  void initialise(std::span<float> parameters, Random& random) const override {
    for (const Affine* map : {&options_.query, &options_.key})
      fill_normal(map->weight(parameters), 1 / std::sqrt(map->columns()), random);
    options_.encoding->initialise(parameters, random);
    for (const auto& kind : options_.values) kind->initialise(parameters, random);
  }
  void bind(std::span<const float> parameters) override {
    options_.query.bind(parameters);
    options_.key.bind(parameters);
    options_.encoding->bind(parameters);
    for (const auto& kind : options_.values) kind->bind(parameters, options_.encoding->table());
  }
  void reset(std::uint64_t) override { options_.image.reset(); }

  void forward(const Observation& observation, std::span<const float> in, std::span<float> out) override {
    const ImageView& image = options_.image.look(observation);
    options_.query.apply(in, queries_);
    const std::size_t count = options_.grid.count();
    for (std::size_t i = 0; i < count; ++i) {
      check_interrupt();
      read_key(image, static_cast<int>(i));
      for (std::size_t query = 0; query < heaviest_.size(); ++query)
        weights_[query * count + i] = dot(key_, queries_.data() + query * key_.size());
      write_values(image, static_cast<int>(i));
    }
    for (std::size_t query = 0; query < heaviest_.size(); ++query) {
      const auto weights = std::span(weights_).subspan(query * count, count);
      heaviest_[query] = static_cast<int>(std::ranges::max_element(weights) - weights.begin());
      softmax(weights);
      average(weights, out.subspan(query * value_.size(), value_.size()));
    }
    looked_ = true;
  }

  void collect_grids(std::vector<GridParameters>& grids) const override { options_.encoding->collect_grids(options_.grid, grids); }

  void collect_views(std::vector<AttentionView>& views) const override {
    if (!looked_) return;
    const auto& grid = options_.grid;
    const int pool = options_.image.pool();
    const std::size_t count = grid.count();
    for (int query = 0; query < options_.queries; ++query)
      views.push_back({path() + (options_.queries == 1 ? "" : "." + head_name("query", query, options_.queries)),
                       options_.image.name(), grid.rows(), grid.columns(), pool * grid.size(), pool * grid.stride(),
                       std::span(weights_).subspan(query * count, count), std::span(heaviest_).subspan(query, 1)});
  }

 private:
  void read_key(const ImageView& image, int patch) {
    const auto pixels = std::span(patch_).first(options_.grid.values());
    options_.grid.copy(image, patch, options_.pixel_offset, pixels);
    if (const auto encoding = options_.encoding->table(); !encoding.empty())
      for (std::size_t v = 0; v < pixels.size(); ++v) pixels[v] += encoding[patch * pixels.size() + v];
    const auto [row, column] = options_.position(options_.grid, patch);
    patch_[pixels.size()] = row;
    patch_[pixels.size() + 1] = column;
    patch_[pixels.size() + 2] = row * row;
    patch_[pixels.size() + 3] = column * column;
    options_.key.apply(patch_, key_);
  }

  void write_values(const ImageView& image, int patch) {
    auto rest = std::span(values_).subspan(patch * value_.size(), value_.size());
    for (const auto& kind : options_.values) {
      kind->write(image, patch, rest.first(kind->size()));
      rest = rest.subspan(kind->size());
    }
  }

  void softmax(std::span<float> logits) const {
    const double scale = 1 / (std::sqrt(static_cast<double>(options_.d)) * options_.temperature);
    const double highest = std::ranges::max(logits);
    double total = 0;
    for (float& logit : logits) {
      logit = static_cast<float>(std::exp(scale * (logit - highest)));
      total += logit;
    }
    for (float& weight : logits) weight = static_cast<float>(weight / total);
  }

  void average(std::span<const float> weights, std::span<float> out) {
    std::ranges::fill(value_, 0.0);
    Looks looks;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (looks.due(value_.size())) check_interrupt();
      for (std::size_t v = 0; v < value_.size(); ++v) value_[v] += static_cast<double>(weights[i]) * values_[i * value_.size() + v];
    }
    for (std::size_t v = 0; v < value_.size(); ++v) out[v] = static_cast<float>(value_[v]);
  }

  LookOptions options_;
  std::vector<float> queries_, patch_, key_;
  std::vector<double> value_;  // one row of the result
  std::vector<float> values_, weights_;
  std::vector<int> heaviest_;
  bool looked_ = false;
};

}  // namespace

/// @lua function iap.attention.look
/// A few queries, made of the numbers that the block reads, each of which hands over the mean of what patches show, weighted by
/// softmax(q . k / sqrt(d)). Keys are made of a patch's pixels, its row and column and their squares, so that a query can ask for
/// what lies near a place: where a foot is about to land, say. O(L) in the number of patches.
/// @option queries integer 1..64 = 1 - each with a W_Q of its own, all with one W_K and the same values
/// @option temperature number 1e-6..1e6 = 1 - of the softmax; below 1 it is sharper
/// @use attention.common
/// @use attention.retina
/// @use attention.values
/// @return blueprint - for sequence and concat, behind a block that hands over numbers
/// @example iap.policy.sequence {
///   iap.policy.observation {}, iap.attention.look { patch = 4, queries = 2 },
/// }
/// @see attention-blocks.md#options-of-look
MadeBlock make_look(Options& options, const BlockContext& context, ParameterLayout& layout) {
  return std::make_unique<Look>(LookOptions(options, context, layout), context);
}

}  // namespace iap
