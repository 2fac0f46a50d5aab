module;
#include <algorithm>
#include <array>
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
import :internal;
#include "core/copy_pixels.hpp"

namespace iap {
namespace {

bool attends(const Block& block) {
  return is_attention_block(block.kind()) ||
         std::ranges::any_of(block.children(), [](const auto& child) { return attends(*child); });
}

/// What a level saw when it was asked last, for pictures of what it attends to.
class LastLook {
 public:
  /// Keeps nothing of a level that is asked at every step or attends to nothing.
  LastLook(const Block& level, bool at_every_step, const BlockContext& context) : images_(&context.observation->images) {
    if (at_every_step || !attends(level)) return;
    double bytes = 0;
    for (const ImageSpec& image : *images_) bytes += static_cast<double>(image.shape.bytes());
    check_memory(text("block '", context.path, "': what a level saw when it was asked last"), bytes);
    for (const ImageSpec& image : *images_) frames_.emplace_back(image.shape);
  }

  /// The level is asked, or it is not.
  void ask(const Observation& observation) {
    asked_ = true;
    for (std::size_t i = 0; i < frames_.size(); ++i) copy_pixels(observation.images[i], frames_[i]);
  }
  void rest() { asked_ = false; }

  /// A block that was not asked when the level was has a frame already.
  void date(std::span<AttentionView> views) const {
    if (asked_ || frames_.empty()) return;
    for (AttentionView& view : views) {
      view.looked = false;
      if (view.frame.data) continue;
      const auto image = std::ranges::find(*images_, view.image, &ImageSpec::name);
      view.frame = frames_[static_cast<std::size_t>(image - images_->begin())].view();
    }
  }

 private:
  const std::vector<ImageSpec>* images_;
  std::vector<Image> frames_;
  bool asked_ = true;
};

/// For how many steps the high level's choice may stand.
struct Durations {
  std::int64_t least = 0, most = 0;
  bool chosen() const { return least < most; }
};

/// Option `duration`: {least, most}, or one number.
Durations read_durations(Options& options) {
  constexpr std::int64_t longest = 1'000'000;
  const Config& given = options.value("duration");
  if (given.integer()) {
    const std::int64_t steps = options.integer_in("duration", 1, longest);
    return {steps, steps};
  }
  const auto both = options.integers("duration", std::vector<std::int64_t>{10, 800});
  if (both.size() != 2 || both[0] < 1 || both[0] > both[1] || both[1] > longest)
    options.fail(
        text("option 'duration' must be {least, most} or one number, in steps of [1, ", longest, "], got ", given.describe()));
  return {both[0], both[1]};
}

/// Two levels (v1 section 5.3, Jain, Iscen & Caluwaerts 2019). The high level is evaluated at the episode's start and whenever the
/// duration that it chose has run out; `latent` of its outputs stand until then. The low level is evaluated every `every` steps,
/// reads the block's input followed by the latent, and gives the outputs, which stand in between.
///
/// The high level's outputs, moved into [-1, 1]: the duration, linear from -1 (least) to 1 (most) and rounded to whole steps,
/// unless both are the same number and there is none to choose; then the latent. What a high level remembers, and its clocks,
/// advance with its own evaluations alone. Parameters are those of the levels, under their names or `high` and `low`. Options:
/// high, low (blocks; the last layer's default size is what its level needs), duration ({10, 800} steps), latent (2), every (1).
class Hierarchy final : public Block {
 public:
  Hierarchy(const BlockContext& context, std::unique_ptr<Block> high, std::unique_ptr<Block> low, Durations durations, int every)
      : Block(context, low->outputs()),
        durations_(durations),
        every_(every),
        chosen_(static_cast<std::size_t>(high->outputs())),
        told_(static_cast<std::size_t>(low->inputs())),
        given_(static_cast<std::size_t>(low->outputs())),
        looks_{LastLook(*high, durations.most == 1, context), LastLook(*low, every == 1, context)} {
    levels_.push_back(std::move(high));
    levels_.push_back(std::move(low));
  }
  std::string_view kind() const override { return "hierarchy"; }
  std::string memory() const override { return "counts decisions"; }
  std::string describe() const override {
    return text("duration ", durations_.least, durations_.chosen() ? text(" ... ", durations_.most) : "", ", latent ", latent(),
                ", every ", every_);
  }
  std::span<const std::unique_ptr<Block>> children() const override { return levels_; }
  void reset(std::uint64_t) override { until_high_ = until_low_ = 0; }
  void date_views(std::size_t child, std::span<AttentionView> views) const override { looks_[child].date(views); }
  void forward(const Observation& observation, std::span<const float> in, std::span<float> out) override {
    check_interrupt();
    for (LastLook& look : looks_) look.rest();
    if (until_high_ == 0) {
      looks_[0].ask(observation);
      levels_[0]->run(observation, in, chosen_);
      for (float& value : chosen_) value = value > -1 ? std::min(value, 1.0F) : -1.0F;  // what is not a number is -1
      until_high_ = durations_.least;
      if (durations_.chosen())
        until_high_ +=
            std::llround((static_cast<double>(chosen_[0]) + 1) / 2 * static_cast<double>(durations_.most - durations_.least));
    }
    --until_high_;
    if (until_low_ == 0) {
      looks_[1].ask(observation);
      std::ranges::copy(in, told_.begin());
      std::ranges::copy(std::span<const float>(chosen_).last(latent()), told_.begin() + static_cast<std::ptrdiff_t>(in.size()));
      levels_[1]->run(observation, told_, given_);
      until_low_ = every_;
    }
    --until_low_;
    std::ranges::copy(given_, out.begin());
  }

