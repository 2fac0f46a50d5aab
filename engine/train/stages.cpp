module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>
module iap.train;
import iap.core;
import iap.env;
import iap.envs;
import iap.policy;
import iap.rollout;
import :stages;
import :types;
#include "core/files_read.hpp"
#include "core/nested_names.hpp"
#include "core/there.hpp"
#include "env/record_refusal.hpp"
#include "policy/forget_dt.hpp"
#include "run_files.hpp"

namespace iap {
namespace {

constexpr int most = std::numeric_limits<int>::max();
constexpr int most_members = 1 << 20;

/// A number that a stage may set.
struct Count {
  const char* key;
  std::optional<int> TrainStage::* value;
  int low, high;
};

constexpr Count counts[] = {{"through", &TrainStage::through, 1, most},
                            {"episodes", &TrainStage::episodes, 1, most_episodes},
                            {"population", &TrainStage::population, 2, most_members}};

std::string stage_name(std::size_t index) { return text("train: option 'curriculum', stage ", index + 1); }

/// As `build`; what goes wrong is told with the name of what was built, unless that is "".
template <typename Build>
auto told(const std::string& owner, Build build) {
  if (owner.empty()) return build();
  try {
    return build();
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(text(owner, ": ", error.what()));
  }
}

EnvSpec spec_of(const EnvFactory& make_env) {
  auto env = make_env();
  return told("train", [&] { return accepted(std::move(env))->spec(); });
}

/// @throws Error unless `other` shows and takes what `first` does; the sizes of images may differ.
void check_same_kind(const EnvSpec& first, const EnvSpec& other) {
  if (first.action_size != other.action_size)
    throw Error(text("'", other.name, "' takes ", other.action_size, " action values, the first stage's environment takes ",
                     first.action_size));
  if (const auto difference = observation_difference(other.observation, first.observation, ImageSizes::any); !difference.empty())
    throw Error(text("'", other.name, "' gives another observation than the first stage's environment: ", difference,
                     "; only the sizes of images may differ"));
}

/// @throws Error unless a policy like `other` can go on with what one like `first` learned.
void check_carries(const Policy& first, const Policy& other) {
  carried_parameters(first, first.parameters(), other);
  if (first.moments().size() != other.moments().size())
    throw Error(text("its 'normalise' blocks gather moments of ", other.moments().size(), " values, the first stage's of ",
                     first.moments().size(), "; normalise what has the same size for all sizes of images"));
}

/// Whether what shows the same but for sizes, as `check_same_kind` says, has the same sizes, too.
bool same_images(const EnvSpec& first, const EnvSpec& other) {
  return observation_difference(first.observation, other.observation).empty();
}

/// `env` with `changes`, which `owner` names in messages. @throws Error for what iap itself keeps of a file: it would go by the
/// name of another one.
Config changed_env(const std::string& owner, const Config& env, const Config& changes) {
  if (const Config::Map* entries = changes.map())
    for (const auto& [key, value] : *entries)
      if (is_file_record(key)) throw Error(text(owner, ": ", record_refusal(key)));
  return with_changes(env, changes);
}

EnvFactory factory_of(Config env) {
  return [env = std::move(env)] { return make_env(env); };
}

/// Builds the worlds of a run, of which the first says what all others must show and take.
class Builder {
 public:
  Builder(const TrainOptions& options, const Policy* initial)
      : options_(options),
        base_factory_(options.make_env ? options.make_env : factory_of(options.env)),
        base_(spec_of(base_factory_)),
        initial_(initial) {}

  const EnvSpec& base() const { return base_; }

  /// The environment of the run's options, with `changes` if there are any; `owner` names it in messages.
  World changed_world(const std::string& owner, const Config& changes, const World* first) const {
    if (changes.is_null()) return world(owner, base_factory_, &base_, first);
    if (options_.make_env)
      throw Error(text(owner,
                       ": changes an environment that the host builds itself, which takes no options; a stage can change "
                       "'through', 'episodes' and 'population'"));
    return world(owner, factory_of(changed_env(owner, options_.env, changes)), nullptr, first);
  }

