module;
#include <mujoco/mjxmacro.h>
#include <mujoco/mujoco.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
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

int object_type(std::string_view kind) {
  const int type = mju_str2Type(std::string(kind).c_str());
  if (type == mjOBJ_UNKNOWN)
    throw Error(text("MuJoCo has no objects of the kind '", kind, "'",
                     did_you_mean(kind, {"body", "joint", "geom", "site", "camera", "light", "mesh", "texture", "material",
                                         "tendon", "actuator", "sensor"})));
  return type;
}

int object_count(const mjModel& model, int type) {
  switch (type) {
    case mjOBJ_BODY: return model.nbody;
    case mjOBJ_JOINT: return model.njnt;
    case mjOBJ_GEOM: return model.ngeom;
    case mjOBJ_SITE: return model.nsite;
    case mjOBJ_CAMERA: return model.ncam;
    case mjOBJ_LIGHT: return model.nlight;
    case mjOBJ_MESH: return model.nmesh;
    case mjOBJ_TEXTURE: return model.ntex;
    case mjOBJ_MATERIAL: return model.nmat;
    case mjOBJ_TENDON: return model.ntendon;
    case mjOBJ_ACTUATOR: return model.nu;
    case mjOBJ_SENSOR: return model.nsensor;
    default: return 0;
  }
}

template <typename T>
std::vector<double> copy(const T* values, int rows, int columns) {
  return {values, values + static_cast<std::ptrdiff_t>(rows) * columns};
}

}  // namespace

int MujocoWorld::count(std::string_view kind) const { return object_count(*impl_->model, object_type(kind)); }

const char* MujocoWorld::name(std::string_view kind, int index) const {
  const char* name = mj_id2name(impl_->model.get(), object_type(kind), index);
  return name ? name : "";
}

std::vector<std::string> MujocoWorld::names(std::string_view kind) const {
  std::vector<std::string> found;
  for (int i = 0; i < count(kind); ++i) found.emplace_back(name(kind, i));
  return found;
}

int MujocoWorld::id(std::string_view kind, std::string_view name) const {
  const int type = object_type(kind);
  const bool whole = name.find('\0') == std::string_view::npos;  // MuJoCo would look for what is before
  const int index = whole ? mj_name2id(impl_->model.get(), type, std::string(name).c_str()) : -1;
  if (index < 0) throw Error(text("this model has no ", kind, " '", printable(name), "'", did_you_mean(name, names(kind))));
  return index;
}

// The X macros of mjxmacro.h list every array with its type and size; the preambles name the sizes that columns refer to.
std::vector<double> MujocoWorld::array(std::string_view name) const {
  const mjModel* m = impl_->model.get();
  const mjData* d = impl_->data.get();
#define X(field) \
  if (name == #field) return {static_cast<double>(m->field)};
  MJMODEL_INTS
#undef X
#define X(type, field) \
  if (name == #field) return {static_cast<double>(m->opt.field)};
  MJOPTION_SCALARS
#undef X
#define X(field, count) \
  if (name == #field) return copy(m->opt.field, count, 1);
  MJOPTION_VECTORS
#undef X
  if (name == "extent") return {m->stat.extent};
  if (name == "center") return copy(m->stat.center, 3, 1);
  {
    MJMODEL_POINTERS_PREAMBLE(m)
#define X(type, field, rows, columns) \
  if (name == #field) return copy(m->field, m->rows, columns);
    MJMODEL_POINTERS
#undef X
  }
  {
    MJDATA_POINTERS_PREAMBLE(m)
#define X(type, field, rows, columns)       \
  if constexpr (std::is_arithmetic_v<type>) \
    if (name == #field) return copy(d->field, m->rows, columns);
    MJDATA_POINTERS
#undef X
  }
  throw Error(text("MuJoCo has no array, size or option called '", name, "'; see mjModel and mjData in its reference"));
}

}  // namespace iap
