module;
#include <cstdint>
#include <memory>
#include <span>
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
  /// state and appearance. @throws Error if the drawing path is not available.
  void draw(MujocoWorld& world, int camera, const DrawOptions& options, int height, int width, std::span<std::uint8_t> rgb);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace iap
