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

/// Milliseconds of so many calls together.
struct Reading {
  double wall, processor;
};

Reading read_clocks(int calls, const std::function<void()>& body) {
  const double processor_before = processor_milliseconds();
  const auto start = Clock::now();
  for (int i = 0; i < calls; ++i) body();
  const double wall = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  return {wall, processor_milliseconds() - processor_before};
}

/// What a reading of the clocks takes by itself, a microsecond on some machines.
double processor_of_reading() {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 20; ++i) least = std::min(least, read_clocks(0, {}).processor);
  return least;
}

}  // namespace

Timing measure(double seconds, const std::function<void()>& body) {
  constexpr int least_readings = 5;
  constexpr double least_wall = 0.01;  // shorter ones would measure the clocks
  const double reading_itself = processor_of_reading();
  body();
  std::vector<double> times;
  double processor = std::numeric_limits<double>::infinity();
  int calls = 1;  // in a reading
  auto begin = Clock::now();
  while (static_cast<int>(times.size()) < least_readings || seconds_since(begin) < seconds) {
    check_interrupt();
    const Reading reading = read_clocks(calls, body);
    if (reading.wall < least_wall) {
      calls *= 2;
      times.clear();
      processor = std::numeric_limits<double>::infinity();
      begin = Clock::now();
      continue;
    }
    times.push_back(reading.wall / calls);
    processor = std::min(processor, std::max(reading.processor - reading_itself, 0.0) / calls);
  }
  std::ranges::sort(times);
  return {times[times.size() / 2], times[times.size() * 99 / 100], processor, calls * static_cast<int>(times.size())};
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
