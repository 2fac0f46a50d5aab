module;
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
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
  /// What the environment that is watched does.
  void reset(std::uint64_t seed);
  void step(std::span<const float> action);
  /// The sum of the rewards so far: that of the environment which is watched, as long as both go the same way.
  double total() const;
  /// The present: 8-bit RGB.
  Image picture();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace iap

namespace iap {

/// The environment of `config` drawn in `size`, or nothing if the size of its pictures is its own. @throws Error if it has no
/// pictures of that size, saying why.
std::unique_ptr<Env> drawn_at(Config config, PictureSize size);

}  // namespace iap
