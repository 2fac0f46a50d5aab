module;
#include <cstdint>
#include <optional>
#include <vector>
/// What metrics.csv of a run, which may be a stranger's, tells beside its columns.
export module iap.train:run_table;
import iap.core;

export namespace iap {

/// The iteration that a cell stands for; nothing if it is none (negative, beyond 2^32 - 1, NaN).
std::optional<std::uint32_t> iteration_of(double cell);

/// The first iterations of all stages of a curriculum but the first; none without a curriculum.
std::vector<double> stage_starts(const Table& metrics);
/// The stage that the run has come to, counted from 1; 1 without a curriculum.
double last_stage(const Table& metrics);

}  // namespace iap