  World world(const std::string& owner, const EnvFactory& make_env, const EnvSpec* known, const World* first) const {
    return told(owner, [&] {
      const EnvSpec spec = known ? *known : spec_of(make_env);
      // What was given may name files, which may change while the run goes on; what it became holds their texts.
      const EnvFactory same = options_.make_env ? make_env : factory_of(spec.config);
      if (first) check_same_kind(first->spec, spec);
      if (first && options_.fit == Fit::pool && !same_images(first->spec, spec))
        return World{same, spec, resized(first->policy, spec.observation, Fit::pool)};
      // Nobody wrote what a policy of 'init' brings along.
      const bool written = !options_.policy.is_null() || !initial_;
      const NestedNamesJudged judged(written ? judged_names() : std::min(judged_names(), JudgedNames::files));
      World made{same, spec, Policy(architecture_in(spec, first), spec.observation, spec.action_size)};
      if (first) check_carries(first->policy, made.policy);
      return made;
    });
  }

 private:
  /// Clocks follow the environment where the first stage's gave them their time, or it was written down as that gives it.
  Config architecture_in(const EnvSpec& spec, const World* first) const {
    const bool tells_time = spec.observation.dt > 0;
    const bool own = !options_.policy.is_null() || !initial_;
    Config architecture = own ? options_.policy : tells_time ? blueprint_of(*initial_) : initial_->architecture();
    if (first && tells_time && first->spec.observation.dt > 0) forget_dt(architecture, first->spec.observation.dt);
    return architecture;
  }

