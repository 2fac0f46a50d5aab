#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
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

/// @lua function iap.report.learning_curve
/// Draws the learning curve of a run.
/// @param run string - its folder
/// @param png string - the .png to write; its folder is made
int learning_curve(Call& call) {
  const auto run = call.string(1, "run"), png = call.string(2, "png");
  check_picture_name(png, "a chart");
  write_learning_curve(run, with_folder(png));
  return 0;
}

/// @lua options report.shown
/// Whose episodes are shown.
/// @option policy policy|string - a policy, or the path of a run or policy file
/// @option env env|string|table = (the policy's own) - where it plays
/// @option trust boolean = false - let Lua inside the policy file reach files and programs; only where `policy` is a path
/// @option seed integer 0.. = 0 - of the episode itself, as in `iap play`; where several are played, their seeds follow from it, as
/// in iap.eval

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
    if (found.info && !found.box->object) call_.fail(text("option 'policy': this ", found.info->name, " is closed"));
    const int argument = at - call_.at(0);
    const auto* object = call_.object_or_null<PolicyObject>(argument);
    if (object) refuse_trust(call_, trust_);
    if (const auto* blueprint = builds_ ? call_.object_or_null<BlockBlueprint>(argument) : nullptr) {
      build(blueprint->architecture);
      return;
    }
    if (!object && lua_type(call_.state(), at) != LUA_TSTRING)
      call_.fail(text("option 'policy' must be a policy, ", builds_ ? "blocks, " : "", "or the path of a run or policy file, got ",
                      lua::describe_value(call_.state(), at)));
    // A clone: the script's policy may be in the middle of an episode.
    file_ = std::make_unique<PolicyFile>(object ? PolicyFile{object->policy.clone(), object->metadata}
                                                : open_policy(std::string(lua::string_at(call_.state(), at)), trust_));
    const Config* own = recorded_env(file_->metadata);
    if (env_.is_null() && own) env_ = *own;
    if (env_.is_null()) call_.fail("option 'env' is missing: the policy does not say which environment it is for");
    env_ = env_table(env_, call_.name());
  }

  Policy& policy() { return file_->policy; }
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
  std::unique_ptr<PolicyFile> file_;

 public:
  Options options;
};

