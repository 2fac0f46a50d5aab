module;
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>
export module iap.bench;
import iap.core;

export namespace iap {

/// Times of one call in milliseconds, over `calls` calls after a warm-up; of calls of less than 10 microseconds the means of some
/// in a row.
struct Timing {
  double median = 0, p99 = 0;  ///< by the clock on the wall
  /// The least processor time of the calling thread, less what reading the clock takes; other load on the machine hardly touches
  /// it.
  double processor = 0;
  int calls = 0;
};

/// Calls `body` for about `seconds` (at least 5 times) and times each call, or as many as take 10 microseconds.
Timing measure(double seconds, const std::function<void()>& body);

/// What one core of this machine can do with the instruction set that the kernels run on: the most a second that was seen, single
/// precision, one for every element of a vector.
struct MachineRates {
  double fma = 0;          ///< multiply-adds between registers
  double exp = 0;          ///< exponentials of values in the nearest cache
  double sine_cosine = 0;  ///< pairs of a sine and a cosine, likewise
  double bytes = 0;        ///< bytes read from 8 MiB, which the inner caches do not hold
};

/// Measures for about `seconds`: many short repeats of each, the best of which count, so that other load on the machine matters
/// little.
MachineRates measure_rates(double seconds);

struct Benchmark {
  std::string name, summary;
  void (*run)(std::ostream& out);
};

/// "attention", "database", "draw", "env", "legged", "rollout".
const std::vector<Benchmark>& benchmarks();

/// Runs one benchmark, or all of them if `name` is empty, and prints tables. @throws Error with the nearest name.
void run_benchmarks(const std::string& name, std::ostream& out);

}  // namespace iap
