#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>
#include <atomic>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
import iap.core;
import iap.env;
import iap.train;

#include "fake_env.hpp"
#include "run_files.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;

namespace {

/// While it lives, no file of this process can grow beyond `bytes`: to a program the same as a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    rlimit limit = old_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    ::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit old_{};
  void (*handler_)(int);
};

}  // namespace

TEST_CASE("a failing environment ends training with its name, seed and step, and the run can go on") {
  const Scratch scratch("failing");
  TrainOptions options = small_run(scratch / "whole");
  train(options);
  const auto whole = run_content(options.out);
  const auto late = derive_seed({.seed = 9, .iteration = 3, .episode = 1, .purpose = Purpose::environment});
  const Meddler nan_reward = [=](std::uint64_t seed, int step, StepResult& result) {
    if (seed == late && step == 6) result.reward = std::numeric_limits<double>::quiet_NaN();
  };
  const Meddler throwing = [=](std::uint64_t seed, int step, StepResult&) {
    if (seed == late && step == 6) throw std::logic_error("a wheel came off");
  };
  for (const auto& [name, meddler, message] :
       {std::tuple{"nan", nan_reward, "reward is nan"}, std::tuple{"throw", throwing, "a wheel came off"}}) {
    options.out = scratch / name;
    options.resume = true;
    options.checkpoint_every = 100;
    options.make_env = fake_envs(meddler);
    CHECK_THAT(error_of(options), ContainsSubstring(message) && ContainsSubstring("'fake'") &&
                                      ContainsSubstring("seed " + std::to_string(late)) && ContainsSubstring("step 6:"));
    CHECK_THAT(read_file(options.out / "log.txt"), ContainsSubstring(message));
    CHECK(read_rows(options.out / "metrics.csv").size() == 5);
    options.make_env = fake_envs();
    options.checkpoint_every = 1;
    CHECK(train(options).iterations == 5);
    CHECK_THAT(read_file(options.out / "log.txt"), ContainsSubstring("resumes at iteration 3"));
    CHECK(differences(whole, run_content(options.out)) == "");
  }
}

TEST_CASE("a callback that throws ends the run with its message and a checkpoint") {
  const Scratch scratch("callback");
  TrainOptions options = small_run(scratch / "run");
  options.on_iteration = [](const IterationReport& report) {
    if (report.iteration == 2) throw std::runtime_error("host says no");
    return true;
  };
  CHECK_THAT(error_of(options), ContainsSubstring("host says no"));
  options.on_iteration = {};
  options.resume = true;
  CHECK(train(options).iterations == 5);
}

TEST_CASE("a callback that throws at the last iteration has not let the run end") {
  const Scratch scratch("last_callback");
  TrainOptions options = small_run(scratch / "run");
  int asked = 0;
  bool throws = true;
  options.on_iteration = [&](const IterationReport& report) {
    if (report.iteration < 5) return true;
    ++asked;
    if (throws) throw std::runtime_error("host says no");
    return false;  // which changes nothing there
  };
  for (int times = 1; times < 4; ++times) {
    CHECK_THAT(error_of(options), ContainsSubstring("host says no"));
    CHECK(asked == times);
    CHECK(!std::filesystem::exists(options.out / "result.json"));
    options.resume = true;
  }
  throws = false;
  for (int times = 0; times < 2; ++times) {
    CHECK(train(options).stop_reason == "iterations");
    CHECK(asked == 4);
  }
}

TEST_CASE("what is thrown and is no exception ends a run as an exception does") {
  const Scratch scratch("number");
  TrainOptions options = small_run(scratch / "run");
  options.on_iteration = [](const IterationReport& report) -> bool {
    if (report.iteration == 2) throw 42;
    return true;
  };
  CHECK(error_of(options) == "train: something was thrown that is no std::exception");
  CHECK_THAT(read_file(options.out / "log.txt"), ContainsSubstring("error: something was thrown that is no std::exception"));
  options.resume = true;
  options.on_iteration = {};
  options.make_env = fake_envs([](auto, int step, auto&) {
    if (step == 3) throw 42;
  });
  CHECK_THAT(error_of(options), ContainsSubstring("step 3: something was thrown that is no std::exception"));
  options.safeguards.failed_return = -5;
  options.out = scratch / "other";
  CHECK(train(options).best_eval == -5);
}

