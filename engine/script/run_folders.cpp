#include "script/run_folders.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <ios>
#include <limits>
#include <map>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>
import iap.core;
import iap.script;
import iap.train;
#include "core/there.hpp"
#include "lua/state.hpp"
#include "script/spellings.hpp"

namespace iap {
namespace {

constexpr std::string_view origin_begin = "-- run ", origin_middle = " of the series of ", overrides_begin = "-- run with";
constexpr std::string_view set_option = " --set ", seed_option = " --seed ";

/// experiment.lua taken apart.
struct Experiment {
  int position = 1;    ///< in its series
  std::string leader;  ///< "": its own folder
  std::string_view overrides, body;
};

Experiment read_experiment(std::string_view script) {
  Experiment found{.body = script};
  const auto take_line = [&] {
    const auto line = found.body.substr(0, found.body.find('\n'));
    found.body.remove_prefix(std::min(line.size() + 1, found.body.size()));
    return line;
  };
  // A script may begin with words of its own that are almost these.
  if (const auto line = script.substr(0, script.find('\n')); line.starts_with(origin_begin))
    if (const auto middle = line.find(origin_middle); middle != std::string_view::npos) {
      const char* const end = line.data() + middle;
      const auto read = std::from_chars(line.data() + origin_begin.size(), end, found.position);
      if (read.ec == std::errc() && read.ptr == end) {
        const auto leader = take_line().substr(middle + origin_middle.size());
        // Lua's comments end there, too, and the name goes into the experiment.lua of later runs.
        if (leader.find('\r') == std::string_view::npos) found.leader = leader;
      } else {
        found.position = 1;
      }
    }
  if (found.body.starts_with(overrides_begin))
    if (const auto given = found.body.substr(overrides_begin.size());
        given.starts_with(set_option) || given.starts_with(seed_option))
      found.overrides = take_line();
  return found;
}

struct FoundRun {
  std::filesystem::path folder;
  int number = 1;
  RunState state;
};

/// The number of a folder's name below `name`: 1 for itself, 2 for NAME-2; 0 for another name.
int number_of(std::string_view folder, std::string_view name) {
  if (folder == name) return 1;
  if (!folder.starts_with(name) || folder.substr(name.size(), 1) != "-") return 0;
  const auto digits = folder.substr(name.size() + 1);
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size() && number > 1 ? number : 0;
}

/// The runs below `name` by series (the name of its first folder) and position, without those that others keep to themselves.
std::map<std::string, std::map<int, FoundRun>> find_series(const std::filesystem::path& name) {
  std::map<std::string, std::map<int, FoundRun>> all;
  const auto parent = name.has_parent_path() ? name.parent_path() : std::filesystem::path(".");
  if (!std::filesystem::is_directory(status_of(parent))) return all;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error)) {
    const auto folder = entry->path().filename();
    const int number = number_of(folder.string(), name.filename().string());
    if (number == 0) continue;
    auto path = name.parent_path() / folder;
    if (is_private(path / "config.json") || is_private(path / "experiment.lua")) continue;
    auto state = run_state(path);
    if (!state) continue;
    const auto experiment = read_experiment(state->script);
    all[experiment.leader.empty() ? folder.string() : experiment.leader].emplace(
        experiment.position, FoundRun{std::move(path), number, std::move(*state)});
  }
  if (error)
    throw Error(
        text("cannot look for a run to continue in '", parent.string(), "': ", error.message(), "; make that folder readable"));
  return all;
}

std::map<std::string, std::map<int, std::filesystem::path>> folders_of(const std::map<std::string, std::map<int, FoundRun>>& all) {
  std::map<std::string, std::map<int, std::filesystem::path>> folders;
  for (const auto& [leader, series] : all)
    for (const auto& [position, run] : series) folders[leader].emplace(position, run.folder);
  return folders;
}

/// What --set and --seed gave, as experiment.lua has them, without what a run may go on with otherwise.
std::map<std::string, std::string> deciding_overrides(std::string_view line) {
  const auto is_free = [](std::string_view name) {
    return is_manner(name) || is_length_or_log(name) || name == "out" || name == "resume";
  };
  std::map<std::string, std::string> found;
  while (!line.empty()) {
    const auto end = std::min(line.find(set_option, 1), line.find(seed_option, 1));
    auto given = line.substr(0, end);
    line.remove_prefix(given.size());
    if (given.starts_with(seed_option)) found["seed"] = text("=", given.substr(seed_option.size()));
    if (!given.starts_with(set_option)) continue;
    given.remove_prefix(set_option.size());
    const auto equals = std::min(given.find('='), given.size());
    const std::string path(given.substr(0, equals));
    if (!is_free(path)) found[path] = given.substr(equals);
  }
  return found;
}

