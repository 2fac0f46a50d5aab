#include <array>
#include <cmath>
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

/// @lua class trajectory_generator
/// A trajectory generator at work.
/// @page legged

/// @lua class gait
/// When each leg stands and swings.
/// @page legged

/// @lua class stance
/// Model predictive control of the standing feet's forces.
/// @page legged
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

/// @lua function iap.legged.trajectory_generator
/// PMTG's generator: joint targets of a walk or trot whose rhythm a policy changes (Iscen et al. 2018).
/// @option gait "trot"|"walk" = "trot" - order of the legs
/// @option offsets number[]|number ? - in place of `gait`: parts of a cycle, FR, FL, RR, RL
/// @option intensity_rise number 0..1.5 = 0.1 - most that the intensity rises in a call of step, whatever `dt` is; it falls at once
/// @option residual number 0..1 = 0.15 - most that a residual adds to a target, up or down, radians
/// @return trajectory_generator - at phase 0
/// @example iap.legged.trajectory_generator { gait = "walk" }
/// @see legged.md#in-lua
int make_generator(Call& call) {
  const Config config = call.config(1, "options");
  Options options(call.name(), config);
  TrajectoryOptions wanted;
  wanted.offsets = options.choice("gait", {"trot", "walk"}, "trot") == "walk" ? walk_offsets : trot_offsets;
  wanted.offsets = read_per_leg(options, "offsets", wanted.offsets);
  wanted.intensity_rise = options.number_in("intensity_rise", 0, 1.5, wanted.intensity_rise);
  wanted.residual = options.number_in("residual", 0, 1, wanted.residual);
  options.finish();
  return call.give(std::make_unique<GeneratorObject>(GeneratorObject{TrajectoryGenerator(wanted)}));
}

/// @lua method trajectory_generator:step
/// Goes on by a control step.
/// @param dt number 0.. - seconds
/// @param options table ? - the command
/// @option frequency number = 0 - cycles a second, clipped to [0, 3]
/// @option intensity number = 0 - how far legs swing and lift, clipped to [0, 1.5]; from 0 it rises by the generator's
/// `intensity_rise` a call
/// @option height number = 0 - extension of the legs, clipped to [-0.5, 1]
/// @option ratio number = 2 - stance over swing, clipped to [0.2, 5]
/// @option residuals number[] ? - 12 numbers that are added to the targets, radians, clipped to the generator's `residual` up and
/// down
/// @return number[] - 12 joint targets, leg by leg
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

/// @lua method trajectory_generator:state
/// What a policy is told of the phase.
/// @return number[] - (cos + 1) / 2 and (sin + 1) / 2

/// @lua method trajectory_generator:phases
/// The phase of each leg.
/// @return number[] - FR, FL, RR, RL, radians; stance below pi

/// @lua method trajectory_generator:reset
/// Begins anew at phase 0.
int generator_state(Call& call) { return call.give(to_list(call.self<GeneratorObject>().generator.state())); }
int generator_phases(Call& call) { return call.give(to_list(call.self<GeneratorObject>().generator.leg_phases())); }
int reset_generator(Call& call) {
  call.self<GeneratorObject>().generator.reset();
  return 0;
}

/// @lua function iap.legged.gait
/// A time table of standing and swinging, which contacts overrule.
/// @option stance number|number[] = 0.3 - seconds that a leg stands; one number for all or one for each
/// @option duty number|number[] = 0.6 - part of its cycle, in (0, 1)
/// @option offsets number|number[] = { 0, 0.5, 0.5, 0 } - part of its cycle that a leg has done at time 0
/// @option contact_phase number 0..1 = 0.4 - part of a swing or stance that has to be over before contacts count
/// @return gait - at time 0
/// @example iap.legged.gait { stance = 0.3, duty = 0.6 }
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

/// @lua method gait:update
/// What each leg does now.
/// @param time number - seconds since the gait began
/// @param contacts boolean[] - whether each foot touches
/// @return string[] - "stance", "swing", "early_contact" or "lost_contact" of each
int update_gait(Call& call) {
  Gait& gait = call.self<GaitObject>().gait;
  const double time = call.number(1, "time");
  if (!(std::abs(time) < 1e12)) call.refuse(1, "time", "seconds within 1e12");
  const Config contacts = call.config(2, "contacts");
  gait.update(time, booleans(contacts.list() ? *contacts.list() : Config::List{}, call.name() + ": contacts"));
  constexpr std::array names{"stance", "swing", "early_contact", "lost_contact"};
  Config::List states;
  for (const LegState state : gait.states()) states.emplace_back(names[static_cast<std::size_t>(state)]);
  return call.give(Config(std::move(states)));
}

/// @lua method gait:phases
/// How much of its stance or swing each leg has done.
/// @return number[] - in [0, 1]

/// @lua method gait:feet
/// What a policy is told of the feet.
/// @return number[] - 1 stands, 0 swings, 0.5 early contact, -0.5 lost contact
int gait_phases(Call& call) { return call.give(to_list(call.self<GaitObject>().gait.phases())); }
int gait_feet(Call& call) { return call.give(to_list(call.self<GaitObject>().gait.feet())); }

/// @lua function iap.legged.stance
/// Forces of the standing feet by convex model predictive control (Di Carlo et al. 2018).
/// @option robot string - one of iap.legged.robots()
/// @option horizon integer 1..30 = 10 - steps that are planned
/// @option dt number = 0.025 - seconds of each
/// @option friction number = 0.45 - of feet on the ground
/// @option force_weight number = 1e-6 - of the squared forces, positive
/// @option gravity number = 9.81 - m/s^2
/// @return stance - to solve
/// @example iap.legged.stance { robot = "laikago" }
/// @see legged.md#what-the-mpc-costs
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

/// @lua options legged.goal
/// Where the body is to be; the table `goal` of stance:solve.
/// @option height number - of the centre of mass, metres
/// @option velocity number[] = { 0, 0, 0 } - m/s
/// @option roll number = 0 - radians
/// @option pitch number = 0 - radians
/// @option yaw_rate number = 0 - rad/s
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

/// @lua method stance:solve
/// The forces that lead the body to its goal; all in the world's axes.
/// @option attitude number[] = { 0, 0, 0 } - roll, pitch, yaw, radians
/// @option position number[] - of the centre of mass, metres
/// @option angular_velocity number[] = { 0, 0, 0 } - rad/s
/// @option velocity number[] = { 0, 0, 0 } - m/s
/// @option feet number[][] - four points from the centre of mass, metres
/// @option standing boolean[] = (all true) - which feet stand
/// @option goal {legged.goal} - where the body is to be
/// @return number[][] forces - {x, y, z} on each foot, N; nil where there are none
/// @return string why - there are none
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
      options.has("standing") ? booleans(standing, call.name() + ": option 'standing'") : PerLeg<bool>{true, true, true, true};
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
