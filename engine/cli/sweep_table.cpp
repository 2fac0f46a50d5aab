#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/sweep.hpp"
import iap.core;
import iap.script;

namespace iap::cli {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// A cell as RFC 4180 quotes it: values of options may hold commas and quotes.
std::string quoted_cell(const std::string& cell) {
  if (cell.find_first_of(",\"\n") == std::string::npos) return cell;
  std::string inside;
  for (const char c : cell) inside += c == '"' ? "\"\"" : std::string(1, c);
  return "\"" + inside + "\"";
}

std::string shown(double value) { return std::isfinite(value) ? text(value) : "-"; }

/// "60", or "49 to 56" where the optimizers of some seeds had enough before those of others.
std::string iterations_of(const SweepRow& row) {
  return row.least < row.most ? text(row.least, " to ", row.most) : std::to_string(row.most);
}

/// The header of a table: `options`, then its `own` columns. An option that is called like one of these has "set." before its name,
/// because who reads by names would find but one of the two.
std::vector<std::string> header(const std::vector<std::string>& options, const std::vector<std::string>& own) {
  std::vector<std::string> names;
  const auto holds = [](const std::vector<std::string>& list, const std::string& name) {
    return std::ranges::find(list, name) != list.end();
  };
  for (std::string name : options) {
    if (holds(own, name)) do
        name = "set." + name;
      while (holds(options, name));
    names.push_back(name);
  }
  names.insert(names.end(), own.begin(), own.end());
  return names;
}

/// As wide as their widest cells; numbers stand at the right.
void print_columns(const std::vector<std::vector<std::string>>& lines, std::size_t words) {
  std::vector<int> widths(lines.front().size());
  for (const auto& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], static_cast<int>(line[i].size()));
  for (const auto& line : lines) {
    std::string printed;
    for (std::size_t i = 0; i < line.size(); ++i)
      printed += (i ? "  " : "") + (i < words ? left_text(line[i], widths[i]) : right_text(line[i], widths[i]));
    std::cout << printed << "\n";
  }
}

/// What has the run made again with its own instructions, where this machine would choose others or was asked for some; else "".
std::string instructions_of(const SweepCommand& command, const SweepList& list, std::size_t combination, std::uint64_t seed) {
  const auto is_it = [&](const SweepJob& job) { return job.combination == combination && job.seed == seed; };
  const auto settings = settings_on_record(std::ranges::find_if(list.jobs, is_it)->folder);
  const Config* made_with = settings ? settings->find("instructions") : nullptr;
  if (!made_with || !made_with->string()) return "";
  if (command.run.instructions.empty() && *made_with->string() == chosen_instructions()) return "";
  return " --instructions " + shell_word(*made_with->string());
}

std::string best_command(const SweepCommand& command, const SweepList& list, std::size_t combination, std::uint64_t seed) {
  std::string line = text(shell_word(command.run.program), " run ", shell_word(command.file.string()));
  for (const auto& assignment : overrides_of(command, list, combination)) line += " --set " + shell_word(assignment);
  line += text(" --seed ", seed, " --out ", shell_word((list.folder / "best").string()));
  line += instructions_of(command, list, combination, seed);
  for (std::size_t i = 0; i < command.run.arguments.size(); ++i) line += (i ? " " : " -- ") + shell_word(command.run.arguments[i]);
  return line;
}

std::string settings_of(const SweepList& list, std::size_t combination) {
  std::string settings;
  for (std::size_t i = 0; i < list.options.size(); ++i)
    settings += (i ? " " : "") + list.options[i].path + "=" + list.combinations[combination].values[i];
  return settings;
}

std::string seeds_of(const SweepRow& row) { return text(row.done, row.done == 1 ? " seed" : " seeds"); }

void print_best(const SweepCommand& command, const SweepList& list, const std::vector<SweepRow>& rows) {
  // Means compare between combinations that went as far and over as many seeds.
  const auto reached = [&](std::size_t i) { return std::pair(rows[i].asked, rows[i].done); };
  std::size_t best = 0;
  for (std::size_t i = 1; i < rows.size(); ++i)
    if (reached(i) > reached(best) || (reached(i) == reached(best) && rows[i].mean > rows[best].mean)) best = i;
  const SweepRow& row = rows[best];
  if (row.done == 0) {
    std::cout << "no run is done, so that no setting is the best\n";
    return;
  }
  const std::string settings = settings_of(list, best);
  std::cout << text(row.done < command.seeds ? "best so far" : "best", settings.empty() ? "" : ": ", settings, ": mean ",
                    command.metric, " ", row.mean, " after ", iterations_of(row), row.most == 1 ? " iteration, " : " iterations, ",
                    seeds_of(row), "\nits best run (seed ", row.best_seed, ") again:\n  ",
                    best_command(command, list, best, row.best_seed), "\n");
  std::size_t higher = best;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].asked == row.asked && rows[i].done > 0 && rows[i].mean > rows[higher].mean) higher = i;
  if (higher != best)
    std::cout << text("a higher mean, of fewer seeds: ", settings_of(list, higher), ": mean ", command.metric, " ",
                      rows[higher].mean, ", ", seeds_of(rows[higher]), "\n");
}

}  // namespace

