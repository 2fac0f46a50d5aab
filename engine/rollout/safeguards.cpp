module;
#include <cmath>
#include <cstdint>
#include <optional>
module iap.rollout;
import iap.core;
import :safeguards;

namespace iap {
namespace {

constexpr double longest_timeout = 1e6;
constexpr int least_memory = 64, most_memory = 1 << 24;
constexpr int most_retries = 1000;

}  // namespace

/// @lua options rollout.safeguards
/// What keeps worlds that hang, crash, leak or throw from ending a run.
/// @option isolate boolean = false - play episodes in processes of their own, which are replaced when they die; costs .1 to .3 s of
/// start a process, and changes no result
/// @option episode_timeout number 0..1e6 = 0 - seconds after which an episode is cut off and has failed (isolates); 0: never
/// @option worker_memory integer 0..16777216 = 0 - MiB that such a process may allocate, at least 64 (isolates); 0: any amount
/// @option retries integer 0..1000 = (1 where episodes are isolated, else 0) - further attempts at an episode that failed
/// @option failed_return number ? - what an episode counts that failed in every attempt; without it, that ends the run
/// @see training.md#worlds-that-hang-die-or-throw
Safeguards read_safeguards(Options& options) {
  Safeguards safeguards;
  safeguards.isolate = options.boolean("isolate", false);
  safeguards.episode_timeout = options.number_in("episode_timeout", 0, longest_timeout, 0.0);
  safeguards.worker_memory = static_cast<int>(options.integer_in("worker_memory", 0, most_memory, 0));
  if (safeguards.worker_memory > 0 && safeguards.worker_memory < least_memory)
    options.fail(text("option 'worker_memory' is ", safeguards.worker_memory, " MiB, too little for any process; give it ",
                      least_memory, " at least, or 0 for any amount"));
  safeguards.retries = static_cast<int>(options.integer_in("retries", 0, most_retries, safeguards.attempts() - 1));
  const Config& counted = options.value("failed_return");
  if (counted.is_null()) return safeguards;
  safeguards.failed_return = counted.number();
  if (!safeguards.failed_return || !std::isfinite(*safeguards.failed_return))
    options.fail(text("option 'failed_return' must be a finite number, got ", counted.describe()));
  return safeguards;
}

void check_safeguards(const Safeguards& safeguards, const char* owner) {
  const auto check = [owner](const char* name, double value, double low, double high) {
    if (!(value >= low && value <= high))
      throw Error(text(owner, ": option '", name, "' must be in [", low, ", ", high, "], got ", value));
  };
  check("episode_timeout", safeguards.episode_timeout, 0, longest_timeout);
  if (safeguards.worker_memory != 0) check("worker_memory", safeguards.worker_memory, least_memory, most_memory);
  check("retries", safeguards.attempts() - 1, 0, most_retries);
  if (safeguards.failed_return && !std::isfinite(*safeguards.failed_return))
    throw Error(text(owner, ": option 'failed_return' must be finite, got ", *safeguards.failed_return));
}

}  // namespace iap
