module;
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>
export module iap.envs.dm_control:task;
import iap.core;
import iap.env;
import iap.render;
import iap.sim;
import iap.envs.distraction;

export namespace iap {

/// What a task of the suite tells its base class.
struct ControlTaskInfo {
  std::string_view name;   ///< the catalog's name
  std::string_view model;  ///< a name `dm_control_files` knows
  int physics_steps = 1;   ///< physics steps a control step
  int state_size = 0;      ///< numbers in the state observation
  int max_steps = 1000;    ///< time limit in control steps
};

/// Base of the tasks of the DeepMind Control Suite (Tassa et al. 2018): a MuJoCo model, actions in [-1, 1] as its controls,
/// rewards in [0, 1] a step, time limit only. Options: `pixels` = {height, width} adds an RGB image "pixels"; `state` adds the
/// state vector (default: without pixels); `camera`, an index or a name (default 0); `render`, see `read_draw_options`;
/// `distraction`, see `Distraction`, for pictures only.
class ControlTask : public Env {
 public:
  const EnvSpec& spec() const final { return spec_; }
  void reset(std::uint64_t seed) final;
  StepResult step(std::span<const float> action) final;
  Observation observe() final;

  /// The simulation. What is written into it lasts until the next `reset`.
  MujocoWorld& world() { return world_; }
  const MujocoWorld& world() const { return world_; }

 protected:
  /// @throws Error naming the option.
  ControlTask(const ControlTaskInfo& info, Options& options);

  /// Says what `write_state` writes, in its order; tasks call it when they are built.
  void name_state(std::vector<std::string> names);
  /// "position of NAME" for each joint of the model from number `first` on; and the velocities of all of them.
  std::vector<std::string> joint_positions(int first = 0) const;
  std::vector<std::string> joint_velocities() const;

 private:
  /// Writes the initial positions and velocities into `world`, which stands in the model's initial state.
  virtual void start(MujocoWorld& world, Random& random) = 0;
  /// The reward of the present state, in [0, 1].
  virtual double reward() const = 0;
  /// Fills the state observation.
  virtual void write_state(std::span<float> state) const = 0;

  void read_options(const ControlTaskInfo& info, Options& options);

  MujocoWorld world_;
  MujocoCamera view_;
  EnvSpec spec_;
  DrawOptions draw_options_;
  std::unique_ptr<Distraction> distraction_;
  int physics_steps_, max_steps_, camera_ = 0;
  int steps_ = 0;
  bool running_ = false, drawn_ = false;
  std::vector<float> action_, state_;
  std::vector<Image> pixels_;
  std::vector<ImageView> views_;
};

/// Option `reward` of the tasks whose own reward is 0 nearly everywhere: "task" (their own), or "dense", which also says how near
/// the goal is; something to train on, never to report.
bool read_dense_reward(Options& options);

/// Draws each limited joint of `world` uniformly from its range and each unlimited hinge from [-pi, pi]; other joints stay.
/// With `limited_only`, unlimited hinges stay too.
void randomize_joints(MujocoWorld& world, Random& random, bool limited_only);

}  // namespace iap
