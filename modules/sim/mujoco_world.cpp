module;
#include <mujoco/mjxmacro.h>
#include <mujoco/mujoco.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.sim;
import iap.core;
#include "mujoco_internal.hpp"

namespace iap {
namespace {

/// Simulates without a part of the physics (mjtDisableBit) as long as it lives.
class Without {
 public:
  Without(mjModel& model, int part) : model_(model), flags_(model.opt.disableflags) { model.opt.disableflags |= part; }
  ~Without() { model_.opt.disableflags = flags_; }
  Without(const Without&) = delete;
  Without& operator=(const Without&) = delete;

 private:
  mjModel& model_;
  int flags_;
};

template <typename T>
std::span<T> row(T* values, int index, int width) {
  return {values + static_cast<std::ptrdiff_t>(index) * width, static_cast<std::size_t>(width)};
}

/// What a world of the model takes, about: its data, the stack, and the rows of constraints and their Jacobian.
double bytes_of(const mjModel& model) {
  constexpr double numbers_a_row = 32, bytes_a_pair = 12;
  const double row = numbers_a_row + model.nv, stack = model.nstack, rows = model.njmax;
  return WorldModel::bytes(model) + sizeof(mjtNum) * (stack + rows * row) + bytes_a_pair * rows * rows +
         (sizeof(mjContact) + SolvedContacts::bytes_a_contact) * static_cast<double>(model.nconmax);
}

bool sound(std::span<const double> values) {
  return std::ranges::all_of(values, [](double value) { return std::isfinite(value) && std::abs(value) <= mjMAXVAL; });
}

bool is_shared(std::string_view array) {
  return array == "tex_rgb" || array == "hfield_data" || array.starts_with("mesh_") || array.starts_with("skin_");
}

/// visit(array, bytes) of all arrays that a world has for itself, `array` being the member of `model` that points to it.
void visit_own(mjModel& model, const auto& visit) {
  [[maybe_unused]] MJMODEL_POINTERS_PREAMBLE((&model))
#define X(type, name, rows, columns) \
  if (!is_shared(#name)) visit(model.name, sizeof(type) * static_cast<std::size_t>(model.rows) * static_cast<std::size_t>(columns));
      MJMODEL_POINTERS
#undef X
}

}  // namespace

WorldModel::WorldModel(std::shared_ptr<const mjModel> compiled) : compiled_(std::move(compiled)), model_(*compiled_) {
  visit_own(model_, [this]<typename T>(T*& array, std::size_t bytes) {
    if (bytes == 0) return;
    auto& copy = arrays_.emplace_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
    std::memcpy(copy.get(), array, bytes);
    array = reinterpret_cast<T*>(copy.get());
  });
}

double WorldModel::bytes(const mjModel& compiled) {
  mjModel model = compiled;
  double sum = sizeof(WorldModel);
  visit_own(model, [&sum](const auto&, std::size_t bytes) { sum += static_cast<double>(bytes); });
  return sum;
}

MujocoWorld::MujocoWorld(std::span<const MujocoFile> files) {
  auto compiled = compiled_model(files);
  check_memory(text(files.front().name, ": the simulation"), bytes_of(*compiled));
  impl_ = std::make_unique<Impl>(std::move(compiled));
  impl_->name = files.front().name;
  {
    const MujocoCall call;
    impl_->data.reset(mj_makeData(impl_->model.get()));
  }
  impl_->solved.reserve(impl_->model->nconmax);
  forward();
}

MujocoWorld::MujocoWorld(const MujocoBundle& bundle) : MujocoWorld(bundle.files()) {}

MujocoWorld::~MujocoWorld() = default;
MujocoWorld::MujocoWorld(MujocoWorld&&) noexcept = default;
MujocoWorld& MujocoWorld::operator=(MujocoWorld&&) noexcept = default;

void MujocoWorld::reset() {
  impl_->solved.forget();
  impl_->spoiled = false;
  const MujocoCall call;
  mj_resetData(impl_->model.get(), impl_->data.get());
}

// Who looks for a place to begin at may try some where much lies in each other: only steps spoil an episode.
void MujocoWorld::forward() {
  impl_->solved.forget();
  forget_full(*impl_->data);
  const MujocoCall call;
  mj_forward(impl_->model.get(), impl_->data.get());
}

void MujocoWorld::forward_without_actuation() {
  const Without actuation(*impl_->model, mjDSBL_ACTUATION);
  forward();
}

void MujocoWorld::step(int steps) {
  if (steps < 1) throw Error(text("a MuJoCo world cannot advance by ", steps, " steps; use at least 1"));
  mjModel* model = impl_->model.get();
  mjData* data = impl_->data.get();
  const MujocoCall call;
  impl_->solved.forget();
  int done = 0;
  const auto advance = [&] { done++ == 0 && model->opt.integrator != mjINT_RK4 ? mj_step2(model, data) : mj_step(model, data); };
  {
    // Nobody sees what sensors say between, and nothing moves by it.
    const Without sensors(*model, mjDSBL_SENSOR);
    while (done < steps - 1 && !interrupt_requested()) advance();
  }
  advance();  // the last one whole, so that who catches an interrupt finds the world as after any step
  impl_->solved.keep(*model, *data);
  mj_step1(model, data);
  if (is_full(*data)) {
    impl_->spoiled = true;
    note_full(impl_->name, *model, *data);
  }
  if (done < steps) throw Interrupted();
}

bool MujocoWorld::unstable() const {
  for (const int kind : {mjWARN_INERTIA, mjWARN_BADQPOS, mjWARN_BADQVEL, mjWARN_BADQACC, mjWARN_BADCTRL})
    if (impl_->data->warning[kind].number > 0) return true;
  if (impl_->spoiled || is_full(*impl_->data)) return true;
  return !sound(qpos()) || !sound(qvel());
}

double MujocoWorld::timestep() const { return impl_->model->opt.timestep; }
double MujocoWorld::time() const { return impl_->data->time; }
void MujocoWorld::set_time(double seconds) { impl_->data->time = seconds; }
std::span<double> MujocoWorld::qpos() { return row(impl_->data->qpos, 0, impl_->model->nq); }
std::span<const double> MujocoWorld::qpos() const { return row(impl_->data->qpos, 0, impl_->model->nq); }
std::span<double> MujocoWorld::qvel() { return row(impl_->data->qvel, 0, impl_->model->nv); }
std::span<const double> MujocoWorld::qvel() const { return row(impl_->data->qvel, 0, impl_->model->nv); }
std::span<double> MujocoWorld::ctrl() { return row(impl_->data->ctrl, 0, impl_->model->nu); }
std::span<const double> MujocoWorld::ctrl() const { return row(impl_->data->ctrl, 0, impl_->model->nu); }
std::span<const double> MujocoWorld::sensordata() const { return row(impl_->data->sensordata, 0, impl_->model->nsensordata); }
int MujocoWorld::contacts() const { return impl_->data->ncon; }

MujocoContact MujocoWorld::contact(int index) const {
  if (index < 0 || index >= contacts()) throw Error(text("there is no contact ", index, "; there are ", contacts(), ", from 0 on"));
  const mjContact& contact = impl_->data->contact[index];
  const double force = impl_->solved.force(*impl_->model, *impl_->data, index);
  return {contact.geom1, contact.geom2, {contact.pos[0], contact.pos[1], contact.pos[2]}, contact.dist, force};
}

std::array<double, 6> MujocoWorld::velocity(std::string_view kind, int index) const {
  const int type = kind == "body" ? mjOBJ_XBODY : kind == "geom" ? mjOBJ_GEOM : mjOBJ_SITE;
  std::array<double, 6> velocity{};
  mj_objectVelocity(impl_->model.get(), impl_->data.get(), type, index, velocity.data(), 0);
  return velocity;
}

int MujocoWorld::geom_body(int geom) const { return impl_->model->geom_bodyid[geom]; }
double MujocoWorld::body_mass(int body) const { return impl_->model->body_mass[body]; }

std::span<const double> MujocoWorld::body_position(int body) const { return row(impl_->data->xpos, body, 3); }
std::span<const double> MujocoWorld::body_rotation(int body) const { return row(impl_->data->xmat, body, 9); }
std::span<const double> MujocoWorld::body_centre(int body) const { return row(impl_->data->xipos, body, 3); }
std::span<const double> MujocoWorld::subtree_centre(int body) const { return row(impl_->data->subtree_com, body, 3); }
std::span<const double> MujocoWorld::geom_position(int geom) const { return row(impl_->data->geom_xpos, geom, 3); }
std::span<const double> MujocoWorld::geom_rotation(int geom) const { return row(impl_->data->geom_xmat, geom, 9); }
std::span<const double> MujocoWorld::site_position(int site) const { return row(impl_->data->site_xpos, site, 3); }
std::span<const double> MujocoWorld::site_rotation(int site) const { return row(impl_->data->site_xmat, site, 9); }

std::span<const double> MujocoWorld::sensor(int sensor) const {
  return sensordata().subspan(impl_->model->sensor_adr[sensor], impl_->model->sensor_dim[sensor]);
}

int MujocoWorld::qpos_address(int joint) const { return impl_->model->jnt_qposadr[joint]; }
int MujocoWorld::qvel_address(int joint) const { return impl_->model->jnt_dofadr[joint]; }
int MujocoWorld::qpos_size(int joint) const {
  constexpr std::array sizes{7, 4, 1, 1};
  return sizes[static_cast<std::size_t>(joint_type(joint))];
}
int MujocoWorld::qvel_size(int joint) const {
  constexpr std::array sizes{6, 3, 1, 1};
  return sizes[static_cast<std::size_t>(joint_type(joint))];
}
MujocoJoint MujocoWorld::joint_type(int joint) const { return static_cast<MujocoJoint>(impl_->model->jnt_type[joint]); }
bool MujocoWorld::joint_limited(int joint) const { return impl_->model->jnt_limited[joint] != 0; }
std::array<double, 2> MujocoWorld::joint_range(int joint) const {
  const auto range = row(impl_->model->jnt_range, joint, 2);
  return {range[0], range[1]};
}

std::optional<std::array<double, 2>> MujocoWorld::ctrl_range(int actuator) const {
  if (!impl_->model->actuator_ctrllimited[actuator]) return {};
  const auto range = row(impl_->model->actuator_ctrlrange, actuator, 2);
  return {{range[0], range[1]}};
}

std::span<double> MujocoWorld::camera_position(int camera) { return row(impl_->data->cam_xpos, camera, 3); }
std::span<double> MujocoWorld::camera_rotation(int camera) { return row(impl_->data->cam_xmat, camera, 9); }
std::span<const std::uint8_t> MujocoWorld::texture_pixels(int texture) const {
  const mjModel& model = *impl_->model;
  return row(model.tex_rgb + model.tex_adr[texture], 0, 3 * model.tex_width[texture] * model.tex_height[texture]);
}
// A geom whose frame is its body's is placed there without a look at its offset, until that may change.
std::span<double> MujocoWorld::geom_offset(int geom) {
  impl_->model->geom_sameframe[geom] = 0;
  return row(impl_->model->geom_pos, geom, 3);
}
std::span<const double> MujocoWorld::geom_offset(int geom) const { return row(impl_->model->geom_pos, geom, 3); }
void MujocoWorld::restore_geom_offsets() {
  mjModel& model = *impl_->model;
  std::copy_n(impl_->model.compiled()->geom_pos, 3 * model.ngeom, model.geom_pos);
  std::copy_n(impl_->model.compiled()->geom_sameframe, model.ngeom, model.geom_sameframe);
}
std::span<double> MujocoWorld::geom_size(int geom) { return row(impl_->model->geom_size, geom, 3); }
std::span<const double> MujocoWorld::geom_size(int geom) const { return row(impl_->model->geom_size, geom, 3); }
std::span<const double> MujocoWorld::site_size(int site) const { return row(impl_->model->site_size, site, 3); }
std::span<float> MujocoWorld::material_rgba(int material) { return row(impl_->model->mat_rgba, material, 4); }
std::span<float> MujocoWorld::geom_rgba(int geom) { return row(impl_->model->geom_rgba, geom, 4); }

}  // namespace iap
