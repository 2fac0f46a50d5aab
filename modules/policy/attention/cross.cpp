module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
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
#include "core/copy_pixels.hpp"

namespace iap {
namespace {

/// Option `key_image`; by default the image that `image` names.
std::size_t read_key_image(Options& options, const ObservationSpec& observation, std::size_t image) {
  std::vector<std::string> names;
  for (const auto& one : observation.images) names.push_back(one.name);
  const std::string name = options.choice("key_image", names, names[image]);
  return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

/// Options `key_patch` and `key_stride`; the queries' by default, or a stride of a patch where another patch is given.
PatchGrid read_key_grid(Options& options, const ImageShape& shape, const PatchGrid& queries) {
  constexpr int largest = 1 << 12;
  const bool given = options.has("key_patch");
  const auto size = options.integer_in("key_patch", 1, largest, queries.size());
  const auto stride = options.integer_in("key_stride", 1, largest, given ? size : queries.stride());
  return PatchGrid(shape, static_cast<int>(size), static_cast<int>(stride), options.owner());
}

Ranking read_ranking(Options& options) {
  const std::string name = options.choice("ranking", {"exact", "hash", "sample"}, "exact");
  return name == "exact" ? Ranking::exact : name == "hash" ? Ranking::hash : Ranking::sample;
}

bool learns_query_weights(Options& options) { return options.choice("query_weights", {"ones", "learned"}, "ones") == "learned"; }

/// Once there is room for all that a block of `top` chosen patches keeps.
std::unique_ptr<CrossAttention> make_attention(Options& options, const PatchGrid& queries, const PatchGrid& keys, int d, int top) {
  const Ranking ranking = read_ranking(options);
  const bool encoded = read_encoding(options) != "none";
  const double weights = learns_query_weights(options) ? queries.count() : 0;
  const double own =
      static_cast<double>(keys.image().bytes()) + sizeof(float) * (keys.count() + weights) + sizeof(int) * static_cast<double>(top);
  check_memory(text(options.owner(), ": what it keeps of its keys"),
               CrossAttention::bytes(options, ranking, queries, keys, d, encoded) + own);
  return std::make_unique<CrossAttention>(options, ranking, queries, keys, d);
}

bool same(const PatchGrid& a, const PatchGrid& b) {
  return a.image() == b.image() && a.size() == b.size() && a.stride() == b.stride();
}

/// All that the options say, read before the base class needs the number of outputs.
struct CrossOptions {
  CrossOptions(Options& options, const BlockContext& context, ParameterLayout& layout)
      : image(read_image(options, *context.observation)),
        key_image(read_key_image(options, *context.observation, image)),
        image_name(context.observation->images[image].name),
        key_image_name(context.observation->images[key_image].name),
        queries(read_grid(options, context.observation->images[image].shape)),
        keys(read_key_grid(options, context.observation->images[key_image].shape, queries)),
        d(static_cast<int>(options.integer_in("d", 1, 4096, 8))),
        top(read_patch_count(options, "top", keys)),
        every(options.integer_in("every", 1, std::numeric_limits<std::int32_t>::max(), 4)),
        pixel_offset(static_cast<float>(options.number_in("pixel_offset", -1, 1, -0.5))),
        position(options, keys),
        learned_query_weights(learns_query_weights(options)),
        bias(options.boolean("bias", false)),
        attention(make_attention(options, queries, keys, d, top)) {
    check_query_weights(options, *attention, learned_query_weights);
    query = layout.add(context.path + ".query", {queries.values(), d});
    key = layout.add(context.path + ".key", {keys.values(), d});
    if (bias) {
      query_bias = layout.add(context.path + ".query_bias", {d});
      key_bias = layout.add(context.path + ".key_bias", {d});
    }
    if (learned_query_weights) query_weights = layout.add(context.path + ".query_weights", {queries.count()});
    // Patches at the same place of the same image have one encoding (X' of v2 section 3.2).
    const bool shared = image == key_image && same(queries, keys);
    encoding = std::make_unique<PositionEncoding>(options, queries, context.path, layout);
    if (!shared) key_encoding = std::make_unique<PositionEncoding>(options, keys, context.path + ".keys", layout);
    names = read_value_names(options, "position");
    values = make_values(names, {options, keys, position, pixel_offset, context.path, 0, 1, layout});
    outputs = checked_outputs(options, top * total_size(values));
  }

  std::size_t image, key_image;
  std::string image_name, key_image_name;
  PatchGrid queries, keys;
  int d, top;
  std::int64_t every;
  float pixel_offset;
  PositionForm position;
  bool learned_query_weights, bias;
  std::unique_ptr<CrossAttention> attention;
  std::size_t query = 0, key = 0, query_bias = 0, key_bias = 0, query_weights = 0;
  std::unique_ptr<PositionEncoding> encoding, key_encoding;  // the second only where it differs
  std::vector<std::string> names;
  std::vector<MadeValues> values;
  int outputs = 0;
};

/// IAP-rank as cross-attention (v2 sections 3.2 and 4): every `every` steps of an episode, the first included, the patches of the
/// key image become the keys and values; every step, the patches of the image are queries that choose `top` of them. Hands over,
/// one kind of values after the other and in rank order, what the chosen patches were when the keys were taken.
class Cross final : public Block {
 public:
  Cross(CrossOptions options, const BlockContext& context)
      : Block(context, options.outputs),
        options_(std::move(options)),
        stream_(crc32(path())),
        key_frame_(options_.keys.image()),
        selected_(static_cast<std::size_t>(options_.top)),
        scores_(static_cast<std::size_t>(options_.keys.count())) {}

  std::string_view kind() const override { return "cross"; }
  std::string memory() const override { return "counts decisions"; }
  std::string describe() const override {
    const auto grid = [](const std::string& name, const PatchGrid& patches) {
      return text("'", name, "', patch ", patches.size(), ", stride ", patches.stride(), ", L ", patches.count());
    };
    std::string line = text(options_.attention->describe(), ", queries ", grid(options_.image_name, options_.queries), ", keys ",
                            grid(options_.key_image_name, options_.keys), " every ", options_.every, " steps, d ", options_.d,
                            ", top ", options_.top, ", values ");
    for (std::size_t i = 0; i < options_.names.size(); ++i) line += (i ? " + " : "") + options_.names[i];
    if (options_.learned_query_weights) line += ", P learned";
    return line + options_.encoding->describe();
  }
  /// As the rank block's: N(0, 1/c), biases at 0, P at 1.
  void initialise(std::span<float> parameters, Random& random) const override {
    fill_normal(query(parameters), 1 / std::sqrt(options_.queries.values()), random);
    fill_normal(key(parameters), 1 / std::sqrt(options_.keys.values()), random);
    std::ranges::fill(query_weights(parameters), 1.0F);
    options_.encoding->initialise(parameters, random);
    if (options_.key_encoding) options_.key_encoding->initialise(parameters, random);
    for (const auto& kind : options_.values) kind->initialise(parameters, random);
  }
  void bind(std::span<const float> parameters) override {
    const std::size_t bias = options_.bias ? static_cast<std::size_t>(options_.d) : 0;
    options_.encoding->bind(parameters);
    if (options_.key_encoding) options_.key_encoding->bind(parameters);
    const auto encoding = options_.encoding->table();
    const auto key_encoding = options_.key_encoding ? options_.key_encoding->table() : encoding;
    options_.attention->bind({.query = query(parameters),
                              .key = key(parameters),
                              .query_bias = parameters.subspan(options_.query_bias, bias),
                              .key_bias = parameters.subspan(options_.key_bias, bias),
                              .query_weights = query_weights(parameters),
                              .encoding = encoding},
                             key_encoding);
    for (const auto& kind : options_.values) kind->bind(parameters, key_encoding);
    keys_are_stale_ = true;
  }
  void reset(std::uint64_t episode_seed) override {
    options_.attention->new_episode(episode_seed);
    episode_seed_ = episode_seed;
    step_ = 0;
  }

  void forward(const Observation& observation, std::span<const float>, std::span<float> out) override {
    if (step_ % options_.every == 0) {
      copy_pixels(observation.images[options_.key_image], key_frame_);
      keys_are_stale_ = true;
    }
    // New parameters in the middle of an episode change the keys, but not the frame that they come from.
    if (keys_are_stale_) options_.attention->set_keys(key_frame_.view(), options_.pixel_offset);
    keys_are_stale_ = false;
    Random random(
        {.seed = episode_seed_, .iteration = static_cast<std::uint32_t>(step_), .member = stream_, .purpose = Purpose::policy});
    options_.attention->choose(observation.images[options_.image], options_.pixel_offset, random, selected_);
    ++step_;
    write_values(out);
  }

  void collect_grids(std::vector<GridParameters>& grids) const override {
    if (options_.learned_query_weights) grids.push_back(grid_parameters(options_.queries, options_.query_weights));
    options_.encoding->collect_grids(options_.queries, grids);
    if (options_.key_encoding) options_.key_encoding->collect_grids(options_.keys, grids);
  }

  void collect_views(std::vector<AttentionView>& views) const override {
    if (step_ == 0) return;
    const auto& grid = options_.keys;
    options_.attention->score(scores_);
    const bool is_present = (step_ - 1) % options_.every == 0;
    views.push_back({path(), options_.key_image_name, grid.rows(), grid.columns(), grid.size(), grid.stride(), scores_, selected_,
                     is_present ? ImageView{} : key_frame_.view()});
  }

 private:
  template <typename T>
  std::span<T> query(std::span<T> parameters) const {
    return parameters.subspan(options_.query, static_cast<std::size_t>(options_.queries.values()) * options_.d);
  }
  template <typename T>
  std::span<T> key(std::span<T> parameters) const {
    return parameters.subspan(options_.key, static_cast<std::size_t>(options_.keys.values()) * options_.d);
  }
  template <typename T>
  std::span<T> query_weights(std::span<T> parameters) const {
    return parameters.subspan(options_.query_weights,
                              options_.learned_query_weights ? static_cast<std::size_t>(options_.queries.count()) : 0);
  }

  void write_values(std::span<float> out) const {
    for (const auto& kind : options_.values)
      for (const int patch : selected_) {
        check_interrupt();
        const auto size = static_cast<std::size_t>(kind->size());
        kind->write(key_frame_.view(), patch, out.first(size));
        out = out.subspan(size);
      }
  }

  CrossOptions options_;
  std::uint32_t stream_;  // of random numbers, so that two blocks of a policy draw independently
  Image key_frame_;
  std::vector<int> selected_;
  mutable std::vector<float> scores_;  // found when a view is asked for: a step of sampling never visits all keys
  std::uint64_t episode_seed_ = 0;
  std::int64_t step_ = 0;
  bool keys_are_stale_ = true;
};

}  // namespace

/// @lua function iap.attention.cross
/// IAP-rank as cross-attention: patches of one frame are keys that stay for some steps, those of every frame are queries that
/// choose `top` of them. Hands over what the chosen patches were when the keys were taken. What is kept are features: kernel
/// softmax, `brute_force` and `epsilon` above 0 are refused.
/// @option key_image string = image - name of the image that keys and values come from
/// @option key_patch integer 1..4096 = patch - side of its patches, pixels
/// @option key_stride integer 1..4096 = (stride; with key_patch, key_patch) - pixels from one to the next
/// @option every integer 1.. = 4 - steps between updates of the keys, the first step included
/// @option top integer 1.. = 10 - patches that are chosen
/// @option ranking "exact"|"hash"|"sample" = "exact" - by products, by the Hamming distance of codes, or by draws (kernels exp
/// and favor++)
/// @option bits integer 1..65536 = 256 - of a code
/// @option hash_seed integer 0.. = 0 - of the codes' random planes
/// @option query_weights "ones"|"learned" = "ones" - P: every query counts the same, or parameters
/// @option pooling "mean"|"sum"|"features" = "mean" - of draws: what the queries are pooled to
/// @option replacement boolean = false - whether draws may repeat
/// @use attention.common
/// @use attention.values
/// @use attention.kernel
/// @return blueprint - for sequence and concat
/// @example iap.attention.cross {
///   patch = 8, key_patch = 4, every = 4, kernel = "trig", ranking = "hash", top = 5,
/// }
/// @see attention-database.md
MadeBlock make_cross(Options& options, const BlockContext& context, ParameterLayout& layout) {
  return std::make_unique<Cross>(CrossOptions(options, context, layout), context);
}

}  // namespace iap
