module;
#include <cstdint>
#include <memory>
#include <span>
export module iap.render:draw;
import iap.core;
import :scene;

export namespace iap {

/// The CPU ray caster. It draws a scene as MuJoCo's own OpenGL renderer does: OpenGL's fixed-function lighting, MuJoCo's order of
/// passes, mipmapped textures. What differs, by design: shapes and the sky's horizon are exact rather than tessellated; light is
/// computed for each pixel rather than for each vertex, so that the edge of a spot is sharp where MuJoCo smears it over a square of
/// the floor's grid; shadows are exact rather than read from a map of finite resolution (though outside of that map's range nothing
/// is in shadow, either); mipmaps blend by the width of each pixel's own footprint. On the suite's models at 100 x 100 the mean
/// difference from OpenGL stays under 1.5 of 255: 1.2 at most was measured, where a spot's edge crosses the floor.
/// Meshes, height fields, skins, lines and arrows are errors; labels and fog are left out.
/// Deterministic: a frame is a function of scene, options and size, whatever thread draws it and whatever SIMD the machine has.
/// Owns its workspace; one instance a thread.
class Caster {
 public:
  Caster();
  ~Caster();
  Caster(Caster&&) noexcept;
  Caster& operator=(Caster&&) noexcept;
  /// Draws height x width x 3 uint8 RGB, rows top-down. Allocates nothing when the call before had a scene and a picture of the
  /// same size. @throws Error if a size does not fit or the scene holds a mesh.
  void draw(const Scene& scene, const DrawOptions& options, int height, int width, std::span<std::uint8_t> rgb);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace iap
