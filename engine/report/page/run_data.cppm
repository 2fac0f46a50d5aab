module;
#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>
/// What the folders of runs hold, read back.
module iap.report:run_data;
import iap.core;
import iap.policy;
import iap.train;
import :html;

namespace iap {

struct Run {
  std::filesystem::path folder;
  std::string name;
  Config config;  ///< config.json
  std::string script;
  Table metrics;
  std::optional<PolicyFile> policy;  ///< the one that is shown
  bool final = false;                ///< it is final.iap
  std::optional<RunSummary> summary;
  std::int64_t seed = 0, iterations = 0, planned = 0;
  double first_eval = 0, last_eval = 0, best_eval = 0;  ///< NaN where there was none
  double seconds = 0, steps = 0;                        ///< wall time, and steps of all training episodes

  bool stopped_early() const { return iterations < planned; }
};

/// @throws Error naming the folder if it is missing, is not a run's, or has not finished its first iteration.
Run read_run(const std::filesystem::path& folder, std::optional<PolicyChoice> choice = {}, Trust trust = Trust::no);

/// @throws Error naming the `file` that `metrics` is from where it has not all of `columns`, and where the iterations of its rows
/// do not ascend: a row that stands there twice would count twice.
void check_metrics(const Table& metrics, const std::filesystem::path& file, const std::vector<std::string>& columns);
/// Of a run's config.json; 0 where there is none.
std::int64_t integer_of(const Config& config, std::string_view key);

/// What an episode of the run counts that failed; nothing where that would have ended it.
std::optional<double> failed_return(const Run& run);

/// A run that counts twice would pass for two seeds. @throws Error naming both where two of `folders` are the same one.
void check_distinct(std::span<const std::filesystem::path> folders);

/// The value of a setting. Two are the same if they are so exactly, however they read.
struct Setting {
  std::string exact;  ///< as JSON, and a whole number as such
  std::string shown;  ///< as a reader writes it

  bool operator==(const Setting& other) const { return exact == other.exact; }
  auto operator<=>(const Setting& other) const { return exact <=> other.exact; }
};

/// By path: "policy.blocks.1.kernel". Keys that would pass for several parts of one, or for a place in a list, stand in quotes.
using Settings = std::map<std::string, Setting>;

/// What tells a run from others.
struct RunIdentity {
  std::filesystem::path folder;
  std::string env;    ///< the environment's name
  Settings settings;  ///< `flat_settings`
  std::int64_t seed = 0;
};

/// A run's config.json in today's terms. @throws Error as `read_run_config`.
Config run_settings(const std::filesystem::path& folder);
RunIdentity identity_of(const std::filesystem::path& folder, const Config& config);
/// The name of a run's environment, or nothing.
inline const Config* env_name(const Config& config) {
  const Config* env = config.find("env");
  return env ? env->find("name") : nullptr;
}

/// Runs of earlier programs have no record of the files that their environments read, or one that says less of them. Where all of
/// `runs` that are like such a one in everything else, and whose record says that and more, have the same record, it gets that;
/// where they read different files it keeps its own, and is another kind than each of them.
void lend_files(std::span<RunIdentity> runs);

/// A copy of a run, or what it was before it went on, would pass for another seed. @throws Error naming two of `runs` that have the
/// same settings and the same seed; `lend_files` comes first.
void check_seeds(std::span<const RunIdentity> runs);

/// Runs that differ in nothing but the seed.
struct RunGroup {
  std::string label;      ///< what tells it from the other groups, or the environment's name
  std::vector<Run> runs;  ///< by seed
  std::size_t best = 0;   ///< the run with the best evaluation
};

/// In the order of their first runs.
std::vector<RunGroup> group_runs(std::vector<Run> runs);

/// The settings of a run but its seed. Lists of plain values are one setting.
Settings flat_settings(const Config& config);

/// The paths at which not all of these settings agree.
std::set<std::string> differing_settings(const std::vector<Settings>& all);

/// Has the values of a setting shown exactly where some that differ would read alike, such as true and "yes".
void tell_values_apart(std::vector<Settings>& all);

/// Whether column `name` of metrics.csv has values at some iterations alone, between which there is nothing missing.
bool is_evaluated(std::string_view name);

/// Learning curves of a group: column `name` of each run and, of several runs, their mean with the band from lowest to highest.
std::vector<Curve> learning_curves(const RunGroup& group, const std::string& name, int colour);

}  // namespace iap
