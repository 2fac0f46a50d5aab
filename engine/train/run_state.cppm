module;
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
/// What the folder of a run says of itself: how the run ended, or that it has not.
export module iap.train:run_state;
import iap.core;
import :types;

export namespace iap {

/// A run's folder in which another process works: no fault of the run that was to begin there.
class FolderInUse : public Error {
 public:
  using Error::Error;
};

/// A file in the folder of a run, which may be a stranger's; `name` may begin with folders ("media/play.webp"), and nothing of it
/// need be there. @throws Error naming it where a symbolic link leads out of the run's folder, or where there is something that is
/// no regular file.
std::filesystem::path run_file(const std::filesystem::path& folder, std::string_view name);

/// A place in the working folder that nobody named. @throws Error for a link, wherever it leads, as not all files there are one
/// run's, and for what is no regular file.
std::filesystem::path unnamed_place(const std::filesystem::path& name);

/// Whether `file`, which need not exist, is one that a run keeps: by its name, in the folder of a run, or a link to such a one.
bool is_run_file(const std::filesystem::path& file);

/// The config.json of a run. @throws Error as run_file, where it cannot be read, and where it is no table.
Config read_run_config(const std::filesystem::path& folder);

/// The experiment.lua of a run, or "". @throws Error as run_file, and for one that is larger than scripts are.
std::string read_run_script(const std::filesystem::path& folder);

/// result.json of a run's folder. It is there from the end of the run until more is asked of it; a run that was interrupted has
/// none.
struct RunSummary {
  std::uint32_t iterations = 0;
  std::string stop_reason;                              ///< as in TrainResult
  double first_eval = 0, last_eval = 0, best_eval = 0;  ///< as in TrainResult
  std::uint32_t best_iteration = 0;
  std::uint32_t best_failed = 0;  ///< as in TrainResult; 0, too, where an older version counted none
  std::optional<Confirmation> confirmed;
};

/// Nothing if there is no result.json. @throws Error naming it and what is wrong with it.
std::optional<RunSummary> read_summary(const std::filesystem::path& folder);
/// As `read_summary`; nothing, too, for one that cannot be read, which continuing its run writes anew.
std::optional<RunSummary> sound_summary(const std::filesystem::path& folder);
/// @throws Error naming the path and the reason.
void write_summary(const std::filesystem::path& folder, const RunSummary& summary);

struct RunState {
  /// All the iterations that it was asked for are done, or its optimizer had enough.
  bool complete = false;
  /// Complete, or on_iteration ended it, which may say otherwise when it is asked again.
  bool ended = false;
  bool in_use = false;  ///< by another process
  std::string script;   ///< experiment.lua, or ""
  /// When its log was last written to.
  std::filesystem::file_time_type written = std::filesystem::file_time_type::min();
};

/// Whether another process, or another run of this one, has claimed `folder`, which may not hold a run yet.
bool is_in_use(const std::filesystem::path& folder);

/// Nothing if `folder` holds no run.
std::optional<RunState> run_state(const std::filesystem::path& folder);

}  // namespace iap
