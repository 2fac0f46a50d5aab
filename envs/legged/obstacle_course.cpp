module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>
module iap.envs.legged;
import iap.core;
import iap.env;
import iap.legged;
import iap.render;
import iap.sim;
#include "body.hpp"
#include "course.hpp"
#include "modulation.hpp"
#include "numbered.hpp"
#include "picture.hpp"

namespace iap {
namespace {

constexpr int episode_steps = 6000;

/// The obstacle course of "Unlocking Pixels for Reinforcement Learning via Implicit Attention" (section 5.3 and A.2): A1 starts on
/// a raised platform with walls ahead, sees them through a camera that looks straight ahead, and is paid for its way along x,
/// clipped at each step. Actions modulate a trajectory generator: its frequency, intensity, height and share of stance, each linear
/// over its range, then a residual to each of the twelve joint targets. The vector holds roll, pitch and their rates, the joint
/// angles and the generator's phase. An episode ends when the robot has fallen, from the platform too, or when the course is
/// complete.
class ObstacleCourse final : public Env {
 public:
  explicit ObstacleCourse(Options& options)
      : body_(legged_robot("a1"), .15, options),
        layout_(read_course(options)),
        courses_(read_numbered(options, "courses")),
        modulation_(options),
        camera_(read_robot_camera(options, 100)) {
    cap_ = options.number_in("cap", 0, 1, .004);
    counts_walls_ = options.choice("reward", {"way", "walls"}, "way") == "walls";
    const std::string view = options.choice("view", {"camera", "depth", "behind", "beside", "none"}, "camera");
    view_ = view == "behind" ? View::behind : view == "beside" ? View::beside : View::camera;
    shows_body_ = options.boolean("body", false) || view_ != View::camera;
    if (view != "none") {
      picture_ = read_picture(options, PictureSize{32, 32}, view == "depth");
      spec_.observation.images.push_back(picture_->spec());
      views_.push_back(picture_->view());
    }
    if (options.boolean("state", true)) state_.resize(LeggedBody::imu + LeggedBody::joints + modulation_.state_size());
    if (state_.empty() && !picture_) options.fail("it would show nothing: leave out view = \"none\" or state = false");
    spec_.name = "a1-obstacle-course";
    spec_.action_size = Modulation::size;
    spec_.control_dt = spec_.observation.dt = body_.control_dt();
    spec_.max_steps = episode_steps;
    spec_.observation.vector = static_cast<int>(state_.size());
    if (!state_.empty()) spec_.state_names = names();
  }

  const EnvSpec& spec() const override { return spec_; }

  void reset(std::uint64_t seed) override {
    course_ = make_course(layout_, body_.friction(), courses_.of(seed));
    body_.world().set_terrain(course_.terrain);
    const std::vector<double> pose = modulation_.neutral_pose();
    Random random({.seed = seed, .purpose = Purpose::environment});
    const double floor = layout_.platform_height;
    body_.reset({.position = {0, 0, floor + body_.robot().touching_height(pose) + drop}, .angles = pose}, random, floor);
    modulation_.reset();
    if (picture_) scene_ = shows_body_ ? robot_scene(body_.world()) : terrain_scene(body_.world());
    steps_ = 0;
    walls_passed_ = 0;
    drawn_ = false;
  }

  StepResult step(std::span<const float> action) override {
    clip_action(spec_, action, action_);
    const double way = body_.step(modulation_.targets(action_, spec_.control_dt));
    drawn_ = false;
    StepResult result{.truncated = ++steps_ >= episode_steps, .unstable = body_.world().unstable()};
    if (!result.unstable) result.reward = counts_walls_ ? walls_passed() : std::clamp(way, -cap_, cap_);
    result.terminated =
        result.unstable || body_.fallen(layout_.platform_height) || body_.world().state().position[0] >= course_.end;
    return result;
  }

  Observation observe() override {
    if (!drawn_ && !body_.world().unstable()) {
      if (!state_.empty()) modulation_.write(body_.write_state(state_.data(), false));
      if (picture_) draw();
    }
    drawn_ = true;
    return {.images = views_, .vector = state_};
  }

 private:
  enum class View : std::uint8_t { camera, behind, beside };
  static constexpr double drop = .02;  // m above the platform, from which an episode begins

  std::vector<std::string> names() const {
    std::vector<std::string> all = body_.state_names();
    all.resize(LeggedBody::imu + LeggedBody::joints);
    const auto phases = modulation_.state_names(body_.robot());
    all.insert(all.end(), phases.begin(), phases.end());
    return all;
  }

  // How many more walls the robot's middle has passed than ever before.
  int walls_passed() {
    const int before = walls_passed_;
    const double x = body_.world().state().position[0];
    while (walls_passed_ < static_cast<int>(course_.passed.size()) && x > course_.passed[walls_passed_]) ++walls_passed_;
    return walls_passed_ - before;
  }

  void draw() {
    if (shows_body_) move_robot(body_.world(), scene_);
    switch (view_) {
      case View::camera: scene_.camera = camera_on(body_.world(), camera_); break;
      case View::behind: scene_.camera = camera_behind(body_); break;
      case View::beside: scene_.camera = camera_above(body_); break;
    }
    picture_->draw(scene_);
  }

  LeggedBody body_;
  CourseOptions layout_;
  Numbered courses_;
  Modulation modulation_;
  RobotCamera camera_;
  Course course_;
  EnvSpec spec_;
  Scene scene_;
  View view_ = View::camera;
  int steps_ = 0, walls_passed_ = 0;
  double cap_ = 0;
  bool counts_walls_ = false, shows_body_ = false, drawn_ = false;
  std::array<float, Modulation::size> action_{};
  std::vector<float> state_;
  std::optional<RobotPicture> picture_;
  std::vector<ImageView> views_;
};

}  // namespace

/// @lua options robots.a1-obstacle-course
/// A1 walks ahead past walls on a raised platform: the obstacle course of "Unlocking Pixels" (section 5.3). 16
/// actions, 250 Hz,
/// 6000 steps.
/// @option cap number 0..1 = 0.004 - the reward of a step is the way along x in metres, clipped to this either way
/// @option reward "way"|"walls" = "way" - "walls": 1 for each wall that the robot's middle passes
/// @option view "camera"|"depth"|"behind"|"beside"|"none" = "camera" - what `pixels` shows: RGB, float metres along the axis, or
/// the robot from outside
/// @option pixels integer[] = { 32, 32 } - {height, width}
/// @option state boolean = true - IMU (4), joint angles (12) and the generator's phase (2) as a vector
/// @option render {env.render} ? - how pictures are drawn
/// @use robots.course
/// @use robots.modulation
/// @use robots.camera
/// @use robots.body
/// @see robots.md#the-environment-a1-obstacle-course
extern "C++" std::unique_ptr<Env> make_a1_obstacle_course(Options& options) { return std::make_unique<ObstacleCourse>(options); }

}  // namespace iap
