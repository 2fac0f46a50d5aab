module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.train;
import iap.core;
import iap.env;
import iap.envs;
import iap.optim;
import iap.policy;
import iap.rollout;
import :initial;
import :metrics_logs;
import :settings;
import :stages;
import :types;
#include "core/files_read.hpp"
#include "core/option_log.hpp"
#include "run_files.hpp"

namespace iap {
namespace {

constexpr int most = std::numeric_limits<int>::max();
constexpr double most_action_noise = 10;
constexpr std::int64_t most_seed = std::numeric_limits<std::int64_t>::max();

const std::vector<std::string>& episode_seeds_names() {
  static const std::vector<std::string> names{"common", "pairs", "own"};
  return names;
}

EpisodeSeeds read_episode_seeds(Options& reader) {
  const auto& names = episode_seeds_names();
  return static_cast<EpisodeSeeds>(std::ranges::find(names, reader.choice("episode_seeds", names, names.front())) - names.begin());
}

std::vector<std::string> read_log(Options& reader) {
  const Config& given = reader.value("log");
  if (given.string()) return {*given.string()};
  std::vector<std::string> names;
  if (given.map() && given.map()->empty()) return names;
  for (const Config& name : reader.list("log")) {
    if (!name.string()) reader.fail(text("option 'log' must be a list of names, got ", name.describe(), " in it"));
    names.push_back(*name.string());
  }
  return names;
}

/// What identities leave out, as checkpoints of programs that did not know these options do.
Config::Map unwritten_defaults() { return {{"action_noise", 0.0}, {"fit", "resample"}}; }

/// The record of what the files hold that environments read and that travel with nothing. It decides what a run comes to.
constexpr std::string_view files_record = "files";

std::string shown(const Config* value) { return value ? value->describe() : "not set"; }

const Config* item(const Config::List& list, std::size_t index) { return index < list.size() ? &list[index] : nullptr; }

/// Whether it is a record of files that says less than that of `now` and nothing else, as earlier programs kept it.
bool is_shorter_record(const Config& before, const Config& now, const std::string& path) {
  return path.starts_with(files_record) && before.string() && now.string() && *before.string() == without_ends(*now.string());
}

/// Whether a table of settings at `path` is handed to Lua, which tells 3 from 3.0. Where a text came from is forgotten in what is
/// compared.
bool is_for_lua(const Config& table, const std::string& path) {
  return is_lua_block(table) || ((path == "env" || path == "eval_env") && (is_lua_env(table) || table.find("source")));
}

/// 1 is 1.0, unless `exactly`; the integers beside each other from 2^53 on are one double.
bool are_one_number(const Config& before, const Config& now, bool exactly) {
  return !exactly && before.number() && before.number() == now.number() && before.integer() == now.integer();
}

std::string difference_at(const Config& before, const Config& now, const std::string& path, bool exactly);

std::string difference(const Config* before, const Config* now, const std::string& path, bool exactly) {
  if (before && now) return is_shorter_record(*before, *now, path) ? "" : difference_at(*before, *now, path, exactly);
  // Runs of programs that did not keep them yet read these from the disk, as a run that begins now does.
  if (!before && (path.ends_with(".required_modules") || path == files_record)) return "";
  return text(path, ": ", shown(before), " before, ", shown(now), " now");
}

/// As `first_difference`.
std::string difference_at(const Config& before, const Config& now, const std::string& path, bool exactly) {
  if (before == now || are_one_number(before, now, exactly)) return "";
  exactly = exactly || is_for_lua(now, path);
  if (before.map() && now.map()) {
    const Config* env = path.empty() ? now.find("env") : nullptr;
    const bool stages_for_lua = env && is_for_lua(*env, "env");
    std::set<std::string> keys;
    for (const Config* side : {&before, &now})
      for (const auto& [key, value] : *side->map()) keys.insert(key);
    // What only one of them has may be a default that follows from what both have.
    std::string in_one;
    for (const auto& key : keys) {
      const bool of_stages = stages_for_lua && key == "curriculum";
      const Config *old = before.find(key), *value = now.find(key);
      const auto found = difference(old, value, path.empty() ? key : path + "." + key, exactly || of_stages);
      if (!found.empty() && old && value) return found;
      if (in_one.empty()) in_one = found;
    }
    return in_one;
  }
  if (before.list() && now.list()) {
    for (std::size_t i = 0; i < std::max(before.list()->size(), now.list()->size()); ++i) {
      const auto found = difference(item(*before.list(), i), item(*now.list(), i), text(path, ".", i + 1), exactly);
      if (!found.empty()) return found;
    }
    return "";
  }
  // Long texts are shown by how they begin.
  if (before.describe() == now.describe()) return text(path, ": another text now, which begins with ", now.describe());
  return text(path, ": ", before.describe(), " before, ", now.describe(), " now");
}

void check_range(const char* name, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value < low || value > high) throw Error(text("train: option '", name, "' must be in [", low, ", ", high, "], got ", value));
}

/// Notes what options are asked for while it lives.
class Reads {
 public:
  Reads() : outer_(log_options(&reads_)) {}
  ~Reads() { log_options(outer_); }
  Reads(const Reads&) = delete;
  Reads& operator=(const Reads&) = delete;

