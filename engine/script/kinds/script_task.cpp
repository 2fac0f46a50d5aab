#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "script/kinds/script_kinds.hpp"
#include "script/kinds/script_spec.hpp"
#include "script/kinds/task_data.hpp"
#include "script/kinds/task_entries.hpp"
import iap.core;
import iap.env;
import iap.envs.mujoco;
import iap.sim;

namespace iap {
namespace {

constexpr const char* files_key = "model_files";

/// The moment that a message is about.
struct Moment {
  int step = 0;  ///< 0 in reset
  std::uint64_t seed = 0;
};

/// The functions of a task's table.
class TaskScript {
 public:
  TaskScript(lua::ScriptObject script, TaskEntries entries)
      : script_(std::move(script)),
        entries_(std::move(entries)),
        reset_(script_.method("reset", false)),
        reward_(script_.method("reward", true)),
        terminated_(script_.method("terminated", false)),
        observe_(script_.method("observe", false)) {}

  lua::ScriptObject& object() { return script_; }
  const TaskEntries& entries() const { return entries_; }
  bool observes() const { return observe_ != LUA_NOREF; }
  void bind(MujocoWorld& world) { data_ = std::make_unique<TaskData>(script_.state(), world); }

  void reset(Random& random, const Moment& moment) {
    script_.seed(moment.seed);
    data_->set_random(random);
    if (reset_ == LUA_NOREF) return;
    data_->set_writable(true);
    try {
      call(reset_, "reset", 0, true, moment);
    } catch (...) {
      data_->set_writable(false);
      throw;
    }
    data_->set_writable(false);
    script_.clear();
  }

  double reward(const Moment& moment) {
    call(reward_, "reward", 1, false, moment);
    lua_State* state = script_.state();
    const double value = lua_type(state, 1) == LUA_TNUMBER ? lua_tonumberx(state, 1, nullptr) : NAN;
    if (!std::isfinite(value)) fail(text("reward must return a finite number, got ", lua::describe_value(state, 1)), moment);
    script_.clear();
    return value;
  }

  bool terminated(const Moment& moment) {
    if (terminated_ == LUA_NOREF) return false;
    call(terminated_, "terminated", 1, false, moment);
    const int type = lua_type(script_.state(), 1);
    if (type != LUA_TBOOLEAN && type != LUA_TNIL)
      fail(text("terminated must return true or false, got ", lua::describe_value(script_.state(), 1)), moment);
    const bool ended = lua_toboolean(script_.state(), 1) != 0;
    script_.clear();
    return ended;
  }

  /// How many numbers `observe` returns now.
  int count_observed(const Moment& moment) {
    call(observe_, "observe", 1, false, moment);
    lua_State* state = script_.state();
    if (lua_type(state, 1) != LUA_TTABLE || lua_rawlen(state, 1) == 0)
      fail(text("observe must return a list of at least one number, got ",
                lua_type(state, 1) == LUA_TTABLE ? "an empty table" : lua::describe_value(state, 1)),
           moment);
    // A table of some keys far apart can say any length.
    const std::size_t count = lua_rawlen(state, 1);
    if (count > std::size_t{largest_vector})
      fail(text("observe must return a list of at most ", largest_vector, " numbers, got one of length ", count,
                "; fill it from 1 on, without gaps"),
           moment);
    script_.clear();
    return static_cast<int>(count);
  }

  void observe(std::span<float> out, const Moment& moment) {
    call(observe_, "observe", 1, false, moment);
    try {
      script_.take(1, "what observe returns", out);
    } catch (const Error& error) {
      script_.clear();
      throw Error(text(error.what(), when(moment)));
    }
    script_.clear();
  }

 private:
  static std::string when(const Moment& moment) {
    return text(moment.step > 0 ? text(" at step ", moment.step) : " at the start", " of the episode with seed ", moment.seed);
  }
  [[noreturn]] void fail(std::string_view message, const Moment& moment) {
    const auto complaint = text(script_.file(), ": ", message, when(moment));
    script_.clear();
    throw Error(complaint);
  }
  void call(int function, const char* name, int results, bool with_random, const Moment& moment) {
    try {
      script_.run(function, name, results, [this, with_random](lua_State* state) noexcept {
        data_->push_data(state);
        if (with_random) data_->push_random(state);
        return with_random ? 2 : 1;
      });
    } catch (const Error& error) {
      throw Error(text(error.what(), when(moment)));
    }
  }

