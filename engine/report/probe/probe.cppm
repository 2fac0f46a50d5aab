module;
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>
/// What a policy's blocks know of the simulator's state.
export module iap.report:probe;
import iap.core;
import iap.policy;

export namespace iap {

struct ProbeOptions {
  std::vector<std::string> blocks;  ///< paths; none: the attention blocks, or without any, all blocks that hold no others
  int episodes = 16;                ///< at least 3; the first two thirds are fitted, the rest tested
  int steps = 0;                    ///< ends each episode after so many decisions; 0: its own end
  std::uint64_t seed = 0;           ///< of the episodes, which are those of `evaluate`
  bool random_actions = false;      ///< plays random actions, each held for three decisions, in place of the policy's
  bool per_episode = false;         ///< takes the mean of each episode off outputs and state first
  std::optional<double> ridge;      ///< lambda; without one it is chosen for each variable, see `linear_readout`
  int threads = 0;                  ///< 0: all hardware threads; changes no bit
};

struct ProbedBlock {
  std::string path, kind;
  int outputs = 0;
  std::vector<double> r2;     ///< of each variable, see `Readout`; NaN where it does not vary
  std::vector<double> ridge;  ///< the lambda used
  double mean = 0;            ///< of the variables that vary, each counted as 0 where it is negative; NaN if none varies
};

struct ProbeResult {
  std::vector<std::string> variables;  ///< names of the state's values
  std::vector<ProbedBlock> blocks;
  int fitted_episodes = 0, tested_episodes = 0;
  std::size_t fitted_rows = 0, tested_rows = 0;  ///< decisions
  bool per_episode = false;                      ///< as asked for
  std::vector<double> returns;                   ///< of the episodes, as far as they were played
  double mean_return = 0;
};

/// Plays episodes of `policy` in `env` and says how much of each variable of the simulator's state is a linear function of what
/// each block hands over: ridge regression on the first two thirds of the episodes, R^2 on the others. The state is the
/// environment's vector; one that shows none is made with the option `state` = true, and the policy goes on seeing what it was
/// built for, so that it acts as in `evaluate`. The same for any number of threads.
/// @throws Error as `make_env`; naming the path for an unknown block; for an environment without a vector, fewer than three
/// episodes, a block with more than `most_features` outputs, and a value that is not finite.
ProbeResult probe(const Policy& policy, const Config& env, const ProbeOptions& options);

/// The table of R^2, a row for each variable and a column for each block, and the means below; ends with a newline. Values below 0
/// are shown as 0, those of variables that do not vary as "-".
std::string probe_table(const ProbeResult& result);
/// One row for each block and variable: block, outputs, state, r2, ridge; numbers in full, empty where there is none.
std::string probe_csv(const ProbeResult& result);
/// Draws a bar for each variable and block, from 0 to 1, as a PNG, atomically. @throws Error naming the path.
void write_probe_chart(const std::filesystem::path& png, const ProbeResult& result, const std::string& title);

}  // namespace iap
