module;
#include <cstdint>
#include <memory>
#include <span>
export module iap.render:draw;
import iap.core;
import :scene;

export namespace iap {

/// The CPU ray caster. Deterministic: a frame is a function of scene, options and size, whatever thread draws it.
/// Owns its workspace; one instance a thread.
class Caster {
 public:
  Caster();
  ~Caster();
  Caster(Caster&&) noexcept;
  Caster& operator=(Caster&&) noexcept;
  /// Draws height x width x 3 uint8 RGB, rows top-down.
  void draw(const Scene& scene, const DrawOptions& options, int height, int width, std::span<std::uint8_t> rgb);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace iap