/// How many options two lines of overrides set otherwise.
int differences(std::string_view one, std::string_view other) {
  const auto left = deciding_overrides(one), right = deciding_overrides(other);
  int count = 0;
  for (const auto& [path, value] : left) {
    const auto found = right.find(path);
    count += found == right.end() || found->second != value;
  }
  for (const auto& [path, value] : right) count += !left.contains(path);
  return count;
}

/// Whether `wanted` asks for another seed than `run` has. Where only one of them was given any, it may be the same.
bool has_other_seed(const FoundRun& run, const Experiment& wanted) try {
  const auto before = deciding_overrides(read_experiment(run.state.script).overrides), now = deciding_overrides(wanted.overrides);
  const auto given = before.find("seed"), asked = now.find("seed");
  if (asked == now.end() || (given != before.end() && given->second == asked->second)) return false;
  Config wish = Config::Map{};
  set_path(wish, "seed", std::string_view(asked->second).substr(1));
  const Config record = read_run_config(run.folder);
  const Config *seed = record.find("seed"), *other = wish.find("seed");
  return seed && other && seed->integer() && other->integer() && *seed->integer() != *other->integer();
} catch (const Error&) {
  return false;
}

/// Whether `wanted` is another run beside this one: with another seed than one that has ended, or another than what a process
/// works on.
bool is_beside(const FoundRun& run, const Experiment& wanted) {
  if (run.state.ended) return has_other_seed(run, wanted);
  const auto experiment = read_experiment(run.state.script);
  return run.state.in_use && (experiment.body != wanted.body || differences(experiment.overrides, wanted.overrides) > 0);
}

/// How much a series is what `--resume` means; the greatest wins, unless it is none `to_continue`.
auto rank(const std::map<int, FoundRun>& series, const Experiment& wanted) {
  bool own = false, same_overrides = false, beside = false, stopped = false;
  int unfinished = 0, number = 0, different = std::numeric_limits<int>::max();
  auto written = std::filesystem::file_time_type::min();
  for (const auto& [position, run] : series) {
    const auto experiment = read_experiment(run.state.script);
    own |= experiment.body == wanted.body;
    same_overrides |= experiment.body == wanted.body && experiment.overrides == wanted.overrides;
    different = std::min(different, differences(experiment.overrides, wanted.overrides));
    if (!run.state.complete) unfinished = std::max(unfinished, run.state.in_use ? 1 : 2);
    stopped |= !run.state.ended && !run.state.in_use;
    written = std::max(written, run.state.written);
    number = std::max(number, run.number);
    // Of those that have ended the first has the seed that was given; what a script makes of it for others is its own.
    beside |= (!run.state.ended || position == series.begin()->first) && is_beside(run, wanted);
  }
  const bool to_continue = !beside || stopped;
  return std::tuple(own, to_continue, unfinished, -different, same_overrides, written, number);
}

/// The name of the series that `--resume` continues, or "" where it begins one.
std::string chosen(const std::map<std::string, std::map<int, FoundRun>>& all, const Experiment& wanted) {
  std::string name;
  std::optional<decltype(rank({}, wanted))> best;
  for (const auto& [leader, series] : all)
    if (const auto found = rank(series, wanted); !best || found > *best) {
      best = found;
      name = std::get<1>(found) ? leader : "";
    }
  return name;
}

/// What others keep to themselves is a run of theirs, or may become one.
bool holds_run(const std::filesystem::path& folder) {
  const auto config = folder / "config.json";
  return is_there(folder) && (is_private(config) || is_there(config));
}

/// NAME, NAME-2, NAME-3 ...
std::string numbered(const std::string& name, int number) { return number == 1 ? name : text(name, "-", number); }

std::string without_separators(std::string name) {
  while (name.size() > 1 && name.ends_with('/')) name.pop_back();
  return name;
}

}  // namespace

std::string_view script_of(std::string_view experiment) { return read_experiment(experiment).body; }

std::string program_of(std::string_view experiment) {
  const auto body = script_of(experiment);
  return text(experiment.substr(0, experiment.size() - body.size()), lua::program_in(body));
}

std::filesystem::path fresh_folder(const std::string& name) {
  const std::string plain = without_separators(name);
  for (int number = 1;; ++number)
    if (std::filesystem::path folder = numbered(plain, number); !holds_run(folder)) return folder;
}

