#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
import iap.core;
import iap.env;
import iap.train;

#include "fake_env.hpp"
#include "run_files.hpp"

// What others do to the tables of a run while it is at work.

using namespace iap;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

std::size_t warnings(const fs::path& run) {
  std::size_t count = 0;
  const std::string log = read_file(run / "log.txt");
  for (auto at = log.find("warning: "); at != std::string::npos; at = log.find("warning: ", at + 1)) ++count;
  return count;
}

std::string iterations_of(const fs::path& run) {
  std::string found;
  for (const auto& row : read_rows(run / "metrics.csv")) found += row.front() + " ";
  return found;
}

/// The first lines of a table.
std::string head(std::string_view table, int lines) {
  std::size_t end = 0;
  for (int line = 0; line < lines; ++line) end = table.find('\n', end) + 1;
  return std::string(table.substr(0, end));
}

/// Saves a file as most editors do: beside it, and then under its name.
void replace(const fs::path& path, std::string_view content) {
  write_text(path.parent_path() / "editor", content);
  fs::rename(path.parent_path() / "editor", path);
}

/// As small_run, with `meddle` done to metrics.csv once `iteration` is complete.
TrainOptions meddled_run(const fs::path& out, std::uint32_t iteration, std::function<void(const fs::path&)> meddle) {
  TrainOptions options = small_run(out);
  options.on_iteration = [=](const IterationReport& report) {
    if (report.iteration == iteration) meddle(out / "metrics.csv");
    return true;
  };
  return options;
}

}  // namespace

TEST_CASE("a run goes on in the table that it finds, and says so once") {
  const Scratch scratch("tables");
  train(small_run(scratch / "whole"));
  const auto whole = run_content(scratch / "whole");
  const std::string all = "iteration 0 1 2 3 4 5 ";
  struct Case {
    const char* name;
    std::function<void(const fs::path&)> meddle;
    std::string told, iterations;
  };
  for (const Case& tried :
       {Case{"saved", [](const fs::path& table) { replace(table, read_file(table)); },
             "was replaced while the run was at work; the run goes on in it", all},
        Case{"longer", [](const fs::path& table) { write_text(table, read_file(table) + "4" + std::string(20, ',') + "\n4,torn"); },
             "was changed while the run was at work; the run goes on in it", all},
        Case{"shorter", [](const fs::path& table) { replace(table, head(read_file(table), 3)); },
             "was replaced while the run was at work; it had only 2 of the 4 rows up to iteration 3; the others are lost",
             "iteration 0 1 4 5 "},
        Case{"cut", [](const fs::path& table) { write_text(table, head(read_file(table), 4) + "3,1."); },
             "was changed while the run was at work; it had only 3 of the 4 rows up to iteration 3", "iteration 0 1 2 4 5 "},
        Case{"emptied", [](const fs::path& table) { fs::resize_file(table, 0); },
             "was changed while the run was at work; it had only 0 of the 4 rows up to iteration 3", "iteration 4 5 "},
        Case{"removed", [](const fs::path& table) { fs::remove(table); },
             "was removed while the run was at work; all rows up to iteration 3 are lost", "iteration 4 5 "}}) {
    INFO(tried.name);
    const auto out = scratch / tried.name;
    CHECK(train(meddled_run(out, 3, tried.meddle)).iterations == 5);
    CHECK_THAT(read_file(out / "log.txt"), ContainsSubstring("metrics.csv' " + tried.told));
    CHECK(warnings(out) == 1);
    CHECK(iterations_of(out) == tried.iterations);
    CHECK(differences(whole, run_content(out)) == (tried.iterations == all ? "" : "metrics.csv "));
  }
}

