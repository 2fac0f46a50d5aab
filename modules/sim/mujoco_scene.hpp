// A Scene from MuJoCo's own list of what is to be seen. Include after `module iap.sim;`, with <memory> and mujoco.h before it.
#pragma once

namespace iap {

// The textures of a model, built once in the process for each different image.
std::vector<std::shared_ptr<const Texture>> model_textures(const mjModel& model);

// Fills everything of `scene` but its textures from an updated mjvScene, in its order. Reuses the scene's memory.
void fill_scene(const mjModel& model, const mjvScene& visible, Scene& scene);

}  // namespace iap
