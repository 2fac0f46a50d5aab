module;
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>
export module iap.envs.mujoco:task;
import iap.core;
import iap.env;
import iap.render;
import iap.sim;
import iap.envs.distraction;

export namespace iap {

/// What a task tells its base class.
struct MujocoTaskInfo {
  std::string_view name;   ///< as messages and the spec call it
  std::string_view model;  ///< the suite's name of the model, which some distractions ask for; "" for others
  int physics_steps = 1;   ///< physics steps a control step
  int max_steps = 1000;    ///< time limit in control steps; 0 for none
  Config camera = 0;       ///< the camera unless the options say another: its index or name
};

/// Base of the tasks on MuJoCo's models. Actions in [-1, 1] are mapped linearly onto each actuator's control range, of which
/// [-1, 1] itself is taken as it is. An episode ends at the time limit, when the task says so, and when the simulation is unstable.
/// Options: `pixels` = {height, width} adds an RGB image "pixels"; `state` adds the state vector (default: without pixels);
/// `camera`, an index or a name; `render`, see `read_draw_options`; `distraction`, see `Distraction`, for pictures only.
class MujocoTask : public Env {
 public:
  const EnvSpec& spec() const final { return spec_; }
  void reset(std::uint64_t seed) final;
  StepResult step(std::span<const float> action) final;
  Observation observe() final;

  /// The simulation. What is written into it lasts until the next `reset`.
  MujocoWorld& world() { return world_; }
  const MujocoWorld& world() const { return world_; }

 protected:
  /// @throws Error naming the option, or an actuator without a range.
  MujocoTask(const MujocoTaskInfo& info, MujocoWorld world, Options& options);

  /// Says how many numbers `write_state` writes; tasks call it when they are built. Without the option `state` it does nothing.
  void set_state_size(int count);
  /// Says what they are, in their order, afterwards.
  void name_state(std::vector<std::string> names);
  bool shows_state() const { return shows_state_; }
  /// "position of NAME" for each joint of the model from number `first` on, of joints with several coordinates "position of NAME
  /// 1" and so on; and the velocities of all of them.
  std::vector<std::string> joint_positions(int first = 0) const;
  std::vector<std::string> joint_velocities() const;
  /// Puts the world where an episode begins: the model's initial state, and what the task writes into it.
  void begin(Random& random);
  void draw();
  /// Of the present episode: its seed, and how many steps of it there were.
  std::uint64_t seed() const { return seed_; }
  int steps() const { return steps_; }

  EnvSpec spec_;

 private:
  /// Undoes what episodes change in the model itself, before `world` is put into the model's initial state.
  virtual void restore(MujocoWorld& /*world*/) {}
  /// Writes the initial positions and velocities into `world`, which stands in the model's initial state.
  virtual void start(MujocoWorld& world, Random& random) = 0;
  /// The reward of the present state.
  virtual double reward() const = 0;
  /// Fills the state observation.
  virtual void write_state(std::span<float> state) const = 0;
  /// Whether the present state ends the episode.
  virtual bool terminated() const { return false; }

  void read_ranges();
  void read_options(const MujocoTaskInfo& info, Options& options);
  void control();

  MujocoWorld world_;
  MujocoCamera view_;
  DrawOptions draw_options_;
  std::unique_ptr<Distraction> distraction_;
  int physics_steps_, max_steps_, camera_ = 0;
  std::uint64_t seed_ = 0;
  int steps_ = 0;
  bool shows_state_ = false, drawn_ = false;
  std::vector<float> action_, state_;
  std::vector<std::array<double, 2>> ranges_;  ///< middle and half width of each control; empty where all are [-1, 1]
  std::vector<Image> pixels_;
  std::vector<ImageView> views_;
};

/// Draws each limited joint of `world` uniformly from its range (of a ball: an axis, and an angle up to its limit), each unlimited
/// hinge from [-pi, pi] and the rotation of each unlimited ball and free joint uniformly; other joints stay, positions of free ones
/// too. With `limited_only`, unlimited ones stay.
void randomize_joints(MujocoWorld& world, Random& random, bool limited_only);

}  // namespace iap