  bool has(const std::string& owner, const std::string& key) const {
    return std::ranges::any_of(reads_, [&](const OptionRead& read) { return read.owner == owner && read.key == key; });
  }

 private:
  std::vector<OptionRead> reads_;
  std::vector<OptionRead>* outer_;
};

/// Where the blocks have something of that name: "policy.blocks.1.top"; "" if nowhere.
std::string place_in_blocks(const Config& blocks, const std::string& name, const std::string& path) {
  if (const auto* items = blocks.list())
    for (std::size_t i = 0; i < items->size(); ++i)
      if (auto place = place_in_blocks((*items)[i], name, text(path, ".", i + 1)); !place.empty()) return place;
  if (!blocks.map()) return "";
  if (blocks.find(name)) return path + "." + name;
  for (const auto& [key, value] : *blocks.map())
    if (auto place = place_in_blocks(value, name, path + "." + key); !place.empty()) return place;
  return "";
}

bool is_of_training(const std::string& name) {
  const Reads reads;
  read_train_options(Config::Map{{"env", Config::Map{}}, {"policy", Config::Map{}}});
  return reads.has("train", name);
}

/// What was asked for until a build fails counts.
void try_building(const auto& build) {
  try {
    build();
  } catch (const Error&) {
    return;
  }
}

/// Whether optimizers of this kind, or of the usual one where none is named, have an option `name`.
bool is_of_optimizer(const Config* optimizer, const std::string& name) {
  Config bare = Config::Map{};
  if (const Config* kind = optimizer ? optimizer->find("kind") : nullptr) bare["kind"] = *kind;
  const std::vector<float> parameters(2);
  const Reads reads;
  try_building([&] { make_optimizer(bare, parameters, 0); });
  return reads.has("optimizer", name);
}

/// Whether the environment, or one of ours where none is named, has an option `name`.
bool is_of_env(const Config* env, const std::string& name) {
  const Config* given = env ? env->find("name") : nullptr;
  const Config table = given && given->string() ? *env : Config(Config::Map{{"name", "cartpole-balance"}});
  const Reads reads;
  try_building([&] { make_env(table); });
  return reads.has(text("environment '", *table.find("name")->string(), "'"), name);
}

/// Refuses what no reader asked for; of an option of a table inside it names the place.
void finish(const Options& reader) {
  try {
    reader.finish();
  } catch (const UnknownOption&) {
    const Config& given = reader.config();
    for (const auto& [name, value] : *given.map()) {
      if (is_of_training(name)) continue;
      const Config* blocks = given.find("policy");
      const std::string place = is_of_optimizer(given.find("optimizer"), name) ? "optimizer." + name
                                : is_of_env(given.find("env"), name)           ? "env." + name
                                : blocks                                       ? place_in_blocks(*blocks, name, "policy")
                                                                               : "";
      if (!place.empty()) throw UnknownOption(text("train: unknown option '", name, "'; did you mean '", place, "'?"), name, true);
      break;
    }
    throw;
  }
}

}  // namespace