 private:
  std::size_t latent() const { return chosen_.size() - (durations_.chosen() ? 1 : 0); }

  std::vector<std::unique_ptr<Block>> levels_;
  Durations durations_;
  int every_;
  std::vector<float> chosen_, told_, given_;
  std::array<LastLook, 2> looks_;  ///< of the levels
  std::int64_t until_high_ = 0, until_low_ = 0;
};

/// Level number `index`, whose path is its name, or else that of option `level`.
MadeBlock make_level(Options& options, int index, const char* level, BlockContext context, ParameterLayout& layout) {
  Config called = Config::Map{{"name", level}};
  if (const Config* name = options.value(level).find("name"); name && !name->is_null()) called["name"] = *name;
  context.path = child_path(context.path, index, called);
  return make_inside(options, level, context, layout);
}

}  // namespace

/// @lua function iap.policy.hierarchy
/// Two levels: a high one that looks rarely and chooses a latent and for how long, a low one that reads the input and the latent
/// and acts at
/// every step.
/// @option high blueprint - hands over the duration in [-1, 1], then the latent, each moved into [-1, 1]
/// @option low blueprint - reads what the hierarchy reads, then the latent
/// @option duration integer[]|integer = { 10, 800 } - decisions that values of -1 and 1 mean; a number: always so many, and high
/// chooses the latent alone
/// @option latent integer 1..65536 = 2 - numbers
/// @option every integer 1..1048576 = 1 - decisions between two of the low level, whose action is held
/// @use policy.block
/// @return blueprint - of both
/// @example iap.policy.hierarchy { high = iap.policy.linear { units = 3 }, low = iap.policy.linear {} }
/// @see controllers.md#two-levels
MadeBlock make_hierarchy(Options& options, const BlockContext& context, ParameterLayout& layout) {
  const Durations durations = read_durations(options);
  const int latent = static_cast<int>(options.integer_in("latent", 1, 1 << 16, 2));
  const int every = static_cast<int>(options.integer_in("every", 1, 1 << 20, 1));
  const int choices = latent + (durations.chosen() ? 1 : 0);
  BlockContext high_context = context;
  high_context.action_size = choices;
  high_context.last = true;
  auto high = make_level(options, 1, "high", high_context, layout);
  if (high->outputs() != choices)
    options.fail(text("the high level gives ", high->outputs(), " values, but chooses ", choices, ": ",
                      durations.chosen() ? "a duration and " : "", "a latent of ", latent, "; end it with a linear block"));
  BlockContext low_context = context;
  low_context.inputs = checked_outputs(options, std::int64_t{context.inputs} + latent);
  auto low = make_level(options, 2, "low", low_context, layout);
  return std::make_unique<Hierarchy>(context, std::move(high), std::move(low), durations, every);
}

}  // namespace iap
