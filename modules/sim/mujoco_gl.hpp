// MuJoCo's own OpenGL drawing of one model. Include after `module iap.sim;`, with <memory>, <span>, <string>, <vector> and mujoco.h
// before it.
#pragma once

namespace iap {

// Draws into a buffer of its own. Not thread-safe, but may move between threads.
class MujocoGl {
 public:
  // Buffers for pictures of up to height x width. Throws Error if there is no OpenGL.
  MujocoGl(const mjModel& model, int height, int width, int samples);
  ~MujocoGl();
  MujocoGl(const MujocoGl&) = delete;
  MujocoGl& operator=(const MujocoGl&) = delete;

  bool fits(int height, int width, int samples) const;
  // height x width x 3, rows top-down.
  void draw(mjvScene& scene, int height, int width, std::span<std::uint8_t> rgb);
  // Shows another image in place of texture `index` of the model.
  void replace_texture(int index, const Texture& texture);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace iap
