module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
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

namespace iap {
namespace {

struct Head {
  HeadParameters parameters;
  std::unique_ptr<Scorer> scorer;           // for the top patches
  std::unique_ptr<CrossAttention> sampler;  // for drawn ones
  std::vector<float> scores;
  std::vector<int> selected;
  std::vector<float> centres, centres_before;
};

/// All that the options say, read before the base class needs the number of outputs.
struct RankOptions {
  RankOptions(Options& options, const BlockContext& context, ParameterLayout& layout)
      : image(read_image(options, *context.observation)),
        image_name(context.observation->images[image].name),
        grid(read_grid(options, context.observation->images[image].shape)),
        d(static_cast<int>(options.integer_in("d", 1, 4096, 8))),
        top(read_patch_count(options, "top", grid)),
        pixel_offset(static_cast<float>(options.number_in("pixel_offset", -1, 1, -0.5))),
        position(options, grid),
        masked(options.boolean("masked", false)),
        learned_votes(options.choice("query_weights", {"ones", "learned"}, "ones") == "learned"),
        sample(options.choice("selection", {"top", "sample"}, "top") == "sample") {
    const bool bias = options.boolean("bias", false);
    const auto head_count = static_cast<int>(options.integer_in("heads", 1, 64, 1));
    for (int head = 0; head < head_count; ++head)
      heads.push_back({HeadParameters(grid, d, bias, learned_votes, context.path, head, head_count, layout),
                       sample ? nullptr : make_head_scorer(options, head), sample ? make_head_sampler(options, head) : nullptr,
                       std::vector<float>(grid.count()), std::vector<int>(top),
                       std::vector<float>(2 * static_cast<std::size_t>(top)),
                       std::vector<float>(2 * static_cast<std::size_t>(top))});
    if (sample) check_votes(options, *heads.front().sampler, learned_votes);
    encoding = std::make_unique<PositionEncoding>(options, grid, context.path, layout);
    names = read_value_names(options, "position");
    values = make_values(names, {options, grid, position, pixel_offset, context.path, 0, 1, layout});
    motion = options.boolean("motion", false);
    if (motion && masked)
      options.fail("option 'motion' follows patches by rank, which option 'masked' gives up; take one of them out");
    outputs = checked_outputs(options, head_count * (rows() * total_size(values) + (motion ? 2 * top : 0)));
  }

  std::int64_t rows() const { return masked ? grid.count() : top; }

  std::unique_ptr<Scorer> make_head_scorer(Options& options, int head) const {
    if (head == 0) return make_scorer(options, grid, d);
    const Config own = head_options(options, head);
    Options reader(options.owner(), own);
    return make_scorer(reader, grid, d);
  }

  std::unique_ptr<CrossAttention> make_head_sampler(Options& options, int head) const {
    const auto make = [&](Options& reader) { return std::make_unique<CrossAttention>(reader, Ranking::sample, grid, grid, d); };
    if (head == 0) return make(options);
    const Config own = head_options(options, head);
    Options reader(options.owner(), own);
    return make(reader);
  }

  std::size_t image;
  std::string image_name;
  PatchGrid grid;
  int d, top;
  float pixel_offset;
  PositionForm position;
  bool masked, learned_votes, sample;
  std::vector<Head> heads;
  std::unique_ptr<PositionEncoding> encoding;
  std::vector<std::string> names;
  std::vector<MadeValues> values;
  bool motion = false;
  int outputs = 0;
};

/// IAP-rank (v1 section 3, v2 section 3.2): scores of all patches, the `top` best, and their values. One kind of values after the
/// other, each a matrix of l rows in rank order or, masked, of L rows in patch order that are zero where a patch was not chosen;
/// then the motion of the patch of every rank. Several heads choose on their own, and their outputs follow each other. With
/// selection = "sample" patches are drawn by softmax weights instead: different ones, in the order of the draws, which are a
/// function of the episode's seed, the step, the block's path and the head.
class Rank final : public Block {
 public:
  Rank(RankOptions options, const BlockContext& context) : Block(context, options.outputs), options_(std::move(options)) {}

