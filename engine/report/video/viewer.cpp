module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

bool may_be_depth(const ImageShape& shape) { return shape.type == PixelType::float32 && shape.channels == 1; }

/// Steps other instances of the same environment along, whose pictures are larger.
class Watched final : public EnvWrapper {
 public:
  Watched(std::unique_ptr<Env> played, std::optional<PlayedAlong> shown, std::optional<PlayedAlong> outside, int steps)
      : EnvWrapper(std::move(played)),
        shown_(std::move(shown)),
        outside_(std::move(outside)),
        most_steps_(steps),
        whites_(spec_.observation.images.size(), 1) {}

  void reset(std::uint64_t seed) override {
    env_->reset(seed);
    steps_ = 0;
    total_ = 0;
    for (auto* world : {&shown_, &outside_})
      if (*world) (*world)->reset(seed);
    refuse_astray();
  }

  StepResult step(std::span<const float> action) override {
    StepResult result = env_->step(action);
    for (auto* world : {&shown_, &outside_})
      if (*world) (*world)->step(action, result);
    refuse_astray();
    total_ += result.reward;
    if (++steps_ == most_steps_) result.truncated = true;
    return result;
  }

  Observation observe() override {
    const Observation seen = EnvWrapper::observe();
    for (std::size_t i = 0; i < seen.images.size(); ++i) whites_[i] = std::max(whites_[i], white_of(seen.images[i]));
    // What is drawn for people alone is looked at here, too, so that an episode that was played before has shown how far it goes.
    if (draws_depth()) drawn_white_ = std::max(drawn_white_, white_of(drawn(seen).images.front()));
    return seen;
  }

  /// What is drawn anew of the present, in which `seen` was observed; nothing where nothing is.
  Observation drawn(const Observation& seen) { return present(shown_, seen); }
  /// The same from outside.
  Observation drawn_outside(const Observation& seen) { return present(outside_, seen); }

  /// Of image i, over all that has been observed: who has once seen metres goes on to see metres, be everything ever so near.
  float white(std::size_t i) const { return whites_[i]; }
  void whiten(std::size_t i, float white) { whites_[i] = std::max(whites_[i], white); }
  /// Of what is drawn for a policy that sees no image.
  float drawn_white() const { return drawn_white_; }
  bool draws_depth() const { return !sees_image() && shown_ && may_be_depth(shown_->spec().observation.images.front().shape); }
  bool has_outside() const { return outside_.has_value(); }
  bool sees_image() const { return !spec_.observation.images.empty(); }
  std::string astray() const { return sees_image() && shown_ ? shown_->astray() : ""; }
  int steps() const { return steps_; }
  double total() const { return total_; }

 private:
  Observation present(std::optional<PlayedAlong>& world, const Observation& seen) {
    const Observation drawn = world ? world->present(spec_, seen) : Observation{};
    refuse_astray();
    return drawn;
  }

  void refuse_astray() const {
    for (const auto* world : {&shown_, &outside_})
      if (*world && !(*world)->astray().empty())
        throw Error(text("drawn larger, the environment ", (*world)->astray(), "; ",
                         sees_image() ? "show the policy's own pixels instead (--as-seen; in Lua: redraw = false)"
                                      : "let what happens in it not depend on its pictures"));
  }

  std::optional<PlayedAlong> shown_, outside_;
  int most_steps_, steps_ = 0;
  double total_ = 0;
  std::vector<float> whites_;
  float drawn_white_ = 1;
};

/// Between the images of one policy.
constexpr int image_gap = 4;

/// The widest gap within a picture of `images` images; 0 if it has no parts.
int gap_within(int images, bool pairs) {
  if (images < 2) return pairs ? image_gap : 0;
  return pairs ? 3 * image_gap : image_gap;
}

int whole_width(int width, int images, bool pairs) { return pairs ? 2 * width + gap_within(images, pairs) : width; }

/// The largest scale that keeps pictures of `images` such images within `largest`; below 1 where there is none.
int most_scale(const ImageShape& own, int images, const ViewerOptions& options) {
  const int row = options.pairs ? (options.largest - gap_within(images, true)) / 2 : options.largest;
  return std::min(options.largest / own.height, (row - (images - 1) * image_gap) / images / own.width);
}

