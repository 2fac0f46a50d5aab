module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
module iap.envs.distraction;
import iap.core;
import iap.render;
import iap.sim;

namespace iap {
namespace {

constexpr double pi = std::numbers::pi;

enum Stream : std::uint32_t { background_stream = 1, camera_stream, colour_stream };

Random stream(std::uint64_t seed, Stream which) { return Random({.seed = seed, .member = which, .purpose = Purpose::environment}); }

struct Difficulty {
  std::string name;
  double scale;
  int videos;  // 0 for all
};
const std::vector<Difficulty>& difficulties() {
  static const std::vector<Difficulty> table{{"easy", 0.1, 4}, {"medium", 0.2, 8}, {"hard", 0.3, 0}};
  return table;
}

double ground_alpha_of(std::string_view model) {
  if (model == "reacher") return 0;
  return model == "walker" || model == "cheetah" ? 1 : 0.3;
}

// What the whole table says, for its parts to start from; a part may move or stand still on its own.
struct Common {
  std::string owner, model;
  Difficulty difficulty;
  bool dynamic;
};

BackgroundRange read_background(Options& options, const Common& common) {
  constexpr int most_videos = 100000;
  BackgroundRange range;
  range.dynamic = common.dynamic;
  range.count = static_cast<int>(options.integer_in("count", 0, most_videos, common.difficulty.videos));
  range.video_alpha = options.number_in("video_alpha", 0, 1, 1.0);
  range.ground_alpha = options.number_in("ground_alpha", 0, 1, ground_alpha_of(common.model));
  return range;
}

Config write(const BackgroundRange& range) {
  return Config::Map{{"count", range.count}, {"video_alpha", range.video_alpha}, {"ground_alpha", range.ground_alpha}};
}

CameraRange read_camera(Options& options, const Common& common) {
  constexpr double largest = 1e3;
  const double s = common.difficulty.scale;
  const double moving = common.dynamic ? s : 0;
  CameraRange range;
  range.horizontal_delta = options.number_in("horizontal_delta", 0, 2 * pi, pi / 2 * s);
  range.vertical_delta = options.number_in("vertical_delta", 0, 2 * pi, pi / 2 * s);
  range.roll_delta = options.number_in("roll_delta", 0, 2 * pi, pi / 2 * s);
  range.max_vel = options.number_in("max_vel", 0, largest, 0.4 * moving);
  range.vel_std = options.number_in("vel_std", 0, largest, 0.1 * moving);
  range.max_roll_vel = options.number_in("max_roll_vel", 0, largest, pi / 50 * moving);
  range.roll_std = options.number_in("roll_std", 0, largest, pi / 300 * moving);
  range.zoom_in = options.number_in("zoom_in", 0, 0.99, 0.5 * s);
  range.zoom_out = options.number_in("zoom_out", 0, largest, 1.5 * s);
  range.upper_quadrant = options.boolean("upper_quadrant", common.model != "reacher");
  return range;
}

Config write(const CameraRange& range) {
  return Config::Map{{"horizontal_delta", range.horizontal_delta},
                     {"vertical_delta", range.vertical_delta},
                     {"roll_delta", range.roll_delta},
                     {"max_vel", range.max_vel},
                     {"vel_std", range.vel_std},
                     {"max_roll_vel", range.max_roll_vel},
                     {"roll_std", range.roll_std},
                     {"zoom_in", range.zoom_in},
                     {"zoom_out", range.zoom_out},
                     {"upper_quadrant", range.upper_quadrant}};
}

ColourRange read_colour(Options& options, const Common& common) {
  const double s = common.difficulty.scale;
  const double moving = common.dynamic ? s : 0;
  return {options.number_in("max_delta", 0, 1, s), options.number_in("step_std", 0, 1, 0.03 * moving)};
}

Config write(const ColourRange& range) { return Config::Map{{"max_delta", range.max_delta}, {"step_std", range.step_std}}; }

// One part of the table: nothing for false, and for missing ones unless `standard`.
template <typename Range>
std::optional<Range> read_part(Options& options, const char* key, bool standard, const Common& common,
                               Range (*read)(Options&, const Common&), Config& config) {
  const Config& value = options.value(key);
  const bool* on = value.boolean();
  if (!on && !value.is_null() && !value.map())
    options.fail(text("option '", key, "' must be true, false or a table, got ", value.describe()));
  config[key] = false;
  if (on ? !*on : value.is_null() && !standard) return {};
  static const Config none;
  Options part(text(common.owner, ".", key), value.map() ? value : none);
  Common own = common;
  own.dynamic = part.boolean("dynamic", common.dynamic);
  const Range range = read(part, own);
  part.finish();
  config[key] = write(range);
  config[key]["dynamic"] = own.dynamic;
  return range;
}

// The finest mipmap level that a pixel can look at: no pixel's footprint on a cube's face is smaller than that of a pixel in the
// picture's corner would be in a face's middle.
double finest_detail(double fovy_degrees, int height, int width, int face) {
  const double tangent = std::tan(fovy_degrees * pi / 360), step = 2 * tangent / height;
  const double corner = std::hypot(1, tangent, tangent * width / height);
  return std::max(0.0, std::log2(0.5 * face * step * std::pow(corner, -1.5)));
}

}  // namespace

struct Distraction::Impl {
  std::optional<BackgroundRange> background;
  std::optional<CameraRange> camera_range;
  std::optional<ColourRange> colour_range;
  int camera = 0, grid = 0, sky = -1;
  bool follows = false;
  std::vector<Video> videos;
  std::vector<int> lengths;
  SkyPicture picture;
  std::vector<std::uint8_t> own_sky;
  VideoWalk walk;
  std::vector<std::shared_ptr<const Texture>> shown;  // frames of the present video that were looked at
  std::optional<CameraMotion> motion;
  std::optional<ColourWalk> colours;
  Random camera_random{0}, colour_random{0};

