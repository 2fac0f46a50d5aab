#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "script/context.hpp"
#include "script/faces.hpp"
#include "script/objects.hpp"
import iap.core;
import iap.env;
import iap.envs;
import iap.policy;
import iap.report;
import iap.train;

namespace iap {
namespace {

using lua::Call;
using lua::entry;

constexpr int most_steps = 1'000'000'000, most_scale = 64;
constexpr std::int64_t largest_seed = std::numeric_limits<std::int64_t>::max();

/// Pictures usually go to a run's media folder, which the first of them makes.
std::filesystem::path with_folder(const std::filesystem::path& file) {
  if (file.has_parent_path()) make_folder(file.parent_path());
  return file;
}

/// iap.report.learning_curve(run, png)
int learning_curve(Call& call) {
  const auto run = call.string(1, "run"), png = call.string(2, "png");
  write_learning_curve(run, with_folder(png));
  return 0;
}

/// The option table of a function that shows a policy: `policy` (a run, a policy file or a policy), `env` (default: the policy's
/// own), `trust` in the file's Lua, and what the function reads of `options`. Where `builds`, `policy` may be blocks, which get
/// initial parameters from seed 0.
class Shown {
 public:
  explicit Shown(Call& call, bool builds = false)
      : call_(call), builds_(builds), config_(read_table(call)), options(call.name(), config_) {
    options.value("policy");
    env_ = options.value("env");
    trust_ = read_trust(options);
  }

  /// Refuses what nobody asked for, then looks at the policy.
  void finish() {
    options.finish();
    lua::push_entry(call_.state(), call_.at(1), "policy");
    const int at = lua_gettop(call_.state());
    const auto found = lua::find_object(call_.state(), at);
    if (found.info == &lua::ClassOf<PolicyObject>::info) object_ = static_cast<PolicyObject*>(found.box->object);
    if (builds_ && found.info == &lua::ClassOf<BlockBlueprint>::info) {
      build(static_cast<BlockBlueprint*>(found.box->object)->architecture);
      return;
    }
    if (!object_ && lua_type(call_.state(), at) != LUA_TSTRING)
      call_.fail(text("option 'policy' must be a policy, ", builds_ ? "blocks, " : "", "or the path of a run or policy file, got ",
                      lua::describe_value(call_.state(), at)));
    if (!object_) file_ = std::make_unique<PolicyFile>(open_policy(std::string(lua::string_at(call_.state(), at)), trust_));
    const Config* own = (object_ ? object_->metadata : file_->metadata).find("env");
    if (env_.is_null() && own) env_ = *own;
    if (env_.is_null()) call_.fail("option 'env' is missing: the policy does not say which environment it is for");
    env_ = env_table(env_, call_.name());
  }

  Policy& policy() { return object_ ? object_->policy : file_->policy; }
  const Config& env() const { return env_; }
  std::uint64_t seed() { return static_cast<std::uint64_t>(options.integer_in("seed", 0, largest_seed, 0)); }
  int integer(const char* name, int low, int high, int fallback) {
    return static_cast<int>(options.integer_in(name, low, high, fallback));
  }

 private:
  static Config read_table(Call& call) {
    if (lua_type(call.state(), call.at(1)) != LUA_TTABLE) call.refuse(1, "options", "a table");
    return call.config(1, "options", {.skip = {"policy"}});
  }

  void build(const Config& architecture) {
    if (env_.is_null()) call_.fail("option 'env' is missing: blocks alone do not say which environment they are for");
    env_ = env_table(env_, call_.name());
    const auto made = make_env(env_);
    file_ = std::make_unique<PolicyFile>(PolicyFile{Policy(architecture, made->spec().observation, made->spec().action_size), {}});
    file_->policy.initialise(0);
  }

  Call& call_;
  bool builds_;
  Config config_, env_;
  Trust trust_ = Trust::no;
  PolicyObject* object_ = nullptr;
  std::unique_ptr<PolicyFile> file_;

