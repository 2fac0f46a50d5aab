module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>
module iap.envs.legged;
import iap.core;
import iap.env;
import iap.legged;
import iap.render;
import iap.sim;
#include "body.hpp"
#include "building.hpp"
#include "modulation.hpp"
#include "numbered.hpp"
#include "picture.hpp"
#include "rooms.hpp"

namespace iap {
namespace {

constexpr int episode_steps = 10000;

/// Where an episode takes place: generated rooms, or a storey of a scanned building.
struct Place {
  std::optional<RoomsOptions> rooms;
  Numbered flats;
  std::shared_ptr<const Building> building;
  std::optional<StartPlace> start;
  double clearance = 0;
};

std::optional<StartPlace> read_start_place(Options& options) {
  const Config& given = options.value("start");
  if (given.is_null() || (given.list() && given.list()->empty()) || (given.map() && given.map()->empty())) return {};
  const auto& list = options.list("start");
  std::array<double, 3> values{};
  for (std::size_t i = 0; i < 3; ++i) {
    if (list.size() != 3 || !list[i].number() || !(std::abs(*list[i].number()) <= 1e4))
      options.fail("option 'start' must be {x, y, heading} in metres and radians, or {} for a place drawn in each episode");
    values[i] = *list[i].number();
  }
  return StartPlace{values[0], values[1], values[2]};
}

/// @lua options robots.scene
/// A scanned building: the options of a1-indoor with `scene`, in place of those of the rooms.
/// @option storey integer 0..1000 = 0 - which of the storeys in floors.txt
/// @option lift number -1..1 = 0.02 - metres of the floor's plane above that height
/// @option clearance number 0.1..10 = 0.5 - metres around a place that an episode draws, three times as many ahead
/// @option start number[] = {} - {x, y, heading}, metres and radians, where the floor below the robot differs by at most 5 cm and
/// nothing stands; {}: a place drawn in each episode
Place read_place(Options& options) {
  Place place;
  const std::string scene = options.string("scene", "");
  if (scene.empty()) {
    for (const char* key : {"storey", "lift", "clearance"}) options.goes_with(key, "scene");
    if (options.value("start").list())
      options.fail(
          "option 'start' is a place {x, y, heading} in a scanned building alone, with 'scene'; in rooms it is the metres before "
          "the first door");
    place.rooms = read_rooms(options);
    place.flats = read_numbered(options, "flats");
    return place;
  }
  const int storey = static_cast<int>(options.integer_in("storey", 0, 1000, 0));
  const double lift = options.number_in("lift", -1, 1, .02);
  place.clearance = options.number_in("clearance", .1, 10, .5);
  place.start = read_start_place(options);
  if (options.choice("engine", robot_engines(), "bullet") == "mujoco")
    options.fail("MuJoCo fills the hollows of meshes, and with them the rooms of a scene; leave out engine = \"mujoco\"");
  place.building = read_building(scene, storey, lift);
  if (place.start) {
    try {
      place.start = stand_at(*place.building, *place.start);
    } catch (const Error& error) {
      options.fail(text("option 'start': ", error.what(), "; give another, or {} for a place drawn in each episode"));
    }
  }
  return place;
}

/// Navigation indoors as in "Unlocking Pixels for Reinforcement Learning via Implicit Attention" (section 5.3, figure 10): A1 among
/// walls that it sees through a front depth camera of 16 x 16. Rooms one behind the other with doorways and gates are the default;
/// a folder of the Gibson data set, which the paper used, takes their place. Actions, vector and reward are those of the obstacle
/// course: the paper says nothing else. The way is measured along the direction in which the robot first stands.
class Indoor final : public Env {
 public:
  explicit Indoor(Options& options) : place_(read_place(options)), body_(legged_robot("a1"), .15, options), modulation_(options) {
    cap_ = options.number_in("cap", 0, 1, .004);
    pays_doors_ = options.choice("reward", {"way", "doors"}, "way") == "doors";
    if (pays_doors_ && !place_.rooms) options.fail("nobody knows where a scene has doors; leave out reward = \"doors\"");
    ceiling_ = place_.rooms && options.boolean("ceiling", true);
    compass_ = options.boolean("compass", false);
    tells_place_ = options.boolean("place", false);
    const std::string view = options.choice("view", {"depth", "camera", "behind", "beside", "none"}, "depth");
    view_ = view == "behind" ? View::behind : view == "beside" ? View::beside : View::camera;
    camera_ = read_robot_camera(options, view == "depth" ? 10 : 100);
    shows_body_ = options.boolean("body", false) || view_ != View::camera;
    if (view != "none") {
      picture_ = read_picture(options, PictureSize{16, 16}, view == "depth");
      spec_.observation.images.push_back(picture_->spec());
      views_.push_back(picture_->view());
    }
    if (options.boolean("state", true)) name_state();
    if (state_.empty() && !picture_) options.fail("it would show nothing: leave out view = \"none\" or state = false");
    spec_.name = "a1-indoor";
    spec_.action_size = Modulation::size;
    spec_.control_dt = spec_.observation.dt = body_.control_dt();
    spec_.max_steps = episode_steps;
    spec_.observation.vector = static_cast<int>(state_.size());
    if (place_.building) enter_building();
  }

