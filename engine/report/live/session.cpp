module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>
module iap.report;
import iap.core;
import iap.env;
import iap.policy;
import iap.rollout;
import :controls;
import :live;
import :status;
import :video;
import :viewer;

namespace iap {
namespace {

constexpr double shortest_wait = 0.001;
constexpr double longest_wait = 0.05;  ///< until Ctrl-C is looked for again
constexpr double picture_seconds = 1.0 / 60;
constexpr double farthest_behind = 0.25;  ///< what is missed beyond it is not made up for
constexpr double end_seconds = 2;
constexpr double never = -1e9;

/// Where a person's actions take the place of the policy's, and where an episode can be left.
class Steered final : public Env {
 public:
  Steered(Env& env, const LiveControls& controls) : env_(env), controls_(controls) {}

  const EnvSpec& spec() const override { return env_.spec(); }
  void reset(std::uint64_t seed) override {
    env_.reset(seed);
    steered_ = 0;
  }
  Observation observe() override { return env_.observe(); }
  Env& unwrapped() override { return env_.unwrapped(); }
  StepResult step(std::span<const float> action) override {
    if (controls_.leaves()) return {.truncated = true};
    if (!controls_.steers()) return env_.step(action);
    ++steered_;
    std::vector<float> own = controls_.outputs();
    const float middle = 0.5F * (spec().action_low + spec().action_high), half = 0.5F * (spec().action_high - spec().action_low);
    for (float& value : own) value = middle + half * value;
    return env_.step(own);
  }
  int steered() const { return steered_; }

 private:
  Env& env_;
  const LiveControls& controls_;
  int steered_ = 0;
};

std::string speed_text(double speed) { return text(speed, "x"); }

std::string steps_of(int steps) { return text(steps, steps == 1 ? " step" : " steps"); }

class Session {
 public:
  Session(Policy& policy, const Config& config, const LiveOptions& options)
      : policy_(policy),
        options_(options),
        viewer_(config, policy.observation(),
                {.scale = options.video.scale, .redraw = options.video.redraw, .steps = options.video.steps, .all = true}),
        controls_(viewer_.views(), options.video.view, key_actions(viewer_.env().spec())),
        env_(viewer_.env(), controls_),
        step_seconds_(1 / frame_rate(viewer_.env().spec(), options.video.fps, 1e9).fps),
        seed_(options.video.seed) {}

  void run() {
    window_ = options_.open(text(viewer_.env().spec().name, " - iap"), viewer_.width(), viewer_.height() + status_height());
    for (; !controls_.quits(); ++seed_) {
      controls_.begin();
      try {
        play();
      } catch (...) {
        tell();
        throw;
      }
      tell();
      if (!controls_.leaves()) rest();
    }
  }

 private:
  void play() {
    began_ = over_ = false;
    due_ = window_->now() + step_seconds_ / controls_.speed();
    run_episode(env_, policy_, seed_, [&](const Observation& observation, std::span<const float>, const Policy& acting) {
      began_ = true;
      await_step([&] { return viewer_.picture(controls_.view(), observation, acting); });
    });
    over_ = !controls_.leaves();
  }

  /// Shows the present, and returns when the next step is due.
  template <typename Draw>
  void await_step(const Draw& draw) {
    bool current = false, asked = false;
    for (;;) {
      check_interrupt();
      asked |= handle_events(0);
      // A step that is soon over need not be seen; what a person asked for must be.
      const double until_picture = shown_at_ + picture_seconds - window_->now();
      if (asked || (!current && (controls_.paused() || until_picture <= 0))) {
        picture_ = draw();
        show();
        current = true;
        asked = false;
      }
      if (controls_.leaves() || controls_.take_step()) break;
      if (controls_.paused()) due_ = window_->now() + longest_wait;
      const double left = due_ - window_->now();
      if (left <= 0) break;
      const double wait = std::min(left, longest_wait);
      asked = handle_events(current ? wait : std::min(wait, std::max(until_picture, shortest_wait)));
    }
    due_ = std::max(due_, window_->now() - farthest_behind) + step_seconds_ / controls_.speed();
  }

  /// What the last step led to, until the next episode is asked for or due.
  void rest() {
    const Observation observation = env_.observe();
    // Attention is to be that to this picture. What broke down may show anything, and blocks may refuse what nobody acts on.
    try {
      if (observation_flaw(env_.spec(), observation).empty()) policy_.act(observation);
    } catch (const Error&) {
    }
    const auto redraw = [&] {
      picture_ = viewer_.picture(controls_.view(), observation, policy_);
      show();
    };
    redraw();
    for (const double until = window_->now() + end_seconds; !controls_.leaves() && !controls_.take_step();) {
      check_interrupt();
      if (!controls_.paused() && window_->now() >= until) break;
      if (handle_events(longest_wait)) redraw();
    }
  }

  /// Whether there was any event; waits for the first up to `seconds`.
  bool handle_events(double seconds) {
    bool any = false;
    for (auto event = window_->wait(seconds); event; event = window_->wait(0)) {
      controls_.handle(*event);
      any = true;
    }
    return any;
  }

  void show() {
    window_->show(with_status(picture_, status()));
    shown_at_ = window_->now();
  }

  LiveStatus status() const {
    LiveStatus status;
    status.left = text(over_ ? "episode over: return " : "return ", fixed_text(viewer_.total(), 2));
    if (env_.steered() > 0) status.left += text(" (a person steered ", env_.steered(), " of ", steps_of(viewer_.steps()), ")");
    const double dt = env_.spec().control_dt;
    status.left +=
        text("   ", dt > 0 ? fixed_text(viewer_.steps() * dt, 2) + " s" : text("step ", viewer_.steps()), "   seed ", seed_);
    status.right = text(picture_view_names()[static_cast<std::size_t>(controls_.view())], "   ",
                        controls_.paused() ? "paused" : speed_text(controls_.speed()));
    status.steered = controls_.steers();
    status.below = LiveControls::help();
    if (!status.steered) return status;
    std::string keys;
    for (const auto& entry : controls_.keys().keys) keys += text(keys.empty() ? "" : " ", entry.name);
    status.below = text("A PERSON STEERS: ", keys, "   (t gives back to the policy)");
    return status;
  }

  void tell() const {
    if (began_ && options_.on_episode)
      options_.on_episode(
          {.seed = seed_, .steps = viewer_.steps(), .total = viewer_.total(), .steered = env_.steered(), .ended = over_});
  }

  Policy& policy_;
  const LiveOptions& options_;
  Viewer viewer_;
  LiveControls controls_;
  Steered env_;
  std::unique_ptr<LiveWindow> window_;
  Image picture_;
  double step_seconds_, due_ = 0, shown_at_ = never;
  std::uint64_t seed_;
  bool began_ = false, over_ = false;
};

}  // namespace

void play_live(Policy& policy, const Config& env, const LiveOptions& options) { Session(policy, env, options).run(); }

}  // namespace iap
