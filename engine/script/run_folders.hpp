#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace iap {

/// A folder that no other process claims while this object lives.
class FolderClaim {
 public:
  /// Whether it is ours: not where another has it; yes where the file system gives no locks.
  explicit FolderClaim(const std::filesystem::path& folder);
  ~FolderClaim();
  FolderClaim(FolderClaim&& other) noexcept;
  FolderClaim& operator=(FolderClaim&&) = delete;
  explicit operator bool() const { return !taken_; }

 private:
  int descriptor_ = -1;
  bool taken_ = false;
};

/// Where the runs of a script go that nobody named a folder for: NAME, NAME-2, NAME-3 ... A script that trains several runs under
/// one name makes a series of such folders; experiment.lua of its later runs says which run of which series it is. A new folder is
/// made and claimed at once, so that scripts that begin at the same time get one each; one that nothing was written into is gone
/// with this object.
class RunFolders {
 public:
  RunFolders() = default;
  ~RunFolders();
  RunFolders(const RunFolders&) = delete;
  RunFolders& operator=(const RunFolders&) = delete;

  /// The folder of the script's next run under `name`; the same again while nothing was trained in it. With `resume`, the first
  /// call chooses the series that is continued: made by this script (`experiment`, its text as experiment.lua has it), unfinished,
  /// with the settings that differ least from those given, and of these worked on last. Runs in use by another process come after
  /// free ones, complete ones last, other scripts' where there is no own. Where the best is in use with other settings, or complete
  /// with another seed than the one given, a new one is begun. Separators at the end of `name` do not count. Without `claim`
  /// nothing is made.
  std::filesystem::path next(const std::string& name, bool resume, std::string_view experiment, bool claim);
  /// The same where the first run is in `folder` itself, whatever lies there: no other series is looked for.
  std::filesystem::path next_from(const std::filesystem::path& folder, bool resume);
  void set_trained(const std::string& folder) { trained_.insert(folder); }
  /// The comment line for experiment.lua of a run that is not the first of its series, or "".
  std::string origin(const std::string& folder) const;
  /// Whether a run was trained elsewhere than in a folder that was given out.
  bool trained_elsewhere() const;
  /// All that was given out.
  const std::vector<std::filesystem::path>& given() const { return all_; }

 private:
  /// By the name of the first run's folder and the position in the series.
  using Found = std::map<std::string, std::map<int, std::filesystem::path>>;
  struct Series {
    std::string leader;  ///< name of the first run's folder
    std::vector<std::filesystem::path> given;
    std::optional<Found> found;  ///< what lay below the name when it was first looked for
    int number = 1;              ///< of the last folder that was claimed: those before are taken
  };

  std::filesystem::path next_of(Series& series, const std::string& name, bool resume, bool claim);
  std::filesystem::path claim_fresh(const std::string& name, int& number);
  void make(const std::filesystem::path& folder);
  std::map<std::string, FolderClaim> claims_;
  std::vector<std::filesystem::path> made_;
  std::map<std::string, Series> series_;
  std::set<std::string> trained_;
  std::vector<std::filesystem::path> all_;
};

/// The script in the text of an experiment.lua, without the lines about its run that stand before it; any other text as it is.
std::string_view script_of(std::string_view experiment);
/// The same text for Lua, which takes a line for the shell and a byte order mark at the very beginning alone. Lines keep their
/// numbers.
std::string program_of(std::string_view experiment);

/// The first of NAME, NAME-2, NAME-3 ... that holds no run, nor is kept from this user.
std::filesystem::path fresh_folder(const std::string& name);

/// `name` and what tells a run with these overrides from one with the defaults: "table1-optimizer.population=4". Where that would
/// be the name of other values, too, a number follows that the values have. Where a folder is there that spells them otherwise,
/// that.
std::string folder_with_settings(const std::string& name, const std::vector<std::pair<std::string, std::string>>& overrides);

}  // namespace iap
