#include <array>
#include <cstddef>
#include <memory>
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

struct GeneratorObject {
  static constexpr const char* class_name = "trajectory_generator";
  TrajectoryGenerator generator;
  std::string describe() const { return text("trajectory_generator at phase ", generator.phase()); }
};

struct GaitObject {
  static constexpr const char* class_name = "gait";
  Gait gait;
  std::string describe() const { return text("gait of ", gait.stance_duration(0), " s stance"); }
};

struct StanceObject {
  static constexpr const char* class_name = "stance";
  StanceMpc mpc;
  std::string robot;
  std::string describe() const { return "stance of " + robot; }
};

/// iap.legged.trajectory_generator {gait, offsets}: gait is "trot" or "walk"; offsets (FR, FL, RR, RL) instead of it
int make_generator(Call& call) {
  const Config config = call.config(1, "options");
  Options options(call.name(), config);
  TrajectoryOptions wanted;
  wanted.offsets = options.choice("gait", {"trot", "walk"}, "trot") == "walk" ? walk_offsets : trot_offsets;
  wanted.offsets = read_per_leg(options, "offsets", wanted.offsets);
  options.finish();
  return call.give(std::make_unique<GeneratorObject>(GeneratorObject{TrajectoryGenerator(wanted)}));
}

/// trajectory_generator:step(dt, {frequency, intensity, height, ratio, residuals}) -> 12 joint targets, leg by leg
int step_generator(Call& call) {
  const double dt = call.number(1, "dt");
  if (!(dt >= 0 && dt < 1e6)) call.refuse(1, "dt", "seconds, 0 or more");
  const Config config = call.config(2, "command");
  Options options(call.name(), config);
  TrajectoryCommand command;
  command.frequency = options.number("frequency", 0);
  command.intensity = options.number("intensity", 0);
  command.height = options.number("height", 0);
  command.stance_swing_ratio = options.number("ratio", 2);
  const auto residuals = read_numbers(options, "residuals", 12, std::vector<double>(12));
  options.finish();
  for (std::size_t i = 0; i < residuals.size(); ++i) command.residuals[i / 3][i % 3] = residuals[i];
  std::vector<double> targets;
  for (const auto& leg : call.self<GeneratorObject>().generator.step(dt, command))
    targets.insert(targets.end(), leg.begin(), leg.end());
  return call.give(std::span<const double>(targets));
}

int generator_state(Call& call) { return call.give(to_list(call.self<GeneratorObject>().generator.state())); }
int generator_phases(Call& call) { return call.give(to_list(call.self<GeneratorObject>().generator.leg_phases())); }
int reset_generator(Call& call) {
  call.self<GeneratorObject>().generator.reset();
  return 0;
}

/// iap.legged.gait {stance, duty, offsets, contact_phase}: a number for all legs or one for each
int make_gait(Call& call) {
  const Config config = call.config(1, "options");
  Options options(call.name(), config);
  GaitOptions wanted;
  wanted.stance = read_per_leg(options, "stance", wanted.stance);
  wanted.duty = read_per_leg(options, "duty", wanted.duty);
  wanted.offsets = read_per_leg(options, "offsets", wanted.offsets);
  wanted.contact_phase = options.number_in("contact_phase", 0, 1, wanted.contact_phase);
  options.finish();
  return call.give(std::make_unique<GaitObject>(GaitObject{Gait(wanted)}));
}

/// gait:update(time, contacts) -> what each leg does: "stance", "swing", "early_contact" or "lost_contact"
int update_gait(Call& call) {
  Gait& gait = call.self<GaitObject>().gait;
  const Config contacts = call.config(2, "contacts");
  gait.update(call.number(1, "time"), booleans(contacts.list() ? *contacts.list() : Config::List{}, call.name() + ": contacts"));
  constexpr std::array names{"stance", "swing", "early_contact", "lost_contact"};
  Config::List states;
  for (const LegState state : gait.states()) states.emplace_back(names[static_cast<std::size_t>(state)]);
  return call.give(Config(std::move(states)));
}

