module;
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
export module iap.envs.distraction:disturbance;
import iap.core;
import iap.sim;
import :videos;

export namespace iap {

/// What every distraction of an environment is built from: the options that they share, and what they disturb.
struct DisturbanceContext {
  double scale = 0;      ///< of the difficulty: 0.1, 0.2 or 0.3
  int videos = 0;        ///< how many of the first videos the difficulty shows; 0 for all
  bool dynamic = false;  ///< whether this distraction moves within an episode
  std::string folder;    ///< of videos; empty for the painted ones
  Split split = Split::train;
  std::string_view model;  ///< the suite's name of the model, such as "reacher"
  MujocoWorld& world;
  int camera = 0, height = 0, width = 0;  ///< of the pictures
};

/// One distraction of one environment. It changes what is seen, never the physics. Not thread-safe.
class Disturbance {
 public:
  virtual ~Disturbance() = default;
  /// Begins an episode; `world` is in its initial state. All of the episode's draws come from `random`, its own stream.
  virtual void reset(MujocoWorld& world, Random random) = 0;
  /// Advances by one control step.
  virtual void step() {}
  /// Changes what `view` sees of `world`.
  virtual void apply(MujocoWorld& world, MujocoCamera& view) { (void)world, (void)view; }
  /// Puts back in `world` what sensors read, too.
  virtual void restore(MujocoWorld& world) noexcept { (void)world; }
  /// Changes the picture that was drawn: height x width x 3, rows top-down. Looking twice at one moment shows the same.
  virtual void disturb(std::span<std::uint8_t> rgb) { (void)rgb; }
};

/// One row of the catalog. A new row goes to the end: a row's place is its stream of random numbers.
struct DisturbanceEntry {
  std::string name;      ///< its option in the table `distraction`
  std::string disturbs;  ///< what it changes, in a few words
  bool graded = false;   ///< whether a difficulty alone switches it on
  /// Builds it from its own table (`dynamic` is read already). @throws Error naming the option.
  std::unique_ptr<Disturbance> (*make)(Options& options, const DisturbanceContext& context);
};

/// Every distraction this build knows.
std::span<const DisturbanceEntry> disturbance_catalog();

}  // namespace iap