  // The state goes before what its objects point to.
  std::unique_ptr<TaskData> data_;
  lua::ScriptObject script_;
  TaskEntries entries_;
  int reset_, reward_, terminated_, observe_;
};

/// A MuJoCo task in Lua: a table, or what function(options) returned, with
///   model            path of the MJCF from the file's folder, or the MJCF as text
///   camera           index or name of the camera (0)
///   physics_steps    physics steps a control step (1), or control_dt, seconds
///   max_steps        time limit in control steps (1000; 0 for none)
///   reset(data, random)  writes where an episode begins; the model's own initial state stands before
///   reward(data)     the reward of a step
///   terminated(data) whether the episode ends here
///   observe(data)    list of numbers, always as many; without it all of qpos and qvel
///   state_names      what observe's numbers are
///   keys             what a person's keys do, as the option `keys`
class ScriptTask final : public MujocoTask {
 public:
  ScriptTask(std::unique_ptr<TaskScript> script, const MujocoTaskInfo& info, MujocoWorld world, const MujocoBundle& bundle,
             Options& options)
      : MujocoTask(info, std::move(world), options), script_(std::move(script)) {
    auto& object = script_->object();
    refuse_filled_in(object, script_->entries().max_steps, script_->entries().keys);
    const Config completed = options.completed();
    for (const char* name : {"camera", "distraction", "render", "state"})
      if (completed.find(name)) object.refuse_reading(name);
    script_->bind(this->world());
    Config config = object.config();
    config["name"] = object.file();
    config[files_key] = bundle.config();
    if (const Config& keys = script_->entries().keys; !keys.is_null() && !options.has("keys")) config["keys"] = keys;
    // The texts are as much given as the options are.
    for (const auto& [key, value] : *config.map())
      if (!options.has(key)) spec_.given[key] = value;
    spec_.config = std::move(config);
    if (shows_state()) set_up_state();
  }

 private:
  void set_up_state() {
    const auto& entries = script_->entries();
    const std::string& file = script_->object().file();
    auto names = entries.state_names;
    const bool of_joints = names.empty() && !script_->observes();
    if (script_->observes()) {
      // What one episode shows is what all do.
      Random random(0);
      begin(random);
      set_state_size(script_->count_observed(now()));
    } else {
      set_state_size(static_cast<int>(world().qpos().size() + world().qvel().size()));
      if (of_joints) {
        names = joint_positions();
        std::ranges::move(joint_velocities(), std::back_inserter(names));
      }
    }
    name_state(std::move(names));
    if (const auto flaw = state_names_flaw(spec()); !flaw.empty())
      throw Error(of_joints ? text(file, ": the state is named after the model's joints, and ", flaw,
                                   "; rename the joint in the MJCF, or give state_names or observe")
                            : text(file, ": option 'state_names': ", flaw));
  }

  Moment now() const { return {steps(), seed()}; }
  void restore(MujocoWorld& world) override { world.restore_geom_offsets(); }
  void start(MujocoWorld&, Random& random) override { script_->reset(random, now()); }
  double reward() const override { return script_->reward(now()); }
  bool terminated() const override { return script_->terminated(now()); }
  void write_state(std::span<float> state) const override {
    if (script_->observes()) return script_->observe(state, now());
    const auto cast = [](double value) { return static_cast<float>(value); };
    const auto velocities = std::ranges::transform(world().qpos(), state.begin(), cast).out;
    std::ranges::transform(world().qvel(), velocities, cast);
  }

  const std::unique_ptr<TaskScript> script_;
};

/// The model that the task in `file` names, whose errors say who asked for it.
MujocoBundle read_model(const std::string& file, const std::string& model) {
  try {
    return MujocoBundle::read(std::filesystem::path(file).parent_path(), model);
  } catch (const Error& error) {
    throw Error(text(file, ": entry 'model': ", error.what()));
  }
}

}  // namespace

std::unique_ptr<Env> make_script_task(lua::ScriptObject object, Options& options) {
  const std::string file = object.file();
  auto entries = read_task_entries(object);
  auto script = std::make_unique<TaskScript>(std::move(object), std::move(entries));
  const std::string& model = script->entries().model;
  // A text that came from somewhere brings its model's files along.
  const bool packed = options.has(files_key) || options.has("loaded_from");
  const Config& files = options.record(files_key);
  if (packed && files.is_null())
    options.fail(text("'", options.string("loaded_from"), "' holds the task '", file, "' but not the files of its model"));
  const auto bundle = packed ? MujocoBundle::unpack(model, files, file) : read_model(file, model);
  MujocoWorld world(bundle);
  const MujocoTaskInfo info{.name = file,
                            .physics_steps = physics_steps(script->entries(), world.timestep(), file),
                            .max_steps = script->entries().max_steps,
                            .camera = script->entries().camera};
  return std::make_unique<ScriptTask>(std::move(script), info, std::move(world), bundle, options);
}

}  // namespace iap