int gait_phases(Call& call) { return call.give(to_list(call.self<GaitObject>().gait.phases())); }
int gait_feet(Call& call) { return call.give(to_list(call.self<GaitObject>().gait.feet())); }

/// iap.legged.stance {robot, horizon, dt, friction, force_weight, gravity}
int make_stance(Call& call) {
  const Config config = call.config(1, "options");
  Options options(call.name(), config);
  const std::string robot = options.string("robot");
  StanceOptions wanted;
  wanted.horizon = static_cast<int>(options.integer_in("horizon", 1, 30, wanted.horizon));
  wanted.dt = options.number("dt", wanted.dt);
  wanted.friction = options.number("friction", wanted.friction);
  wanted.force_weight = options.number("force_weight", wanted.force_weight);
  wanted.gravity = options.number("gravity", wanted.gravity);
  options.finish();
  return call.give(std::make_unique<StanceObject>(StanceObject{StanceMpc(standing_body(find_robot(robot)), wanted), robot}),
                   1 << 20);
}

BodyGoal read_goal(const Call& call, const Config& config) {
  Options options(call.name() + ": goal", config);
  BodyGoal goal;
  goal.roll = options.number("roll", 0);
  goal.pitch = options.number("pitch", 0);
  goal.yaw_rate = options.number("yaw_rate", 0);
  goal.height = options.number("height");
  goal.velocity = read_vector(options, "velocity");
  options.finish();
  return goal;
}

/// stance:solve {attitude, position, angular_velocity, velocity, feet, standing, goal = {height, velocity, roll, pitch, yaw_rate}}
///   -> the force on each foot, or nil and why not. `attitude` is roll, pitch and yaw, `feet` four points from the centre of mass,
/// `standing` four times true or false (true); all in the world's axes.
int solve_stance(Call& call) {
  const Config config = call.config(1, "state");
  Options options(call.name(), config);
  const BodyState state{read_vector(options, "attitude"), read_vector(options, "position", true),
                        read_vector(options, "angular_velocity"), read_vector(options, "velocity")};
  const Config::List& points = options.list("feet");
  if (points.size() != leg_count) options.fail("option 'feet' must list four points {x, y, z}");
  PerLeg<Vector3> feet{};
  for (std::size_t leg = 0; leg < points.size(); ++leg) {
    const Config one = Config::Map{{"feet", points[leg]}};
    Options foot(call.name(), one);
    feet[leg] = read_vector(foot, "feet", true);
  }
  const Config::List& standing = options.list("standing");
  const PerLeg<bool> stands =
      standing.empty() ? PerLeg<bool>{true, true, true, true} : booleans(standing, call.name() + ": option 'standing'");
  const BodyGoal goal = read_goal(call, options.value("goal"));
  options.finish();
  const auto result = call.self<StanceObject>().mpc.solve(state, goal, feet, stands);
  if (result.status != QpStatus::solved) return call.give(Config()) + call.give(name_of(result.status));
  Config::List forces;
  for (const auto& force : result.forces) forces.push_back(to_list(force));
  return call.give(Config(std::move(forces)));
}

constexpr lua::Function constructors[] = {
    {"trajectory_generator", entry<make_generator>}, {"gait", entry<make_gait>}, {"stance", entry<make_stance>}};
constexpr lua::Function generator_methods[] = {{"step", entry<step_generator>},
                                               {"state", entry<generator_state>},
                                               {"phases", entry<generator_phases>},
                                               {"reset", entry<reset_generator>}};
constexpr lua::Function gait_methods[] = {
    {"update", entry<update_gait>}, {"phases", entry<gait_phases>}, {"feet", entry<gait_feet>}};
constexpr lua::Function stance_methods[] = {{"solve", entry<solve_stance>}};

}  // namespace

void add_legged_objects(lua_State* state) {
  lua::define_class(state, lua::ClassOf<GeneratorObject>::info, generator_methods);
  lua::define_class(state, lua::ClassOf<GaitObject>::info, gait_methods);
  lua::define_class(state, lua::ClassOf<StanceObject>::info, stance_methods);
  for (const auto& function : constructors) lua::add_function(state, "iap.legged", ".", function);
}

}  // namespace iap