TEST_CASE("failures beyond those that log.txt tells one by one are counted in it") {
  const Scratch scratch("failures");
  TrainOptions options = small_run(scratch / "one");
  options.make_env = fake_envs([](auto...) { throw Error("a world of trouble"); });
  options.safeguards.failed_return = -5;
  options.iterations = 1;
  options.confirm_episodes = 0;
  for (const auto& [episodes, told] :
       {std::pair(6, "iteration 0: 1 more episode failed\n"), std::pair(7, "iteration 0: each of 2 more episodes failed\n")}) {
    options.eval_episodes = episodes;
    options.out = scratch / std::to_string(episodes);
    train(options);
    CHECK_THAT(read_file(options.out / "log.txt"), ContainsSubstring(told));
  }
}

TEST_CASE("what cannot be built says so before a folder is made") {
  const Scratch scratch("unbuilt");
  TrainOptions options = small_run(scratch / "run");
  options.make_env = [] { return std::unique_ptr<Env>(); };
  CHECK_THAT(error_of(options), ContainsSubstring("factory"));
  options.make_env = []() -> std::unique_ptr<Env> { throw std::runtime_error("no model"); };
  CHECK_THAT(error_of(options), ContainsSubstring("no model"));
  options = small_run(scratch / "run");
  options.policy = Config::Map{{"kind", "liner"}};
  CHECK_THAT(error_of(options), ContainsSubstring("'linear'"));
  options = small_run(scratch / "run");
  options.optimizer["population"] = 5;
  CHECK_THAT(error_of(options), ContainsSubstring("population"));
  CHECK(!std::filesystem::exists(scratch / "run"));
}

TEST_CASE("an environment of the host whose spec cannot be is refused before a folder is made") {
  class Reversed : public FakeEnv {
   public:
    Reversed() { std::tie(spec_.action_low, spec_.action_high) = std::pair(1.0F, -1.0F); }
  };
  const Scratch scratch("reversed");
  TrainOptions options = small_run(scratch / "run");
  options.make_env = [] { return std::make_unique<Reversed>(); };
  CHECK_THAT(error_of(options), ContainsSubstring("train: environment 'fake': its action_low is 1 and its action_high -1"));
  CHECK(!std::filesystem::exists(scratch / "run"));
}

TEST_CASE("a folder that holds a run is left alone") {
  const Scratch scratch("holds");
  TrainOptions options = small_run(scratch / "run");
  options.script = "first";
  train(options);
  const auto before = run_content(options.out);
  options.seed = 10;
  const std::string message = error_of(options);
  for (const char* part : {"already holds a run", "--resume", "--out", "run"}) CHECK_THAT(message, ContainsSubstring(part));
  CHECK(differences(before, run_content(options.out)) == "");
  for (const char* name : {"checkpoint.iap", "checkpoint.previous.iap"}) {
    INFO(name);
    options.out = scratch / name;
    std::filesystem::create_directories(options.out);
    write_text(options.out / name, "x");
    CHECK_THAT(error_of(options), ContainsSubstring(std::string("already holds a run (") + name + "); continue it with --resume"));
    CHECK(read_file(options.out / name) == "x");
  }
}

TEST_CASE("two runs cannot share a folder at the same time") {
  const Scratch scratch("shared");
  TrainOptions options = small_run(scratch / "run");
  std::string inner;
  options.on_iteration = [&](const IterationReport& report) {
    if (report.iteration > 1) return true;
    TrainOptions second = small_run(scratch / "run");
    second.resume = true;
    inner = error_of(second);
    return true;
  };
  CHECK(train(options).iterations == 5);
  CHECK_THAT(inner, ContainsSubstring("in use"));
}

TEST_CASE("whoever looks whether a run is at work keeps nobody from going on with it") {
  const Scratch scratch("watched");
  CHECK(error_of(small_run(scratch / "run")) == "no error");
  AppendFile log(scratch / "run/log.txt");
  REQUIRE(log.lock() == FileLock::held);
  std::jthread watcher([log = std::move(log)] { std::this_thread::sleep_for(std::chrono::milliseconds(10)); });
  TrainOptions again = small_run(scratch / "run");
  again.resume = true;
  CHECK(error_of(again) == "no error");
}

