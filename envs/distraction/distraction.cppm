module;
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
export module iap.envs.distraction:distraction;
import iap.core;
import iap.sim;
import :disturbance;

export namespace iap {

/// The distractions of one environment (Stone et al. 2021, the Distracting Control Suite, and what the catalog has beside it): what
/// its camera sees changes, the physics does not. All draws are functions of the episode's seed; each distraction has a stream of
/// its own.
class Distraction {
 public:
  /// Reads `config`, which is "easy", "medium", "hard" or a table: {difficulty, dynamic, videos, split} and, for each row of
  /// `disturbance_catalog`, false, true or a table of its own numbers. Numbers that are left out follow from the difficulty and
  /// from `dynamic`. `model` names the suite's model; `height` and `camera` are those of the pictures.
  /// @throws Error naming the option.
  Distraction(const Config& config, const std::string& owner, std::string_view model, MujocoWorld& world, int camera, int height,
              int width);

  /// Every option; building from it gives the same distractions.
  const Config& config() const { return config_; }
  /// What was given, as tables: {difficulty = "easy"} for "easy", {} for a part that is true.
  const Config& given() const { return given_; }
  /// Whether nothing of the distraction and its part `part` (a row of `disturbance_catalog`) was left to be filled in but what is
  /// off: so are tables out of files, which hold what distractions became, by whatever program, and must act as they did.
  bool is_written_out(std::string_view part) const;
  /// Begins an episode; `world` is in its initial state.
  void reset(MujocoWorld& world, std::uint64_t seed);
  /// Advances by one control step.
  void step();
  /// Changes what `view` sees of `world`; `restore` comes before its next step. @throws Error naming a background that cannot be
  /// read; sensors then read what they did.
  void apply(MujocoWorld& world, MujocoCamera& view);
  /// Puts back in `world` what `apply` changed and sensors read, too.
  void restore(MujocoWorld& world) noexcept;
  /// Changes the picture that was drawn, height x width x 3.
  void disturb(std::span<std::uint8_t> rgb);

 private:
  Config config_, given_;
  std::vector<std::pair<std::uint32_t, std::unique_ptr<Disturbance>>> parts_;  ///< each with its stream
};

}  // namespace iap
