module;
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>
export module iap.envs.legged:footholds;
import iap.core;
import iap.env;
import iap.sim;
import :locomotion;

export namespace iap {

/// Ground of an episode, with the start's top at height 0.
struct FootholdCourse {
  Terrain terrain;
  std::vector<double> marks;  ///< where along x the ground behind each gap, step or row of stones begins, rising, m
  double goal = 0;            ///< where along x it lies, m
  double rise = 0;            ///< how much higher the ground is there, m
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

/// Small square stones in rows and columns, turned together about the middle of the start's front edge, with a gap of its own
/// before each row and between two columns; a start before them and an end behind, over a floor `depth` below. Lengths in metres.
struct GridOptions {
  double stone = .15;
  double least_gap = .13, most_gap = .17;
  double rotation = .1;  ///< rad, the most that the grid is turned either way
  int rows = 12, columns = 6;
  double width = .6;  ///< of the start; the end is as wide as the grid
  double least_start = .75, most_start = 1;
  double behind = .45;
  double finish = 2;
  double depth = 1;
};

/// Box 0 is the floor below, box 1 the start, then the stones row by row, from right to left, and the end.
FootholdCourse stone_grid(const GridOptions& options, Random& random);

/// Flights of stairs up from a start, a landing between two flights and an end on top. A flight has one tread less than it has
/// steps; the landing is the last. Lengths in metres.
struct StairsOptions {
  double width = 1;
  double least_depth = .25, most_depth = .33;  ///< of a tread, each its own
  double least_rise = .16, most_rise = .19;    ///< of a step, each its own
  int steps = 6, flights = 2;
  double least_landing = .8, most_landing = 1.2;
  double least_start = .75, most_start = 1;
  double behind = .45;
  double finish = 2;
  double depth = .5;  ///< of the floor beside the stairs below the start
};

/// Box 0 is the floor, box 1 the start, then treads and landings in order and the end.
FootholdCourse stairs(const StairsOptions& options, Random& random);

/// What actions of a FootholdEnv mean, and the gait below them. Metres, seconds and radians.
struct FootholdRanges {
  std::array<double, 3> toe{.2, .05, .03};            ///< the most that a toe is sent beside its place, x, y and z
  double least_clearance = .05, most_clearance = .1;  ///< of a swinging toe
  double speed = .3, velocity = .05;                  ///< ahead; the most that it is faster, slower or goes sideways
  double twist = .2;                                  ///< rad/s
  double least_height = .42, most_height = .48;       ///< of the base
  double roll = .05, pitch = .2;
  double stance = .3, duty = .6;  ///< of the gait
  double peak = .7;               ///< how far on its way a swinging toe is at its highest, 0 ... 1
  double settle = .1;             ///< in which the height of the ground follows that of the footholds
  const char* gait = "trot";      ///< or "walk"
};

/// A robot with Locomotion below the policy, which chooses footholds at a slower rate on ground that has few. Options, observation,
/// action, reward and ends are those of docs/robots.md.
class FootholdEnv : public Env {
 public:
  using Ground = std::function<FootholdCourse(Random&)>;

  /// Reads the options of what is common to such environments; `ground` makes each episode's course, `usual` are the fallbacks of
  /// the options that it is about.
  FootholdEnv(std::string name, Options& options, Ground ground, const FootholdRanges& usual = {});
  ~FootholdEnv() override;

  const EnvSpec& spec() const override;
  void reset(std::uint64_t seed) override;
  StepResult step(std::span<const float> action) override;
  Observation observe() override;

  /// What a scripted policy may see besides the observation.
  const RobotWorld& world() const;
  const Locomotion& locomotion() const;
  const FootholdRanges& ranges() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace iap
