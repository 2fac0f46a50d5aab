// A Scene from MuJoCo's own list of what is to be seen. Include after `module iap.sim;`, with <memory>, <string>, <vector> and
// mujoco.h before it.
#pragma once

namespace iap {

// The textures of a compiled model, built once in the process for each different image.
std::vector<std::shared_ptr<const Texture>> model_textures(const std::shared_ptr<const mjModel>& model);

// The meshes of a model, then its height fields, for the caster; each is made when `get` is first asked for it, and once in the
// process for each different surface.
class ModelMeshes {
 public:
  // `geom` must be of one of these types. The model stays the same from call to call.
  const std::shared_ptr<const Mesh>& get(const mjModel& model, const mjvGeom& geom);

 private:
  std::vector<std::shared_ptr<const Mesh>> meshes_;
};

// What of `visible` the caster cannot draw, in words; "" for nothing.
std::string beyond_caster(const mjModel& model, const mjvScene& visible);

// Fills everything of `scene` but its textures from an updated mjvScene, in its order. Reuses the scene's memory.
void fill_scene(const mjModel& model, const mjvScene& visible, ModelMeshes& meshes, Scene& scene);

}  // namespace iap