SweepRow sweep_row(const SweepCommand& command, const SweepList& list, const std::vector<JobRecord>& all, std::size_t combination,
                   const std::vector<int>& rungs) {
  SweepRow row{.mean = none, .deviation = none, .best = none};
  std::vector<JobRecord> records;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (list.jobs[i].combination != combination) continue;
    records.push_back(all[i]);
    row.failed += all[i].status == JobRecord::Status::failed;
  }
  for (auto rung = rungs.rbegin(); rung != rungs.rend() && row.done == 0; ++rung) {
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (!records[i].done(*rung)) continue;
      const double value = records[i].value(*rung, command.metric);
      ++row.done;
      sum += value;
      row.asked = *rung;
      const int iterations = records[i].rungs.at(*rung).iterations;
      row.least = row.done == 1 ? iterations : std::min(row.least, iterations);
      row.most = std::max(row.most, iterations);
      if (value <= row.best) continue;
      row.best = value;
      row.best_seed = command.run.seed.value_or(1) + i;
    }
    if (row.done == 0) continue;
    row.mean = sum / row.done;
    // Where the sum of finite values is more than a double holds, their mean is not.
    if (!std::isfinite(row.mean)) {
      row.mean = 0;
      for (const auto& record : records)
        if (record.done(*rung)) row.mean += record.value(*rung, command.metric) / row.done;
    }
    for (const auto& record : records)
      if (record.done(*rung)) squares += std::pow(record.value(*rung, command.metric) - row.mean, 2);
    if (row.done > 1) row.deviation = std::sqrt(squares / (row.done - 1));
  }
  return row;
}

std::vector<std::size_t> ranking(const SweepCommand& command, const SweepList& list, const std::vector<JobRecord>& all,
                                 const std::vector<std::size_t>& combinations, int iterations) {
  std::vector<std::pair<double, std::size_t>> means;
  for (const std::size_t combination : combinations)
    if (const SweepRow row = sweep_row(command, list, all, combination, {iterations}); row.done == command.seeds)
      means.emplace_back(-row.mean, combination);
  std::ranges::sort(means);
  std::vector<std::size_t> order;
  for (const auto& [mean, combination] : means) order.push_back(combination);
  return order;
}

SweepLock::SweepLock(std::filesystem::path folder)
    : folder_(std::move(folder)), descriptor_(open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  take();
}

void SweepLock::take() { taken_ = descriptor_ >= 0 && flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; }

void SweepLock::wait() {
  constexpr double patience = 1;
  const auto begin = Clock::now();
  for (bool told = false; taken_; take()) {
    if (!told && seconds_since(begin) > patience) {
      told = true;
      std::cerr << one_line(text("table and page wait for another process that has a lock on '", folder_.string(),
                                 "'; Ctrl-C ends the wait, and --collect makes both later"))
                << std::endl;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

SweepLock::~SweepLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

void write_sweep_table(const SweepList& list, const std::vector<SweepRow>& rows) {
  std::vector<std::string> paths;
  for (const auto& option : list.options) paths.push_back(option.path);
  auto names = header(paths, {"iterations", "seeds", "failed", "mean", "std", "best", "best_seed", "fewest_iterations"});
  for (auto& name : names) name = quoted_cell(name);
  std::string table = csv_line(names);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const SweepRow& row = rows[i];
    std::vector<std::string> cells;
    for (const auto& value : list.combinations[i].values) cells.push_back(quoted_cell(value));
    for (const int count : {row.most, row.done, row.failed}) cells.push_back(std::to_string(count));
    for (const double value : {row.mean, row.deviation, row.best}) cells.push_back(csv_cell(value));
    cells.push_back(row.done ? std::to_string(row.best_seed) : "");
    cells.push_back(std::to_string(row.least));
    table += csv_line(cells);
  }
  write_file_atomic(run_file(list.folder, "sweep.csv"), table);
}

void print_sweep_table(const SweepCommand& command, const SweepList& list, const std::vector<SweepRow>& rows,
                       const std::string& note) {
  std::vector<std::string> names;
  for (const auto& option : list.options) names.push_back(option.name);
  std::vector<std::vector<std::string>> lines{header(names, {"iterations", "seeds", "mean " + command.metric, "std", "best"})};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const SweepRow& row = rows[i];
    auto cells = list.combinations[i].values;
    cells.push_back(row.done ? iterations_of(row) : "-");
    cells.push_back(text(row.done, "/", command.seeds, row.failed ? text(" (", row.failed, " failed)") : ""));
    for (const double value : {row.mean, row.deviation, row.best}) cells.push_back(shown(value));
    lines.push_back(std::move(cells));
  }
  print_columns(lines, list.options.size());
  if (!note.empty()) std::cout << note << "\n";
  print_best(command, list, rows);
}

}  // namespace iap::cli
