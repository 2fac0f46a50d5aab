// What the MuJoCo sources of iap.sim share; inside a module, members are inline only where they say so.
// Include after `module iap.sim;`, with <memory>, <span> and mujoco.h before it.
#pragma once

namespace iap {

struct DeleteMujoco {
  inline void operator()(mjModel* model) const { mj_deleteModel(model); }
  inline void operator()(mjData* data) const { mj_deleteData(data); }
};

struct MujocoWorld::Impl {
  std::unique_ptr<mjModel, DeleteMujoco> model;
  std::unique_ptr<mjData, DeleteMujoco> data;
  // Two worlds alive or dead never share one: what is cached for a world can tell whose it is.
  std::shared_ptr<const char> identity = std::make_shared<const char>();
};

// Makes MuJoCo's fatal errors throw iap::Error and its warnings silent. Needed before anything of MuJoCo runs; cheap to repeat.
void install_mujoco_handlers();

// The compiled model of `files`, owned by the process.
const mjModel& compiled_model(std::span<const MujocoFile> files);

}  // namespace iap
