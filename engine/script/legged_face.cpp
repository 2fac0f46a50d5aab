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

/// @lua function iap.legged.robots
/// The robots that have a name.
/// @return string[] - what the functions of this table and the environment `legged` call them
int list_robots(Call& call) {
  Config::List names;
  for (const Robot& robot : robots()) names.emplace_back(std::string(robot.name));
  return call.give(Config(std::move(names)));
}

/// @lua function iap.legged.robot
/// A robot's numbers, in SI units.
/// @param name string - one of iap.legged.robots()
/// @return table{legged.numbers} - of this robot

/// @lua options legged.numbers
/// What iap.legged.robot returns; triples are (abduction, hip, knee).
/// @field name string - of the robot
/// @field mass number - kg
/// @field start_height number - of the base when an episode of `legged` begins, above where it comes to stand, metres
/// @field toe_radius number - metres
/// @field standing number[] - abduction, hip and knee of each leg when it stands, radians
/// @field lowest number[] - their lower limits
/// @field highest number[] - their upper limits
/// @field torque_limits number[] - of the three motors, Nm
/// @field stiffness number[] - gains of the motors, Nm / rad
/// @field damping number[] - Nm s / rad
/// @field body table - {mass, centre, inertia} of the whole robot as it stands
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

/// @lua function iap.legged.toe
/// Where a toe is.
/// @param robot string - one of iap.legged.robots()
/// @param leg "FR"|"FL"|"RR"|"RL" - front or rear, right or left
/// @param joints number[] - abduction, hip, knee, radians
/// @return number[] - {x, y, z} in the base's frame, metres
/// @example iap.legged.toe("a1", "FR", { 0, 0.8, -1.6 })
int toe(Call& call) { return call.give(to_list(leg_at(call).forward(vector_at(call, 3, "joints")))); }

/// @lua function iap.legged.joints
/// The way back: joint angles for a toe.
/// @param robot string - one of iap.legged.robots()
/// @param leg "FR"|"FL"|"RR"|"RL" - front or rear, right or left
/// @param toe number[] - {x, y, z} in the base's frame, metres
/// @param knee "backwards"|"forwards" = "backwards" - which way it bends
/// @return number[] joints - abduction, hip, knee, radians; where they do not reach, those nearest to it
/// @return boolean reached - whether they do
int joints(Call& call) {
  const auto leg = leg_at(call);
  const std::string knee = call.string(4, "knee", "backwards");
  if (knee != "backwards" && knee != "forwards") call.refuse(4, "knee", "\"backwards\" or \"forwards\"");
  const auto solution = leg.inverse(vector_at(call, 3, "toe"), knee == "backwards" ? Knee::backwards : Knee::forwards);
  return call.give(to_list(solution.joints)) + call.give(solution.reached);
}

/// @lua function iap.legged.jacobian
/// How a toe moves by its joints.
/// @param robot string - one of iap.legged.robots()
/// @param leg "FR"|"FL"|"RR"|"RL" - front or rear, right or left
/// @param joints number[] - abduction, hip, knee, radians
/// @return number[][] - three rows: d x, d y, d z by the joints
int jacobian(Call& call) {
  const Matrix3 matrix = leg_at(call).jacobian(vector_at(call, 3, "joints"));
  Config::List rows;
  for (std::size_t row = 0; row < 3; ++row) rows.push_back(to_list(std::span<const double>(matrix).subspan(3 * row, 3)));
  return call.give(Config(std::move(rows)));
}

/// @lua function iap.legged.stance_torques
/// Joint torques of a standing leg.
/// @param robot string - one of iap.legged.robots()
/// @param leg "FR"|"FL"|"RR"|"RL" - front or rear, right or left
/// @param joints number[] - abduction, hip, knee, radians
/// @param force number[] - of the ground on the foot, N, in the base's frame
/// @param rates number[] = {0, 0, 0} - of the joints, rad/s, which the robot's damping takes out
/// @return number[] - abduction, hip, knee, Nm
int torques(Call& call) {
  const auto matrix = leg_at(call).jacobian(vector_at(call, 3, "joints"));
  const Vector3 rates = call.absent(5) ? Vector3{} : vector_at(call, 5, "rates");
  return call.give(
      to_list(stance_torques(matrix, vector_at(call, 4, "force"), find_robot(call.string(1, "robot")).damping, rates)));
}

/// @lua function iap.legged.swing
/// A toe's way from lift to landing over a clearance.
/// @param phase number 0..1 - part of the swing; beyond 0 and 1 as at these
/// @param lift number[] - {x, y, z}, metres
/// @param land number[] - {x, y, z}
/// @param clearance number - metres above 0.3 lift + 0.7 land
/// @return number[] position - {x, y, z}
/// @return number[] velocity - by the phase
int swing(Call& call) {
  const auto point = SwingTrajectory().at(finite_at(call, 1, "phase"), vector_at(call, 2, "lift"), vector_at(call, 3, "land"),
                                          finite_at(call, 4, "clearance"));
  return call.give(to_list(point.position)) + call.give(to_list(point.velocity));
}

GroundMotion read_motion(Options& options, const char* velocity, const char* yaw_rate) {
  const auto values = read_numbers(options, velocity, 2, std::vector<double>(2));
  return {{values[0], values[1]}, options.number(yaw_rate, 0)};
}

/// @lua function iap.legged.foot_placement
/// Raibert's rule: where a foot lands.
/// @option hip number[] - where the toe stands under the hip at rest, from the body's centre, metres; z does not count
/// @option height number - of the body's centre above the toe, metres
/// @option stance number = 0.3 - seconds that a leg stands
/// @option gain number = 0.03 - seconds: by how much a velocity that is missing corrects the place
/// @option velocity number[] = { 0, 0 } - of the body, m/s
/// @option yaw_rate number = 0 - rad/s
/// @option wanted_velocity number[] = { 0, 0 } - m/s
/// @option wanted_yaw_rate number = 0 - rad/s
/// @return number[] - {x, y, z} from the body's centre, in axes that share its heading
/// @example iap.legged.foot_placement { hip = { 0.2, -0.1, 0 }, height = 0.42, velocity = { 0.3, 0 } }
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

/// @lua table iap.legged
/// What makes robots on four legs walk, apart from any simulator. SI units; legs in the order FR, FL, RR, RL; x ahead, y left, z
/// up.
/// @see legged.md
void open_legged_face(lua_State* state) {
  lua::push_functions(state, "iap.legged", ".", functions);
  add_legged_objects(state);
  lua_setfield(state, -2, "legged");
}

}  // namespace iap