/// @lua options train
/// Options of iap.train. Tables from config.json may also hold what iap alone writes there, `env_spec`, `files`, `given`,
/// `instructions`, `libraries` and `script_options`: it changes nothing.
/// @option env env|string|table - the environment, its name, or a table {name = ..., ...}
/// @option policy blueprint|table ? - the blocks; with `init` it may be left out
/// @option optimizer optimizer|table = iap.optim.es {} - one of iap.optim
/// @option init policy|string|table ? - whose parameters the run begins at: a policy, or the path of a run or policy file
/// @option curriculum {train.stage}[] ? - stages with settings of their own
/// @option fit "resample"|"pool" = "resample" - how the policy follows to image sizes of stages and `eval_env`: resample what
/// belongs to patches, or average pixels to the first stage's size, which needs one of these
/// @option eval_env env|string|table = (where the last stage trains) - where evaluations, the best policy and its confirmation
/// play; a table without `name` changes options of that environment
/// @option iterations integer 0.. = 100 - of the whole run, resumed or not
/// @option episodes integer 1.. = 1 - per member and iteration; their mean return is the member's fitness
/// @option episode_seeds "common"|"pairs"|"own" = "common" - who meets the same episodes within an iteration: all members,
/// antithetic twins, or nobody
/// @option action_noise number 0..10 = 0 - standard deviation of the noise in training actions, in half action ranges; evaluations
/// have none
/// @option seed integer 0.. = 0 - of initial parameters, search and episodes
/// @option threads integer 0..4096 = 0 - 0: all cores; changes no result
/// @use rollout.safeguards
/// @option eval_every integer 0.. = 10 - iterations between evaluations of the mean, which also plays where CMA-ES restarts; 0:
/// only the first and the last
/// @option eval_episodes integer 1.. = 16 - of an evaluation, always the same ones, which training never draws
/// @option confirm_episodes integer 0..16777215 = (4 times eval_episodes) - fresh episodes for the best policy when the run ends;
/// 0: none
/// @option checkpoint_every integer 1.. = 1 - iterations
/// @option out string = "" - folder of the run, usually iap.run_folder(NAME); "": nothing is written
/// @option log "jsonl"|"tensorboard"|string[] ? - further forms of metrics.csv, renewed with it: metrics.jsonl, TensorBoard's
/// events
/// @option resume boolean = false - continue what lies in `out`
/// @option quiet boolean = false - no lines of progress
TrainOptions read_train_options(const Config& config, std::shared_ptr<const PolicyFile> init_policy) {
  Config own = config;
  if (auto* entries = own.map()) std::erase_if(*entries, [](const auto& entry) { return is_record(entry.first); });
  Options reader("train", own);
  TrainOptions options;
  options.init_policy = std::move(init_policy);
  const auto integer = [&](const char* key, int low, int high, int fallback) {
    return static_cast<int>(reader.integer_in(key, low, high, fallback));
  };
  options.env = env_table(reader.value("env"), "train: option 'env'");
  options.policy = reader.value("policy");
  options.optimizer = reader.value("optimizer");
  if (options.optimizer.is_null()) options.optimizer = Config::Map{{"kind", "es"}};
  if (!options.optimizer.map()) reader.fail(text("option 'optimizer' must be a table, got ", options.optimizer.describe()));
  options.init = reader.value("init");
  if (!options.init.is_null() && !options.init.string() && !options.init.map())
    reader.fail(text("option 'init' must be the path of a run or policy file, got ", options.init.describe()));
  options.curriculum = read_curriculum(reader.value("curriculum"));
  options.fit = read_fit(reader);
  options.eval_env = reader.value("eval_env");
  if (options.eval_env.string()) options.eval_env = env_table(options.eval_env, "train: option 'eval_env'");
  if (!options.eval_env.is_null() && !options.eval_env.map())
    reader.fail(
        text("option 'eval_env' must be an environment or a table of the options that change, got ", options.eval_env.describe()));
  const bool begins_at_policy = options.init_policy || !options.init.is_null();
  if (!options.policy.map() && !(begins_at_policy && options.policy.is_null()))
    reader.fail(text("option 'policy' must be a block, got ", options.policy.describe()));
  options.iterations = integer("iterations", 0, most, options.iterations);
  options.episodes = integer("episodes", 1, most_episodes, options.episodes);
  options.action_noise = reader.number_in("action_noise", 0, most_action_noise, 0.0);
  options.seed = static_cast<std::uint64_t>(reader.integer_in("seed", 0, most_seed, 0));
  options.threads = integer("threads", 0, 4096, options.threads);
  options.safeguards = read_safeguards(reader);
  options.episode_seeds = read_episode_seeds(reader);
  options.eval_every = integer("eval_every", 0, most, options.eval_every);
  options.eval_episodes = integer("eval_episodes", 1, most_episodes, options.eval_episodes);
  options.confirm_episodes = integer("confirm_episodes", 0, most_episodes, confirm_episodes(options));
  options.checkpoint_every = integer("checkpoint_every", 1, most, options.checkpoint_every);
  options.out = reader.string("out", "");
  options.log = read_log(reader);
  check_logs(options.log);
  options.resume = reader.boolean("resume", options.resume);
  options.quiet = reader.boolean("quiet", options.quiet);
  finish(reader);
  options.given = config;
  std::erase_if(*options.given.map(), [](const auto& entry) { return entry.second.is_null(); });
  return options;
}