  const EnvSpec& spec() const override { return spec_; }

  void reset(std::uint64_t seed) override {
    if (place_.rooms) {
      enter_flat(seed);
    } else {
      start_ = place_.start ? *place_.start : find_start(*place_.building, place_.clearance, seed);
    }
    const std::vector<double> pose = modulation_.neutral_pose();
    Random random({.seed = seed, .purpose = Purpose::environment});
    body_.reset({.position = {start_.x, start_.y, start_.floor + body_.robot().touching_height(pose) + drop},
                 .quaternion = {std::cos(start_.heading / 2), 0, 0, std::sin(start_.heading / 2)},
                 .angles = pose},
                random, start_.floor);
    modulation_.reset();
    if (picture_) make_scene();
    steps_ = passed_ = 0;
    drawn_ = false;
  }

  StepResult step(std::span<const float> action) override {
    clip_action(spec_, action, action_);
    const double from = way();
    body_.step(modulation_.targets(action_, spec_.control_dt));
    drawn_ = false;
    StepResult result{.truncated = ++steps_ >= episode_steps, .unstable = body_.world().unstable()};
    const int doors = result.unstable ? 0 : newly_passed();
    if (!result.unstable) result.reward = pays_doors_ ? doors : std::clamp(way() - from, -cap_, cap_);
    result.terminated = result.unstable || body_.fallen() || (place_.rooms && way() >= rooms_.end);
    return result;
  }

  Observation observe() override {
    if (!drawn_ && !body_.world().unstable()) {
      if (!state_.empty()) write_state();
      if (picture_) draw();
    }
    drawn_ = true;
    return {.images = views_, .vector = state_};
  }

 private:
  enum class View : std::uint8_t { camera, behind, beside };
  static constexpr double drop = .02;  // m above the floor there, from which an episode begins

  void name_state() {
    auto& names = spec_.state_names;
    names = body_.state_names();
    names.resize(LeggedBody::imu + LeggedBody::joints);
    const auto phases = modulation_.state_names(body_.robot());
    names.insert(names.end(), phases.begin(), phases.end());
    if (compass_) names.insert(names.end(), {"heading cosine", "heading sine"});
    if (tells_place_) names.insert(names.end(), {"ahead", "aside", "heading"});
    if (tells_place_ && place_.rooms) names.insert(names.end(), {"opening ahead", "opening aside"});
    state_.resize(names.size());
  }

  void enter_flat(std::uint64_t seed) {
    rooms_ = make_rooms(*place_.rooms, body_.friction(), place_.flats.of(seed));
    body_.world().set_terrain(rooms_.terrain);
  }

  void enter_building() {
    Terrain terrain{.friction = body_.friction()};
    if (!place_.building->touched.indices.empty()) terrain.meshes.push_back(place_.building->touched);
    body_.world().set_terrain(std::move(terrain));
  }

  // From where the episode began, along the direction that it began in and to its left.
  std::array<double, 2> travelled() const {
    const auto& at = body_.world().state().position;
    const double c = std::cos(start_.heading), s = std::sin(start_.heading), x = at[0] - start_.x, y = at[1] - start_.y;
    return {c * x + s * y, c * y - s * x};
  }
  double way() const { return travelled()[0]; }
  double heading() const {
    const auto& r = body_.world().base_rotation();
    return std::remainder(std::atan2(r[3], r[0]) - start_.heading, 2 * std::numbers::pi);
  }

  // How many more openings the robot's middle has passed than ever before.
  int newly_passed() {
    const int before = passed_;
    while (passed_ < static_cast<int>(rooms_.openings.size()) && way() > rooms_.openings[passed_].x) ++passed_;
    return passed_ - before;
  }

  void write_state() {
    float* at = modulation_.write(body_.write_state(state_.data(), false));
    const auto write = [&at](double part) { *at++ = static_cast<float>(part); };
    if (compass_) {
      write(std::cos(heading()));
      write(std::sin(heading()));
    }
    if (!tells_place_) return;
    const auto [ahead, aside] = travelled();
    write(ahead);
    write(aside);
    write(heading());
    if (!place_.rooms) return;
    const auto& opening = rooms_.openings[std::min<std::size_t>(passed_, rooms_.openings.size() - 1)];
    write(opening.x - ahead);
    write(opening.y - aside);
  }

