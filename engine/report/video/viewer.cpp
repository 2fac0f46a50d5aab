module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>
module iap.report;
import iap.core;
import iap.env;
import iap.envs;
import iap.policy;
import iap.render;
import :drawing;
import :video;
import :viewer;

namespace iap {
namespace {

/// Steps other instances of the same environment along, whose pictures are larger.
class Watched final : public EnvWrapper {
 public:
  Watched(std::unique_ptr<Env> played, std::unique_ptr<Env> shown, std::unique_ptr<Env> outside, int steps)
      : EnvWrapper(std::move(played)), shown_(std::move(shown)), outside_(std::move(outside)), most_steps_(steps) {}

  void reset(std::uint64_t seed) override {
    for (Env* env : {env_.get(), shown(), outside()})
      if (env) env->reset(seed);
    steps_ = 0;
    total_ = 0;
  }

  StepResult step(std::span<const float> action) override {
    StepResult result = env_->step(action);
    for (Env* env : {shown(), outside()})
      if (env && env->step(action).reward != result.reward)
        throw Error("drawn larger, the environment pays another reward; show the policy's own pixels instead (redraw = false)");
    total_ += result.reward;
    if (++steps_ == most_steps_) result.truncated = true;
    return result;
  }

  Env* shown() { return shown_.get(); }
  Env* outside() { return outside_.get(); }
  int steps() const { return steps_; }
  double total() const { return total_; }

 private:
  std::unique_ptr<Env> shown_, outside_;
  int most_steps_, steps_ = 0;
  double total_ = 0;
};

constexpr int pair_gap = 4;

int width_of(int width, const ViewerOptions& options) { return options.pairs ? 2 * width + pair_gap : width; }

/// The largest scale that keeps pictures within `largest`; below 1 where there is none.
int most_scale(const ImageShape& own, const ViewerOptions& options) {
  const int columns = options.pairs ? (options.largest - pair_gap) / 2 : options.largest;
  return std::min(options.largest / own.height, columns / own.width);
}

int scale_for(const ImageShape& own, const ViewerOptions& options) {
  if (options.scale > 0) return options.scale;
  const int wanted = (options.min_height + own.height - 1) / own.height;
  return std::max(1, options.largest > 0 ? std::min(wanted, most_scale(own, options)) : wanted);
}

void check_size(int height, int width, const ViewerOptions& options) {
  const int wide = width_of(width, options);
  if (options.largest == 0 || std::max(height, wide) <= options.largest) return;
  throw Error(
      text(options.scale > 0 ? text("--scale ", options.scale, " makes") : "these are", " pictures of ", height, " x ", wide,
           " pixels, and ", options.largest, " in a row or column are the most; ",
           options.scale > 1 ? "choose a smaller --scale (in Lua: scale), or none" : "let the environment draw fewer pixels"));
}

/// Of a policy that sees no image.
void check_pixels(const ViewerOptions& options) {
  if (options.scale > 0)
    throw Error(
        text("--scale ", options.scale, ": the policy sees no image whose pixels could be enlarged; leave it out (in Lua: scale)"));
  if (!options.redraw)
    throw Error("--as-seen: the policy sees no image, so that the environment has to be drawn; leave it out (in Lua: redraw)");
}

bool has_outside(const EnvSpec& spec) {
  const auto entry = std::ranges::find(env_catalog(), spec.name, &EnvEntry::name);
  return entry != env_catalog().end() && !entry->outside.empty();
}

// The options under which the environment of `config` shows itself from outside. @throws Error if there are none.
Config from_outside(Config config, const EnvSpec& spec) {
  const auto entry = std::ranges::find(env_catalog(), spec.name, &EnvEntry::name);
  if (!has_outside(spec))
    throw Error(
        text("environment '", spec.name, "' has no view from outside beside what policies see; use another view than outside"));
  const Config outside = parse_json(entry->outside, spec.name);
  for (const auto& [key, value] : *outside.map()) config[key] = value;
  return config;
}

// Heads that look at the same image are told apart by these; the papers' white comes first.
constexpr std::array<Rgb8, 4> head_colours{{{255, 255, 255}, {255, 196, 61}, {102, 224, 255}, {255, 138, 200}}};

}  // namespace

struct Viewer::Impl {
  std::unique_ptr<Watched> env;
  int scale = 1, height = 0, width = 0;
  bool sees_image = false, outside = false;
  float white = 1;

