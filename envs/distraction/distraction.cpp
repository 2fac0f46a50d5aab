module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.envs.distraction;
import iap.core;
import iap.sim;

namespace iap {
namespace {

struct Difficulty {
  std::string name;
  double scale;
  int videos;  // 0 for all
};

const std::vector<Difficulty>& difficulties() {
  static const std::vector<Difficulty> table{{"easy", 0.1, 4}, {"medium", 0.2, 8}, {"hard", 0.3, 0}};
  return table;
}

/// A distraction that is named without a difficulty takes the easiest one's numbers.
const Difficulty& read_difficulty(Options& options) {
  if (!options.has("difficulty")) return difficulties().front();
  std::vector<std::string> names;
  for (const auto& entry : difficulties()) names.push_back(entry.name);
  return *std::ranges::find(difficulties(), options.choice("difficulty", names), &Difficulty::name);
}

/// One part of the table: nothing for false, and for a missing one unless `standard`.
std::unique_ptr<Disturbance> read_part(const DisturbanceEntry& entry, Options& options, bool standard, DisturbanceContext context) {
  const Config& value = options.value(entry.name);
  const bool* on = value.boolean();
  if (!on && !value.is_null() && !value.map())
    options.fail(text("option '", entry.name, "' must be true, false or a table, got ", value.describe()));
  options.complete(entry.name, false);
  if (on ? !*on : value.is_null() && !standard) return nullptr;
  const Config none;
  Options part(text(options.owner(), ".", entry.name), value.map() ? value : none);
  context.dynamic = part.boolean("dynamic", context.dynamic);
  auto made = entry.make(part, context);
  part.finish();
  options.complete(entry.name, part.completed());
  return made;
}

Config as_tables(Config table) {
  if (table.boolean()) return Config::Map{{"difficulty", difficulties().front().name}};
  if (table.string()) return Config::Map{{"difficulty", table}};
  for (const auto& entry : disturbance_catalog())
    if (const Config* part = table.find(entry.name); part && *part == Config(true)) table[entry.name] = Config::Map{};
  return table;
}

[[noreturn]] void refuse_nothing(const Options& options) {
  std::string names;
  for (const auto& entry : disturbance_catalog()) names += (names.empty() ? "" : ", ") + entry.name;
  options.fail("it would distract from nothing: set difficulty = 'easy', 'medium' or 'hard', or one of " + names);
}

/// @throws Error for videos that nothing shows; their defaults stand in every completed table.
void refuse_unseen_videos(const Options& options) {
  const Config completed = options.completed();
  const Config* background = completed.find("background");
  const Config* alpha = background ? background->find("video_alpha") : nullptr;
  if (alpha && alpha->number() && *alpha->number() > 0) return;
  for (const auto& [key, standard] : {std::pair{"videos", ""}, std::pair{"split", "train"}})
    if (const Config* value = completed.find(key); value && *value != Config(standard))
      options.fail(text("option '", key,
                        "' says which videos, but there is no background that shows one; set background = true, with "
                        "video_alpha above 0, or take it out"));
}

bool stands_in(const Config& table, const std::string& key) {
  const Config* value = table.find(key);
  return value && !value->is_null();
}

bool is_whole(const Config& given, const Config& became) {
  return std::ranges::all_of(*became.map(),
                             [&](const auto& entry) { return entry.second == Config(false) || stands_in(given, entry.first); });
}

/// @throws Error for a number that would move a part of which somebody wrote that it stands still.
void refuse_motion_of_still(const Distraction& distraction, const std::string& owner) {
  const Config &given = distraction.given(), &became = distraction.config();
  for (const auto& entry : disturbance_catalog()) {
    const Config *own = given.find(entry.name), *whole = became.find(entry.name);
    if (!own || !own->map() || *whole->find("dynamic")->boolean()) continue;
    if (!stands_in(*own, "dynamic") && !stands_in(given, "dynamic")) continue;
    if (distraction.is_written_out(entry.name)) continue;
    for (const char* key : {"max_vel", "vel_std", "max_roll_vel", "roll_std", "step_std"})
      if (const Config* value = whole->find(key); value && *value->number() > 0)
        throw Error(
            text(owner, ".", entry.name, ": option '", key, "' = ", *value->number(),
                 " is of motion, and dynamic = false is written beside it or for the whole distraction; set dynamic = true, "
                 "take dynamic out, or set ",
                 key, " = 0"));
  }
}

}  // namespace

/// @lua options env.distraction
/// The table `distraction` of a MuJoCo task, as in the Distracting Control Suite (Stone et al. 2021). Everything follows from the
/// episode's
/// seed. A part is a table of its own numbers, true (the difficulty's numbers) or false (off).
/// @option difficulty "easy"|"medium"|"hard" ? - background, camera and colour at s = 0.1, 0.2 or 0.3; without it only the parts
/// that are named, as in easy
/// @option dynamic boolean = false - everything moves during an episode; beside a false that is written down, numbers of motion
/// above 0 (max_vel, vel_std, max_roll_vel, roll_std, step_std) are refused
/// @option videos string = "" - folder of folders of frames (PNG, JPEG), such as DAVIS's; folders and frames go by name, numbers in
/// it as numbers (2 before 10); "": painted videos
/// @option split "train"|"validation" = "train" - which of the videos
/// @option background {env.distraction.background}|boolean ? - videos in place of the sky, and on the floor
/// @option camera {env.distraction.camera}|boolean ? - its place and angle
/// @option colour {env.distraction.colour}|boolean ? - of the bodies
/// @option noise {env.distraction.noise}|boolean = false - of every pixel; off at every difficulty
/// @see pictures.md#distractions
Distraction::Distraction(const Config& config, const std::string& owner, std::string_view model, MujocoWorld& world, int camera,
                         int height, int width) {
  given_ = as_tables(config);
  Options options(text(owner, ": distraction"), given_);
  const bool graded = options.has("difficulty");
  const Difficulty& difficulty = read_difficulty(options);
  options.value("difficulty");
  const DisturbanceContext context{
      .scale = difficulty.scale,
      .videos = difficulty.videos,
      .dynamic = options.boolean("dynamic", false),
      .folder = options.string("videos", ""),
      .split = options.choice("split", {"train", "validation"}, "train") == "train" ? Split::train : Split::validation,
      .model = model,
      .world = world,
      .camera = camera,
      .height = height,
      .width = width,
  };
  std::uint32_t stream = 0;
  for (const auto& entry : disturbance_catalog()) {
    ++stream;
    if (auto part = read_part(entry, options, graded && entry.graded, context)) parts_.emplace_back(stream, std::move(part));
  }
  options.finish();
  if (parts_.empty()) refuse_nothing(options);
  refuse_unseen_videos(options);
  config_ = options.completed();
  refuse_motion_of_still(*this, options.owner());
}

bool Distraction::is_written_out(std::string_view part) const {
  const Config* own = given_.find(part);
  return own && own->map() && is_whole(given_, config_) && is_whole(*own, *config_.find(part));
}

void Distraction::reset(MujocoWorld& world, std::uint64_t seed) {
  for (auto& [stream, part] : parts_) part->reset(world, Random({.seed = seed, .member = stream, .purpose = Purpose::environment}));
}

void Distraction::step() {
  for (auto& [stream, part] : parts_) part->step();
}

void Distraction::apply(MujocoWorld& world, MujocoCamera& view) {
  for (auto& [stream, part] : parts_) part->apply(world, view);
}

void Distraction::restore(MujocoWorld& world) noexcept {
  for (auto& [stream, part] : parts_) part->restore(world);
}

void Distraction::disturb(std::span<std::uint8_t> rgb) {
  for (auto& [stream, part] : parts_) part->disturb(rgb);
}

}  // namespace iap
