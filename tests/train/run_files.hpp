#pragma once
// Included after `import iap.core; import iap.env; import iap.train;` and fake_env.hpp.
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

/// A folder of its own for one test, removed at the end.
class Scratch {
 public:
  explicit Scratch(const std::string& name) : path_(root() / ("iap_train_" + name + "_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  /// Memory where there is any to write to: runs wait for the disk at every checkpoint, and the tests make hundreds of them.
  static std::filesystem::path root() {
    return ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : std::filesystem::temp_directory_path();
  }
  std::filesystem::path path_;
};

inline void write_text(const std::filesystem::path& path, std::string_view content) {
  std::ofstream(path, std::ios::binary) << content;
}

/// What a training of `options` is refused with.
inline std::string error_of(const iap::TrainOptions& options) {
  try {
    iap::train(options);
  } catch (const iap::Error& error) {
    return error.what();
  }
  return "no error";
}

/// The small run that most tests make.
inline iap::TrainOptions small_run(const std::filesystem::path& out) {
  iap::TrainOptions options;
  options.make_env = fake_envs();
  options.policy = fake_policy();
  options.optimizer = iap::Config::Map{{"population", 4}, {"learning_rate", 0.1}};
  options.iterations = 5;
  options.episodes = 2;
  options.seed = 9;
  options.threads = 2;
  options.eval_every = 2;
  options.eval_episodes = 3;
  options.out = out;
  options.quiet = true;
  return options;
}

using Rows = std::vector<std::vector<std::string>>;

inline Rows read_rows(const std::filesystem::path& path) {
  Rows table;
  std::istringstream lines(iap::read_file(path));
  for (std::string line; std::getline(lines, line);) {
    table.emplace_back(1);
    for (const char c : line) c == ',' ? (void)table.back().emplace_back() : table.back().back().push_back(c);
  }
  return table;
}

/// The whole run without its times and what went between processes: metrics.csv up to the column "seconds", and the bytes of the
/// other files.
inline std::map<std::string, std::string> run_content(const std::filesystem::path& out) {
  std::map<std::string, std::string> content;
  for (const char* name : {"checkpoint.iap", "best.iap", "final.iap", "config.json", "result.json"})
    content[name] = std::filesystem::exists(out / name) ? iap::read_file(out / name) : "missing";
  auto rows = read_rows(out / "metrics.csv");
  const auto kept = static_cast<std::size_t>(std::ranges::find(rows.front(), "seconds") - rows.front().begin());
  for (auto& row : rows) {
    row.resize(kept);
    for (const auto& cell : row) content["metrics.csv"] += cell + ",";
    content["metrics.csv"] += "\n";
  }
  return content;
}

/// Names of what differs, which reads better in a failing test than the bytes.
inline std::string differences(const std::map<std::string, std::string>& a, const std::map<std::string, std::string>& b) {
  std::string names;
  for (const auto& [name, bytes] : a)
    if (b.at(name) != bytes) names += name + " ";
  return names;
}

/// Where the content of a run hangs on how it was made: on one thread, or stopped after an iteration and taken up again. "" if
/// nowhere. The run stopped last is in scratch / "stopped", finished.
inline std::string dependences(iap::TrainOptions options, const Scratch& scratch) {
  std::string found;
  options.out = scratch / "whole";
  iap::train(options);
  const auto whole = run_content(options.out);
  const auto compare = [&](const std::string& way) {
    const std::string names = differences(whole, run_content(options.out));
    if (!names.empty()) found += way + ": " + names + "\n";
  };
  options.threads = 1;
  options.out = scratch / "one";
  iap::train(options);
  compare("on one thread");
  options.out = scratch / "stopped";
  for (std::uint32_t stop = 1; stop < static_cast<std::uint32_t>(options.iterations); ++stop) {
    std::filesystem::remove_all(options.out);
    options.resume = true;
    options.on_iteration = [&](const iap::IterationReport& report) { return report.iteration < stop; };
    iap::train(options);
    options.on_iteration = {};
    iap::train(options);
    compare("stopped after " + std::to_string(stop));
  }
  return found;
}