  std::string_view kind() const override { return "rank"; }
  std::string describe() const override {
    const auto& grid = options_.grid;
    std::string line = text(
        options_.sample ? heads().front().sampler->describe() : text("kernel ", heads().front().scorer->kernel()), ", patch ",
        grid.size(), ", stride ", grid.stride(), ", L ", grid.count(), ", d ", options_.d, ", top ", options_.top, ", values ");
    for (std::size_t i = 0; i < options_.names.size(); ++i) line += (i ? " + " : "") + options_.names[i];
    if (options_.motion) line += " + motion";
    if (heads().size() > 1) line += text(", heads ", heads().size());
    if (options_.masked) line += ", masked";
    if (options_.learned_votes) line += ", P learned";
    return line + options_.encoding->describe();
  }
  void initialise(std::span<float> parameters, Random& random) const override {
    for (const Head& head : heads()) head.parameters.initialise(parameters, random);
    options_.encoding->initialise(parameters, random);
    for (const auto& kind : options_.values) kind->initialise(parameters, random);
  }
  void bind(std::span<const float> parameters) override {
    options_.encoding->bind(parameters);
    const auto encoding = options_.encoding->table();
    for (Head& head : options_.heads) {
      const HeadWeights weights = head.parameters.weights(parameters, encoding);
      options_.sample ? head.sampler->bind(weights, encoding) : head.scorer->bind(weights);
    }
    for (const auto& kind : options_.values) kind->bind(parameters, encoding);
  }
  void reset(std::uint64_t episode_seed) override {
    has_frame_before_ = false;
    episode_seed_ = episode_seed;
    step_ = 0;
    for (Head& head : options_.heads)
      options_.sample ? head.sampler->new_episode(episode_seed) : head.scorer->new_episode(episode_seed);
  }

  void forward(const Observation& observation, std::span<const float>, std::span<float> out) override {
    const ImageView& image = observation.images[options_.image];
    looked_ = true;
    for (Head& head : options_.heads) {
      options_.sample ? draw_patches(head, image) : rank_patches(head, image);
      for (const auto& kind : options_.values) out = write_values(*kind, head, image, out);
      if (options_.motion) out = write_motion(head, out);
    }
    has_frame_before_ = true;
    ++step_;
  }

  void collect_views(std::vector<AttentionView>& views) const override {
    if (!looked_) return;
    const auto& grid = options_.grid;
    const int count = static_cast<int>(heads().size());
    for (int head = 0; head < count; ++head)
      views.push_back({count == 1 ? path() : path() + "." + head_name("head", head, count), options_.image_name, grid.rows(),
                       grid.columns(), grid.size(), grid.stride(), heads()[head].scores, heads()[head].selected});
  }

 private:
  const std::vector<Head>& heads() const { return options_.heads; }

  void rank_patches(Head& head, const ImageView& image) const {
    head.scorer->score(image, options_.pixel_offset, head.scores);
    select_top(head.scores, head.selected);
  }

  void draw_patches(Head& head, const ImageView& image) const {
    Random random({.seed = episode_seed_,
                   .iteration = step_,
                   .member = stream_,
                   .episode = static_cast<std::uint32_t>(&head - heads().data()),
                   .purpose = Purpose::policy});
    head.sampler->set_keys(image, options_.pixel_offset);
    head.sampler->choose(image, options_.pixel_offset, random, head.selected);
    head.sampler->score(head.scores);
  }

  // Returns what is left of `out`.
  std::span<float> write_values(PatchValues& kind, const Head& head, const ImageView& image, std::span<float> out) const {
    const auto size = static_cast<std::size_t>(kind.size()), all = static_cast<std::size_t>(options_.rows()) * size;
    if (options_.masked) std::ranges::fill(out.first(all), 0.0F);
    for (std::size_t rank = 0; rank < head.selected.size(); ++rank) {
      const int patch = head.selected[rank];
      kind.write(image, patch, out.subspan((options_.masked ? patch : rank) * size, size));
    }
    return out.subspan(all);
  }

  std::span<float> write_motion(Head& head, std::span<float> out) const {
    for (std::size_t rank = 0; rank < head.selected.size(); ++rank)
      std::tie(head.centres[2 * rank], head.centres[2 * rank + 1]) = options_.position(options_.grid, head.selected[rank]);
    for (std::size_t i = 0; i < head.centres.size(); ++i)
      out[i] = has_frame_before_ ? head.centres[i] - head.centres_before[i] : 0.0F;
    std::ranges::copy(head.centres, head.centres_before.begin());
    return out.subspan(head.centres.size());
  }

  RankOptions options_;
  bool has_frame_before_ = false, looked_ = false;
  std::uint64_t episode_seed_ = 0;
  std::uint32_t step_ = 0;
  std::uint32_t stream_ = crc32(path());  // of random numbers, so that two blocks of a policy draw independently
};

}  // namespace

MadeBlock make_rank(Options& options, const BlockContext& context, ParameterLayout& layout) {
  return std::make_unique<Rank>(RankOptions(options, context, layout), context);
}

}  // namespace iap
