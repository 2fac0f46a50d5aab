module;
#include <mujoco/mujoco.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/fork_mutex.hpp"
module iap.sim;
import iap.core;
import iap.render;
#include "mujoco_gl.hpp"
#include "mujoco_internal.hpp"
#include "mujoco_scene.hpp"

namespace iap {
namespace {

// MuJoCo's list of what is to be seen, of one model.
class Visible {
 public:
  explicit Visible(const mjModel& model) {
    const MujocoCall call;
    mjv_defaultScene(&scene);
    mjv_makeScene(&model, &scene, most_geoms(model));
    mjv_defaultOption(&options_);
    options_.flags[mjVIS_RANGEFINDER] = 0;  // a sensor's lines, which DM Control leaves out, too
    mjv_defaultCamera(&camera_);
    camera_.type = mjCAMERA_FIXED;
  }
  ~Visible() { mjv_freeScene(&scene); }
  Visible(const Visible&) = delete;
  Visible& operator=(const Visible&) = delete;

  void update(const mjModel& model, mjData& data, int camera, const DrawOptions& options) {
    camera_.fixedcamid = camera;
    scene.flags[mjRND_SHADOW] = options.shadows;
    scene.flags[mjRND_REFLECTION] = options.reflection;
    scene.flags[mjRND_SKYBOX] = options.sky;
    const MujocoCall call;
    // It lays endless planes around the camera before it looks where that is.
    mjv_updateCamera(&model, &data, &camera_, &scene);
    mjv_updateScene(&model, &data, &options_, nullptr, &camera_, mjCAT_ALL, &scene);
  }

  mjvScene scene;

 private:
  /// MuJoCo leaves out what comes after, and says it nowhere.
  static int most_geoms(const mjModel& model) {
    // A tendon goes twice through a geom that it winds around; one that hangs is drawn as a chain. Cranks are two parts.
    constexpr int others = 1000, points_a_wrap = 2, parts_of_a_chain = 30, parts_of_a_crank = 2;
    return others + model.ngeom + model.nsite + points_a_wrap * model.nwrap + parts_of_a_chain * model.ntendon +
           parts_of_a_crank * model.nu + model.nsensor;
  }

  mjvOption options_;
  mjvCamera camera_;
};

// Says once in the process that OpenGL takes over. @throws Error where there is none.
void note_gl(const std::string& beyond) {
  static ForkMutex mutex;
  static bool told = false;
  const std::lock_guard lock(mutex);
  if (told) return;
  if (const std::string gl = describe_gl(); gl.starts_with("none"))
    throw Error(text("the model shows ", beyond, ", which the CPU caster does not draw, and there is no OpenGL (", gl.substr(6),
                     "); leave it out of the pictures, such as by group=\"3\""));
  std::fputs(text("iap: the model shows ", beyond, ", which the CPU caster does not draw: its pictures are OpenGL's\n").c_str(),
             stderr);
  told = true;
}

bool same_kind(const Texture& a, const Texture& b) {
  return (a.kind() == Texture::Kind::flat) == (b.kind() == Texture::Kind::flat);
}

}  // namespace

struct MujocoCamera::Impl {
  std::shared_ptr<const char> identity;  // of the world that all of the following belongs to
  std::optional<Visible> visible;
  std::vector<std::shared_ptr<const Texture>> textures;
  ModelMeshes meshes;
  Scene scene;
  Caster caster;
  std::optional<MujocoGl> gl;
  std::vector<std::shared_ptr<const Texture>> uploaded;  // what gl shows, nullptr for the model's own
  std::vector<std::shared_ptr<const Texture>> replaced;

  void adopt(const MujocoWorld::Impl& world) {
    if (identity == world.identity) return;
    identity = {};  // textures may be interrupted
    gl.reset();
    visible.emplace(*world.model);
    textures = model_textures(world.model.compiled());
    meshes = {};
    identity = world.identity;
  }

  const std::shared_ptr<const Texture>& shown(std::size_t index) const {
    if (index >= replaced.size() || !replaced[index]) return textures[index];
    if (!same_kind(*replaced[index], *textures[index]))
      throw Error(text("texture ", index, " cannot be replaced: one of the images is flat and the other is not"));
    return replaced[index];
  }

  void draw_gl(const mjModel& model, int samples, int height, int width, std::span<std::uint8_t> rgb) {
    if (!gl || !gl->fits(height, width, samples)) {
      gl.reset();
      gl.emplace(model, height, width, samples);
      uploaded = textures;
    }
    for (std::size_t i = 0; i < textures.size(); ++i) {
      if (uploaded[i] == shown(i)) continue;
      gl->replace_texture(static_cast<int>(i), *shown(i));
      uploaded[i] = shown(i);
    }
    gl->draw(visible->scene, height, width, rgb);
  }
};

MujocoCamera::MujocoCamera() : impl_(std::make_unique<Impl>()) {}
MujocoCamera::~MujocoCamera() = default;
MujocoCamera::MujocoCamera(MujocoCamera&&) noexcept = default;
MujocoCamera& MujocoCamera::operator=(MujocoCamera&&) noexcept = default;

void MujocoCamera::draw(MujocoWorld& world, int camera, const DrawOptions& options, int height, int width,
                        std::span<std::uint8_t> rgb) {
  const mjModel& model = *world.impl().model;
  if (camera < 0 || camera >= model.ncam)
    throw Error(text("the model has no camera ", camera, "; its cameras are 0 to ", model.ncam - 1));
  if (height < 1 || width < 1 || rgb.size() != static_cast<std::size_t>(height) * width * 3)
    throw Error(text("a picture of ", height, " x ", width, " does not fit into ", rgb.size(), " bytes; give height x width x 3"));
  impl_->adopt(world.impl());
  if (impl_->replaced.size() > impl_->textures.size())
    throw Error(text("texture ", impl_->replaced.size() - 1, " cannot be replaced: the model has ", impl_->textures.size()));
  impl_->visible->update(model, *world.impl().data, camera, options);
  if (options.path == DrawOptions::Path::gl) return impl_->draw_gl(model, options.samples, height, width, rgb);
  if (const std::string beyond = beyond_caster(model, impl_->visible->scene); !beyond.empty()) {
    note_gl(beyond);
    return impl_->draw_gl(model, options.samples, height, width, rgb);
  }
  impl_->scene.textures.resize(impl_->textures.size());
  for (std::size_t i = 0; i < impl_->textures.size(); ++i) impl_->scene.textures[i] = impl_->shown(i);
  fill_scene(model, impl_->visible->scene, impl_->meshes, impl_->scene);
  impl_->caster.draw(impl_->scene, options, height, width, rgb);
}

void MujocoCamera::replace_texture(int texture, std::shared_ptr<const Texture> image) {
  if (texture < 0) throw Error(text("there is no texture ", texture));
  if (static_cast<std::size_t>(texture) >= impl_->replaced.size()) impl_->replaced.resize(texture + 1);
  impl_->replaced[texture] = std::move(image);
}

}  // namespace iap
