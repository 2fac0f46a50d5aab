#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>
import iap.core;
import iap.env;
import iap.train;

#include "fake_env.hpp"
#include "run_files.hpp"

// Folders without a checkpoint: what a run that died in its beginning left, and what would be lost if one began there.

using namespace iap;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Every file of a folder but log.txt.
std::map<std::string, std::string> files_of(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (const auto name = entry.path().filename().string(); name != "log.txt") files[name] = read_file(entry.path());
  return files;
}

std::string first_lines(const std::string& content, int count) {
  std::size_t end = 0;
  while (count-- > 0) end = content.find('\n', end) + 1;
  return content.substr(0, end);
}

TrainOptions scripted_run(const std::filesystem::path& out) {
  TrainOptions options = small_run(out);
  options.script = "-- run with --set iterations=5\nthe script";
  options.log = {"jsonl"};
  return options;
}

}  // namespace

TEST_CASE("a run that came and went while another waited for its folder is not written over") {
  const Scratch scratch("between");
  const TrainOptions options = small_run(scratch / "run");
  make_folder(options.out);
  const auto log = options.out / "log.txt";
  int refused = 0;
  constexpr int tries = 20;
  for (int i = 0; i < tries; ++i) {
    write_text(log, "");
    const int held = ::open(log.c_str(), O_RDONLY | O_CLOEXEC);
    REQUIRE(::flock(held, LOCK_EX) == 0);
    std::string error;
    std::thread waiting([&] { error = error_of(options); });
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    write_text(options.out / "final.iap", "a result");
    ::close(held);
    waiting.join();
    refused += error != "no error" && read_file(options.out / "final.iap") == "a result";
    std::filesystem::remove_all(options.out);
    make_folder(options.out);
  }
  CHECK(refused == tries);
}

TEST_CASE("a run that died at any moment of its beginning begins anew") {
  const Scratch scratch("begun");
  TrainOptions options = scripted_run(scratch / "whole");
  train(options);
  const auto whole = run_content(options.out);
  // The first row of what the run shows, and the policy that it begins at.
  TrainOptions first = scripted_run(scratch / "first");
  first.iterations = 0;
  train(first);
  auto end = files_of(first.out);
  end["config.json"] = read_file(options.out / "config.json");
  const std::string table = first_lines(end["metrics.csv"], 2), rows = first_lines(end["metrics.jsonl"], 1);
  using State = std::vector<std::pair<std::string, std::string>>;
  const State config{{"config.json", end["config.json"]}}, script{{"experiment.lua", options.script}};
  const State header{{"metrics.csv", first_lines(table, 1)}}, log{{"metrics.jsonl", ""}};
  const State torn{{"metrics.csv", table.substr(0, table.size() - 9)}}, row{{"metrics.csv", table}};
  const State torn_log{{"metrics.jsonl", rows.substr(0, 20)}}, full_log{{"metrics.jsonl", rows}},
      best{{"best.iap", end["best.iap"]}};
  const std::vector<std::vector<State>> states{
      {},
      {config},
      {config, script},
      {config, script, header},
      {config, script, header, log},
      {config, script, torn, log},
      {config, script, row, torn_log},
      {config, script, row, full_log},
      {config, script, row, full_log, best},
      // A power cut takes the row, which waits for the checkpoint to be synced, and not the policy.
      {config, script, header, log, best},
  };
  options.resume = true;
  for (std::size_t number = 0; number < states.size(); ++number) {
    INFO(number);
    options.out = scratch / std::to_string(number);
    std::filesystem::create_directories(options.out);
    write_text(options.out / "log.txt", "begins\n");
    for (const State& files : states[number])
      for (const auto& [name, content] : files) write_text(options.out / name, content);
    const auto before = files_of(options.out);
    if (number > 0) {
      TrainOptions other = options;
      other.resume = false;
      CHECK_THAT(error_of(other), ContainsSubstring("already holds a run") && ContainsSubstring("continue it with --resume"));
      CHECK(files_of(options.out) == before);
    }
    // What a run may go on with otherwise it may begin anew with.
    options.script = number == 2 ? "-- run with --set quiet=true\nthe script" : number > 2 ? "another" : "the script";
    options.threads = 1;
    CHECK(error_of(options) == "no error");
    CHECK(differences(whole, run_content(options.out)) == "");
    CHECK(read_file(options.out / "experiment.lua") == options.script);
  }
}