TEST_CASE("what happens to a table after its last row is told, too") {
  const Scratch scratch("late");
  const auto remove = [](const fs::path& table) { fs::remove(table); };
  CHECK(train(meddled_run(scratch / "last", 5, remove)).stop_reason == "iterations");
  CHECK_THAT(read_file(scratch / "last/log.txt"), ContainsSubstring("all rows up to iteration 5 are lost"));
  TrainOptions options = small_run(scratch / "enough");
  options.on_iteration = [&](const IterationReport& report) {
    if (report.iteration == 3) replace(options.out / "metrics.csv", head(read_file(options.out / "metrics.csv"), 3));
    return report.iteration < 3;
  };
  CHECK(train(options).stop_reason == "on_iteration");
  CHECK_THAT(read_file(options.out / "log.txt"), ContainsSubstring("it had only 2 of the 4 rows up to iteration 3"));
  // The evaluation of the end belongs to a row that is lost, and to no other.
  CHECK(head(read_file(options.out / "metrics.csv"), 3) == read_file(options.out / "metrics.csv"));
  CHECK(read_rows(options.out / "metrics.csv").back()[4].empty());
  for (const char* name : {"last", "enough"}) CHECK(warnings(scratch / name) == 1);
}

TEST_CASE("a table in which a run cannot go on ends it with a remedy, and the run goes on from its checkpoint") {
  const Scratch scratch("foreign");
  train(small_run(scratch / "whole"));
  const auto whole = run_content(scratch / "whole");
  std::string right;
  TrainOptions options = meddled_run(scratch / "run", 3, [&](const fs::path& table) {
    std::string other = right = read_file(table);
    std::ranges::replace(other, ',', ';');
    replace(table, other);
  });
  options.checkpoint_every = 100;
  CHECK_THROWS_WITH(train(options), ContainsSubstring("metrics.csv' was replaced while the run was at work") &&
                                        ContainsSubstring("does not begin with the columns") && ContainsSubstring("--resume"));
  CHECK_THAT(read_file(options.out / "metrics.csv"), ContainsSubstring("iteration;"));
  write_text(options.out / "metrics.csv", right);
  options = small_run(scratch / "run");
  options.resume = true;
  CHECK(train(options).iterations == 5);
  CHECK(differences(whole, run_content(options.out)) == "");
}

TEST_CASE("the other forms of a table are made anew from it") {
  const Scratch scratch("forms");
  TrainOptions options = meddled_run(scratch / "run", 3, [](const fs::path& table) {
    fs::remove(table.parent_path() / "metrics.jsonl");
    replace(table.parent_path() / "events.out.tfevents.iap", "x");
  });
  options.log = {"jsonl", "tensorboard"};
  CHECK(train(options).iterations == 5);
  const std::string rows = read_file(options.out / "metrics.jsonl"), events = read_file(options.out / "events.out.tfevents.iap");
  CHECK(std::ranges::count(rows, '\n') == 6);
  const std::string log = read_file(options.out / "log.txt");
  for (const char* name : {"metrics.jsonl", "events.out.tfevents.iap"})
    CHECK_THAT(log, ContainsSubstring(std::string(name) + "' was changed, replaced or removed while the run was at work"));
  CHECK(warnings(options.out) == 2);
  // A run that resumes makes them from the table, and finds them as they are.
  options.on_iteration = {};
  options.resume = true;
  train(options);
  CHECK(read_file(options.out / "metrics.jsonl") == rows);
  CHECK_THAT(events, ContainsSubstring("brain.Event:2"));
  // A cell that holds no number is left out, as an empty one is.
  const Rows table = read_rows(options.out / "metrics.csv");
  REQUIRE(table[0][1] == "return_mean");
  std::string spoilt = read_file(options.out / "metrics.csv");
  const std::string row = "\n2," + table[3][1];
  REQUIRE(spoilt.find(row) != std::string::npos);
  write_text(options.out / "metrics.csv", spoilt.replace(spoilt.find(row), row.size(), "\n2,nan"));
  train(options);
  const std::string remade = read_file(options.out / "events.out.tfevents.iap"), no_number("\x15\0\0\xc0\x7f", 5);
  CHECK(remade.size() < events.size());
  CHECK(remade.find(no_number) == std::string::npos);
}
