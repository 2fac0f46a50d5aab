module;
#include <mujoco/mujoco.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "core/fork_mutex.hpp"
module iap.sim;
import iap.core;
import iap.render;
#include "mujoco_scene.hpp"

namespace iap {
namespace {

Vec3 vec3(const float* v) { return {v[0], v[1], v[2]}; }

Shape shape_of(int type) {
  switch (type) {
    case mjGEOM_PLANE: return Shape::plane;
    case mjGEOM_SPHERE: return Shape::sphere;
    case mjGEOM_CAPSULE: return Shape::capsule;
    case mjGEOM_ELLIPSOID: return Shape::ellipsoid;
    case mjGEOM_CYLINDER: return Shape::cylinder;
    case mjGEOM_BOX: return Shape::box;
    default: return Shape::mesh;
  }
}

Texture::Kind kind_of(int type) {
  return type == mjTEXTURE_2D ? Texture::Kind::flat : type == mjTEXTURE_CUBE ? Texture::Kind::cube : Texture::Kind::sky;
}

// A texture and where it was found: who asks again for that image of that model need not look at its texels.
struct KnownTexture {
  std::weak_ptr<const Texture> texture;
  std::weak_ptr<const mjModel> model;
  int index;
};

// Worlds show the same images; a sky with its mipmaps takes 20 MB.
std::shared_ptr<const Texture> shared_texture(const std::shared_ptr<const mjModel>& model, int index) {
  static ForkMutex mutex;
  static std::vector<KnownTexture> known;
  const std::lock_guard lock(mutex);
  std::erase_if(known, [](const KnownTexture& entry) { return entry.texture.expired(); });
  for (const KnownTexture& entry : known)
    if (entry.index == index && entry.model.lock() == model)
      if (auto texture = entry.texture.lock()) return texture;
  const auto kind = kind_of(model->tex_type[index]);
  const int width = model->tex_width[index], height = model->tex_height[index];
  const std::span rgb(model->tex_rgb + model->tex_adr[index], static_cast<std::size_t>(width) * height * 3);
  std::shared_ptr<const Texture> texture;
  for (const KnownTexture& entry : known) {
    texture = entry.texture.lock();
    if (texture && texture->same_image(kind, width, height, rgb)) break;
    texture.reset();
  }
  if (!texture) texture = std::make_shared<const Texture>(kind, width, height, rgb);
  // Models come and go under a texture that stays.
  std::erase_if(known, [&](const KnownTexture& entry) { return entry.model.expired() && entry.texture.lock() == texture; });
  known.push_back({texture, model, index});
  return texture;
}

// MuJoCo's planes: the third size is half a cell; an endless one has 200 cells, a little more than the sky is wide.
std::array<float, 2> light_cell(const mjModel& model, const mjvGeom& geom) {
  if (geom.type != mjGEOM_PLANE) return {};
  const int material = geom.objtype == mjOBJ_GEOM ? model.geom_matid[geom.objid] : -1;
  const double far_plane = model.vis.map.zfar * model.stat.extent;
  std::array<float, 2> half{};
  for (int i = 0; i < 2; ++i) {
    const double repeat = material >= 0 ? model.mat_texrepeat[2 * material + i] : 0;
    const double spare = repeat > 0 ? 2 / repeat : 2.1 * far_plane / (mjMAXPLANEGRID - 2);
    half[i] = geom.size[i] > 0 ? geom.size[2] : static_cast<float>((2.1 * far_plane + 2 * spare) / (2 * mjMAXPLANEGRID));
  }
  return half;
}

void fill_primitive(const mjModel& model, const mjvGeom& geom, Primitive& primitive) {
  primitive.shape = shape_of(geom.type);
  primitive.size = vec3(geom.size);
  primitive.position = vec3(geom.pos);
  std::copy_n(geom.mat, 9, primitive.rotation.begin());
  std::copy_n(geom.rgba, 4, primitive.rgba.begin());
  primitive.emission = geom.emission;
  primitive.specular = geom.specular;
  primitive.shininess = geom.shininess;
  primitive.reflectance = geom.reflectance;
  primitive.texture = geom.texid;
  primitive.texture_repeat = {geom.texrepeat[0], geom.texrepeat[1]};
  primitive.texture_uniform = geom.texuniform != 0;
  primitive.light_cell = light_cell(model, geom);
}

void fill_mesh(const mjvGeom& geom, const std::shared_ptr<const Mesh>& mesh, MeshInstance& instance) {
  instance.mesh = mesh;
  instance.position = vec3(geom.pos);
  std::copy_n(geom.mat, 9, instance.rotation.begin());
  instance.rgb = vec3(geom.rgba);
  instance.emission = geom.emission;
  instance.specular = geom.specular;
  instance.shininess = geom.shininess;
  instance.texture = geom.texid;
  if (geom.texid < 0) return;
  if (geom.texcoord) {
    instance.texture_scale = {1, 1};
    instance.texture_shift = {};
    return;
  }
  // MuJoCo's planes through the mesh's own coordinates.
  for (int i = 0; i < 2; ++i) {
    const float size = !geom.texuniform && geom.size[i] > 0 ? geom.size[i] : 1;
    instance.texture_scale[i] = (i == 0 ? 0.5F : -0.5F) * geom.texrepeat[i] / size;
  }
  instance.texture_shift = {-0.5F, -0.5F};
}

void fill_light(const mjvLight& from, Light& light) {
  light.position = vec3(from.pos);
  light.direction = vec3(from.dir);
  light.ambient = vec3(from.ambient);
  light.diffuse = vec3(from.diffuse);
  light.specular = vec3(from.specular);
  light.attenuation = vec3(from.attenuation);
  light.cutoff_degrees = from.cutoff;
  light.exponent = from.exponent;
  light.directional = from.directional != 0;
  light.casts_shadow = from.castshadow != 0;
  light.headlight = from.headlight != 0;
}

}  // namespace

std::vector<std::shared_ptr<const Texture>> model_textures(const std::shared_ptr<const mjModel>& model) {
  std::vector<std::shared_ptr<const Texture>> textures;
  for (int i = 0; i < model->ntex; ++i) {
    check_interrupt();
    textures.push_back(shared_texture(model, i));
  }
  return textures;
}

void fill_scene(const mjModel& model, const mjvScene& visible, ModelMeshes& meshes, Scene& scene) {
  scene.primitives.resize(visible.ngeom);
  scene.meshes.clear();
  std::size_t count = 0;
  for (int i = 0; i < visible.ngeom; ++i) {
    const mjvGeom& geom = visible.geoms[i];
    if (geom.type == mjGEOM_MESH || geom.type == mjGEOM_HFIELD) {
      if (geom.rgba[3] > 0) fill_mesh(geom, meshes.get(model, geom), scene.meshes.emplace_back());
    } else {
      fill_primitive(model, geom, scene.primitives[count++]);
    }
  }
  scene.primitives.resize(count);
  scene.lights.resize(std::min(visible.nlight, mjMAXLIGHT));
  for (std::size_t i = 0; i < scene.lights.size(); ++i) fill_light(visible.lights[i], scene.lights[i]);
  scene.sky = -1;
  for (int i = model.ntex - 1; i >= 0; --i)
    if (model.tex_type[i] == mjTEXTURE_SKYBOX) scene.sky = i;

  const mjvGLCamera camera = mjv_averageCamera(visible.camera, visible.camera + 1);
  scene.camera.position = vec3(camera.pos);
  scene.camera.forward = vec3(camera.forward);
  scene.camera.up = vec3(camera.up);
  scene.camera.near_plane = camera.frustum_near;
  scene.camera.far_plane = camera.frustum_far;
  // Rounded from double precision: C libraries round single-precision arc tangents in ways of their own.
  const double half_angle = static_cast<float>(std::atan2(double{camera.frustum_top}, double{camera.frustum_near}));
  scene.camera.vertical_fov_degrees = static_cast<float>(2 * half_angle * 180 / std::numbers::pi);

  scene.shadow.cutoff_scale = model.vis.map.shadowscale;
  scene.shadow.directional_half_width = static_cast<float>(model.stat.extent * model.vis.map.shadowclip);
  scene.haze = visible.flags[mjRND_HAZE] != 0;
  scene.haze_fraction = model.vis.map.haze;
  std::copy_n(model.vis.rgba.haze, 4, scene.haze_rgba.begin());
}

}  // namespace iap
