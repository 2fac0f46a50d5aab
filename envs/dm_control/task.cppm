module;
#include <string_view>
export module iap.envs.dm_control:task;
import iap.core;
import iap.envs.mujoco;

export namespace iap {

/// What a task of the suite tells its base class.
struct ControlTaskInfo {
  std::string_view name;   ///< the catalog's name
  std::string_view model;  ///< a name `dm_control_files` knows
  int physics_steps = 1;   ///< physics steps a control step
  int state_size = 0;      ///< numbers in the state observation
  int max_steps = 1000;    ///< time limit in control steps
};

/// Base of the tasks of the DeepMind Control Suite (Tassa et al. 2018): one of the suite's models, rewards in [0, 1] a step, time
/// limit only.
class ControlTask : public MujocoTask {
 protected:
  /// @throws Error naming the option.
  ControlTask(const ControlTaskInfo& info, Options& options);
};

/// Option `reward` of the tasks whose own reward is 0 nearly everywhere: "task" (their own), or "dense", which also says how near
/// the goal is; something to train on, never to report.
bool read_dense_reward(Options& options);

}  // namespace iap
