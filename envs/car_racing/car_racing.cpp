module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>
module iap.envs.car_racing;
import iap.core;
import iap.env;

namespace iap {
namespace car_racing {
namespace {

constexpr double step_cost = 0.1, track_reward = 1000, leaving_reward = -100;
constexpr int episode_steps = 1000, state_size = 7;
constexpr std::size_t most_frames = episode_steps + 1;  // before the first step and after each

enum Stream : std::uint32_t { track_stream, shade_stream, noise_stream };

Random stream(std::uint64_t seed, Stream member, std::uint32_t iteration = 0) {
  return Random({.seed = seed, .iteration = iteration, .member = member, .purpose = Purpose::environment});
}

bool finite(const Car& car) {
  for (const double value : {car.hull.x, car.hull.y, car.hull.angle, car.vx, car.vy, car.yaw_rate})
    if (!std::isfinite(value)) return false;
  return std::ranges::all_of(car.wheels, [](const Wheel& wheel) { return std::isfinite(wheel.omega + wheel.steering); });
}

/// CarRacing-v0 as AttentionAgent used it: drive along a random road seen from above, 1000 / N points for each of its N tiles that
/// a wheel touches, -0.1 a step, -100 and the end for leaving the field; done when all tiles are touched. Actions in [-1, 1]:
/// steering (positive to the right), gas and brake, the latter two as a -> (a + 1) / 2.
class CarRacing final : public Env {
 public:
  explicit CarRacing(Options& options) : pixels_(ImageShape{picture_size, picture_size, 3, PixelType::uint8}) {
    modification_ = options.choice("modification", {"none", "colour", "bars", "blob", "noise", "video"}, "none");
    early_stop_ = static_cast<int>(options.integer_in("early_stop", 0, episode_steps, 0));
    const bool state = options.boolean("state", false);
    if (state) state_.resize(state_size);
    spec_ = {.name = "car-racing",
             .observation = {.images = {{"pixels", pixels_.shape()}}, .vector = static_cast<int>(state_.size()), .dt = time_step},
             .action_size = 3,
             .control_dt = time_step,
             .max_steps = episode_steps};
    if (modification_ == "video") {
      frames_ = Frames(options.string("frames"), picture_size, picture_size, most_frames);
    } else if (options.has("frames")) {
      options.fail("option 'frames' belongs to modification = \"video\"");
    }
    if (state)
      spec_.state_names = {"speed",           "spin of wheel 1", "spin of wheel 2", "spin of wheel 3",
                           "spin of wheel 4", "steering angle",  "yaw rate"};
    view_ = pixels_.view();
  }

  const EnvSpec& spec() const override { return spec_; }

  // The first observation comes from a step without controls. What its wheels touch is paid with the first step.
  void reset(std::uint64_t seed) override {
    seed_ = seed;
    Random random = stream(seed, track_stream);
    const Track track = draw_track(random);
    tile_reward_ = track_reward / static_cast<double>(track.size());
    tiles_ = static_cast<int>(track.size());
    painter_.begin(track, scenery());
    world_.emplace(track);
    score_ = paid_ = 0;
    steps_ = negative_steps_ = 0;
    drawn_ = false;
    score_ = tile_reward_ * world_->step({});
    shown_score_ = score_;
  }

  StepResult step(std::span<const float> action) override {
    clip_action(spec_, action, action_);
    const Controls controls{.steer = -action_[0], .gas = (action_[1] + 1) / 2, .brake = (action_[2] + 1) / 2};
    score_ += tile_reward_ * world_->step(controls);
    shown_score_ = score_;
    score_ -= step_cost;
    drawn_ = false;
    return judge();
  }

  Observation observe() override {
    if (!drawn_) draw();
    drawn_ = true;
    return {.images = {&view_, 1}, .vector = state_};
  }

 private:
  Scenery scenery() const {
    Scenery scenery{.bars = modification_ == "bars", .blob = modification_ == "blob"};
    if (modification_ != "colour") return scenery;
    constexpr double most = 0.2;
    Random random = stream(seed_, shade_stream);
    scenery.road_shade = random.uniform(-most, most);
    scenery.grass_shade = random.uniform(-most, most);
    return scenery;
  }