  void prepare_background(const MujocoWorld& world, const std::string& owner, int height, int width);
  static constexpr int agent_body = 1;
  const std::shared_ptr<const Texture>& present_sky();
  static CameraPose pose_of(MujocoWorld& world, int camera);
  static std::array<double, 3> agent_of(const MujocoWorld& world);
};

void Distraction::Impl::prepare_background(const MujocoWorld& world, const std::string& owner, int height, int width) {
  constexpr double sky_type = 2;
  const auto types = world.array("tex_type");
  sky = static_cast<int>(std::ranges::find(types, sky_type) - types.begin());
  if (sky == static_cast<int>(types.size())) throw Error(text(owner, ": the model has no sky for a background to replace"));
  if (background->video_alpha == 0) return;
  videos = find_videos(background->folder, background->split);
  if (background->count > static_cast<int>(videos.size()))
    throw Error(
        text(owner, ": background.count = ", background->count, " but there are ", videos.size(), " videos; use at most that"));
  if (background->count > 0) videos.resize(background->count);
  for (const Video& video : videos) lengths.push_back(video.length());
  shown.resize(std::ranges::max(lengths));
  picture.size = static_cast<int>(world.array("tex_width")[sky]);
  picture.detail = finest_detail(world.array("cam_fovy")[camera], height, width, picture.size);
  picture.alpha = background->video_alpha;
  if (picture.alpha == 1) return;
  const auto pixels = world.texture_pixels(sky);
  own_sky.assign(pixels.begin(), pixels.begin() + static_cast<std::ptrdiff_t>(3) * picture.size * picture.size);
  picture.own = own_sky;
}

const std::shared_ptr<const Texture>& Distraction::Impl::present_sky() {
  auto& sky_now = shown[walk.frame()];
  if (!sky_now) sky_now = sky_texture(videos[walk.video()], walk.frame(), picture);
  return sky_now;
}

CameraPose Distraction::Impl::pose_of(MujocoWorld& world, int camera) {
  CameraPose pose;
  std::ranges::copy(world.camera_position(camera), pose.position.begin());
  std::ranges::copy(world.camera_rotation(camera), pose.rotation.begin());
  return pose;
}

std::array<double, 3> Distraction::Impl::agent_of(const MujocoWorld& world) {
  const auto centre = world.subtree_centre(agent_body);
  return {centre[0], centre[1], centre[2]};
}

Distraction::Distraction(const Config& config, const std::string& owner, std::string_view model, MujocoWorld& world, int camera,
                         int height, int width)
    : impl_(std::make_unique<Impl>()) {
  const Config table = config.string() ? Config(Config::Map{{"difficulty", *config.string()}}) : config;
  Common common{text(owner, ": distraction"), std::string(model), difficulties().front(), false};
  Options options(common.owner, table);
  const bool graded = options.has("difficulty");
  if (graded) {
    std::vector<std::string> names;
    for (const auto& entry : difficulties()) names.push_back(entry.name);
    const std::string name = options.choice("difficulty", names);
    common.difficulty = *std::ranges::find(difficulties(), name, &Difficulty::name);
    config_["difficulty"] = name;
  }
  common.dynamic = options.boolean("dynamic", false);
  const std::string folder = options.string("videos", ""), split = options.choice("split", {"train", "validation"}, "train");
  config_["dynamic"] = common.dynamic;
  config_["videos"] = folder;
  config_["split"] = split;
  impl_->background = read_part(options, "background", graded, common, read_background, config_);
  impl_->camera_range = read_part(options, "camera", graded, common, read_camera, config_);
  impl_->colour_range = read_part(options, "colour", graded, common, read_colour, config_);
  options.finish();
  if (!impl_->background && !impl_->camera_range && !impl_->colour_range)
    options.fail(
        "it would distract from nothing: set difficulty = 'easy', 'medium' or 'hard', or one of background, camera, colour");

  impl_->camera = camera;
  if (impl_->background) {
    impl_->background->folder = folder;
    impl_->background->split = split == "train" ? Split::train : Split::validation;
    impl_->grid = world.id("material", "grid");
    impl_->prepare_background(world, common.owner, height, width);
  }
  if (impl_->camera_range) {
    impl_->follows = world.array("cam_mode")[camera] != 0;
    impl_->motion.emplace(*impl_->camera_range);
  }
  if (impl_->colour_range) {
    std::vector<double> own;
    const auto rgba = world.array("mat_rgba");
    for (std::size_t i = 0; i < rgba.size(); ++i)
      if (i % 4 != 3) own.push_back(rgba[i]);
    impl_->colours.emplace(*impl_->colour_range, std::move(own));
  }
}

Distraction::~Distraction() = default;

void Distraction::reset(MujocoWorld& world, std::uint64_t seed) {
  if (!impl_->lengths.empty()) {
    Random random = stream(seed, background_stream);
    const int before = impl_->walk.video();
    impl_->walk.reset(impl_->lengths, impl_->background->dynamic, random);
    if (impl_->walk.video() != before) std::ranges::fill(impl_->shown, nullptr);
  }
  if (impl_->motion) {
    impl_->camera_random = stream(seed, camera_stream);
    impl_->motion->reset(Impl::pose_of(world, impl_->camera), Impl::agent_of(world), impl_->follows, impl_->camera_random);
  }
  if (impl_->colours) {
    impl_->colour_random = stream(seed, colour_stream);
    impl_->colours->reset(impl_->colour_random);
  }
}

void Distraction::step() {
  if (!impl_->lengths.empty()) impl_->walk.step();
  if (impl_->motion) impl_->motion->step(impl_->camera_random);
  if (impl_->colours) impl_->colours->step(impl_->colour_random);
}

void Distraction::apply(MujocoWorld& world, MujocoCamera& view) {
  if (impl_->background) {
    world.material_rgba(impl_->grid)[3] = static_cast<float>(impl_->background->ground_alpha);
    if (!impl_->lengths.empty()) view.replace_texture(impl_->sky, impl_->present_sky());
  }
  if (impl_->colours) {
    const auto colours = impl_->colours->colours();
    for (std::size_t i = 0; i < colours.size(); ++i)
      world.material_rgba(static_cast<int>(i / 3))[i % 3] = static_cast<float>(colours[i]);
  }
  if (impl_->motion) {
    const CameraPose pose = impl_->motion->pose(Impl::pose_of(world, impl_->camera), Impl::agent_of(world));
    std::ranges::copy(pose.position, world.camera_position(impl_->camera).begin());
    std::ranges::copy(pose.rotation, world.camera_rotation(impl_->camera).begin());
  }
}

}  // namespace iap
