#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.hpp"
import iap.core;

/// The parts of `iap sweep`: the list of its jobs, their rehearsal, what is on record about each, the runner and the table.
namespace iap::cli {

/// An option that takes several values.
struct SweptOption {
  std::string path;  ///< as --set takes it
  std::string name;  ///< the end of the path that tells it from the other options
  std::vector<std::string> values;
};

struct Combination {
  std::vector<std::string> values;  ///< one for each option
  std::string name;                 ///< "sigma=0.05,heads=4", no other one's; "" where nothing is swept but the seed
};

/// One run.
struct SweepJob {
  std::size_t combination = 0;
  std::uint64_t seed = 0;
  std::string name;  ///< "sigma=0.05,heads=4-seed2"
  std::filesystem::path folder;
};

struct SweepList {
  std::filesystem::path folder;
  std::vector<SweptOption> options;
  std::vector<Combination> combinations;
  std::vector<SweepJob> jobs;  ///< seed by seed, each with all combinations
};

// sweep_list.cpp

/// The option and the values of "path=value,value". @throws Error naming --over for another form.
SweptOption read_swept_option(const std::string& over);
/// "I/N". @throws Error naming --job for another form.
SweepPart read_sweep_part(const std::string& part);
/// @throws Error naming an --over or a --set that makes no sense.
SweepList sweep_list(const SweepCommand& command);
/// What `iap run` gets as --set for the runs of a combination.
std::vector<std::string> overrides_of(const SweepCommand& command, const SweepList& list, std::size_t combination);
/// The numbers of the jobs that this process runs: all, or those of `--job I/N`.
std::vector<std::size_t> jobs_of_part(const SweepCommand& command, const SweepList& list);

// sweep_check.cpp

/// What the runs are to be, as the sweep begins: scripts and what they read may change while it is at work.
struct SweepPlan {
  std::string script;            ///< its text
  int iterations = 0;            ///< of the longest run
  std::vector<Config> settings;  ///< of each job, as `settings_on_record` has them
};
/// Rehearses the script with every combination and seed.
/// @throws Error naming the combination and what its training refuses, a script that does not train exactly once, or a folder that
/// holds another run.
SweepPlan check_script(const SweepCommand& command, const SweepList& list);
/// What config.json says of the run in `folder`, with nothing but what tells them apart of its long texts; nothing where there is
/// no run, one that others keep to themselves, or a config.json that is none. @throws Error as `sound_config`.
std::optional<Config> settings_on_record(const std::filesystem::path& folder);
/// Why a job's folder holds no run of `planned` settings, or "". @throws Error as `sound_config`.
std::string holds_another_run(const SweepJob& job, const Config& planned);
/// The iterations of each rung, rising to `iterations`; those alone without --halving. @throws Error for too few combinations, and
/// where a shorter run of this script is not the beginning of a longer one.
std::vector<int> sweep_rungs(const SweepCommand& command, const SweepList& list, int iterations);
/// @throws Error naming the link that would take a run's files elsewhere, or a file that a sweep would write over though no sweep
/// has written it.
void check_sweep_folder(const SweepList& list);
/// A note about those of `jobs` whose runs were made by another text of the script than the sweep began with, or "".
std::string other_texts(const SweepCommand& command, const SweepList& list, const SweepPlan& plan,
                        const std::vector<std::size_t>& jobs);
/// A note that runs of the list were computed with other instructions or libraries than others, or than this process has for those
/// of `jobs` that are not done, and so have other last bits; or "".
std::string other_bits(const SweepList& list, const SweepPlan& plan, const std::vector<std::size_t>& jobs);
/// @throws NotEvaluated naming one of `jobs` whose run is beyond one of `rungs` and cannot be compared there. What concerns a
/// single run is that run's to tell: a job.json that cannot be read, a failure. To a collector (`collect`) a run counts where it
/// has got to.
void check_passed(const SweepList& list, const std::vector<std::size_t>& jobs, const std::vector<int>& rungs, bool collect);

// sweep_record.cpp

/// What job.json in a run's folder says of the run as a job.
struct JobRecord {
  enum class Status : std::uint8_t { unknown, begun, done, failed };
  struct Figures {
    double eval, mean_return;  ///< of the last iteration; NaN where there is none
    int iterations;            ///< that it has done: fewer where the script asks for fewer, or its optimizer had enough
  };
  Status status = Status::unknown;
  int iterations = 0;            ///< that it was last asked for
  int tries = 0;                 ///< times that it was begun
  std::string message;           ///< why it failed
  std::string launch;            ///< `SweepCommand::launch` of who wrote this
  std::map<int, Figures> rungs;  ///< by the iterations asked for, where it ended in good order