  void make_scene() {
    scene_ = shows_body_ ? robot_scene(body_.world()) : terrain_scene(body_.world());
    const bool under_ceiling = ceiling_ && view_ == View::camera;
    if (place_.building) scene_.meshes.push_back({.mesh = place_.building->mesh, .rgb = {.8f, .78f, .74f}});
    if (place_.rooms && view_ != View::camera) cut_walls();
    if (under_ceiling)
      scene_.primitives.push_back({.shape = Shape::plane,
                                   .position = {0, 0, static_cast<float>(place_.rooms->wall_height)},
                                   .rotation = {1, 0, 0, 0, -1, 0, 0, 0, -1},
                                   .rgba = {.85f, .85f, .83f, 1},
                                   .specular = 0});
    // The sun does not reach what lies under a ceiling.
    if (under_ceiling || place_.building)
      scene_.lights = {
          {.ambient = {.4f, .4f, .4f}, .diffuse = {.35f, .35f, .35f}, .cutoff_degrees = 180, .exponent = 0, .headlight = true},
          {.direction = {.2f, .4f, -1}, .diffuse = {.4f, .4f, .4f}, .directional = true}};
  }

  // Who looks in from above sees no more of the walls than leaves the robot in sight.
  void cut_walls() {
    constexpr float cut = .6f;
    const std::size_t first = scene_.primitives.size() - rooms_.terrain.boxes.size();
    for (std::size_t i = first; i < scene_.primitives.size(); ++i) {
      Primitive& box = scene_.primitives[i];
      const float low = box.position[2] - box.size[2], high = box.position[2] + box.size[2];
      if (high <= cut) continue;
      if (low >= cut) box.rgba[3] = 0;
      box.size[2] = std::max(cut - low, .001f) / 2;
      box.position[2] = low + box.size[2];
    }
  }

  void draw() {
    if (shows_body_) move_robot(body_.world(), scene_);
    switch (view_) {
      case View::camera: scene_.camera = camera_on(body_.world(), camera_); break;
      case View::behind: look_from({-6, 0, 7}); break;
      case View::beside: look_from({1, 7, 7}); break;
    }
    picture_->draw(scene_);
  }

  // Of a building, what stands between is cut off a metre before the robot.
  void look_from(const std::array<double, 3>& from) {
    scene_.camera = camera_around(body_, from, start_.heading);
    if (!place_.building) return;
    const double distance = body_.robot().start_height * std::hypot(from[0], from[1], from[2]);
    scene_.camera.near_plane = static_cast<float>(std::max(distance - 1, .01));
  }

  Place place_;
  LeggedBody body_;
  Modulation modulation_;
  RobotCamera camera_;
  Rooms rooms_;
  StartPlace start_;
  EnvSpec spec_;
  Scene scene_;
  View view_ = View::camera;
  int steps_ = 0, passed_ = 0;
  double cap_ = 0;
  bool pays_doors_ = false, ceiling_ = false, compass_ = false, tells_place_ = false, shows_body_ = false, drawn_ = false;
  std::array<float, Modulation::size> action_{};
  std::vector<float> state_;
  std::optional<RobotPicture> picture_;
  std::vector<ImageView> views_;
};

}  // namespace

/// @lua options robots.a1-indoor
/// A1 walks through the doors of rooms, or of a scanned building, with a depth camera: the indoor navigation of "Unlocking Pixels"
/// (figure 10). 16 actions, 250 Hz, 10000 steps.
/// @option scene string = "" - a folder of a scanned building in Gibson's layout (mesh_z_up.obj, floors.txt) in place of rooms;
/// Bullet alone
/// @option cap number 0..1 = 0.004 - the reward of a step is the way along the direction in which the robot first stood, metres,
/// clipped to this
/// @option reward "way"|"doors" = "way" - "doors": 1 for each doorway and gate passed
/// @option compass boolean = false - the state has cosine and sine of the heading
/// @option place boolean = false - and where the robot is and the next opening from there: for scripts, not for policies that are
/// to see
/// @option view "depth"|"camera"|"behind"|"beside"|"none" = "depth" - what `pixels` shows: float metres along the axis, RGB, or the
/// robot from outside
/// @option camera_far number 1..10000 = (10; 100 unless view is "depth") - metres; depth of what is further
/// @option pixels integer[] = { 16, 16 } - {height, width}
/// @option state boolean = true - IMU (4), joint angles (12), the generator's phase (2) and what the options above add
/// @option render {env.render} ? - how pictures are drawn
/// @use robots.rooms
/// @use robots.scene
/// @use robots.modulation
/// @use robots.camera
/// @use robots.body
/// @see robots.md#the-environment-a1-indoor
extern "C++" std::unique_ptr<Env> make_a1_indoor(Options& options) { return std::make_unique<Indoor>(options); }

}  // namespace iap
