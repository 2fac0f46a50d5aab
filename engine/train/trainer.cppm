module;
#include <cstdint>
#include <deque>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
/// A run at work. Its methods lie in the files that their groups name, the rest in train.cpp.
module iap.train:trainer;
import iap.core;
import iap.env;
import iap.optim;
import iap.policy;
import iap.rollout;
import :checkpoint;
import :initial;
import :metrics;
import :metrics_logs;
import :progress;
import :run_folder;
import :run_state;
import :stages;
import :types;

namespace iap {

/// What metrics.csv shows as an empty cell.
inline constexpr double empty_cell = std::numeric_limits<double>::quiet_NaN();

/// What the rollouts of one iteration gave.
struct Returns {
  std::vector<double> fitness;
  std::uint64_t steps = 0;
  int unstable = 0, failed = 0;
  double seconds = 0;
  Messages messages;            ///< that it took, where there are several processes
  std::vector<Moment> moments;  ///< the totals before, and what the episodes gathered
};

/// A run on its way from the first iteration to its result.
class Trainer {
 public:
  /// @throws Error for what cannot be built: environment, policy, optimizer.
  explicit Trainer(const TrainOptions& options);

  /// The whole run, from the folder's claim to its result.
  TrainResult run();
  /// The run as it stands before its first or next episode. Without `script` in the options, nothing in its folder counts.
  TrainingPlan plan();

 private:
  void check_episodes() const;
  bool finished() const {
    return optimizer_->iteration() >= static_cast<std::uint32_t>(options_.iterations) || !optimizer_->stop_reason().empty();
  }
  /// Whether the mean of this iteration is evaluated however long the run is: by `eval_every`, and where a search ends and another
  /// one takes its place.
  bool scheduled() const {
    const std::uint32_t iteration = optimizer_->iteration(), every = static_cast<std::uint32_t>(options_.eval_every);
    return iteration == 0 || (every > 0 && (iteration % every == 0 || !optimizer_->restart_reason().empty()));
  }
  double seconds() const;
  const Stage& stage() const { return worlds_.stages[stage_]; }
  const World& evaluation() const { return worlds_.evaluation; }

  // curriculum.cpp: from stage to stage
  std::unique_ptr<Optimizer> optimizer_of(std::size_t stage, std::span<const float> parameters) const;
  bool keeps_optimizer(std::size_t stage) const;
  std::unique_ptr<Optimizer> next_optimizer(std::size_t stage, const Optimizer& before) const;
  void check_stages() const;
  Config completed_optimizer() const;
  void go_to_stage_of(std::uint32_t iteration);
  void advance();
  void open_pool();
  Rollouts& evaluation_pool();
  std::vector<float> evaluated_mean() const;

  // resume.cpp: from the folder to the first or next iteration, and back to the folder
  std::optional<std::string> take_up(const std::filesystem::path& folder);
  void begin();
  std::string initial_line() const;
  void tell_begin(bool resumed);
  void check_basis();
  void look_back();
  bool had_enough() const;
  bool is_confirmed() const;

  // files.cpp: what stands in the folder while the run is at work
  void check_files(const std::filesystem::path& folder, bool resumed) const;
  Config config_of_more(Config asked) const;
  bool is_over(bool resumed) const { return resumed && (finished() || had_enough_); }
  std::deque<PartFile> prepare_files(bool resumed);
  void replace_files(bool resumed, std::deque<PartFile> parts);
  bool recall_end(IterationReport& report);
  void continue_files();
  void look_after_tables(const Columns& columns, std::int64_t last);
  void look_after_tables_at_end();
  void save_checkpoint();

  // iteration.cpp
  void tell_each(std::span<const Episode> played, std::string Episode::* reason, const std::string& what, std::string_view happened,
                 std::uint64_t& told);
  void tell_trouble(std::span<const Episode> played, const std::string& what);
  ActionNoise noise_of(std::size_t member, std::size_t episode) const;
  Derivation derivation() const;
  static void check_iteration_memory(std::size_t members, int episodes);
  Returns play_population();
  void evaluate_mean(IterationReport& report);
  IterationReport report_of(const Returns& returns) const;
  void complete(IterationReport& report);
  bool iterate();
  void evaluate_end(IterationReport& report);
  static Columns evaluation_columns(const IterationReport& report);

  // result.cpp
  PolicyFile policy_of(std::span<const float> parameters, std::span<const Moment> moments, std::uint32_t iteration,
                       std::optional<double> value) const;
  void write_policy(const char* name, std::span<const float> parameters, std::span<const Moment> moments, std::uint32_t iteration,
                    std::optional<double> value);
  void check_confined();
  TrainResult result_of(std::string stop_reason);
  void confirm(TrainResult& result);
  void tell_end(const TrainResult& result);

  std::string iterate_until_stopped();
  std::vector<PlannedStage> planned_stages() const;
  void rescue(const char* what) noexcept;
  void keep_mean() {
    mean_ = evaluated_mean();
    mean_moments_ = state_.moments;
    mean_scheduled_ = scheduled();
  }
  /// The folder, as lines for people begin with it.
  std::string place() const { return folder_ ? folder_->path().string() + ": " : ""; }
  void log(const std::string& line) {
    if (folder_) folder_->log(line);
  }
  void warn(const std::string& what) {
    const std::string line = "warning: " + what;
    log(line);
    progress_->warn(line);
  }

  const TrainOptions& options_;
  std::optional<Initial> initial_;
  Stages worlds_;
  std::size_t stage_ = 0;  ///< of the last completed iteration, or of the next one once that has begun
  std::unique_ptr<Optimizer> optimizer_;
  Config identity_;
  std::unique_ptr<Rollouts> pool_, evaluation_pool_;  ///< the second one only where evaluations need a world of their own
  const World* pool_world_ = nullptr;
  std::vector<float> population_;

  std::optional<RunFolder> folder_;
  std::optional<MetricsFile> metrics_;
  std::optional<MetricsLogs> logs_;
  std::unique_ptr<Progress> progress_;
  Clock::time_point begin_ = Clock::now();
  double seconds_before_ = 0;
  std::optional<RunSummary> ended_before_;   ///< how this run ended when it was last at work
  std::uint64_t played_ = 0, unstable_ = 0;  ///< training episodes of this process, and those that the simulator gave up
  std::uint64_t failed_ = 0,
                repeated_ = 0;  ///< episodes of this process, evaluations' too: that count `failed_return`; that failed at first
  bool had_enough_ = false;     ///< on_iteration ends it where it was resumed

  /// All but `optimizer`, which is taken when an iteration completes. An evaluation that only the end of the run asked for is not
  /// in it: a longer run would not have made it.
  Checkpoint state_;
  std::string complete_;  ///< the file for the last completed iteration; empty once it is written
  std::optional<double> end_eval_;
  std::uint32_t end_failed_ = 0;  ///< episodes of that evaluation
  std::vector<float> mean_;       ///< of the last completed iteration, as evaluations play it
  std::vector<Moment> mean_moments_;
  bool mean_scheduled_ = true;  ///< whether the schedule had it evaluated
};

}  // namespace iap