  StepResult judge() {
    StepResult result{.reward = score_ - paid_, .truncated = ++steps_ >= episode_steps};
    paid_ = score_;
    const Car& car = world_->car();
    if (!finite(car)) return {.terminated = true, .truncated = result.truncated, .unstable = true};
    if (world_->visited() == tiles_) result.terminated = true;
    if (std::abs(car.hull.x) > play_field || std::abs(car.hull.y) > play_field) {
      result.terminated = true;
      result.reward = leaving_reward;
    }
    negative_steps_ = result.reward < 0 ? negative_steps_ + 1 : 0;
    if (early_stop_ > 0 && negative_steps_ >= early_stop_) result.truncated = true;
    return result;
  }

  void draw() {
    if (!finite(world_->car())) return;
    painter_.draw(*world_, (steps_ + 1) * time_step, shown_score_, pixels_.bytes());
    if (modification_ == "noise") {
      Random random = stream(seed_, noise_stream, static_cast<std::uint32_t>(steps_));
      replace_grass([&](std::size_t, std::uint8_t* pixel) {
        const std::uint32_t bits = random.bits();
        for (int channel = 0; channel < 3; ++channel) pixel[channel] = static_cast<std::uint8_t>(bits >> 8 * channel);
      });
    }
    if (modification_ == "video") {
      const auto frame = frames_.at(static_cast<std::size_t>(steps_));
      replace_grass([&](std::size_t at, std::uint8_t* pixel) { std::copy_n(&frame[at], 3, pixel); });
    }
    if (!state_.empty()) write_state();
  }

  template <typename Replace>
  void replace_grass(Replace replace) {
    const auto bytes = pixels_.bytes();
    for (std::size_t at = 0; at < bytes.size(); at += 3)
      if (bytes[at + 1] == grass_green || bytes[at + 1] == lighter_grass_green) replace(at, &bytes[at]);
  }

  // The numbers behind the indicators of the picture.
  void write_state() {
    const Car& car = world_->car();
    state_[0] = static_cast<float>(std::hypot(car.vx, car.vy));
    for (std::size_t i = 0; i < 4; ++i) state_[1 + i] = static_cast<float>(car.wheels[i].omega);
    state_[5] = static_cast<float>(car.wheels[0].steering);
    state_[6] = static_cast<float>(car.yaw_rate);
  }

  EnvSpec spec_;
  std::string modification_;
  Frames frames_;
  int early_stop_ = 0;
  std::uint64_t seed_ = 0;
  std::optional<World> world_;
  Painter painter_;
  int tiles_ = 0, steps_ = 0, negative_steps_ = 0;
  double tile_reward_ = 0, score_ = 0, paid_ = 0, shown_score_ = 0;
  bool drawn_ = false;
  std::array<float, 3> action_{};
  std::vector<float> state_;
  Image pixels_;
  ImageView view_;
};

}  // namespace
}  // namespace car_racing

/// @lua options env.car-racing
/// AttentionAgent's CarRacing: a random road seen from above; actions steer, gas and brake; 1000 steps at 50 Hz. A step costs 0.1,
/// the whole
/// road pays 1000, leaving the field costs 100.
/// @option pixels integer[] = { 96, 96 } - {height, width} of the picture, which is always shown
/// @option state boolean = false - show speed, wheels, steering angle and yaw rate as a vector, too
/// @option modification "none"|"colour"|"bars"|"blob"|"noise"|"video" = "none" - AttentionAgent's changes of the world's looks
/// @option frames string ? - folder of PNG frames, shown beside the road in the order of the numbers in their names (2 before 10);
/// modification = "video" needs it, no other has it
/// @option early_stop integer 0..1000 = 0 - ends an episode, as truncated, after so many steps in a row that paid nothing but their
/// cost; 0: never
/// @use env.common
/// @see attention-agent.md
extern "C++" std::unique_ptr<Env> make_car_racing(Options& options) {
  constexpr int own = car_racing::picture_size;
  constexpr PictureSize standard{own, own};
  const PictureSize size = *read_pixels(options, standard);
  auto env = std::make_unique<car_racing::CarRacing>(options);
  if (size == standard) return env;
  return resize_images(std::move(env), size.height, size.width);
}

}  // namespace iap
