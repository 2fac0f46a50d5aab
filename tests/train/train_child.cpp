#include <unistd.h>

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

// train_child OUT MICROSECONDS LOUD: starts or continues the tests' small run, waiting so long in each step.
int main(int count, char** arguments) {
  if (count != 4) return 2;
  try {
    const auto pause = std::chrono::microseconds(std::atoi(arguments[2]));
    iap::TrainOptions options = small_run(arguments[1]);
    options.iterations = 20;
    options.resume = true;
    options.quiet = std::string(arguments[3]) != "loud";
    options.make_env = fake_envs([=](auto...) { std::this_thread::sleep_for(pause); });
    iap::train(options);
    return 0;
  } catch (const iap::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
