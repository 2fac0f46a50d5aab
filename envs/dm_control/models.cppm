module;
#include <string>
#include <string_view>
#include <vector>
export module iap.envs.dm_control:models;
import iap.sim;

export namespace iap {

/// The MJCF texts of one model of the suite ("cheetah", "ball_in_cup"), the model itself first. @throws Error naming the nearest.
std::vector<MujocoFile> dm_control_files(std::string_view model);

/// The names `dm_control_files` knows.
std::vector<std::string> dm_control_models();

}  // namespace iap
