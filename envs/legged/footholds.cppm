module;
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
export module iap.envs.legged:footholds;
import iap.core;
import iap.env;
import iap.sim;
import :locomotion;

export namespace iap {

/// Ground of an episode, with the start's top at height 0, and where along x its goal lies.
struct FootholdCourse {
  Terrain terrain;
  double goal = 0;
};

/// Stones across a robot's way, each as wide as `width`: a start, `count` stones with a gap before each, and an end, over a floor
/// `depth` below. Lengths in metres.
struct StepstonesOptions {
  double width = .5;
  double least_start = .75, most_start = 1;  ///< length of the start
  double behind = .45;                       ///< how much of it lies behind the robot's centre
  double least_length = .5, most_length = .8;
  double least_gap = .1, most_gap = .2;
  int count = 10;
  double finish = 2;  ///< length of the end
  double depth = 1;
};

/// Box 0 is the floor below, box 1 the start, then the stones in order and the end.
FootholdCourse stepstones(const StepstonesOptions& options, Random& random);

/// A robot with Locomotion below the policy, which chooses footholds at a slower rate on ground that has few. Options, observation,
/// action, reward and ends are those of docs/robots.md.
class FootholdEnv : public Env {
 public:
  using Ground = std::function<FootholdCourse(Random&)>;

  /// Reads the options of what is common to such environments; `ground` makes each episode's course.
  FootholdEnv(std::string name, Options& options, Ground ground);
  ~FootholdEnv() override;

  const EnvSpec& spec() const override;
  void reset(std::uint64_t seed) override;
  StepResult step(std::span<const float> action) override;
  Observation observe() override;

  /// What a scripted policy may see besides the observation.
  const RobotWorld& world() const;
  const Locomotion& locomotion() const;
  /// What an action's value of 1 means for toe offsets, x, y and z, in metres.
  const std::array<double, 3>& reach() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace iap