  // Who has once seen metres goes on to see metres, be everything ever so near.
  Image copy(const ImageView& image) {
    white = std::max(white, white_of(image));
    return rgb_copy(image, white);
  }

  Image from_outside(const Observation& observation, const Policy& policy) {
    Env* separate = env->outside();
    Image image = separate ? copy(separate->observe().images.front()) : plain(observation);
    add_insets(image, observation, policy);
    return image;
  }
  Image plain(const Observation& observation) {
    if (Env* shown = env->shown()) return copy(shown->observe().images.front());
    return enlarge(copy(observation.images.front()).view(), scale);
  }
  PatchPlaces places(const AttentionView& view) const { return {view.rows, view.columns, view.patch * scale, view.stride * scale}; }
  // What the policy sees, red where it attends, in the upper left corner, its pictures side by side: a third of the picture's
  // height.
  void add_insets(Image& image, const Observation& observation, const Policy& policy) {
    const auto views = policy.views();
    int left = 0;
    for (std::size_t i = 0; i < observation.images.size(); ++i) {
      Image seen = copy(observation.images[i]);
      for (const auto& view : views)
        if (view.image == policy.observation().images[i].name)
          overlay_patches(seen, PatchPlaces{view.rows, view.columns, view.patch, view.stride}, view.selected,
                          std::vector<float>(view.selected.size(), 1), {255, 0, 0});
      const int factor = std::max(1, image.shape().height / 3 / seen.shape().height);
      left += add_inset(image, enlarge(seen.view(), factor), left);
    }
  }
  // Returns how many columns it took from `left` on.
  static int add_inset(Image& image, const Image& inset, int left) {
    constexpr int frame = 2;
    const int rows = std::min(inset.shape().height, image.shape().height - 2 * frame),
              columns = std::min(inset.shape().width, image.shape().width - left - 2 * frame);
    if (columns <= 0) return 0;
    const auto pixel = [](const Image& of, int row, int column) {
      return 3 * (static_cast<std::size_t>(row) * of.shape().width + column);
    };
    for (int row = 0; row < rows + 2 * frame; ++row)
      std::fill_n(image.bytes().begin() + pixel(image, row, left), 3 * (columns + 2 * frame), std::uint8_t{255});
    for (int row = 0; row < rows; ++row)
      std::copy_n(inset.bytes().begin() + pixel(inset, row, 0), 3 * columns,
                  image.bytes().begin() + pixel(image, row + frame, left + frame));
    return columns + frame;
  }
  void draw_patches(Image& image, const Policy& policy) const {
    // A line as thick as one of a chart; the papers' patches of 2 x 2 pixels would be dots without the room that it encloses.
    const int thickness = std::max(1, (image.shape().height + 120) / 240), least = std::max(6, image.shape().height / 40);
    std::size_t head = 0;
    for (const auto& view : shown_views(policy)) {
      const auto opacities = importance_opacities(view.scores, view.selected);
      const Rgb8& colour = head_colours[head++ % head_colours.size()];
      overlay_patches(image, places(view), view.selected, opacities, colour);
      outline_patches(image, places(view), view.selected, opacities, colour, thickness, least);
    }
  }
};

Viewer::Viewer(const Config& config, const ObservationSpec& seen, const ViewerOptions& options) : impl_(std::make_unique<Impl>()) {
  auto played = make_env(config);
  impl_->sees_image = !seen.images.empty();
  if (!impl_->sees_image) check_pixels(options);
  constexpr int standard_height = 400, standard_width = 400;
  const ImageShape own = impl_->sees_image ? seen.images.front().shape : ImageShape{1, 1, 3, PixelType::uint8};
  const int scale = impl_->sees_image ? scale_for(own, options) : 1;
  impl_->scale = scale;
  impl_->height = impl_->sees_image ? own.height * scale : standard_height;
  impl_->width = impl_->sees_image ? own.width * scale : standard_width;
  if (!options.outside) check_size(impl_->height, impl_->width, options);
  std::unique_ptr<Env> shown, outside;
  const auto draw_outside = [&] {
    // As wide as films are; the policy's pixels have no part in its size.
    const int height = options.scale > 0 && impl_->sees_image ? own.height * options.scale : options.min_height;
    check_size(height, height * 8 / 5, options);
    return drawn_at(from_outside(config, played->spec()), {height, height * 8 / 5});
  };
  if (options.outside) {
    shown = draw_outside();
    if (shown) {
      impl_->height = shown->spec().observation.images.front().shape.height;
      impl_->width = shown->spec().observation.images.front().shape.width;
    }
  } else if (options.all && has_outside(played->spec())) {
    outside = draw_outside();
  }
  impl_->outside = options.outside || outside;
  const bool sizes_differ = !shown && (!impl_->sees_image || scale > 1);
  if (sizes_differ && (options.redraw || !impl_->sees_image)) {
    shown = drawn_at(config, {impl_->height, impl_->width});
    // A film of the robot is no picture of what it sees.
    if (shown && impl_->sees_image && shown->spec().observation.images.front().name != seen.images.front().name) shown.reset();
  }
  if (!shown && !impl_->sees_image)
    throw Error(text("there is nothing to show: the policy sees no image, and environment '", played->spec().name, "' draws none"));
  impl_->env = std::make_unique<Watched>(std::move(played), std::move(shown), std::move(outside), options.steps);
}

Viewer::~Viewer() = default;
Env& Viewer::env() { return *impl_->env; }
std::vector<PictureView> Viewer::views() const {
  std::vector<PictureView> views{PictureView::overlay, PictureView::heatmap, PictureView::side_by_side, PictureView::raw};
  if (impl_->outside) views.push_back(PictureView::outside);
  return views;
}

int Viewer::height() const { return impl_->height; }
int Viewer::width() const { return impl_->width; }
int Viewer::steps() const { return impl_->env->steps(); }
double Viewer::total() const { return impl_->env->total(); }

Image Viewer::picture(PictureView view, const Observation& observation, const Policy& policy) {
  if (view == PictureView::outside) return impl_->from_outside(observation, policy);
  Image image = impl_->plain(observation);
  switch (view) {
    case PictureView::raw:
    case PictureView::outside: break;
    case PictureView::overlay: impl_->draw_patches(image, policy); break;
    case PictureView::heatmap:
      if (const auto views = shown_views(policy); !views.empty())
        overlay_scores(image, impl_->places(views.front()), views.front().scores);
      break;
    case PictureView::side_by_side: {
      std::array<Image, 2> both{image, std::move(image)};
      impl_->draw_patches(both[1], policy);
      return side_by_side(both, pair_gap);
    }
  }
  return image;
}

int picture_width(PictureView view, int width) { return width_of(width, {.pairs = view == PictureView::side_by_side}); }

std::vector<AttentionView> shown_views(const Policy& policy) {
  if (policy.observation().images.empty()) return {};
  auto views = policy.views();
  std::erase_if(views, [&](const AttentionView& view) { return view.image != policy.observation().images.front().name; });
  return views;
}

float white_of(const ImageView& image) {
  constexpr float metres = 5;
  if (image.shape.type != PixelType::float32 || image.shape.channels != 1) return 1;
  const std::span values(image.floats(), image.shape.count());
  return std::ranges::any_of(values, [](float value) { return value > 1; }) ? metres : 1;
}

Image rgb_copy(const ImageView& image, float white) {
  const auto& shape = image.shape;
  Image copy({shape.height, shape.width, 3, PixelType::uint8});
  const auto value = [&](std::size_t at) {
    if (shape.type == PixelType::uint8) return image.bytes()[at];
    const float part = image.floats()[at];
    return static_cast<std::uint8_t>(std::isfinite(part) ? std::lround(255 * std::clamp(part / white, 0.0F, 1.0F)) : 0);
  };
  const auto channels = static_cast<std::size_t>(shape.channels), pixels = shape.count() / channels;
  for (std::size_t pixel = 0; pixel < pixels; ++pixel)
    for (std::size_t channel = 0; channel < 3; ++channel)
      copy.bytes()[3 * pixel + channel] = value(pixel * channels + (channels < 3 ? 0 : channel));
  return copy;
}

}  // namespace iap
