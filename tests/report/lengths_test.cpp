#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>
#include <string>

#include "../core/temporary_folder.hpp"
import iap.core;
import iap.policy;
import iap.report;
import iap.train;
#include "pages.hpp"
#include "small_runs.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;

namespace {

const ReportOptions plain{.pictures = false};

/// Takes the rows after the second iteration out of a run of three.
void shorten(const std::filesystem::path& run) {
  const std::string metrics = read_file(run / "metrics.csv");
  write_file_atomic(run / "metrics.csv", metrics.substr(0, metrics.find("\n3,") + 1));
}

/// As many as the last row says.
std::string steps_of(const std::filesystem::path& run) {
  return text(static_cast<int>(read_table(run / "metrics.csv").column("steps").back()));
}

void change(const std::filesystem::path& file, const char* entry, const Config& value) {
  Config config = parse_json(read_file(file), "test");
  config[entry] = value;
  write_file_atomic(file, to_json(config));
}

}  // namespace

TEST_CASE("of seeds that have done differently many iterations a page says from how many to how many") {
  const TemporaryFolder folder;
  const auto path = [&](const char* name) { return folder.path() / name; };
  make_run(path("a"), 1);
  make_run(path("b"), 2);
  make_run(path("c"), 1, small_policy("exp"));
  const auto note = ContainsSubstring("Where seeds have done differently many iterations, the last evaluation is each seed's own.");
  CHECK_THAT(report({path("a"), path("b")}, plain),
             ContainsSubstring("<b>3</b><span>iterations<") &&
                 ContainsSubstring(text("<b>", steps_of(path("a")), "</b><span>training steps each<")));
  CHECK_THAT(report({path("a"), path("b"), path("c")}, plain), !note);
  shorten(path("b"));
  const std::string steps = text("<b>", steps_of(path("b")), " to ", steps_of(path("a")), "</b><span>training steps each<");
  CHECK_THAT(report({path("a"), path("b")}, plain),
             ContainsSubstring("<b>2 to 3</b><span>iterations<") && ContainsSubstring(steps));
  CHECK_THAT(report({path("a"), path("b"), path("c")}, plain),
             note && ContainsSubstring("<td class=\"number\">2 to 3</td>") && ContainsSubstring("<td class=\"number\">3</td>"));
}

TEST_CASE("a page says of a run that ended before its last iteration why it did") {
  const TemporaryFolder folder;
  const auto run = folder.path() / "short";
  make_run(run, 1);
  change(run / "config.json", "iterations", 50);
  change(run / "result.json", "stop_reason", "tol_x_up");
  CHECK_THAT(report({run}, plain), ContainsSubstring(". short ended at iteration 3 of 50 (tol_x_up)."));
  change(run / "result.json", "stop_reason", "<b>");
  CHECK_THAT(report({run}, plain), ContainsSubstring(" (&lt;b&gt;)."));
  const auto stands = ContainsSubstring(". short stands at iteration 3 of 50.");
  // Of a shorter run that was to go on, and of one that has gone on since.
  change(run / "result.json", "stop_reason", "iterations");
  CHECK_THAT(report({run}, plain), stands);
  change(run / "result.json", "stop_reason", "tol_x_up");
  change(run / "result.json", "iterations", 2);
  CHECK_THAT(report({run}, plain), stands);
  std::filesystem::remove(run / "result.json");
  CHECK_THAT(report({run}, plain), stands);
}
