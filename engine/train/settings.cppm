module;
#include <cstdint>
#include <string>
/// The settings of a run as a Config: what config.json and the checkpoint hold.
module iap.train:settings;
import iap.core;
import iap.env;
import :types;

namespace iap {

/// @throws Error naming the first option out of range.
void check_options(const TrainOptions& options);

/// The episodes that confirm the best policy: what was asked for, or four times those of an evaluation.
int confirm_episodes(const TrainOptions& options);

/// What determines a run's results: the same settings give the same numbers, however long the run and whatever the threads.
/// `spec` is the environment's own.
Config identity_of(const TrainOptions& options, const EnvSpec& spec);

/// The identity and the rest of what was asked for, as `read_train_options` takes it; the content of config.json.
Config run_config(const TrainOptions& options, const EnvSpec& spec);

/// The path and both values of the first setting that differs ("optimizer.sigma: 0.1 before, 0.2 now"), or "".
std::string first_difference(const Config& before, const Config& now, const std::string& path = "");

}  // namespace iap
