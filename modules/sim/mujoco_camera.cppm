module;
#include <cstdint>
#include <memory>
#include <span>
#include <string>
export module iap.sim:mujoco_camera;
import iap.render;
import :mujoco;

export namespace iap {

/// Draws what a camera of a MuJoCo world sees. Owns its workspace; one instance a thread.
class MujocoCamera {
 public:
  MujocoCamera();
  ~MujocoCamera();
  MujocoCamera(MujocoCamera&&) noexcept;
  MujocoCamera& operator=(MujocoCamera&&) noexcept;
  /// Draws camera `camera` of `world` as height x width x 3 uint8 RGB, rows top-down. A picture is a function of the world's
  /// state and appearance and of the replaced textures. Allocates nothing when the call before had the same world and size.
  /// @throws Error if the drawing path is not available or `camera`, the size or `rgb` does not fit.
  void draw(MujocoWorld& world, int camera, const DrawOptions& options, int height, int width, std::span<std::uint8_t> rgb);

  /// Shows `image` in place of texture `texture` of the worlds drawn from now on; an empty pointer brings the model's own back.
  /// The image must be flat where the model's is, and cube or sky where the model's is one of those. @throws Error in `draw`.
  void replace_texture(int texture, std::shared_ptr<const Texture> image);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The OpenGL that `DrawOptions::Path::gl` would use, as "renderer (vendor, version)", or "none: why".
std::string describe_gl();

}  // namespace iap
