#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
import iap.core;
import iap.env;
import iap.train;

#include "fake_env.hpp"
#include "run_files.hpp"

namespace {

/// Kills the process from another thread within an iteration after `steps` has reached `last`, wherever the run is by then; at the
/// latest when the run ends.
class Killer {
 public:
  Killer(std::atomic<int>& steps, int last) : steps_(steps), last_(last) {
    if (last == 0) return;
    thread_ = std::thread([&steps, last] {
      while (steps < last) std::this_thread::sleep_for(std::chrono::microseconds(50));
      std::this_thread::sleep_for(std::chrono::microseconds(last * 7919 % 6000));
      ::kill(::getpid(), SIGKILL);
    });
  }
  ~Killer() {
    steps_ = last_;
    if (thread_.joinable()) thread_.join();
  }
  Killer(const Killer&) = delete;
  Killer& operator=(const Killer&) = delete;

 private:
  std::atomic<int>& steps_;
  int last_;
  std::thread thread_;
};

}  // namespace

// train_child OUT LAST LOUD: starts or continues the tests' small run, and kills itself about step LAST (0: never) of this process.
int main(int count, char** arguments) {
  if (count != 4) return 2;
  try {
    const int last = std::atoi(arguments[2]);
    std::atomic<int> steps = 0;
    iap::TrainOptions options = small_run(arguments[1]);
    options.iterations = 20;
    options.resume = true;
    options.quiet = std::string(arguments[3]) != "loud";
    options.make_env = fake_envs([&steps, last](auto...) {
      ++steps;
      if (last > 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
    });
    const Killer killer(steps, last);
    iap::train(options);
    return 0;
  } catch (const iap::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
