#include <malloc.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "script/arguments.hpp"
#include "script/context.hpp"
#include "script/faces.hpp"
#include "script/objects.hpp"
import iap.core;
import iap.env;
import iap.envs;
import iap.policy;
import iap.rollout;
import iap.script;
import iap.train;
#include "core/nested_names.hpp"

namespace iap {
namespace {

using lua::Call;
using lua::entry;

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

Config to_config(const IterationReport& report) {
  Config::Map entries{{"iteration", static_cast<std::int64_t>(report.iteration)},
                      {"return_mean", report.return_mean},
                      {"return_best", report.return_best},
                      {"seconds", report.seconds},
                      {"steps_per_second", report.steps_per_second}};
  // A cell that is empty in the table is nil.
  for (const auto& [column, value] : report.columns)
    if (std::isfinite(value)) entries.emplace(column, value);
  if (report.evaluated) {
    entries.insert_or_assign("eval_mean", report.eval_mean);
    if (std::isfinite(report.eval_std)) entries.insert_or_assign("eval_std", report.eval_std);
  }
  return entries;
}

/// Calls the script's on_iteration, which lies at `callback`. Training goes on unless it returns false.
bool report_iteration(lua_State* state, int callback, const IterationReport& report) {
  lua::reserve(state, 1);
  lua_pushvalue(state, callback);
  lua::push_config(state, to_config(report));
  lua::call(state, 1, 1);
  const bool ended = lua_type(state, -1) == LUA_TBOOLEAN && !lua_toboolean(state, -1);
  lua_pop(state, 1);
  return !ended;
}

/// The stock interpreter answers Ctrl-C with a hook, which it sets in its signal handler: then training ends as well.
bool hook_appeared(lua_State* state, lua_Hook before) { return lua_gethook(state) != before; }

Config to_config(const TrainResult& result, const TrainOptions& options) {
  Config::Map entries{{"iterations", static_cast<std::int64_t>(result.iterations)},
                      {"best_iteration", static_cast<std::int64_t>(result.best_iteration)},
                      {"stop_reason", result.stop_reason},
                      {"seconds", result.seconds}};
  if (std::isfinite(result.first_eval)) {
    entries.emplace("first_eval", result.first_eval);
    entries.emplace("last_eval", result.last_eval);
    entries.emplace("best_eval", result.best_eval);
  }
  if (result.best_failed > 0) entries.emplace("best_failed", static_cast<std::int64_t>(result.best_failed));
  if (const auto& confirmed = result.confirmed) {
    Config::Map figures{{"episodes", confirmed->episodes}, {"mean", confirmed->mean}};
    if (confirmed->episodes > 1)
      figures.insert({{"standard_deviation", confirmed->standard_deviation}, {"low", confirmed->low}, {"high", confirmed->high}});
    if (confirmed->failed > 0) figures.emplace("failed", confirmed->failed);
    entries.emplace("confirmed", std::move(figures));
  }
  if (!options.out.empty()) entries.emplace("out", options.out.string());
  return entries;
}

void give_policy_entry(Call& call, const PolicyFile& file, const char* name) {
  const std::size_t bytes = file.policy.size() * sizeof(float);
  call.give(std::make_unique<PolicyObject>(PolicyObject{file.policy.clone(), file.metadata}), bytes);
  lua::set_entry(call.state(), name);
}

/// At the prompt Ctrl-C ends the training, not the input: the result so far is its value.
void hand_over(RunContext& context, const TrainResult& result, const TrainOptions& options) {
  context.forgive_interrupt();
  std::string line = "interrupted; ";
  if (result.stop_reason == "interrupted")
    line = text("interrupted after iteration ", result.iterations, " of ", options.iterations, "; ");
  line += "the result has the policy so far (_.policy, where it got no name)";
  if (options.out.empty())
    line += ": policy:save(\"FILE\") keeps it";
  else
    line += text("; out = \"", options.out.string(), "\", resume = true continues the run");
  std::fprintf(stderr, "%s\n", printable(line).c_str());
}

/// A copy of the policy object under `key` in the table of options; null for anything else.
std::shared_ptr<const PolicyFile> policy_entry(Call& call, const char* key) {
  lua_State* state = call.state();
  lua::push_entry(state, call.at(1), key);
  const auto* object = call.object_or_null<PolicyObject>(lua_gettop(state) - call.at(0));
  std::shared_ptr<const PolicyFile> file;
  if (object) file = std::make_shared<PolicyFile>(PolicyFile{object->policy.clone(), object->metadata});
  lua_pop(state, 1);
  return file;
}

/// What stands in a table of options for what no text can name, so that --set can replace it or take it out.
const char* const stand_in = "(the script's own)";

/// Takes the stand-in of `key` out again; false if --set did, or nothing stood there.
bool stands_in(Config& config, const char* key) {
  const Config* found = config.find(key);
  const bool stands = found && found->string() && *found->string() == stand_in;
  if (stands || (found && found->is_null())) config.map()->erase(key);
  return stands;
}

int give_result(Call& call, const TrainResult& result, const TrainOptions& options) {
  lua_State* state = call.state();
  call.give(to_config(result, options));
  call.give(result.parameters);
  lua::set_entry(state, "parameters");
  call.give(result.best_parameters);
  lua::set_entry(state, "best_parameters");
  give_policy_entry(call, *result.policy, "policy");
  give_policy_entry(call, *result.best_policy, "best_policy");
  return 1;
}

/// Keeps what would be trained.
TrainResult rehearsed(Rehearsal& rehearsal, TrainOptions options) {
  options.threads = 1;
  rehearsal = {.trainings = 1, .plan = std::make_shared<TrainingPlan>(plan_training(options)), .out = options.out};
  return rehearsal.plan->result;
}

/// Trains; `context`, which may be null, learns of a folder that another process works in.
TrainResult trained(RunContext* context, const TrainOptions& options) {
  if (context) context->set_folder_in_use(false);
  try {
    return train(options);
  } catch (const FolderInUse&) {
    if (context) context->set_folder_in_use(true);
    throw;
  }
}

/// @lua function iap.train
/// Trains a policy with an evolution strategy or another optimizer. Every iteration draws a population of parameter vectors, each
/// plays its
/// episodes, and their returns go back to the optimizer. The result follows from the options alone, not from threads or
/// interruptions;
/// `--set NAME=VALUE` on the command line replaces any option.
/// @use train
/// @option on_iteration function ? - gets each row of metrics.csv from iteration 1 on as a table, without the cells that are empty;
/// returning false ends the run in good order; a run that resumes asks about its last row once more
/// @return table{train.result} result - figures, parameters and policies
/// @example iap.train {
///   env = "cartpole-balance", policy = iap.policy.linear { activation = "tanh" },
///   iterations = 1, quiet = true,
/// }
/// @see training.md

/// @lua options train.result
/// What iap.train returns.
/// @field iterations integer 0.. - that were completed
/// @field stop_reason string - why it ended: "iterations" at the last one, "on_iteration", "interrupted" or the optimizer's own
/// @field seconds number - of wall time
/// @field first_eval number ? - mean return of the first evaluation
/// @field last_eval number ? - of the last
/// @field best_eval number ? - the highest of all, each over few episodes: it promises more than the policy keeps
/// @field best_iteration integer - after which that was
/// @field best_failed integer ? - how many of its episodes failed and count `failed_return`, where some did
/// @field confirmed table ? - {mean, standard_deviation, low, high, episodes}: the best policy on episodes that chose nothing, a
/// single one of which has neither deviation nor interval; where some of them failed and count `failed_return`, `failed` says how
/// many
/// @field out string ? - the run's folder
/// @field parameters number[] - the mean at the end
/// @field best_parameters number[] - of the best evaluation
/// @field policy policy - with `parameters`
/// @field best_policy policy - with `best_parameters`
int train_policy(Call& call) {
  lua_State* state = call.state();
  check_training_arguments(call);
  lua::push_entry(state, call.at(1), "on_iteration");
  const int callback = lua_gettop(state);
  bool reports = lua_type(state, callback) != LUA_TNIL;
  if (reports && lua_type(state, callback) != LUA_TFUNCTION)
    call.fail(text("option 'on_iteration' must be a function, got ", lua::describe_value(state, callback)));
  auto init_policy = policy_entry(call, "init");
  std::vector<std::string_view> skip{"on_iteration"};
  if (init_policy) skip.emplace_back("init");
  Config config = call.config(1, "options", {.skip = std::move(skip)});
  if (!config.map()) call.refuse(1, "options", "a table with named entries");
  if (reports) config["on_iteration"] = stand_in;
  if (init_policy) config["init"] = stand_in;
  if (const auto* env = config.find("env"); env && env->string()) config["env"] = env_table(*env, call.name());
  auto* context = RunContext::of(state);
  if (context && context->input_interrupted()) throw Interrupted();
  if (context) context->begin_training();
  const NestedNamesJudged judged(judged_names(), context ? context->apply_to_training(config) : std::vector<std::string>());
  if (!stands_in(config, "on_iteration")) reports = false;
  if (const Config* other = config.find("on_iteration"))
    call.fail(text("option 'on_iteration' must be a function, got ", other->describe()));
  if (!stands_in(config, "init")) init_policy = nullptr;
  const bool starts = init_policy || (config.find("init") && !config.find("init")->is_null());
  for (const auto& [key, example] :
       {std::pair("env", "iap.env.make(\"cheetah-run\")"), std::pair("policy", "iap.policy.sequence { a, b }")})
    if (const auto* given = config.find(key); (!given || given->is_null()) && (key != std::string_view("policy") || !starts))
      call.fail(text("option '", key, "' is missing or nil; write ", key, " = ", example));
  TrainOptions options = read_train_options(config, init_policy);
  // What lies in the folder of a sweep's run is the sweep's to judge: a plan without a script does not look there.
  if (context && !(context->rehearsal && context->settings().single)) options.script = context->experiment(options.out.string());
  if (context) options.script_options = context->own_options();
  if (context && context->rehearsal) return give_result(call, rehearsed(*context->rehearsal, options), options);
  const lua_Hook hook = lua_gethook(state);
  options.on_iteration = [state, callback, reports, hook](const IterationReport& report) {
    bool wanted = true;
    try {
      wanted = !reports || report_iteration(state, callback, report);
    } catch (const lua::LuaError&) {
      if (!interrupt_requested()) throw;
    }
    if (hook_appeared(state, hook)) throw Interrupted();
    return wanted;
  };
  const TrainResult result = trained(context, options);
  if (context) {
    context->set_trained({options.out.string(), result.iterations, options.iterations, result.stop_reason == "interrupted"});
    // What a training freed lies between what lives on: without this a script of a thousand trainings grows by gigabytes.
    malloc_trim(0);
  }
  if (context && context->at_prompt() && interrupt_requested()) hand_over(*context, result, options);
  return give_result(call, result, options);
}

Config to_config(const Evaluation& evaluation) {
  Config::List episodes;
  for (const auto& episode : evaluation.episodes) {
    Config& entry = episodes.emplace_back(Config::Map{{"total", episode.total},
                                                      {"steps", episode.steps},
                                                      {"terminated", episode.terminated},
                                                      {"truncated", episode.truncated},
                                                      {"unstable", episode.unstable}});
    if (!episode.failure.empty()) entry["failure"] = episode.failure;
    if (episode.retries > 0) entry["retries"] = episode.retries;
    if (!episode.retried_for.empty()) entry["retried_for"] = episode.retried_for;
  }
  const bool spread = episodes.size() > 1;
  Config::Map entries{{"mean", evaluation.mean}, {"episodes", std::move(episodes)}};
  if (spread)
    entries.insert({{"standard_deviation", evaluation.standard_deviation}, {"low", evaluation.low}, {"high", evaluation.high}});
  return entries;
}

/// Says that what a policy earns depends on which worker plays which episode, where it does: of several. Not where episodes are
/// kept apart from this process, as what may hang has no trial in it.
void warn_of_kept(const Policy& policy, int episodes, const Safeguards& safeguards) {
  if (episodes < 2 || safeguards.isolated()) return;
  if (const auto kept = kept_across_episodes(policy); !kept.empty())
    std::fprintf(stderr, "%s\n", printable(one_line("warning: policy: " + kept)).c_str());
}

/// @lua function iap.eval
/// Plays episodes of a policy, in parallel, and says what it earns.
/// @param policy policy|string - a policy, or the path of a run (its best.iap) or policy file
/// @param options table ? - how
/// @option episodes integer 1..1e6 = 16 - episodes to play
/// @option seed integer 0.. = 0 - of the episodes
/// @option threads integer 0..4096 = 0 - 0: what the script was started with, or all cores; changes no result, but
/// where a block in Lua keeps something from one episode to the next, of which a warning tells
/// @use rollout.safeguards
/// @option env env|string|table = (the environment it was trained in) - where it plays
/// @option trust boolean = false - let Lua inside the policy file reach files and programs; only where `policy` is a path
/// @return table{eval.result} result - mean and interval
/// @example iap.eval("runs/quickstart", { episodes = 100 }).mean
/// @see training.md#iapeval

/// @lua options eval.result
/// What iap.eval returns.
/// @field mean number - of the episodes' returns
/// @field standard_deviation number ? - of the sample; a single episode has none
/// @field low number ? - 95% interval of the mean (Student's t), lower end
/// @field high number ? - upper end
/// @field episodes table[] - {total, steps, terminated, truncated, unstable} of each; steps are decisions; `failure` says why an
/// episode counts `failed_return`, `retries` how many attempts failed before its last, `retried_for` why the first did, where the
/// last one ended
int eval_policy(Call& call) {
  auto* object = call.object_or_null<PolicyObject>(1);
  if (!object && lua_type(call.state(), call.at(1)) != LUA_TSTRING)
    call.refuse(1, "policy", "a policy, or the path of a run or policy file");
  const Config config = call.config(2, "options");
  Options options(call.name(), config);
  const Trust trust = read_trust(options);
  if (object) refuse_trust(call, trust);
  const auto file = object ? nullptr : std::make_unique<PolicyFile>(open_policy(call.string(1, "policy"), trust));
  const Config& metadata = object ? object->metadata : file->metadata;
  const auto episodes = static_cast<int>(options.integer_in("episodes", 1, 1'000'000, 16));
  const auto seed = options.integer_in("seed", 0, largest, 0);
  const auto* context = RunContext::of(call.state());
  const auto threads = static_cast<int>(options.integer_in("threads", 0, 4096, context ? context->threads() : 0));
  const Safeguards safeguards = read_safeguards(options);
  Config env = options.value("env");
  options.finish();
  if (const Config* own = recorded_env(metadata); env.is_null() && own) env = *own;
  if (env.is_null()) call.fail("option 'env' is missing: the policy does not say which environment it is for");
  env = env_table(env, call.name());
  const Policy& policy = object ? object->policy : file->policy;
  warn_of_kept(policy, static_cast<int>(episodes), safeguards);
  return call.give(to_config(evaluate(policy, env, episodes, static_cast<std::uint64_t>(seed), threads, safeguards)));
}

constexpr lua::Function functions[] = {{"train", entry<train_policy>}, {"eval", entry<eval_policy>}};

}  // namespace

void open_train_face(lua_State* state) {
  for (const auto& function : functions) lua::add_function(state, "iap", ".", function);
}

}  // namespace iap
