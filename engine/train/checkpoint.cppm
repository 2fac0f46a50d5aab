module;
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
/// checkpoint.iap: everything a run needs to continue bit for bit. Holds no times.
module iap.train:checkpoint;
import iap.core;
import iap.policy;

namespace iap {

struct Checkpoint {
  Config identity;  ///< settings that a resumed run must share
  std::uint32_t iteration = 0;
  std::uint64_t steps = 0;  ///< environment steps of all training episodes so far
  double first_eval = 0, last_eval = 0, best_eval = 0;
  std::uint32_t best_iteration = 0;
  std::uint32_t best_failed = 0;  ///< as in TrainResult
  std::vector<float> best_parameters;
  std::string optimizer;  ///< what Optimizer::save wrote
  std::string initial;    ///< the policy file that the run began at, without metadata; "" for drawn parameters
  std::vector<Moment> moments, best_moments;
};

/// The sealed file.
std::string encode_checkpoint(const Checkpoint& checkpoint);

/// Writes `file` as checkpoint.iap of `folder`; the one before stays as checkpoint.previous.iap. At every moment checkpoint.iap is
/// whole. @throws Error naming the path and the reason.
void write_checkpoint(const std::filesystem::path& folder, std::string_view file);

struct FoundCheckpoint {
  Checkpoint checkpoint;
  std::string warning;  ///< why the previous one had to be taken, or ""
};

/// The newest checkpoint that can be read; nothing if there is none at all. @throws Error if none of those there can be read.
std::optional<FoundCheckpoint> find_checkpoint(const std::filesystem::path& folder);

/// Puts `checkpoint`, taken from the previous file, in the place of a newest one that cannot be read, so that the next write does
/// not replace the only good file by a bad one. The bad one is kept as checkpoint.damaged.iap. @throws Error.
void restore_newest(const std::filesystem::path& folder, const Checkpoint& checkpoint);

}  // namespace iap
