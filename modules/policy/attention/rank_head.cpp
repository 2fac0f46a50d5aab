module;
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>
/// How a head of the rank block chooses its patches.
module iap.policy:rank_head;
import iap.core;
import iap.attention;
import :attention_parts;
import :block;

namespace iap {

/// One head of IAP-rank: its parameters, and the `top` patches that it chose of the last frame. Option `selection`: "top", those
/// with the largest scores, or "sample", different ones drawn by softmax weights (v2 section 3.2), in the order of the draws, which
/// are a function of the episode's seed, the step and the head's path.
class RankHead {
 public:
  /// Bytes that the heads of these options take each.
  static double bytes(Options& options, const PatchGrid& grid, int d, int top) {
    const bool encoded = read_encoding(options) != "none";
    const double numbers = learns_query_weights(options) ? 2 : 1;  // of a patch: its score, and its weight, which is copied
    const double own = sizeof(float) * numbers * grid.count() + sizeof(int) * static_cast<double>(top);
    return own + (samples(options) ? CrossAttention::bytes(options, Ranking::sample, grid, grid, d, encoded)
                                   : scorer_bytes(options, grid, d, encoded));
  }
  /// `path` is the block's; the number of heads says whether names need numbers.
  RankHead(Options& options, const PatchGrid& grid, int d, int top, const std::string& path, int head, int heads,
           ParameterLayout& layout)
      : path_(heads == 1 ? path : path + "." + head_name("head", head, heads)),
        learned_query_weights_(learns_query_weights(options)),
        parameters_(grid, d, options.boolean("bias", false), learned_query_weights_, path, head, heads, layout),
        scores_(static_cast<std::size_t>(grid.count())),
        selected_(static_cast<std::size_t>(top)) {
    if (head > 0) {
      const Config own = head_options(options, head);
      Options reader(options.owner(), own);
      make(reader, grid, d);
    } else {
      make(options, grid, d);
    }
  }

  /// Where its views say it is.
  const std::string& path() const { return path_; }
  std::string describe() const {
    return (sampler_ ? sampler_->describe() : text("kernel ", scorer_->kernel())) + (learned_query_weights_ ? ", P learned" : "");
  }
  std::span<const float> scores() const { return scores_; }
  std::span<const int> selected() const { return selected_; }

  void initialise(std::span<float> parameters, Random& random) const { parameters_.initialise(parameters, random); }
  void bind(std::span<const float> parameters, std::span<const float> encoding) {
    const HeadWeights weights = parameters_.weights(parameters, encoding);
    sampler_ ? sampler_->bind(weights, encoding) : scorer_->bind(weights);
  }
  void collect_grids(const PatchGrid& grid, std::vector<GridParameters>& grids) const { parameters_.collect_grids(grid, grids); }
  void new_episode(std::uint64_t seed) {
    episode_seed_ = seed;
    step_ = 0;
    sampler_ ? sampler_->new_episode(seed) : scorer_->new_episode(seed);
  }
  void choose(const ImageView& image, float pixel_offset) {
    if (!sampler_) {
      scorer_->score(image, pixel_offset, scores_);
      select_top(scores_, selected_, title_);
      return;
    }
    Random random({.seed = episode_seed_, .iteration = step_++, .member = crc32(path_), .purpose = Purpose::policy});
    sampler_->set_keys(image, pixel_offset);
    sampler_->choose(image, pixel_offset, random, selected_);
    sampler_->score(scores_);
  }

 private:
  static bool learns_query_weights(Options& options) {
    return options.choice("query_weights", {"ones", "learned"}, "ones") == "learned";
  }
  static bool samples(Options& options) { return options.choice("selection", {"top", "sample"}, "top") == "sample"; }
  void make(Options& options, const PatchGrid& grid, int d) {
    for (const char* key : {"pooling", "replacement"}) options.goes_with(key, "selection = \"sample\"");
    if (!samples(options)) {
      scorer_ = make_scorer(options, grid, d);
      title_ = text("block '", path_, "', kernel ", scorer_->kernel());
      return;
    }
    for (const char* key : {"threads", "normalise_rows"}) options.goes_with(key, "selection = \"top\"");
    sampler_ = std::make_unique<CrossAttention>(options, Ranking::sample, grid, grid, d);
    check_query_weights(options, *sampler_, learned_query_weights_);
  }

  std::string path_, title_;
  bool learned_query_weights_;
  HeadParameters parameters_;
  std::unique_ptr<Scorer> scorer_;           // for the top patches
  std::unique_ptr<CrossAttention> sampler_;  // for drawn ones
  std::vector<float> scores_;
  std::vector<int> selected_;
  std::uint64_t episode_seed_ = 0;
  std::uint32_t step_ = 0;
};

}  // namespace iap