void check_options(const TrainOptions& options) {
  check_range("iterations", options.iterations, 0, most);
  check_range("episodes", options.episodes, 1, most_episodes);
  check_curriculum(options.curriculum);
  if (options.fit == Fit::pool && options.curriculum.empty() && options.eval_env.is_null())
    throw Error(
        "train: option 'fit' says how the policy follows to image sizes of 'curriculum' and 'eval_env', and neither is there; "
        "leave it out. A policy of 'init' is pooled by option 'pool' of the blocks");
  if (!(options.action_noise >= 0 && options.action_noise <= most_action_noise))
    throw Error(text("train: option 'action_noise' must be in [0, ", most_action_noise, "], got ", options.action_noise));
  if (!std::in_range<std::int64_t>(options.seed)) throw Error(text("train: option 'seed' must be below 2^63, got ", options.seed));
  check_range("threads", options.threads, 0, 4096);
  check_safeguards(options.safeguards, "train");
  check_range("eval_every", options.eval_every, 0, most);
  check_range("eval_episodes", options.eval_episodes, 1, most_episodes);
  check_range("confirm_episodes", confirm_episodes(options), 0, most_episodes);
  check_range("checkpoint_every", options.checkpoint_every, 1, most);
  check_logs(options.log);
  if (!options.out.empty() && options.script.size() > most_script_bytes)
    throw Error(text("train: the script has ", (options.script.size() + (1U << 20) - 1) >> 20,
                     " MiB, of which a run's folder keeps a copy, at most ", most_script_bytes >> 20,
                     " MiB; keep what is large in files that it reads"));
  if (!options.log.empty() && options.out.empty()) throw Error("train: option 'log' needs 'out', the folder of the run");
  if (options.resume && options.out.empty()) throw Error("train: option 'resume' needs 'out', the folder of the run to continue");
}

int confirm_episodes(const TrainOptions& options) {
  return options.confirm_episodes.value_or(std::min(options.eval_episodes, most_episodes / 4) * 4);
}

const std::string& episode_seeds_name(EpisodeSeeds seeds) { return episode_seeds_names()[static_cast<std::size_t>(seeds)]; }