  const TrainOptions& options_;
  EnvFactory base_factory_;
  EnvSpec base_;
  const Policy* initial_;
};

/// What was perhaps meant as `through`: " (did 'thruogh' mean it?)", or "".
std::string instead_of_through(const TrainStage& stage) {
  if (const Config::Map* rest = stage.env.map())
    for (const auto& [key, value] : *rest)
      if (!nearest_name("through", {key}).empty()) return text(" (did '", key, "' mean it?)");
  return "";
}

/// The last iteration of stage `index`, which comes after iteration `before`.
std::uint32_t end_of_stage(const std::vector<TrainStage>& stages, std::size_t index, std::uint32_t before) {
  const auto& through = stages[index].through;
  const bool last = index + 1 == stages.size();
  if (!through && !last)
    throw Error(text(stage_name(index), ": option 'through' is missing", instead_of_through(stages[index]),
                     "; only the last stage goes on to the end"));
  if (through && static_cast<std::uint32_t>(*through) <= before)
    throw Error(text(stage_name(index), ": 'through' is ", *through, ", but the stage before lasts through iteration ", before,
                     "; it must rise"));
  return last ? std::numeric_limits<std::uint32_t>::max() : static_cast<std::uint32_t>(*through);
}

World evaluation_world(const TrainOptions& options, const Config& last_changes, const Builder& builder,
                       const std::vector<Stage>& stages) {
  const World &first = stages.front().world, &last = stages.back().world;
  if (options.eval_env.is_null()) return {last.make_env, last.spec, last.policy.clone()};
  const std::string owner = "train: option 'eval_env'";
  if (options.make_env) return builder.changed_world(owner, options.eval_env, &first);
  const bool whole = options.eval_env.find("name") != nullptr;
  const auto changed = [&] { return changed_env(owner, with_changes(options.env, last_changes), options.eval_env); };
  return builder.world(owner, factory_of(whole ? options.eval_env : changed()), nullptr, &first);
}

}  // namespace

std::unique_ptr<Rollouts> rollouts_of(const World& world, const TrainOptions& options) {
  // What a host builds may be wrapped in what its spec does not tell.
  const bool known = !options.make_env && !world.spec.given.is_null();
  return open_rollouts(known ? world.spec.config : Config(), world.make_env, world.policy.clone(), options.threads,
                       options.safeguards);
}

bool same_world(const World& a, const World& b) {
  return a.spec.config == b.spec.config && a.spec.observation == b.spec.observation;
}

/// @lua options train.stage
/// A stage of a `curriculum`. All other entries take the place of options of the environment (`pixels`, `time_limit`, `distraction`
/// ...).
/// What a stage does not name is the run's own, not the stage's before.
/// @option through integer 1.. ? - its last iteration; only the last stage may go without, to the end of the run
/// @option episodes integer 1.. = (the run's) - per member and iteration
/// @option population integer 2..1048576 = (the optimizer's) - members
/// @see training.md#stages
std::vector<TrainStage> read_curriculum(const Config& list) {
  std::vector<TrainStage> stages;
  if (list.is_null()) return stages;
  if (list.map() && list.map()->empty())
    throw Error(
        "train: option 'curriculum' must be a list of stages, got an empty table, as names that stand for nothing make it; leave "
        "it out (nil) for none");
  if (!list.list())
    throw Error(text("train: option 'curriculum' must be a list of stages, as in {{through = 60, pixels = {60, 80}}, {}}, got ",
                     list.describe()));
  for (const Config& item : *list.list()) {
    const std::string owner = stage_name(stages.size());
    static const Config none = Config::Map{};
    // An empty table in Lua may be a list.
    Options reader(owner, item.list() && item.list()->empty() ? none : item);
    TrainStage stage;
    for (const auto& [key, value, low, high] : counts)
      if (!reader.value(key).is_null()) stage.*value = static_cast<int>(reader.integer_in(key, low, high));
    Config::Map rest = changes_of_stage(item.map() ? *item.map() : Config::Map{});
    if (rest.contains("until")) reader.fail("unknown option 'until'; the last iteration of a stage is called 'through'");
    if (rest.contains("name")) reader.fail("the environment stays the same; option 'name' cannot change");
    if (!rest.empty()) stage.env = std::move(rest);
    stages.push_back(std::move(stage));
  }
  return stages;
}

Config::Map changes_of_stage(Config::Map stage) {
  for (const auto& count : counts) stage.erase(count.key);
  return stage;
}

void check_curriculum(const std::vector<TrainStage>& stages) {
  for (std::size_t i = 0; i < stages.size(); ++i)
    for (const auto& [key, value, low, high] : counts)
      if (const auto& own = stages[i].*value; own && (*own < low || *own > high))
        throw Error(text(stage_name(i), ": option '", key, "' must be in [", low, ", ", high, "], got ", *own));
}

Stages build_stages(const TrainOptions& options, const Policy* initial) {
  FilesLog log;
  // What is in the way of a run in a folder that others keep to themselves is told when it begins.
  const bool goes_on = options.resume && !is_private(options.out) && holds_checkpoint(options.out);
  const NestedNamesJudged judged(goes_on ? JudgedNames::none : JudgedNames::all);
  const Builder builder(options, initial);
  std::vector<TrainStage> wanted = options.curriculum;
  if (wanted.empty()) wanted.emplace_back();
  std::vector<Stage> stages;
  std::uint32_t end = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    end = end_of_stage(wanted, i, end);
    const std::string owner = options.curriculum.empty() ? "" : stage_name(i);
    World world = builder.changed_world(owner, wanted[i].env, i > 0 ? &stages.front().world : nullptr);
    Config optimizer = options.optimizer;
    if (wanted[i].population) optimizer["population"] = *wanted[i].population;
    stages.push_back({std::move(world), end, wanted[i].episodes.value_or(options.episodes), std::move(optimizer)});
  }
  World evaluation = evaluation_world(options, wanted.back().env, builder, stages);
  return {builder.base(), std::move(stages), std::move(evaluation), std::move(log.files)};
}

Config curriculum_of(const TrainOptions& options, const Stages& built) {
  Config::List list;
  for (std::size_t i = 0; i < built.stages.size(); ++i) {
    const Stage& stage = built.stages[i];
    Config::Map entry{{"episodes", stage.episodes}};
    if (i + 1 < built.stages.size()) entry["through"] = static_cast<std::int64_t>(stage.through);
    if (const auto population = options.curriculum[i].population) entry["population"] = *population;
    const Config::Map base = built.base.config.map() ? *built.base.config.map() : Config::Map{};
    if (const Config::Map* own = stage.world.spec.config.map()) {
      for (const auto& [key, value] : *own)
        if (const auto found = base.find(key); found == base.end() || found->second != value) entry[key] = value;
      for (const auto& [key, value] : base)
        if (!own->contains(key)) entry[key] = Config();
    }
    list.emplace_back(std::move(entry));
  }
  return list;
}

}  // namespace iap