TEST_CASE("a folder that cannot be made or written is an error that names it") {
  const Scratch scratch("unwritable");
  write_text(scratch / "file", "a file");
  TrainOptions options = small_run(scratch / "file/run");
  CHECK_THAT(error_of(options), ContainsSubstring("file/run"));
  options.out = scratch / "file";
  CHECK_THAT(error_of(options), ContainsSubstring("file"));
  for (const char* name : {"metrics.csv", "config.json", "best.iap"}) {
    INFO(name);
    // A folder in a file's place fails for every user, root included.
    options.out = scratch / (std::string("blocked_") + name);
    options.resume = true;
    std::filesystem::create_directories(options.out / name / "inside");
    CHECK_THAT(error_of(options), ContainsSubstring(name));
  }
}

TEST_CASE("a run that is refused to go on keeps all that it has, and so does one that finds no room to") {
  namespace fs = std::filesystem;
  const Scratch scratch("refused");
  TrainOptions options = small_run(scratch / "whole");
  options.script = "-- a script";
  options.log = {"jsonl"};
  train(options);
  std::atomic<bool> played = false;  // by any of several threads
  options.make_env = fake_envs([&](auto...) { played = true; });
  options.iterations = 7;
  options.resume = true;
  const auto copy_of_whole = [&](const std::string& name) {
    options.out = scratch / name;
    fs::copy(scratch / "whole", options.out, fs::copy_options::recursive);
    played = false;
  };
  const auto content = [&] {
    std::string all;
    for (const char* name : {"best.iap", "checkpoint.iap", "checkpoint.previous.iap", "config.json", "experiment.lua", "final.iap",
                             "metrics.csv", "metrics.jsonl", "result.json"})
      all += name + (fs::is_regular_file(options.out / name) ? read_file(options.out / name) : " is none");
    return all;
  };
  const auto check_refused = [&](const std::string& what) {
    INFO(what);
    const std::string before = content();
    CHECK_THAT(error_of(options), ContainsSubstring(what));
    CHECK(content() == before);
    CHECK(!played);
  };
  copy_of_whole("separators");
  std::string table = read_file(options.out / "metrics.csv");
  std::ranges::replace(table, ',', ';');
  write_text(options.out / "metrics.csv", table);
  check_refused("does not begin with the columns");
  for (const std::string name : {"metrics.csv", "metrics.jsonl", "events.out.tfevents.iap", "best.iap", "experiment.lua",
                                 "config.json", "checkpoint.previous.iap", "result.json", "final.iap"}) {
    copy_of_whole("folder_" + name);
    fs::remove(options.out / name);
    fs::create_directory(options.out / name);
    check_refused(name);
  }
  for (rlim_t bytes = 0; bytes < 3000; bytes += 150) {
    INFO(bytes);
    copy_of_whole("full_" + std::to_string(bytes));
    const auto final_policy = read_file(options.out / "final.iap"), result = read_file(options.out / "result.json");
    {
      const FullDisk full(bytes);
      error_of(options);
    }
    if (played) continue;
    CHECK(read_file(options.out / "final.iap") == final_policy);
    CHECK(read_file(options.out / "result.json") == result);
  }
}

TEST_CASE("a disk that fills up at any point ends the run with an error, and the run goes on once there is room") {
  const Scratch scratch("full");
  TrainOptions options = small_run(scratch / "whole");
  train(options);
  const auto whole = run_content(options.out);
  int failed = 0;
  for (rlim_t bytes = 0; bytes < 1600; bytes += 83) {
    INFO(bytes);
    options.out = scratch / std::to_string(bytes);
    options.resume = true;
    std::string message;
    {
      const FullDisk full(bytes);
      message = error_of(options);
    }
    if (message != "no error") CHECK_THAT(message, ContainsSubstring("cannot write"));
    failed += message != "no error";
    CHECK(train(options).iterations == 5);
    CHECK(differences(whole, run_content(options.out)) == "");
  }
  CHECK(failed > 5);
}