FolderClaim::FolderClaim(const std::filesystem::path& folder)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  taken_ = descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

FolderClaim::~FolderClaim() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

FolderClaim::FolderClaim(FolderClaim&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)), taken_(other.taken_) {}

RunFolders::~RunFolders() {
  std::error_code not_empty;
  for (const auto& folder : made_ | std::views::reverse) std::filesystem::remove(folder, not_empty);
}

void RunFolders::make(const std::filesystem::path& folder) {
  std::filesystem::path path;
  for (const auto& part : folder) {
    path /= part;
    if (!is_there(path)) made_.push_back(path);
  }
  make_folder(folder);
}

std::filesystem::path RunFolders::claim_fresh(const std::string& name, int& number) {
  for (;; ++number) {
    std::filesystem::path folder = numbered(name, number);
    if (holds_run(folder)) continue;
    make(folder);
    FolderClaim claim(folder);
    // Who had it until now may have left a run in it.
    if (!claim || holds_run(folder)) continue;
    claims_.emplace(folder.string(), std::move(claim));
    return folder;
  }
}

std::filesystem::path RunFolders::next(const std::string& name, bool resume, std::string_view experiment, bool claim) {
  const std::string plain = without_separators(name);
  Series& series = series_[plain];
  if (resume && series.given.empty()) {
    const auto all = find_series(plain);
    series.leader = chosen(all, read_experiment(experiment));
    series.found = folders_of(all);
  }
  return next_of(series, plain, resume, claim);
}

std::filesystem::path RunFolders::next_from(const std::filesystem::path& folder, bool resume) {
  const std::string plain = without_separators(folder.string());
  Series& series = series_[plain];
  if (!series.given.empty()) return next_of(series, plain, resume, false);
  series.leader = std::filesystem::path(plain).filename().string();
  all_.emplace_back(plain);
  return series.given.emplace_back(plain);
}

std::filesystem::path RunFolders::next_of(Series& series, const std::string& name, bool resume, bool claim) {
  auto& [leader, given, all, number] = series;
  if (!given.empty() && !trained_.contains(given.back().string())) return given.back();
  std::filesystem::path folder;
  if (resume) {
    if (!all) all = folders_of(find_series(name));
    if (const auto found = all->find(leader); found != all->end())
      if (const auto run = found->second.find(static_cast<int>(given.size()) + 1); run != found->second.end())
        if (holds_run(run->second)) folder = run->second;
  }
  if (folder.empty()) folder = claim ? claim_fresh(name, number) : fresh_folder(name);
  if (leader.empty()) leader = folder.filename().string();
  all_.push_back(folder);
  return given.emplace_back(std::move(folder));
}

bool RunFolders::trained_elsewhere() const {
  return std::ranges::any_of(trained_, [&](const std::string& folder) {
    return !folder.empty() && std::ranges::find(all_, std::filesystem::path(folder)) == all_.end();
  });
}

std::string RunFolders::origin(const std::string& folder) const {
  for (const auto& [name, series] : series_)
    for (std::size_t i = 1; i < series.given.size(); ++i)
      if (series.given[i] == folder) return text(origin_begin, i + 1, origin_middle, series.leader, "\n");
  return "";
}

std::string folder_with_settings(const std::string& name, const std::vector<std::pair<std::string, std::string>>& overrides) {
  std::map<std::string, std::string> last;
  for (const auto& [path, value] : overrides) last[path] = value;
  std::string suffix;
  std::vector<std::string> labels, values;
  bool plain = true;
  for (const auto& [path, value] : last) {
    labels.push_back("-" + path + "=");
    values.push_back(value);
    suffix += labels.back();
    append_plain(suffix, has_plain_name(value) ? value : meaning_of({value}, WholeNumbers::apart));
    plain &= has_plain_name(value) && path.find('-') == std::string::npos;
  }
  const std::string meaning = meaning_of(values, WholeNumbers::apart);
  const std::filesystem::path folder = without_separators(name) + shortened_name(suffix);
  if (!plain) return text(folder.string(), "-", crc32(meaning));
  if (last.empty() || is_there(folder)) return folder.string();
  const std::string begin = std::filesystem::path(without_separators(name)).filename().string();
  for (const auto& other : names_in(folder.has_parent_path() ? folder.parent_path() : "."))
    if (meaning_in_name(other, begin, labels, WholeNumbers::apart) == meaning) return (folder.parent_path() / other).string();
  return folder.string();
}

}  // namespace iap