  bool done(int asked) const { return rungs.contains(asked); }
  /// NaN where the job has not done so many iterations.
  double value(int asked, const std::string& metric) const;
};

/// A record without anything where there is none, or none that can be read: then the run itself says how far it is.
JobRecord read_record(const std::filesystem::path& folder);
/// Why a job.json that is there cannot be read, or "".
std::string record_flaw(const std::filesystem::path& folder);
/// @throws Error naming the path and the reason.
void write_record(const std::filesystem::path& folder, const JobRecord& record);
/// A run's settings; nothing for a config.json that is none, which the run itself writes anew when it goes on.
/// @throws Error where it is no file of the run's.
std::optional<Config> sound_config(const std::filesystem::path& folder);
/// What metrics.csv says of the first `iterations` iterations: the evaluation after the last of them, or of a run that ended before
/// them its last one. @throws Error where it cannot be read, has lost rows or lacks one of the numbers, and for a run that stopped
/// before them without having ended.
JobRecord::Figures read_figures(const std::filesystem::path& folder, int iterations);
/// A run that is beyond an iteration after which nothing was evaluated.
class NotEvaluated : public Error {
 public:
  using Error::Error;
};
/// The same of a run that has gone further or has ended, whoever started it. It stays as it is: a process sent there would make it
/// a shorter run without a confirmation. Nothing where the run has yet to get there.
/// @throws NotEvaluated naming the run; Error where its metrics.csv cannot be read.
std::optional<JobRecord::Figures> passed_figures(const std::filesystem::path& folder, int iterations);

// sweep_ranks.cpp

/// Rank 0 of several puts on record in the sweep's folder that it works there, and what all must have in common.
/// @throws Error where it cannot write.
void sign_in(const SweepCommand& command, const SweepPlan& plan, const std::filesystem::path& folder);
/// The others wait for that record, which tells them that they share one sweep, whoever of them runs what. @throws Error where rank
/// 0 was given another command or another text of the script, or computes other bits; where nothing of it has been found for 150 s.
void await_first_rank(const SweepCommand& command, const SweepPlan& plan, const std::filesystem::path& folder);

/// Rank 0's lock in the sweep's folder while it is at work there, on a file of this launch. By it the others know that the file
/// system's locks hold between them: without those, two ranks begin the same run.
class FirstRankLock {
 public:
  /// @throws Error where rank 0 of several gets none.
  FirstRankLock(const SweepCommand& command, const std::filesystem::path& folder);
  ~FirstRankLock();
  FirstRankLock(const FirstRankLock&) = delete;
  FirstRankLock& operator=(const FirstRankLock&) = delete;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};
/// That lock as another rank sees it. Once it was seen, locks hold between the two, whatever becomes of rank 0.
class FirstRank {
 public:
  FirstRank(const SweepCommand& command, const std::filesystem::path& folder);
  /// Whether locks hold between the two. Rank 0 may be about to take its own: @throws Error where it has not for 10 s.
  bool is_seen();

 private:
  std::filesystem::path path_;
  bool seen_;
  std::optional<Clock::time_point> missed_;  ///< first
};

/// What has started this process as a rank. One that is killed tells its ranks nothing.
class Launcher {
 public:
  Launcher();
  /// Whether it has ended, or reads no more what this process prints.
  bool is_gone() const;

 private:
  pid_t process_;
};

// sweep_runner.cpp

/// Where the jobs are to get to.
struct SweepRung {
  int iterations = 0;
  bool last = true;   ///< as far as the script itself goes
  std::string title;  ///< before each line of progress
};
/// Why a job failed in whose folder nothing can be written.
struct UnrecordedFailure {
  std::string message;
  bool of_another = false;  ///< the folder holds a run with other settings, whose figures are none of this sweep's
};
/// By the jobs' numbers in the list.
using Unrecorded = std::map<std::size_t, UnrecordedFailure>;
/// Runs those of `jobs` that have not done it yet; `changed` is called after each. A job that cannot be begun has failed, and so
/// has one whose run has other settings than `plan`. False if interrupted: what was at work has then ended in good order, or been
/// killed where a second request came. @throws Error as `changed` does.
bool run_jobs(const SweepCommand& command, const SweepList& list, const SweepPlan& plan, const std::vector<std::size_t>& jobs,
              const SweepRung& rung, const std::function<void()>& changed, Unrecorded& unrecorded, FirstRank& first_rank);

// sweep_table.cpp

/// A combination over its seeds.
struct SweepRow {
  int asked = 0;             ///< the rung that it got to; 0 where no run is done
  int least = 0, most = 0;   ///< iterations that its runs have done there
  int done = 0, failed = 0;  ///< runs
  double mean, deviation;    ///< of the runs that are done; NaN where there are too few
  double best;               ///< of these runs
  std::uint64_t best_seed = 0;
};

/// The combination after its last rung among `rungs` that has a run; `all` are the records of the list's jobs.
SweepRow sweep_row(const SweepCommand& command, const SweepList& list, const std::vector<JobRecord>& all, std::size_t combination,
                   const std::vector<int>& rungs);
/// Those of `combinations` whose runs are all done, by their means, the best first.
std::vector<std::size_t> ranking(const SweepCommand& command, const SweepList& list, const std::vector<JobRecord>& all,
                                 const std::vector<std::size_t>& combinations, int iterations);
/// While one lives, no other sweep writes into the sweep's own folder: its table and page.
class SweepLock {
 public:
  /// Takes it, unless another process has it. A file system without locks is no reason to write nothing.
  explicit SweepLock(std::filesystem::path folder);
  ~SweepLock();
  SweepLock(const SweepLock&) = delete;
  SweepLock& operator=(const SweepLock&) = delete;
  /// Whether another process has it.
  bool is_taken() const { return taken_; }
  /// Waits until this one has it, and after a second says so.
  void wait();

 private:
  void take();

  std::filesystem::path folder_;
  int descriptor_;
  bool taken_ = false;
};
/// Writes sweep.csv. @throws Error.
void write_sweep_table(const SweepList& list, const std::vector<SweepRow>& rows);
/// Prints the table with `note` below it, and what the best setting is and what repeats it.
void print_sweep_table(const SweepCommand& command, const SweepList& list, const std::vector<SweepRow>& rows,
                       const std::string& note);

}  // namespace iap::cli