TEST_CASE("a world that fails in a run's first evaluation leaves a beginning") {
  const Scratch scratch("first_fails");
  TrainOptions options = scripted_run(scratch / "run");
  options.make_env = fake_envs([](auto...) { throw std::runtime_error("no world"); });
  CHECK_THAT(error_of(options), ContainsSubstring("no world"));
  // Mended, and with another seed: there is nothing yet that this could change.
  options.resume = true;
  options.make_env = fake_envs();
  options.script = "-- run with --set iterations=5\nthe script, mended";
  options.seed = 10;
  CHECK(error_of(options) == "no error");
  CHECK(read_file(options.out / "experiment.lua") == options.script);
}

TEST_CASE("nothing is written over in a folder without a checkpoint, whether or not a run is to be continued there") {
  const Scratch scratch("foreign");
  TrainOptions options = scripted_run({});
  const auto refused = [&](std::string_view name, std::string_view content, const std::string& why) {
    options.out = scratch / std::string(name);
    std::filesystem::create_directories(options.out);
    write_text(options.out / name, content);
    const auto before = files_of(options.out);
    for (const bool resume : {false, true}) {
      INFO(name << " " << resume);
      options.resume = resume;
      const std::string message = error_of(options);
      CHECK_THAT(message, ContainsSubstring(std::string(name)) && ContainsSubstring(why) &&
                              ContainsSubstring("--out (out = FOLDER)") && ContainsSubstring("away"));
      CHECK(message.find("--resume") == std::string::npos);
      CHECK(message.find('\n') == std::string::npos);
      CHECK(files_of(options.out) == before);
      CHECK(!std::filesystem::exists(options.out / "log.txt"));
    }
    std::filesystem::remove_all(options.out);
  };
  for (const char* name : {"best.iap", "final.iap", "result.json"}) refused(name, "x", "no checkpoint.iap to continue from");
  for (const char* content : {"", "x", "{}", "[1]", R"({"env": {}, "name": "web"})"}) refused("config.json", content, "of no run");
  for (const char* content : {"x", "epoch,loss\n", "iteration,loss\n0,1\n"}) refused("metrics.csv", content, "of no run");
  refused("metrics.csv", "epoch,loss\n1,1\n2,1\n", "no checkpoint.iap to continue from");
  for (const char* name : {"metrics.jsonl", "events.out.tfevents.iap"}) refused(name, "x", "of no run");
  for (const char* content : {"-- mine", "-- run with --set iterations=9\nthe script", "the script\n-- and more"})
    refused("experiment.lua", content, "another script");
  // Those that hold nothing that the run would not write again.
  for (const bool resume : {false, true}) {
    options.resume = resume;
    options.out = scratch / ("own" + std::to_string(resume));
    std::filesystem::create_directories(options.out);
    for (const char* name : {"log.txt", "output.txt", "job.json", "train.lua"}) write_text(options.out / name, "x");
    write_text(options.out / "experiment.lua", "the script");
    CHECK(error_of(options) == "no error");
  }
}

TEST_CASE("what is left of a finished run is not written over, by whichever of its files it is known") {
  const Scratch scratch("cleaned");
  TrainOptions options = scripted_run(scratch / "whole");
  train(options);
  const auto left = [&](const std::vector<std::string>& names) {
    options.out = scratch / "left";
    std::filesystem::remove_all(options.out);
    std::filesystem::create_directories(options.out);
    for (const auto& name : names) std::filesystem::copy_file(scratch / "whole" / name, options.out / name);
    return files_of(options.out);
  };
  const auto refused = [&](const std::vector<std::string>& names, const std::string& named) {
    const auto before = left(names);
    for (const bool resume : {false, true}) {
      INFO(named << " " << resume);
      options.resume = resume;
      const std::string message = error_of(options);
      CHECK_THAT(message, ContainsSubstring("already holds a run (" + named + ") but no checkpoint.iap to continue from"));
      CHECK(message.find("--resume") == std::string::npos);
      CHECK(files_of(options.out) == before);
    }
  };
  refused({"best.iap", "final.iap", "config.json", "experiment.lua", "result.json"}, "best.iap, final.iap, result.json");
  refused({"best.iap", "config.json", "experiment.lua"}, "best.iap");
  refused({"config.json", "metrics.csv"}, "metrics.csv");
  // A table that was begun in the middle of the run knows no iteration 0.
  left({"best.iap", "config.json"});
  const std::string table = read_file(scratch / "whole/metrics.csv");
  write_text(options.out / "metrics.csv", first_lines(table, 1) + table.substr(first_lines(table, 6).size()));
  options.resume = true;
  CHECK_THAT(error_of(options), ContainsSubstring("already holds a run (metrics.csv, best.iap)"));
  // With its settings alone it can be made again.
  left({"config.json", "experiment.lua"});
  CHECK(error_of(options) == "no error");
  CHECK(differences(run_content(scratch / "whole"), run_content(options.out)) == "");
}
