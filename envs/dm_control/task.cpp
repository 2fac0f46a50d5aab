module;
#include <string>
#include <vector>
module iap.envs.dm_control;
import iap.core;
import iap.envs.mujoco;
import iap.sim;

namespace iap {

bool read_dense_reward(Options& options) {
  const std::vector<std::string> kinds{"task", "dense"};
  return options.choice("reward", kinds, "task") == "dense";
}

ControlTask::ControlTask(const ControlTaskInfo& info, Options& options)
    : MujocoTask({.name = info.name, .model = info.model, .physics_steps = info.physics_steps, .max_steps = info.max_steps},
                 MujocoWorld(dm_control_files(info.model)), options) {
  set_state_size(info.state_size);
}

}  // namespace iap