int scale_for(const ImageShape& own, int images, const ViewerOptions& options) {
  if (options.scale > 0) return options.scale;
  const int wanted = (options.min_height + own.height - 1) / own.height;
  int most = options.largest > 0 ? most_scale(own, images, options) : wanted;
  if (options.redraw) most = std::min(most, largest_side / std::max(own.height, own.width));
  return std::max(1, std::min(wanted, most));
}

void check_size(int height, int wide, const ViewerOptions& options) {
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

/// Heads that look at the same image are told apart by these; the papers' white comes first.
struct HeadColour {
  std::string_view name;
  Rgb8 rgb;
};
constexpr std::array<HeadColour, 4> head_colours{
    {{"white", {255, 255, 255}}, {"amber", {255, 196, 61}}, {"cyan", {102, 224, 255}}, {"pink", {255, 138, 200}}}};

/// `images` side by side, white below those that are lower than others.
Image in_a_row(std::span<const Image> images) {
  if (images.size() == 1) return images.front();
  int height = 0;
  for (const Image& image : images) height = std::max(height, image.shape().height);
  std::vector<Image> alike;
  for (const Image& image : images) {
    Image padded({height, image.shape().width, 3, PixelType::uint8});
    std::ranges::fill(std::ranges::copy(image.bytes(), padded.bytes().begin()).out, padded.bytes().end(), std::uint8_t{255});
    alike.push_back(std::move(padded));
  }
  return side_by_side(alike, image_gap);
}

PatchPlaces places(const AttentionView& view, int scale) {
  return {view.rows, view.columns, view.patch * scale, view.stride * scale};
}

/// Puts into the chosen patches what they showed when they were scored.
void show_scored(Image& image, const AttentionView& view, const Image& scored, int scale) {
  const PatchPlaces grid = places(view, scale);
  const auto side = static_cast<std::size_t>(3) * grid.patch, row = static_cast<std::size_t>(3) * image.shape().width;
  for (const int patch : view.selected) {
    std::size_t at = patch / grid.columns * grid.stride * row + static_cast<std::size_t>(3) * (patch % grid.columns * grid.stride);
    for (int y = 0; y < grid.patch; ++y, at += row) std::copy_n(scored.bytes().begin() + at, side, image.bytes().begin() + at);
  }
}

/// The attention to one image, `scale` pixels for each of the policy's.
void draw_patches(Image& image, std::span<const AttentionView> views, int scale) {
  // A line as thick as one of a chart; the papers' patches of 2 x 2 pixels would be dots without the room that it encloses.
  const int thickness = std::max(1, (image.shape().height + 120) / 240), least = std::max(6, image.shape().height / 40);
  std::vector<HeadPatches> heads;
  for (const auto& view : views)
    heads.push_back({places(view, scale), view.selected, importance_opacities(view.scores, view.selected),
                     head_colours[heads.size() % head_colours.size()].rgb});
  overlay_heads(image, heads, thickness, least);
}

/// Returns how many columns the inset took from `left` on.
int add_inset(Image& image, const Image& inset, int left) {
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

}  // namespace

struct Viewer::Impl {
  std::unique_ptr<Watched> env;
  std::vector<ImageSpec> seen;
  std::vector<int> scales;  ///< of what is seen
  int height = 0, width = 0;
  bool outside = false;

  int images() const { return std::max(1, static_cast<int>(seen.size())); }

  /// The environment alone: an image for each that the policy sees, or one for a policy that sees none.
  std::vector<Image> plain(const Observation& observation) {
    const Observation drawn = env->drawn(observation);
    if (seen.empty()) return {rgb_copy(drawn.images.front(), env->drawn_white())};
    std::vector<Image> images;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      // What is drawn anew is the first image.
      const bool anew = i == 0 && !drawn.images.empty();
      images.push_back(anew ? rgb_copy(drawn.images[i], env->white(i)) : enlarged(observation.images[i], i, scales[i]));
    }
    return images;
  }

  std::size_t place(const std::string& image) const {
    return static_cast<std::size_t>(std::ranges::find(seen, image, &ImageSpec::name) - seen.begin());
  }

  /// `picture` is image i, now or earlier.
  Image enlarged(const ImageView& picture, std::size_t i, int scale) const {
    return enlarge(rgb_copy(picture, env->white(i)).view(), scale);
  }

  std::vector<AttentionView> views_of(std::size_t i, const Policy& policy) const {
    auto views = policy.views();
    std::erase_if(views, [&](const AttentionView& view) { return view.image != seen[i].name; });
    return views;
  }

  /// Onto image i.
  void draw_attention(Image& image, std::size_t i, const Policy& policy, int scale) const {
    const auto views = views_of(i, policy);
    for (const auto& view : views)
      if (view.frame.data) show_scored(image, view, enlarged(view.frame, i, scale), scale);
    draw_patches(image, views, scale);
  }

  void draw_attention(std::vector<Image>& images, const Policy& policy) const {
    for (std::size_t i = 0; i < seen.size(); ++i) draw_attention(images[i], i, policy, scales[i]);
  }

  void draw_scores(std::vector<Image>& images, const Policy& policy) const {
    for (std::size_t i = 0; i < seen.size(); ++i) {
      const auto views = views_of(i, policy);
      if (views.empty()) continue;
      const auto& view = views.front();
      if (view.frame.data) images[i] = enlarged(view.frame, i, scales[i]);
      overlay_scores(images[i], places(view, scales[i]), view.scores);
    }
  }

  Image from_outside(const Observation& observation, const Policy& policy) {
    Image image;
    if (env->has_outside()) {
      const ImageView& picture = env->drawn_outside(observation).images.front();
      image = rgb_copy(picture, white_of(picture));
    } else {
      image = in_a_row(plain(observation));
    }
    add_insets(image, observation, policy);
    return image;
  }
  // What the policy sees and where it attends, in the upper left corner, its images side by side: a third of the picture's height.
  void add_insets(Image& image, const Observation& observation, const Policy& policy) const {
    int left = 0;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      const int factor = std::max(1, image.shape().height / 3 / seen[i].shape.height);
      Image inset = enlarged(observation.images[i], i, factor);
      draw_attention(inset, i, policy, factor);
      left += add_inset(image, inset, left);
    }
  }
};

