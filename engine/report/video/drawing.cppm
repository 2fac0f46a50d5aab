module;
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
/// Episodes drawn at a size for people.
export module iap.report:drawing;
import iap.core;
import iap.env;

export namespace iap {

/// Plays an episode along in an environment of its own, whose pictures have another size than those that are observed.
class EnvDrawing {
 public:
  /// Draws the environment of `config` in `size`; one that draws in a single size is resized by area averaging. @throws Error if it
  /// shows nothing, or nothing in that size.
  EnvDrawing(const Config& config, PictureSize size);
  ~EnvDrawing();

  PictureSize size() const;
  /// What the environment that is watched does, and what came of it there. What goes wrong here is told by `picture` alone.
  void reset(std::uint64_t seed);
  void step(std::span<const float> action, const StepResult& result);
  /// The present, 8-bit RGB, of which `seen` is what the environment that is watched, of spec `watched`, shows. @throws Error if it
  /// is another: "drawn in this size, the environment pays another reward, so that it is not the same episode".
  Image picture(const EnvSpec& watched, const Observation& seen);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace iap

namespace iap {

/// An environment that is drawn at another size plays along with one that is watched: whether both go the same way.
class PlayedAlong {
 public:
  /// `config` is that of both, but for the size.
  PlayedAlong(std::unique_ptr<Env> env, const Config& config);

  const EnvSpec& spec() const { return env_->spec(); }
  /// Nothing but Interrupted leaves these, that the episode which is watched need not end for its pictures: what else is thrown is
  /// a way to go astray, and who is astray is not stepped until the next reset.
  void reset(std::uint64_t seed);
  /// `result` is what the environment that is watched gave for this action.
  void step(std::span<const float> action, const StepResult& result);
  /// The present, of which `seen` is what the environment that is watched, of spec `watched`, shows; nothing of one that is astray.
  Observation present(const EnvSpec& watched, const Observation& seen);
  /// What this environment does otherwise, "pays another reward"; "" as long as both go the same way.
  const std::string& astray() const { return astray_; }

 private:
  template <typename Work>
  void attempt(Work work);

  std::unique_ptr<Env> env_;
  bool draws_itself_;
  std::string astray_;
};

/// The environment of `config` drawn in `size`, or nothing if the size of its pictures is its own. @throws Error if it has no
/// pictures of that size, saying why.
std::unique_ptr<Env> drawn_at(Config config, PictureSize size);

}  // namespace iap