Config run_config(const TrainOptions& options, Config identity) {
  Config config = std::move(identity);
  config.map()->merge(unwritten_defaults());
  config["iterations"] = options.iterations;
  config["confirm_episodes"] = confirm_episodes(options);
  config["checkpoint_every"] = options.checkpoint_every;
  const Config basis = computed_with();
  for (const auto& [name, value] : *basis.map()) config[name] = value;
  if (Config own = recorded_options(options.script_options); !own.map()->empty()) config["script_options"] = std::move(own);
  if (!options.log.empty()) config["log"] = Config::List(options.log.begin(), options.log.end());
  Config given = options.given;
  given["env"] = options.env;
  given["optimizer"] = options.optimizer;
  if (!options.policy.is_null()) given["policy"] = options.policy;
  if (!options.init.is_null()) given["init"] = options.init;
  if (!options.eval_env.is_null()) given["eval_env"] = options.eval_env;
  if (const auto* path = options.init.string()) config["init"]["path"] = *path;
  if (const Config* path = options.init.find("path")) config["init"]["path"] = *path;
  std::erase_if(*given.map(), [](const auto& entry) {
    return is_manner(entry.first) || entry.first == "out" || entry.first == "resume" || is_record(entry.first);
  });
  config["given"] = std::move(given);
  return config;
}

bool is_length_or_log(std::string_view name) {
  constexpr std::string_view names[]{"iterations", "confirm_episodes", "checkpoint_every", "log"};
  return std::ranges::find(names, name) != std::end(names);
}

bool is_manner(std::string_view name) {
  constexpr std::string_view manners[]{"threads", "quiet", "isolate", "episode_timeout", "worker_memory", "retries"};
  return std::ranges::find(manners, name) != std::end(manners);
}

bool is_record(std::string_view name) {
  constexpr std::string_view records[]{"env_spec", files_record, "given", "instructions", "libraries", "script_options"};
  return std::ranges::find(records, name) != std::end(records);
}

Config deciding_settings(Config config) {
  Config of_script = script_options_of(config);
  std::erase_if(*config.map(), [](const auto& entry) {
    return is_length_or_log(entry.first) || (is_record(entry.first) && entry.first != files_record && entry.first != "env_spec");
  });
  for (const auto& [name, value] : unwritten_defaults())
    if (const Config* own = config.find(name); own && *own == value) config.map()->erase(name);
  if (const Config* init = config.find("init"); init && init->map()) config["init"].map()->erase("path");
  if (!of_script.map()->empty()) config["script_options"] = std::move(of_script);
  return comparable(std::move(config));
}

std::string settings_difference(Config before, Config now) {
  const auto changed = changed_options(before, script_options_of(now));
  for (Config* side : {&before, &now}) side->map()->erase("script_options");
  const auto difference = first_difference(deciding_settings(std::move(before)), deciding_settings(std::move(now)));
  return difference.empty() && !changed.empty() ? "the script's option " + changed.front() : difference;
}

Config script_options_of(const Config& config) {
  const Config* record = config.find("script_options");
  Config own = record && record->map() ? *record : Config(Config::Map{});
  std::erase_if(*own.map(), [](const auto& entry) {
    const std::string& name = entry.first;
    return is_length_or_log(name) || is_manner(name) || name == "seed" || name == "out" || name == "resume";
  });
  return own;
}

Config recorded_options(const Config& options) {
  const Config record = Config::Map{{"script_options", options}};
  return script_options_of(parse_json(to_json(record), "the script's options (iap.options)"));
}

std::vector<std::string> changed_options(const Config& before, const Config& now) {
  std::vector<std::string> changed;
  const Config own = script_options_of(before);
  for (const auto& [name, value] : *now.map())
    if (const Config* old = own.find(name))
      if (auto difference = first_difference(*old, value, name); !difference.empty()) changed.push_back(std::move(difference));
  return changed;
}

std::string first_difference(const Config& before, const Config& now, const std::string& path) {
  return difference_at(before, now, path, false);
}

}  // namespace iap