 public:
  Options options;
};

/// iap.report.strip{policy, out, frames, seed, env, view, steps, scale, min_height, redraw, captions} -> the episode's return
int strip(Call& call) {
  Shown shown(call);
  StripOptions options;
  const auto out = shown.options.string("out");
  options.view = picture_view(shown.options.choice("view", picture_view_names(), "overlay"));
  options.seed = shown.seed();
  options.frames = shown.integer("frames", 1, 100, options.frames);
  options.steps = shown.integer("steps", 0, most_steps, 0);
  options.scale = shown.integer("scale", 0, most_scale, 0);
  options.min_height = shown.integer("min_height", 1, 4096, options.min_height);
  options.redraw = shown.options.boolean("redraw", true);
  options.captions = shown.options.boolean("captions", true);
  shown.finish();
  return call.give(write_strip(with_folder(out), shown.policy(), shown.env(), options).episode.total);
}

/// iap.report.importance{policy, out, episodes, seed, env} -> {frames, patches, chosen, mean_return}
int importance(Call& call) {
  Shown shown(call);
  const auto out = shown.options.string("out");
  const int episodes = shown.integer("episodes", 1, 10'000, 10);
  const auto seed = shown.seed();
  shown.finish();
  const ImportanceInfo made = write_importance(with_folder(out), shown.policy(), shown.env(), episodes, seed);
  return call.give(Config(Config::Map{{"frames", static_cast<std::int64_t>(made.frames)},
                                      {"patches", made.patches},
                                      {"chosen", made.chosen},
                                      {"mean_return", made.mean_return}}));
}

/// iap.report.video{policy, out, seed, env, view, steps, scale, fps, most_fps, quality, redraw}
///   -> {total, steps, frames, height, width, fps}
int video(Call& call) {
  constexpr double most_fps = 1000;
  Shown shown(call);
  VideoOptions options;
  const auto out = shown.options.string("out");
  options.view = picture_view(shown.options.choice("view", picture_view_names(), "overlay"));
  options.seed = shown.seed();
  options.steps = shown.integer("steps", 0, most_steps, 0);
  options.scale = shown.integer("scale", 0, most_scale, 0);
  options.fps = shown.options.number_in("fps", 0, most_fps, 0);
  options.most_fps = shown.options.number_in("most_fps", 0.1, most_fps, options.most_fps);
  options.quality = shown.integer("quality", 0, 100, options.quality);
  options.redraw = shown.options.boolean("redraw", true);
  shown.finish();
  const VideoInfo made = write_video(with_folder(out), shown.policy(), shown.env(), options);
  return call.give(Config(Config::Map{{"total", made.episode.total},
                                      {"steps", made.episode.steps},
                                      {"frames", made.frames},
                                      {"height", made.height},
                                      {"width", made.width},
                                      {"fps", made.fps}}));
}

Config to_config(const ProbeResult& result) {
  Config::List blocks;
  for (const ProbedBlock& block : result.blocks) {
    Config::Map entries{{"path", block.path}, {"kind", block.kind}, {"outputs", block.outputs}};
    Config::Map r2, ridge;
    for (std::size_t i = 0; i < result.variables.size(); ++i) {
      if (std::isnan(block.r2[i])) continue;
      r2.emplace(result.variables[i], block.r2[i]);
      ridge.emplace(result.variables[i], block.ridge[i]);
    }
    if (!std::isnan(block.mean)) entries.emplace("mean", block.mean);
    entries.emplace("r2", std::move(r2));
    entries.emplace("ridge", std::move(ridge));
    blocks.push_back(std::move(entries));
  }
  return Config::Map{{"variables", Config::List(result.variables.begin(), result.variables.end())},
                     {"blocks", std::move(blocks)},
                     {"fitted_episodes", result.fitted_episodes},
                     {"tested_episodes", result.tested_episodes},
                     {"fitted_rows", static_cast<std::int64_t>(result.fitted_rows)},
                     {"tested_rows", static_cast<std::int64_t>(result.tested_rows)},
                     {"mean_return", result.mean_return}};
}

/// iap.report.probe{policy, env, blocks, episodes, steps, seed, actions, per_episode, ridge, threads, csv, out, trust}
///   -> {variables, blocks = {{path, kind, outputs, mean, r2 = {name = value}, ridge = {name = value}}, ...}, fitted_episodes,
///   tested_episodes, fitted_rows, tested_rows, mean_return}; `policy` may be blocks, which get initial parameters from seed 0. A
///   variable that does not vary has no r2. `csv` and `out` (a PNG) are written where they are given.
int probe_policy(Call& call) {
  Shown shown(call, true);
  Options& options = shown.options;
  ProbeOptions settings;
  const auto csv = options.string("csv", ""), out = options.string("out", "");
  for (const Config& path : options.list("blocks")) {
    if (!path.string()) options.fail(text("option 'blocks' must be a list of paths, got ", path.describe(), " in it"));
    settings.blocks.push_back(*path.string());
  }
  settings.episodes = shown.integer("episodes", 1, 100'000, settings.episodes);
  settings.steps = shown.integer("steps", 0, most_steps, 0);
  settings.seed = shown.seed();
  settings.random_actions = options.choice("actions", {"policy", "random"}, "policy") == "random";
  settings.per_episode = options.boolean("per_episode", false);
  if (options.has("ridge")) settings.ridge = options.number_in("ridge", least_ridge, most_ridge);
  const auto* context = RunContext::of(call.state());
  settings.threads = shown.integer("threads", 0, 4096, context ? context->threads() : 0);
  shown.finish();
  const ProbeResult result = probe(shown.policy(), shown.env(), settings);
  if (!csv.empty()) write_file_atomic(with_folder(csv), probe_csv(result));
  if (!out.empty()) write_probe_chart(with_folder(out), result, "What blocks know of the state");
  return call.give(to_config(result));
}

/// iap.report.html{runs, out, pictures, episodes, seed, trust} -> the path. `runs` is a run folder or a list of them.
int html(Call& call) {
  if (lua_type(call.state(), call.at(1)) != LUA_TTABLE) call.refuse(1, "options", "a table");
  const Config config = call.config(1, "options");
  Options options(call.name(), config);
  ReportOptions settings;
  settings.pictures = options.boolean("pictures", settings.pictures);
  settings.episodes = static_cast<int>(options.integer_in("episodes", 1, 10'000, settings.episodes));
  settings.seed = static_cast<std::uint64_t>(options.integer_in("seed", 0, largest_seed, 0));
  settings.trust = read_trust(options);
  const Config& runs = options.value("runs");
  const Config::List single{runs};
  std::vector<std::filesystem::path> folders;
  for (const auto& run : runs.list() ? *runs.list() : single) {
    if (!run.string()) options.fail(text("option 'runs' must be the folder of a run or a list of them, got ", run.describe()));
    folders.emplace_back(*run.string());
  }
  const std::string out = options.string("out", report_place(folders).string());
  options.finish();
  write_report(folders, with_folder(out), settings);
  return call.give(out);
}

constexpr lua::Function functions[] = {{"learning_curve", entry<learning_curve>},
                                       {"strip", entry<strip>},
                                       {"importance", entry<importance>},
                                       {"video", entry<video>},
                                       {"probe", entry<probe_policy>},
                                       {"html", entry<html>}};

}  // namespace

void open_report_face(lua_State* state) {
  lua::push_functions(state, "iap.report", ".", functions);
  lua_setfield(state, -2, "report");
}

}  // namespace iap