/// @lua function iap.report.strip
/// Writes pictures of an episode side by side, evenly spaced, with time and return below.
/// @option out string - the .png to write; its folder is made
/// @option frames integer 1..100 = 6 - pictures; a strip may be 32767 pixels wide
/// @option view "overlay"|"heatmap"|"side-by-side"|"raw"|"outside" = "overlay" - attended patches in white, scores of all, the
/// picture alone beside the one with the attended patches, the picture alone, the robot from outside
/// @option steps integer 0.. = 0 - ends the episode after so many decisions; 0: its own end
/// @option scale integer 0..64 = 0 - pixels for a pixel of the policy's; 0: as min_height needs
/// @option min_height integer 1..4096 = 200 - rows of a picture, at least
/// @option redraw boolean = true - draw the environment anew at that size, instead of enlarging what the policy sees
/// @option captions boolean = true - time and return below
/// @use report.shown
/// @return number return - of the episode
/// @see pictures.md#what-pictures-of-attention-show
int strip(Call& call) {
  Shown shown(call);
  StripOptions options;
  const auto out = shown.options.string("out");
  check_picture_name(out, "a strip");
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

/// @lua function iap.report.importance
/// Writes AttentionAgent's figure: the histogram of the patches' scores, and what patches of certain scores show.
/// Of several blocks or heads it is about the first, which its title names.
/// @option out string - the .png to write; its folder is made
/// @option episodes integer 1..10000 = 10 - to play
/// @use report.shown
/// @return table - {frames, patches, chosen, mean_return}
/// @see attention-agent.md
int importance(Call& call) {
  Shown shown(call);
  const auto out = shown.options.string("out");
  check_picture_name(out, "a figure of importance");
  const int episodes = shown.integer("episodes", 1, 10'000, 10);
  const auto seed = shown.seed();
  shown.finish();
  const ImportanceInfo made = write_importance(with_folder(out), shown.policy(), shown.env(), episodes, seed);
  return call.give(Config(Config::Map{{"frames", static_cast<std::int64_t>(made.frames)},
                                      {"patches", made.patches},
                                      {"chosen", made.chosen},
                                      {"mean_return", made.mean_return}}));
}

/// @lua function iap.report.video
/// Writes an episode as a video that shows what the policy attends to.
/// @option out string - .webp, .png, .apng, or .mp4 (needs ffmpeg); its folder is made
/// @option view "overlay"|"heatmap"|"side-by-side"|"raw"|"outside" = "overlay" - attended patches in white, scores of all, the
/// picture alone beside the one with the attended patches, the picture alone, the robot from outside
/// @option steps integer 0.. = 0 - ends the episode after so many decisions; 0: its own end
/// @option scale integer 0..64 = 0 - pixels for a pixel of the policy's; 0: at least 400 rows, as far as a
/// film can hold them
/// @option fps number 0..1000 = 0 - decisions a second, 0.1 at least; 0: real time, as far as that is no slower
/// @option most_fps number 0.1..1000 = 50 - of more, only every nth is shown
/// @option quality integer 0..100 = 80 - of a .webp
/// @option redraw boolean = true - draw the environment anew at that size, instead of enlarging what the policy sees
/// @use report.shown
/// @return table - {total, steps, frames, height, width, fps}
/// @see pictures.md#what-pictures-of-attention-show
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

/// @lua function iap.report.probe
/// Measures how much of the simulator's state is a linear function of what blocks hand over.
/// @option policy policy|blueprint|string - a policy, blocks (which get the weights of seed 0), or the path of a run or policy file
/// @option blocks string[] = (the attention blocks) - paths as in policy:summary(); without attention, all blocks that hold no
/// others
/// @option episodes integer 1..100000 = 16 - two thirds are fitted, the rest tested; at least 3
/// @option steps integer 0.. = 0 - ends each after so many decisions; 0: its own end
/// @option actions "policy"|"random" = "policy" - who acts; random: each held for 3 decisions
/// @option per_episode boolean = false - take the mean of each episode off outputs and state first
/// @option ridge number 1e-6..1e12 ? - lambda of the regression; without it, for each variable the best
/// @option threads integer 0..4096 = 0 - 0: all; changes no result
/// @option csv string = "" - a file with a row for each block and variable; not one that a run keeps
/// @option out string = "" - a .png with a bar chart
/// @use report.shown
/// @return table - {variables, blocks = {{path, kind, outputs, mean, r2, ridge}, ...}, fitted_episodes, tested_episodes,
/// fitted_rows, tested_rows, mean_return}
/// @see probe.md
int probe_policy(Call& call) {
  Shown shown(call, true);
  Options& options = shown.options;
  ProbeOptions settings;
  const auto csv = options.string("csv", ""), out = options.string("out", "");
  check_data_name(csv, "a table");
  refuse_run_file(csv);
  check_picture_name(out, "a chart");
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

/// @lua function iap.report.html
/// Writes one HTML file about runs: curves, video, what is attended to, settings. Runs that differ only in their seed are drawn as
/// one; one that has no iteration yet is left out with a note, unless there are no others.
/// @option runs string|string[] - folders of runs, each named once
/// @option out string = (RUN/report.html; for several runs report.html) - the file to write
/// @option pictures boolean = true - what must be played: video, frames, patches
/// @option episodes integer 1..10000 = 10 - from which to learn which patches matter
/// @option seed integer 0.. = 0 - from which their seeds follow, as in iap.eval; the page says the first one's own, which is that
/// of the film, for `iap play --seed`
/// @option trust boolean = false - let Lua inside policy files reach files and programs
/// @return string path - of the file
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
  const std::string out = options.string("out", options.has("out") ? "" : report_place(folders).string());
  options.finish();
  const ShownRuns shown = shown_runs(folders);
  std::fputs(shown.notes.c_str(), stderr);
  write_report(shown.folders, out, settings);
  return call.give(out);
}

constexpr lua::Function functions[] = {{"learning_curve", entry<learning_curve>},
                                       {"strip", entry<strip>},
                                       {"importance", entry<importance>},
                                       {"video", entry<video>},
                                       {"probe", entry<probe_policy>},
                                       {"html", entry<html>}};

}  // namespace

/// @lua table iap.report
/// Pictures, videos, charts and pages about policies and runs.
void open_report_face(lua_State* state) {
  lua::push_functions(state, "iap.report", ".", functions);
  lua_setfield(state, -2, "report");
}

}  // namespace iap