Viewer::Viewer(const Config& config, const ObservationSpec& seen, const ViewerOptions& options) : impl_(std::make_unique<Impl>()) {
  auto played = make_env(config);
  impl_->seen = seen.images;
  const bool sees_image = !seen.images.empty();
  if (!sees_image) check_pixels(options);
  constexpr int standard = 400;
  const int images = impl_->images();
  PictureSize first{standard, standard};
  impl_->height = impl_->width = standard;
  if (sees_image) {
    impl_->height = 0;
    impl_->width = (images - 1) * image_gap;
    for (const auto& [name, own] : seen.images) {
      const int scale = scale_for(own, images, options);
      impl_->scales.push_back(scale);
      impl_->height = std::max(impl_->height, own.height * scale);
      impl_->width += own.width * scale;
    }
    const ImageShape& own = seen.images.front().shape;
    first = {own.height * impl_->scales.front(), own.width * impl_->scales.front()};
  }
  if (!options.outside) check_size(impl_->height, whole_width(impl_->width, images, options.pairs), options);
  std::unique_ptr<Env> shown, outside;
  if (options.outside || (options.all && has_outside(played->spec()))) {
    // As wide as films are; the policy's pixels have no part in its size.
    const int height = options.scale > 0 && sees_image ? seen.images.front().shape.height * options.scale : options.min_height;
    check_size(height, height * 8 / 5, options);
    outside = drawn_at(from_outside(config, played->spec()), {height, height * 8 / 5});
  }
  impl_->outside = options.outside || outside;
  const bool alone = options.outside && outside;
  if (alone) {
    impl_->height = outside->spec().observation.images.front().shape.height;
    impl_->width = outside->spec().observation.images.front().shape.width;
  }
  if (!alone && (!sees_image || (options.redraw && impl_->scales.front() > 1))) {
    shown = drawn_at(config, first);
    // A film of the robot is no picture of what it sees.
    if (shown && sees_image && shown->spec().observation.images.front().name != seen.images.front().name) shown.reset();
  }
  if (!shown && !alone && !sees_image)
    throw Error(text("there is nothing to show: the policy sees no image, and environment '", played->spec().name, "' draws none"));
  const auto along = [&config](std::unique_ptr<Env> env) {
    return env ? std::optional(PlayedAlong(std::move(env), config)) : std::nullopt;
  };
  impl_->env = std::make_unique<Watched>(std::move(played), along(std::move(shown)), along(std::move(outside)), options.steps);
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
int Viewer::width(PictureView view) const { return whole_width(impl_->width, impl_->images(), view == PictureView::side_by_side); }
int Viewer::gap(PictureView view) const {
  return view == PictureView::outside ? 0 : gap_within(impl_->images(), view == PictureView::side_by_side);
}

bool Viewer::sees_depth() const {
  return impl_->env->draws_depth() || std::ranges::any_of(impl_->seen, may_be_depth, &ImageSpec::shape);
}
float Viewer::white(const std::string& image) const { return impl_->env->white(impl_->place(image)); }
void Viewer::whiten(const std::string& image, float white) { impl_->env->whiten(impl_->place(image), white); }
int Viewer::steps() const { return impl_->env->steps(); }
double Viewer::total() const { return impl_->env->total(); }
std::string Viewer::astray() const { return impl_->env->astray(); }

Image Viewer::picture(PictureView view, const Observation& observation, const Policy& policy) {
  if (view == PictureView::outside) return impl_->from_outside(observation, policy);
  std::vector<Image> images = impl_->plain(observation);
  switch (view) {
    case PictureView::raw:
    case PictureView::outside: break;
    case PictureView::overlay: impl_->draw_attention(images, policy); break;
    case PictureView::heatmap: impl_->draw_scores(images, policy); break;
    case PictureView::side_by_side: {
      Image alone = in_a_row(images);
      impl_->draw_attention(images, policy);
      const std::array<Image, 2> both{std::move(alone), in_a_row(images)};
      return side_by_side(both, gap(view));
    }
  }
  return in_a_row(images);
}

std::vector<AttentionView> shown_views(const Policy& policy) {
  const auto& images = policy.observation().images;
  auto views = policy.views();
  std::erase_if(views,
                [&](const AttentionView& view) { return std::ranges::find(images, view.image, &ImageSpec::name) == images.end(); });
  return views;
}

std::string mapped_blocks(const Policy& policy) {
  const auto views = shown_views(policy);
  std::string blocks;
  std::size_t mapped = 0;
  for (const ImageSpec& image : policy.observation().images)
    if (const auto first = std::ranges::find(views, image.name, &AttentionView::image); first != views.end())
      blocks += (mapped++ == 0 ? "" : " and ") + first->block;
  return mapped < views.size() ? blocks : "";
}

std::string coloured_blocks(const Policy& policy) {
  std::array<std::string, head_colours.size()> blocks;
  const auto views = shown_views(policy);
  bool several = false;
  for (const ImageSpec& image : policy.observation().images) {
    std::size_t head = 0;
    for (const AttentionView& view : views) {
      if (view.image != image.name) continue;
      several = several || head > 0;
      std::string& alike = blocks[head++ % blocks.size()];
      alike += (alike.empty() ? "" : " and ") + view.block;
    }
  }
  std::string all;
  for (std::size_t i = 0; several && i < blocks.size() && !blocks[i].empty(); ++i)
    all += text(all.empty() ? "" : ", ", head_colours[i].name, " ", blocks[i]);
  return all;
}

float white_of(const ImageView& image) {
  constexpr float least = 1, most = 5, step = 0.5F;
  constexpr std::ptrdiff_t few = 20;  // one in so many
  if (!may_be_depth(image.shape)) return least;
  const std::span values(image.floats(), image.shape.count());
  float white = least;
  while (white < most && few * std::ranges::count_if(values, [&](float value) { return value > white; }) > std::ssize(values))
    white += step;
  return white;
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
