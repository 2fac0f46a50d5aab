module;
#include <time.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <vector>
module iap.bench;
import iap.core;
#include "bench.hpp"

namespace iap {
namespace {

double processor_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

}  // namespace

Timing measure(double seconds, const std::function<void()>& body) {
  constexpr int least_calls = 5;
  body();
  std::vector<double> times;
  double processor = std::numeric_limits<double>::infinity();
  const auto begin = Clock::now();
  while (static_cast<int>(times.size()) < least_calls || seconds_since(begin) < seconds) {
    check_interrupt();
    const double processor_before = processor_milliseconds();
    const auto start = Clock::now();
    body();
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    processor = std::min(processor, processor_milliseconds() - processor_before);
  }
  std::ranges::sort(times);
  return {times[times.size() / 2], times[times.size() * 99 / 100], processor, static_cast<int>(times.size())};
}

const std::vector<Benchmark>& benchmarks() {
  static const std::vector<Benchmark> table{
      {"attention", "milliseconds from a frame to the scores of its patches", bench_attention},
      {"database", "keys of another frame: exact, hashed and sampled ranking, and what hashing finds", bench_database},
      {"draw", "milliseconds per picture, by path and size", bench_draw},
      {"env", "environment steps per second, without pictures", bench_env},
      {"legged", "microseconds from a state to the forces of standing legs", bench_legged},
      {"rollout", "rollout steps per second from pixels, and what the engine adds to the bare loop", bench_rollout},
  };
  return table;
}

void run_benchmarks(const std::string& name, std::ostream& out) {
  std::vector<std::string> names;
  bool found = false;
  for (const auto& benchmark : benchmarks()) {
    names.push_back(benchmark.name);
    if (!name.empty() && name != benchmark.name) continue;
    found = true;
    out << "## " << benchmark.name << ": " << benchmark.summary << "\n";
    benchmark.run(out);
    out << std::endl;
  }
  if (!found) throw Error(text("unknown benchmark '", name, "'", did_you_mean(name, names)));
}

}  // namespace iap
