#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "script/context.hpp"
#include "script/faces.hpp"
#include "script/objects.hpp"
#include "train/run_files.hpp"
import iap.core;
import iap.env;
import iap.envs;
import iap.npz;
import iap.policy;
import iap.train;
#include "core/nested_names.hpp"
#include "policy/handed_on.hpp"

namespace iap {

std::string PolicyObject::describe() const {
  return text("policy of ", policy.size(), " parameters, ", policy.action_size(), " actions");
}

Trust read_trust(Options& options) { return options.boolean("trust", false) ? Trust::yes : Trust::no; }

void refuse_trust(const lua::Call& call, Trust trust) {
  if (trust == Trust::yes)
    call.fail("option 'trust' is true, but the policy is loaded already; give trust = true to iap.policy.load, or the path here");
}

namespace {

using lua::Call;
using lua::entry;

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min(), largest = std::numeric_limits<std::int64_t>::max();

int give_policy(Call& call, Policy policy, Config metadata) {
  const std::size_t bytes = policy.size() * sizeof(float);
  return call.give(std::make_unique<PolicyObject>(PolicyObject{std::move(policy), std::move(metadata)}), bytes);
}

std::vector<float> floats(const std::vector<double>& values) { return {values.begin(), values.end()}; }

/// @lua function iap.policy.build
/// Builds a policy on an environment, with the initial parameters of seed 0.
/// @param blueprint blueprint|table - a block
/// @param env env|string|table - whose observations it sees and whose actions it takes
/// @return policy - ready to act
/// @example iap.policy.build(iap.policy.linear {}, "cartpole-balance")
int build(Call& call) {
  if (!call.object_or_null<BlockBlueprint>(1) && lua_type(call.state(), call.at(1)) != LUA_TTABLE)
    call.refuse(1, "blueprint", "a block, such as iap.policy.sequence { a, b }");
  const Config architecture = call.config(1, "blueprint");
  const auto* object = call.object_or_null<EnvObject>(2);
  const auto made = object ? nullptr : make_env(env_config(call, 2, "env"));
  const EnvSpec& spec = object ? object->env->spec() : made->spec();
  const bool goes_on = judged_names() == JudgedNames::none;
  const NestedNamesJudged judged(goes_on ? JudgedNames::none : JudgedNames::all);
  Policy policy(architecture, spec.observation, spec.action_size);
  policy.initialise(0);
  return give_policy(call, std::move(policy), env_record(spec));
}

/// @lua function iap.policy.load
/// Reads a policy.
/// @param path string - a policy file, or the folder of a run, whose best.iap it is
/// @param options table ? - how
/// @option trust boolean = false - let Lua inside the file reach files and programs
/// @return policy - as it was saved
/// @example iap.policy.load("runs/quickstart")
/// @see lua.md#trust
int load(Call& call) {
  const auto path = call.string(1, "path");
  const Config config = call.config(2, "options");
  Options options(call.name(), config);
  const Trust trust = read_trust(options);
  options.finish();
  auto file = open_policy(path, trust);
  return give_policy(call, std::move(file.policy), std::move(file.metadata));
}

/// Whether the environment `own`, which a policy came with, is the one that became `config`. One that cannot be built here, without
/// its files or trust, is another.
bool is_same_env(const Config& own, const Config& config) try {
  return own == config || make_env(own)->spec().config == config;
} catch (const Error&) {
  return false;
}

/// @lua method policy:resized
/// The policy for the image sizes of another environment.
/// @param env env|string|table - with the same images, vector and action, but for sizes
/// @param options table ? - how
/// @option fit "resample"|"pool" = "resample" - resample what belongs to patches, or average pixels to the size that it was built
/// for
/// @return policy - another one
/// @see training.md#other-image-sizes
int resized_policy(Call& call) {
  const auto& object = call.self<PolicyObject>();
  const auto* env = call.object_or_null<EnvObject>(1);
  const auto made = env ? nullptr : make_env(env_config(call, 1, "env"));
  const EnvSpec& spec = env ? env->env->spec() : made->spec();
  const Config config = call.config(2, "options");
  Options options(call.name(), config);
  const Fit fit = read_fit(options);
  options.finish();
  if (spec.action_size != object.policy.action_size())
    call.fail(text("the policy gives ", object.policy.action_size(), " action values, '", spec.name, "' takes ", spec.action_size));
  Config metadata = object.metadata;
  const Config* own = recorded_env(metadata);
  const bool elsewhere = !own || !is_same_env(*own, spec.config);
  const Config record = env_record(spec);
  for (const auto& [key, value] : *record.map()) metadata[key] = value;
  if (elsewhere) metadata.map()->erase("return");  // it was not earned there
  return give_policy(call, resized(object.policy, spec.observation, fit), std::move(metadata));
}

/// @lua method policy:act
/// Decides. What it remembers goes on from call to call until policy:reset.
/// @param observation table{env.observation} - as env:reset and env:observe give it; its numbers are finite, as floats too
/// @return number[] action - in [-1, 1] for what ends in tanh. iap.train and iap.eval clip it to [-1, 1] and map that linearly onto
/// the environment's `action_low` to `action_high`, which a loop of your own does itself
int act(Call& call) {
  auto& policy = call.self<PolicyObject>().policy;
  const ObservationReader observation(call, 1, policy.observation());
  return call.give(policy.act(observation.view()));
}

/// @lua method policy:reset
/// Begins an episode: forgets what was remembered.
/// @param seed integer = 0 - of what the policy draws; all 64 bits count, as in env:reset
int reset(Call& call) {
  call.self<PolicyObject>().policy.reset(static_cast<std::uint64_t>(call.integer(1, "seed", lowest, largest, 0)));
  return 0;
}

/// Other parameters did not earn it.
void forget_return(PolicyObject& object) {
  if (auto* entries = object.metadata.map())
    for (const char* key : {"return", "iteration"}) entries->erase(key);
}

/// @lua method policy:initialise
/// Draws initial parameters, and begins an episode as policy:reset() does.
/// @param seed integer 0.. - of the draw
int initialise(Call& call) {
  auto& object = call.self<PolicyObject>();
  object.policy.initialise(static_cast<std::uint64_t>(call.integer(1, "seed", 0, largest)));
  forget_return(object);
  return 0;
}

/// @lua method policy:parameters
/// All parameters. What `normalise` gathered over training is none of them: policy:moments().
/// @return number[] - policy:size() of them
int parameters(Call& call) { return call.give(call.self<PolicyObject>().policy.parameters()); }

/// @lua method policy:set_parameters
/// Replaces all parameters. Moments stay.
/// @param parameters number[] - policy:size() numbers
int set_parameters(Call& call) {
  auto& object = call.self<PolicyObject>();
  object.policy.set_parameters(floats(call.numbers(1, "parameters")));
  forget_return(object);
  return 0;
}

/// @lua method policy:moments
/// What `iap.policy.normalise { over = "training" }` has gathered in training, which is no part of the parameters.
/// @return number[][] - {count, mean, squares} of each value that it watches, block by block; `squares` sums the squared
/// differences from the mean
int moments(Call& call) { return call.give(to_config(call.self<PolicyObject>().policy.moments())); }

/// @lua method policy:set_moments
/// Replaces all of them, such as by those of another policy with the same blocks.
/// @param moments number[][] - as policy:moments() gives them
int set_moments(Call& call) {
  auto& object = call.self<PolicyObject>();
  const Config given = call.config(1, "moments");
  const Config::List none;
  if (!given.list() && !(given.map() && given.map()->empty())) call.refuse(1, "moments", "a list as policy:moments() gives it");
  object.policy.set_moments(moments_from_config(given.list() ? *given.list() : none, call.name()));
  forget_return(object);
  return 0;
}

/// @lua method policy:outputs
/// What a block handed over in the last act.
/// @param path string - of the block, as in policy:summary(), such as "1.rank"
/// @return number[] - empty before the first act
int outputs(Call& call) {
  const auto& policy = call.self<PolicyObject>().policy;
  return call.give(policy.outputs(call.string(1, "path")));
}

/// @lua method policy:size
/// How many parameters there are.
/// @return integer - 0 or more
int size(Call& call) { return call.give(static_cast<std::int64_t>(call.self<PolicyObject>().policy.size())); }
/// @lua method policy:summary
/// The policy for people: its blocks, their paths, shapes and numbers of parameters.
/// @return string - some lines
int summary(Call& call) { return call.give(call.self<PolicyObject>().policy.summary()); }
/// @lua method policy:metadata
/// What its file says besides: the environment, the return that was measured.
/// @return table - such as {env = {...}, ["return"] = 77.5}
int metadata(Call& call) { return call.give(metadata_handed_on(call.self<PolicyObject>().metadata)); }
/// @lua method policy:blueprint
/// Its blocks without parameters and moments, for another training.
/// @return blueprint - with all options as they became, but for the `dt` that clocks took from the environment, or that was written
/// down as the environment has it: another one gives its own
int blueprint(Call& call) {
  return call.give(std::make_unique<BlockBlueprint>(BlockBlueprint{blueprint_of(call.self<PolicyObject>().policy)}));
}

/// @lua method policy:slices
/// Where parameters of which name are.
/// @return table[] - {name, shape, first, last} of each, positions in policy:parameters()
int slices(Call& call) {
  Config::List rows;
  for (const auto& slice : call.self<PolicyObject>().policy.layout().slices())
    rows.push_back(Config::Map{{"name", slice.name},
                               {"shape", Config::List(slice.shape.begin(), slice.shape.end())},
                               {"first", static_cast<std::int64_t>(slice.offset) + 1},
                               {"last", static_cast<std::int64_t>(slice.offset + slice.size)}});
  return call.give(Config(std::move(rows)));
}

/// @lua method policy:views
/// What the last act looked at, a view a head.
/// @return table{policy.view}[] - empty without attention

/// @lua options policy.view
/// One of policy:views(), and what image:overlay takes.
/// @field block string - path of the block
/// @field image string - name of the image
/// @field rows integer 1.. - of patches
/// @field columns integer 1.. - of patches
/// @field patch integer 1.. - side of a patch, pixels
/// @field stride integer 1.. - from one to the next
/// @field scores number[] - of all patches, row by row
/// @field selected integer[] - positions in `scores` of the chosen patches, best first; of draws, in their order, repeated where a
/// patch was drawn several times
/// @field frame image ? - the earlier frame that `scores` and `selected` belong to, as those of a cross and of a hierarchy's level
/// that was not asked may; without it, they belong to the present one
int views(Call& call) {
  const auto seen = call.self<PolicyObject>().policy.views();
  Config::List rows;
  for (const auto& view : seen) {
    Config::List scores, selected;
    for (const float score : view.scores) scores.emplace_back(double{score});
    for (const int index : view.selected) selected.emplace_back(index + 1);
    rows.push_back(Config::Map{{"block", view.block},
                               {"image", view.image},
                               {"rows", view.rows},
                               {"columns", view.columns},
                               {"patch", view.patch},
                               {"stride", view.stride},
                               {"scores", std::move(scores)},
                               {"selected", std::move(selected)}});
  }
  call.give(Config(std::move(rows)));
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (!seen[i].frame.data) continue;
    lua_rawgeti(call.state(), -1, static_cast<lua_Integer>(i) + 1);
    give_image(call, seen[i].frame);
    lua::set_entry(call.state(), "frame");
    lua_pop(call.state(), 1);
  }
  return 1;
}

/// Completes an environment that does no more than name a Lua file, which nobody who plays the policy would read.
void take_text_along(Config& metadata) {
  const Config* env = recorded_env(metadata);
  if (!env) return;
  const Config named = env->string() ? Config(Config::Map{{"name", *env}}) : *env;
  if (!is_lua_env(named) || named.find("source")) return;
  Config record = env_record(make_env(named)->spec());
  metadata["env"] = std::move(record["env"]);
  metadata.map()->emplace("env_given", std::move(record["env_given"]));
}

/// Whether `env` is the environment of `metadata`, by what it was given or by what it became, wherever its text came from.
bool is_named_in(const Config& metadata, Config env) {
  trust_lua(env, ConfigKind::any);
  for (const char* key : {"env", "env_given"}) {
    const Config* found = metadata.find(key);
    Config own = found ? *found : Config();
    trust_lua(own, ConfigKind::any);
    if (own == env) return true;
  }
  return false;
}

/// @lua method policy:save
/// Writes a policy file, from which architecture and parameters can be rebuilt.
/// @param path string - of the file, such as "walker.iap"; not a script's, nor one that a run keeps (best.iap beside config.json)
/// @param metadata table ? - entries that replace those that the policy came with; numbers are finite, text is UTF-8.
/// Of an `env` that names a Lua file, such as "task.lua", the file's text goes along as that of an environment does. Another `env`
/// drops the `env_given` of the old one
int save(Call& call) {
  const auto& object = call.self<PolicyObject>();
  const auto path = call.string(1, "path");
  Config metadata = object.metadata, given = call.config(2, "metadata");
  if (!given.map()) call.refuse(2, "metadata", "a table with named entries");
  take_text_along(given);
  if (const Config* env = given.find("env"); env && !is_named_in(metadata, *env)) metadata.map()->erase("env_given");
  for (auto& [key, value] : *given.map()) {
    lua::check_storable(key, "policy:save: the name of an entry of its metadata");
    lua::check_storable(value, text("policy:save: metadata entry '", key, "'"));
    metadata[key] = std::move(value);
  }
  RunContext::begin_writing(call.state());
  refuse_run_file(path);
  write_policy_file(path, object.policy, metadata);
  return 0;
}

/// @lua function iap.policy.import_attention_agent
/// Reads weights that AttentionAgent's authors published.
/// @param path string - an .npz file
/// @param env env|string|table = (what such weights were trained for) - the environment
/// @return policy - of iap.policy.attention_agent
/// @see attention-agent.md
int import_agent(Call& call) {
  auto file = import_attention_agent(call.string(1, "path"), call.absent(2) ? Config() : env_config(call, 2, "env"));
  return give_policy(call, std::move(file.policy), std::move(file.metadata));
}

/// @lua method policy:export_attention_agent
/// Writes the weights of an attention_agent policy as AttentionAgent's authors publish theirs. As the file holds nothing else, a
/// policy whose options make it act otherwise than AttentionAgent with these weights is refused.
/// @param path string - the .npz file to write; not one that a run keeps
int export_agent(Call& call) {
  const auto& object = call.self<PolicyObject>();
  const auto path = call.string(1, "path");
  RunContext::begin_writing(call.state());
  check_data_name(path, "a file of weights");
  refuse_run_file(path);
  write_file_atomic(path, export_attention_agent(object.policy));
  return 0;
}

constexpr lua::Function functions[] = {
    {"build", entry<build>}, {"load", entry<load>}, {"import_attention_agent", entry<import_agent>}};
constexpr lua::Function methods[] = {
    {"act", entry<act>},
    {"resized", entry<resized_policy>},
    {"outputs", entry<outputs>},
    {"reset", entry<reset>},
    {"initialise", entry<initialise>},
    {"parameters", entry<parameters>},
    {"set_parameters", entry<set_parameters>},
    {"moments", entry<moments>},
    {"set_moments", entry<set_moments>},
    {"size", entry<size>},
    {"slices", entry<slices>},
    {"summary", entry<summary>},
    {"metadata", entry<metadata>},
    {"blueprint", entry<blueprint>},
    {"views", entry<views>},
    {"save", entry<save>},
    {"export_attention_agent", entry<export_agent>},
};

}  // namespace

/// @lua class policy
/// A policy: blocks, their parameters, and what it remembers of the episode.
/// @page policy
void open_policy_face(lua_State* state) {
  lua::define_class(state, lua::ClassOf<PolicyObject>::info, methods);
  lua_getfield(state, -1, "policy");
  for (const auto& function : functions) lua::add_function(state, "iap.policy", ".", function);
  lua_pop(state, 1);
}

}  // namespace iap
