#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "script/faces.hpp"
#include "script/legged_values.hpp"
import iap.core;
import iap.legged;

namespace iap {
namespace {

using lua::Call;
using lua::entry;
using namespace legged;

/// Arguments 1 and 2: a robot's name and a leg's.
LegKinematics leg_at(const Call& call) {
  const Robot& robot = find_robot(call.string(1, "robot"));
  const std::string name = call.string(2, "leg");
  const auto found = std::ranges::find(leg_names, name);
  if (found == leg_names.end()) call.refuse(2, "leg", "\"FR\", \"FL\", \"RR\" or \"RL\"");
  return LegKinematics(robot.legs[static_cast<std::size_t>(found - leg_names.begin())]);
}

/// iap.legged.robots() -> {"a1", "laikago"}
int list_robots(Call& call) {
  Config::List names;
  for (const Robot& robot : robots()) names.emplace_back(std::string(robot.name));
  return call.give(Config(std::move(names)));
}

/// iap.legged.robot(name) -> its numbers; triples are (abduction, hip, knee), `body` is the whole robot as it stands.
int describe_robot(Call& call) {
  const Robot& robot = find_robot(call.string(1, "name"));
  const Body body = standing_body(robot);
  return call.give(Config(Config::Map{
      {"name", std::string(robot.name)},
      {"mass", robot.mass},
      {"start_height", robot.start_height},
      {"toe_radius", robot.toe_radius},
      {"standing", to_list(robot.standing)},
      {"lowest", to_list(robot.lowest)},
      {"highest", to_list(robot.highest)},
      {"torque_limits", to_list(robot.torque_limits)},
      {"stiffness", to_list(robot.stiffness)},
      {"damping", to_list(robot.damping)},
      {"body", Config::Map{{"mass", body.mass}, {"centre", to_list(body.centre)}, {"inertia", to_list(body.inertia)}}}}));
}

/// iap.legged.toe(robot, leg, joints) -> {x, y, z} in the base frame
int toe(Call& call) { return call.give(to_list(leg_at(call).forward(vector_at(call, 3, "joints")))); }

/// iap.legged.joints(robot, leg, toe, knee) -> {abduction, hip, knee}, whether they reach it; knee: "backwards" or "forwards"
int joints(Call& call) {
  const auto leg = leg_at(call);
  const std::string knee = call.string(4, "knee", "backwards");
  if (knee != "backwards" && knee != "forwards") call.refuse(4, "knee", "\"backwards\" or \"forwards\"");
  const auto solution = leg.inverse(vector_at(call, 3, "toe"), knee == "backwards" ? Knee::backwards : Knee::forwards);
  return call.give(to_list(solution.joints)) + call.give(solution.reached);
}

/// iap.legged.jacobian(robot, leg, joints) -> three rows: d x, d y and d z by the joints
int jacobian(Call& call) {
  const Matrix3 matrix = leg_at(call).jacobian(vector_at(call, 3, "joints"));
  Config::List rows;
  for (std::size_t row = 0; row < 3; ++row) rows.push_back(to_list(std::span<const double>(matrix).subspan(3 * row, 3)));
  return call.give(Config(std::move(rows)));
}

/// iap.legged.stance_torques(robot, leg, joints, force, rates) -> torques that hold `force` and damp `rates` (zeros) by the robot's
/// damping
int torques(Call& call) {
  const auto matrix = leg_at(call).jacobian(vector_at(call, 3, "joints"));
  const Vector3 rates = call.absent(5) ? Vector3{} : vector_at(call, 5, "rates");
  return call.give(
      to_list(stance_torques(matrix, vector_at(call, 4, "force"), find_robot(call.string(1, "robot")).damping, rates)));
}

/// iap.legged.swing(phase, lift, land, clearance) -> position, velocity by phase
int swing(Call& call) {
  const auto point = SwingTrajectory().at(call.number(1, "phase"), vector_at(call, 2, "lift"), vector_at(call, 3, "land"),
                                          call.number(4, "clearance"));
  return call.give(to_list(point.position)) + call.give(to_list(point.velocity));
}

GroundMotion read_motion(Options& options, const char* velocity, const char* yaw_rate) {
  const auto values = read_numbers(options, velocity, 2, std::vector<double>(2));
  return {{values[0], values[1]}, options.number(yaw_rate, 0)};
}

/// iap.legged.foot_placement {hip, height, stance, velocity, yaw_rate, wanted_velocity, wanted_yaw_rate, gain} -> {x, y, z}
int place(Call& call) {
  const Config config = call.config(1, "options");
  Options options(call.name(), config);
  const Vector3 hip = read_vector(options, "hip", true);
  const double height = options.number("height"), stance = options.number("stance", 0.3), gain = options.number("gain", 0.03);
  const GroundMotion actual = read_motion(options, "velocity", "yaw_rate");
  const GroundMotion wanted = read_motion(options, "wanted_velocity", "wanted_yaw_rate");
  options.finish();
  return call.give(to_list(FootPlacement(gain)(hip, actual, wanted, stance, height)));
}

constexpr lua::Function functions[] = {
    {"robots", entry<list_robots>}, {"robot", entry<describe_robot>},   {"toe", entry<toe>},     {"joints", entry<joints>},
    {"jacobian", entry<jacobian>},  {"stance_torques", entry<torques>}, {"swing", entry<swing>}, {"foot_placement", entry<place>},
};

}  // namespace

void open_legged_face(lua_State* state) {
  lua::push_functions(state, "iap.legged", ".", functions);
  add_legged_objects(state);
  lua_setfield(state, -2, "legged");
}

}  // namespace iap
