module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>
module iap.policy;
import iap.core;
import iap.attention;
import :internal;

namespace iap {
namespace {

/// Which image of the observation option `image` names; the first by default.
std::size_t read_image(Options& options, const ObservationSpec& observation) {
  if (observation.images.empty()) options.fail("the environment draws no images; make it with pixels = {height, width}");
  std::vector<std::string> names;
  for (const auto& image : observation.images) names.push_back(image.name);
  const std::string name = options.choice("image", names, names.front());
  return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

PatchGrid read_grid(Options& options, const ImageShape& shape) {
  constexpr int largest = 1 << 12;
  const auto size = options.integer_in("patch", 1, largest);
  const auto stride = options.integer_in("stride", 1, largest, size);
  return PatchGrid(shape, static_cast<int>(size), static_cast<int>(stride), options.owner());
}

/// What the block hands over of each chosen patch.
struct Values {
  bool position = false, content = false, motion = false;

  int per_patch(const PatchGrid& grid) const { return (position ? 2 : 0) + (content ? grid.values() : 0) + (motion ? 2 : 0); }
  std::string describe() const {
    return std::string(position ? "position" : "") + (position && content ? " + " : "") + (content ? "content" : "") +
           (motion ? " + motion" : "");
  }
};

Values read_values(Options& options) {
  Values values;
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
  values.motion = options.boolean("motion", false);
  return values;
}

int read_top(Options& options, const PatchGrid& grid) {
  const auto top = options.integer_in("top", 1, std::int64_t{1} << 30, 10);
  if (top > grid.count())
    options.fail(text("option 'top' is ", top, ", but a ", grid.image().height, " x ", grid.image().width, " image has only ",
                      grid.count(), " patches of size ", grid.size(), " and stride ", grid.stride()));
  return static_cast<int>(top);
}

/// All that the options say, read before the base class needs the number of outputs.
struct RankOptions {
  RankOptions(Options& options, const BlockContext& context)
      : image(read_image(options, *context.observation)),
        grid(read_grid(options, context.observation->images[image].shape)),
        d(static_cast<int>(options.integer_in("d", 1, 4096, 8))),
        top(read_top(options, grid)),
        values(read_values(options)),
        outputs(checked_outputs(options, std::int64_t{top} * values.per_patch(grid))),
        pixel_offset(static_cast<float>(options.number_in("pixel_offset", -1, 1, -0.5))),
        unit_positions(options.choice("position_range", {"signed", "unit"}, "signed") == "unit"),
        shift_to_pixel(options.choice("centre", {"exact", "pixel"}, "exact") == "pixel" && grid.size() % 2 == 1 ? 0.5F : 0.0F),
        bias(options.boolean("bias", false)),
        image_name(context.observation->images[image].name),
        sample(options.choice("selection", {"top", "sample"}, "top") == "sample"),
        scorer(sample ? nullptr : make_scorer(options, grid, d)),
        sampler(sample ? std::make_unique<CrossAttention>(options, Ranking::sample, grid, grid, d) : nullptr) {}

  std::size_t image;
  PatchGrid grid;
  int d, top;
  Values values;
  int outputs;
  float pixel_offset;
  bool unit_positions;
  float shift_to_pixel;  // from a patch's centre to the upper left corner of its middle pixel, whose index AttentionAgent uses
  bool bias;
  std::string image_name;
  bool sample;
  std::unique_ptr<Scorer> scorer;           // for the top patches
  std::unique_ptr<CrossAttention> sampler;  // for drawn ones
};

/// IAP-rank without masking (v1 section 3): scores of all patches, the `top` best, and their values in rank order: first every
/// patch's (row, column), then every patch's pixels, then every patch's motion. With selection = "sample" patches are drawn by
/// softmax weights instead (v2 section 3.2): `top` different ones, in the order of the draws, which are a function of the episode's
/// seed, the step and the block's path.
class Rank final : public Block {
 public:
  Rank(RankOptions options, const BlockContext& context, ParameterLayout& layout)
      : Block(context, options.outputs),
        options_(std::move(options)),
        projection_size_(static_cast<std::size_t>(options_.grid.values()) * options_.d),
        bias_size_(options_.bias ? static_cast<std::size_t>(options_.d) : 0),
        scores_(options_.grid.count()),
        selected_(options_.top),
        centres_(2 * static_cast<std::size_t>(options_.top)),
        centres_before_(centres_.size()) {
    const std::vector<int> shape{options_.grid.values(), options_.d};
    query_ = layout.add(path() + ".query", shape);
    key_ = layout.add(path() + ".key", shape);
    if (!options_.bias) return;
    query_bias_ = layout.add(path() + ".query_bias", {options_.d});
    key_bias_ = layout.add(path() + ".key_bias", {options_.d});
  }

  std::string_view kind() const override { return "rank"; }
  std::string describe() const override {
    const auto& grid = options_.grid;
    return text(options_.sample ? options_.sampler->describe() : text("kernel ", options_.scorer->kernel()), ", patch ",
                grid.size(), ", stride ", grid.stride(), ", L ", grid.count(), ", d ", options_.d, ", top ", options_.top,
                ", values ", options_.values.describe());
  }
  /// W_Q and W_K begin as N(0, 1/c), so that queries and keys have the variance of the pixels; biases at 0.
  void initialise(std::span<float> parameters, Random& random) const override {
    const double deviation = 1 / std::sqrt(options_.grid.values());
    fill_normal(parameters.subspan(query_, projection_size_), deviation, random);
    fill_normal(parameters.subspan(key_, projection_size_), deviation, random);
  }
  void bind(std::span<const float> parameters) override {
    const HeadWeights weights{parameters.subspan(query_, projection_size_), parameters.subspan(key_, projection_size_),
                              parameters.subspan(query_bias_, bias_size_), parameters.subspan(key_bias_, bias_size_)};
    options_.sample ? options_.sampler->bind(weights) : options_.scorer->bind(weights);
  }
  void reset(std::uint64_t episode_seed) override {
    has_frame_before_ = false;
    episode_seed_ = episode_seed;
    step_ = 0;
    options_.sample ? options_.sampler->new_episode(episode_seed) : options_.scorer->new_episode(episode_seed);
  }

  void forward(const Observation& observation, std::span<const float>, std::span<float> out) override {
    const ImageView& image = observation.images[options_.image];
    if (options_.sample) {
      draw_patches(image);
    } else {
      options_.scorer->score(image, options_.pixel_offset, scores_);
      select_top(scores_, selected_);
    }
    looked_ = true;
    locate_centres();
    if (options_.values.position) {
      std::ranges::copy(centres_, out.begin());
      out = out.subspan(centres_.size());
    }
    if (options_.values.content) out = write_content(image, out);
    if (options_.values.motion) write_motion(out);
  }

  void collect_views(std::vector<AttentionView>& views) const override {
    if (!looked_) return;
    const auto& grid = options_.grid;
    views.push_back({path(), options_.image_name, grid.rows(), grid.columns(), grid.size(), grid.stride(), scores_, selected_});
  }

 private:
  void draw_patches(const ImageView& image) {
    Random random({.seed = episode_seed_, .iteration = step_++, .member = crc32(path()), .purpose = Purpose::policy});
    options_.sampler->set_keys(image, options_.pixel_offset);
    options_.sampler->choose(image, options_.pixel_offset, random, selected_);
    options_.sampler->score(scores_);
  }
  void locate_centres() {
    for (std::size_t rank = 0; rank < selected_.size(); ++rank) {
      const auto& image = options_.grid.image();
      auto [row, column] = options_.grid.centre(selected_[rank]);
      row -= options_.shift_to_pixel / static_cast<float>(image.height);
      column -= options_.shift_to_pixel / static_cast<float>(image.width);
      centres_[2 * rank] = options_.unit_positions ? row : 2 * row - 1;
      centres_[2 * rank + 1] = options_.unit_positions ? column : 2 * column - 1;
    }
  }
  std::span<float> write_content(const ImageView& image, std::span<float> out) const {
    const auto size = static_cast<std::size_t>(options_.grid.values());
    for (const int patch : selected_) {
      options_.grid.copy(image, patch, options_.pixel_offset, out.first(size));
      out = out.subspan(size);
    }
    return out;
  }
  void write_motion(std::span<float> out) {
    for (std::size_t i = 0; i < centres_.size(); ++i) out[i] = has_frame_before_ ? centres_[i] - centres_before_[i] : 0.0f;
    std::ranges::copy(centres_, centres_before_.begin());
    has_frame_before_ = true;
  }

  RankOptions options_;
  std::size_t projection_size_, bias_size_;
  std::size_t query_ = 0, key_ = 0, query_bias_ = 0, key_bias_ = 0;
  std::vector<float> scores_;
  std::vector<int> selected_;
  std::vector<float> centres_, centres_before_;
  bool has_frame_before_ = false, looked_ = false;
  std::uint64_t episode_seed_ = 0;
  std::uint32_t step_ = 0;
};

}  // namespace

MadeBlock make_rank(Options& options, const BlockContext& context, ParameterLayout& layout) {
  return std::make_unique<Rank>(RankOptions(options, context), context, layout);
}

}  // namespace iap
