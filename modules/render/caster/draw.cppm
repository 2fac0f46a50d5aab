module;
#include <cstdint>
#include <memory>
#include <span>
export module iap.render:draw;
import iap.core;
import :scene;

export namespace iap {

/// The CPU ray caster. It draws a scene as MuJoCo's own OpenGL renderer does: OpenGL's fixed-function lighting, planes lit at the
/// corners of MuJoCo's grid, MuJoCo's order of passes and of blending, mipmapped textures. What differs, by design: curved shapes
/// and the sky's horizon are exact rather than tessellated, and lit at each pixel; shadows are exact rather than read from a map of
/// finite resolution (though outside of that map's range nothing is in shadow, either); mipmaps blend by the width of each pixel's
/// own footprint. On the suite's five models, distracted or not, the mean difference from OpenGL is 0.1 to 0.4 of 255
/// (docs/pictures.md).
/// `Scene::meshes` are drawn with the rest; primitives that stand for MuJoCo's own meshes, height fields, skins, lines and arrows
/// are errors; labels and fog are left out. Deterministic: a frame is a function of scene, options and size, whatever thread draws
/// it and whatever SIMD the machine has (but see `Mesh`). Owns its workspace, and what it saw of the sky, which stays the same
/// until the camera turns; one instance a thread.
class Caster {
 public:
  Caster();
  ~Caster();
  Caster(Caster&&) noexcept;
  Caster& operator=(Caster&&) noexcept;
  /// Draws height x width x 3 uint8 RGB, rows top-down. Allocates nothing when the call before had a scene and a picture of the
  /// same size. @throws Error if a size does not fit or the scene holds a primitive of shape mesh.
  void draw(const Scene& scene, const DrawOptions& options, int height, int width, std::span<std::uint8_t> rgb);
  /// Measures height x width distances in metres, rows top-down, as a depth camera does: along the optical axis, not along the
  /// rays, to the nearest opaque surface beyond the near plane, through the middle of each pixel; the far plane's where there is
  /// none. Allocates nothing when the call before had a scene of the same size. @throws Error as `draw`.
  void draw_depth(const Scene& scene, int height, int width, std::span<float> metres);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace iap
