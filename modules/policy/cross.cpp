module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
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
import :internal;

namespace iap {
namespace {

std::size_t read_image_name(Options& options, std::string_view key, const ObservationSpec& observation, std::size_t fallback) {
  if (observation.images.empty()) options.fail("the environment draws no images; make it with pixels = {height, width}");
  std::vector<std::string> names;
  for (const auto& image : observation.images) names.push_back(image.name);
  const std::string name = options.choice(key, names, names[fallback]);
  return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

/// `patch` and `stride` are the options' names; a grid without defaults must be given its patch.
PatchGrid read_patches(Options& options, const char* patch, const char* stride, const ImageShape& shape,
                       std::optional<std::int64_t> default_patch, std::int64_t default_stride) {
  constexpr int largest = 1 << 12;
  const bool given = options.has(patch);
  const auto size = options.integer_in(patch, 1, largest, default_patch);
  const auto step = options.integer_in(stride, 1, largest, given ? size : default_stride);
  return PatchGrid(shape, static_cast<int>(size), static_cast<int>(step), options.owner());
}

struct CrossValues {
  bool position = false, content = false;
};

CrossValues read_cross_values(Options& options) {
  CrossValues values;
  const Config& option = options.value("values");
  const Config::List single{option.is_null() ? Config("position") : option};
  const Config::List& names = option.list() ? *option.list() : single;
  for (const auto& item : names) {
    if (item.string() && *item.string() == "position")
      values.position = true;
    else if (item.string() && *item.string() == "content")
      values.content = true;
    else
      options.fail(text("option 'values' takes \"position\", \"content\" or a list of both, got ", item.describe()));
  }
  if (names.empty()) options.fail("option 'values' must name \"position\", \"content\" or both");
  return values;
}

Ranking read_ranking(Options& options) {
  const std::string name = options.choice("ranking", {"exact", "hash", "sample"}, "exact");
  return name == "exact" ? Ranking::exact : name == "hash" ? Ranking::hash : Ranking::sample;
}

int read_cross_top(Options& options, const PatchGrid& keys) {
  const auto top = options.integer_in("top", 1, std::int64_t{1} << 30, 10);
  if (top > keys.count())
    options.fail(text("option 'top' is ", top, ", but the keys' ", keys.image().height, " x ", keys.image().width,
                      " image has only ", keys.count(), " patches of size ", keys.size(), " and stride ", keys.stride()));
  return static_cast<int>(top);
}

/// All that the options say, read before the base class needs the number of outputs.
struct CrossOptions {
  CrossOptions(Options& options, const BlockContext& context)
      : image(read_image_name(options, "image", *context.observation, 0)),
        key_image(read_image_name(options, "key_image", *context.observation, image)),
        queries(read_patches(options, "patch", "stride", context.observation->images[image].shape, {}, 1)),
        keys(read_patches(options, "key_patch", "key_stride", context.observation->images[key_image].shape, queries.size(),
                          queries.stride())),
        image_name(context.observation->images[image].name),
        key_image_name(context.observation->images[key_image].name),
        d(static_cast<int>(options.integer_in("d", 1, 4096, 8))),
        top(read_cross_top(options, keys)),
        every(options.integer_in("every", 1, std::numeric_limits<std::int32_t>::max(), 4)),
        values(read_cross_values(options)),
        outputs(checked_outputs(options, std::int64_t{top} * ((values.position ? 2 : 0) + (values.content ? keys.values() : 0)))),
        pixel_offset(static_cast<float>(options.number_in("pixel_offset", -1, 1, -0.5))),
        unit_positions(options.choice("position_range", {"signed", "unit"}, "signed") == "unit"),
        bias(options.boolean("bias", false)),
        attention(std::make_unique<CrossAttention>(options, read_ranking(options), queries, keys, d)) {}

  std::size_t image, key_image;
  PatchGrid queries, keys;
  std::string image_name, key_image_name;
  int d, top;
  std::int64_t every;
  CrossValues values;
  int outputs;
  float pixel_offset;
  bool unit_positions, bias;
  std::unique_ptr<CrossAttention> attention;
};

/// IAP-rank as cross-attention (v2 sections 3.2 and 4): every `every` steps of an episode, the first included, the patches of the
/// key image become the keys and values; every step, the patches of the image are queries that choose `top` of them. Hands over, in
/// rank order, the chosen patches' (row, column), then their pixels, both as they were when the keys were taken.
class Cross final : public Block {
 public:
  Cross(CrossOptions options, const BlockContext& context, ParameterLayout& layout)
      : Block(context, options.outputs),
        options_(std::move(options)),
        stream_(crc32(path())),
        key_frame_(options_.keys.image()),
        selected_(static_cast<std::size_t>(options_.top)),
        scores_(static_cast<std::size_t>(options_.keys.count())) {
    query_ = layout.add(path() + ".query", {options_.queries.values(), options_.d});
    key_ = layout.add(path() + ".key", {options_.keys.values(), options_.d});
    if (!options_.bias) return;
    query_bias_ = layout.add(path() + ".query_bias", {options_.d});
    key_bias_ = layout.add(path() + ".key_bias", {options_.d});
  }

  std::string_view kind() const override { return "cross"; }
  std::string describe() const override {
    const auto grid = [](const std::string& name, const PatchGrid& patches) {
      return text("'", name, "', patch ", patches.size(), ", stride ", patches.stride(), ", L ", patches.count());
    };
    return text(options_.attention->describe(), ", queries ", grid(options_.image_name, options_.queries), ", keys ",
                grid(options_.key_image_name, options_.keys), " every ", options_.every, " steps, d ", options_.d, ", top ",
                options_.top, ", values ", options_.values.position ? "position" : "",
                options_.values.position && options_.values.content ? " + " : "", options_.values.content ? "content" : "");
  }
  /// As the rank block's: N(0, 1/c), biases at 0.
  void initialise(std::span<float> parameters, Random& random) const override {
    fill_normal(query(parameters), 1 / std::sqrt(options_.queries.values()), random);
    fill_normal(key(parameters), 1 / std::sqrt(options_.keys.values()), random);
  }
  void bind(std::span<const float> parameters) override {
    const std::size_t bias = options_.bias ? static_cast<std::size_t>(options_.d) : 0;
    options_.attention->bind(
        {query(parameters), key(parameters), parameters.subspan(query_bias_, bias), parameters.subspan(key_bias_, bias)});
    keys_are_stale_ = true;
  }
  void reset(std::uint64_t episode_seed) override {
    options_.attention->new_episode(episode_seed);
    episode_seed_ = episode_seed;
    step_ = 0;
  }

  void forward(const Observation& observation, std::span<const float>, std::span<float> out) override {
    if (step_ % options_.every == 0) {
      keep_frame(observation.images[options_.key_image]);
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

  void collect_views(std::vector<AttentionView>& views) const override {
    if (step_ == 0) return;
    const auto& grid = options_.keys;
    options_.attention->score(scores_);
    views.push_back({path(), options_.key_image_name, grid.rows(), grid.columns(), grid.size(), grid.stride(), scores_, selected_});
  }

 private:
  template <typename T>
  std::span<T> query(std::span<T> parameters) const {
    return parameters.subspan(query_, static_cast<std::size_t>(options_.queries.values()) * options_.d);
  }
  template <typename T>
  std::span<T> key(std::span<T> parameters) const {
    return parameters.subspan(key_, static_cast<std::size_t>(options_.keys.values()) * options_.d);
  }

  void keep_frame(const ImageView& image) {
    if (image.shape.type == PixelType::uint8)
      std::copy_n(image.bytes(), image.shape.count(), key_frame_.bytes().begin());
    else
      std::copy_n(image.floats(), image.shape.count(), key_frame_.floats().begin());
  }

  void write_values(std::span<float> out) const {
    if (options_.values.position)
      for (const int patch : selected_) {
        const auto [row, column] = options_.keys.centre(patch);
        out[0] = options_.unit_positions ? row : 2 * row - 1;
        out[1] = options_.unit_positions ? column : 2 * column - 1;
        out = out.subspan(2);
      }
    if (!options_.values.content) return;
    const auto size = static_cast<std::size_t>(options_.keys.values());
    for (const int patch : selected_) {
      options_.keys.copy(key_frame_.view(), patch, options_.pixel_offset, out.first(size));
      out = out.subspan(size);
    }
  }

  CrossOptions options_;
  std::uint32_t stream_;  // of random numbers, so that two blocks of a policy draw independently
  std::size_t query_ = 0, key_ = 0, query_bias_ = 0, key_bias_ = 0;
  Image key_frame_;
  std::vector<int> selected_;
  mutable std::vector<float> scores_;  // found when a view is asked for: a step of sampling never visits all keys
  std::uint64_t episode_seed_ = 0;
  std::int64_t step_ = 0;
  bool keys_are_stale_ = true;
};

}  // namespace

MadeBlock make_cross(Options& options, const BlockContext& context, ParameterLayout& layout) {
  return std::make_unique<Cross>(CrossOptions(options, context), context, layout);
}

}  // namespace iap
