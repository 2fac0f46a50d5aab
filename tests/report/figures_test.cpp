#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>
import iap.core;
import iap.report;
import iap.train;
#include "pages.hpp"
#include "small_runs.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;

// The figures of a page against the files that they come from.

namespace {

const ReportOptions plain{.pictures = false};

/// A run whose evaluations are 12, `best` and 50.
std::filesystem::path make_known_run(const std::filesystem::path& run, std::int64_t seed, const std::string& best) {
  make_run(run, seed);
  write_file_atomic(run / "metrics.csv", "iteration,return_mean,eval_mean,eval_std,seconds,steps\n0,,12,5,0,0\n1,10," + best +
                                             ",8,2,10\n2,20,,,3,20\n3,30,50,10,4,30\n");
  return run;
}

template <typename Change>
void change_file(const std::filesystem::path& file, Change change) {
  Config config = parse_json(read_file(file), "test");
  change(config);
  write_file_atomic(file, to_json(config));
}

void confirm(const std::filesystem::path& run) {
  change_file(run / "result.json", [](Config& result) {
    result["confirmed"] =
        parse_json(R"({"episodes": 16, "mean": 61.5, "standard_deviation": 9, "low": 55.5, "high": 67.5})", "test");
  });
}

}  // namespace

TEST_CASE("a run's tiles are its first, its best and its confirmed evaluation") {
  const TemporaryFolder folder;
  const auto run = make_known_run(folder.path() / "a", 1, "80");
  confirm(run);
  CHECK_THAT(report({run}, plain), ContainsSubstring("<b>12</b><span>untrained<") &&
                                       ContainsSubstring("<b>80</b><span>best evaluation<") &&
                                       ContainsSubstring("<b>61.5</b><span>the same policy on 16 fresh episodes<") &&
                                       ContainsSubstring("it earned 61.5 (95% interval 55.5 to 67.5)."));
}

TEST_CASE("the smallest numbers are shown as what they are, and negative ones have one sign") {
  const TemporaryFolder folder;
  const auto run = make_known_run(folder.path() / "a", 1, "80");
  const auto shown = [&](const std::string& untrained) {
    std::string metrics = read_file(run / "metrics.csv");
    metrics.replace(metrics.find("0,,"), metrics.find("\n1,") - metrics.find("0,,"), "0,," + untrained + ",5,0,0");
    write_file_atomic(run / "metrics.csv", metrics);
    const std::string html = report({run}, plain);
    return between(html.substr(0, html.find("</b><span>untrained<") + 4), "<b>", "</b>").back();
  };
  CHECK(shown("5e-324") == "4.94 × 10⁻³²⁴");
  CHECK(shown("-2.5e-309") == "-2.5 × 10⁻³⁰⁹");
  CHECK(shown("2.5e-300") == "2.5 × 10⁻³⁰⁰");
  for (const char* negative : {"-35", "-0.25", "-7500.9", "-2000"}) CHECK(shown(negative) == negative);
  CHECK(shown("-12345") == "-12\u202f345");
  CHECK(shown("-inf") == "-∞");
}

TEST_CASE("large numbers have their thousands apart and letters that fit into their tiles") {
  const TemporaryFolder folder;
  const auto run = make_known_run(folder.path() / "a", 1, "10005140127.9");
  confirm(run);
  const std::string html = report({run}, plain);
  CHECK_THAT(html, ContainsSubstring("style=\"--letters:14\"><b>10\u202f005\u202f140\u202f128</b><span>best evaluation<"));
  CHECK_THAT(html, ContainsSubstring("style=\"--letters:4\"><b>61.5</b>"));
  const auto shown = [&](const std::string& best) {
    const std::string page = report({make_known_run(folder.path() / best, 1, best)}, plain);
    return between(page.substr(0, page.find("<span>best evaluation<")), "<b>", "</b>").back();
  };
  CHECK(shown("9999.94") == "9999.9");
  CHECK(shown("9999.96") == "10\u202f000");
  CHECK(shown("12345.6") == "12\u202f346");
}

TEST_CASE("a run's band reaches one standard deviation from its evaluations") {
  const TemporaryFolder folder;
  const std::string html = report({make_known_run(folder.path() / "a", 1, "80")}, plain);
  const auto band = heights(between(html, "class=\"band c1\" d=\"", "\"").at(0)),
             mean = heights(between(html, "class=\"line c1\" d=\"", "\"").at(0));
  REQUIRE(mean.size() == 3);
  REQUIRE(band.size() == 6);  // there along the upper edge, back along the lower one
  const double scale = (mean[0] - mean[1]) / (80 - 12);
  const std::vector<double> deviations{5, 8, 10};
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(std::abs(mean[i] - band[i] - scale * deviations[i]) < 0.2);
    CHECK(std::abs(band[5 - i] - mean[i] - scale * deviations[i]) < 0.2);
  }
}

TEST_CASE("a band of several seeds reaches from the lowest evaluation to the highest") {
  const TemporaryFolder folder;
  const std::string html = report({make_known_run(folder.path() / "a", 1, "90"), make_known_run(folder.path() / "b", 2, "60"),
                                   make_known_run(folder.path() / "c", 3, "60")},
                                  plain);
  const auto band = heights(between(html, "<path class=\"band c0\" d=\"", "\"").at(0)),
             mean = heights(between(html, "<path class=\"line c0\" d=\"", "\"").at(0));
  REQUIRE(mean.size() == 3);
  REQUIRE(band.size() == 6);
  const double scale = (mean[0] - mean[1]) / (70 - 12);
  CHECK(std::abs(mean[1] - band[1] - scale * 20) < 0.2);
  CHECK(std::abs(band[4] - mean[1] - scale * 10) < 0.2);
}

TEST_CASE("seeds stand in their order, whatever the folders are called, and trainings of hours have hours") {
  const TemporaryFolder folder;
  const auto a = make_known_run(folder.path() / "a", 12, "80"), b = make_known_run(folder.path() / "b", 3, "80"),
             other = make_known_run(folder.path() / "other", 5, "80");
  change_file(other / "config.json", [](Config& config) { set_path(config, "optimizer.sigma", "0.5"); });
  const auto train_for = [&](const char* seconds) {
    write_file_atomic(other / "metrics.csv",
                      text("iteration,return_mean,eval_mean,eval_std,seconds,steps\n0,,12,5,0,0\n3,30,50,10,", seconds, ",30\n"));
    return report({a, b, other}, plain);
  };
  CHECK_THAT(train_for("7199"), ContainsSubstring("<td class=\"name\">3, 12</td>") && ContainsSubstring(">120 min</td>"));
  CHECK_THAT(train_for("7200"), ContainsSubstring(">2.0 h</td>"));
}

TEST_CASE("a comparison has the best, the confirmed and the last evaluation of each run") {
  const TemporaryFolder folder;
  const auto a = make_known_run(folder.path() / "a", 1, "80"), b = make_known_run(folder.path() / "b", 1, "70");
  for (const auto& run : {a, b}) confirm(run);
  change_file(b / "config.json", [](Config& config) { set_path(config, "optimizer.sigma", "0.5"); });
  const auto cells = [](const std::string& best) {
    return ContainsSubstring("<td class=\"number\">" + best + "</td><td class=\"number\">61.5</td><td class=\"number\">50</td>");
  };
  CHECK_THAT(report({a, b}, plain), cells("80") && cells("70"));
}

TEST_CASE("what is watched of several seeds is the policy of the highest evaluation") {
  const TemporaryFolder folder;
  const std::string html = report({make_known_run(folder.path() / "a", 1, "60"), make_known_run(folder.path() / "b", 2, "80"),
                                   make_known_run(folder.path() / "c", 3, "70")},
                                  {.episodes = 1});
  CHECK_THAT(html,
             ContainsSubstring("The best policy of seed 2 (") && ContainsSubstring("<b>70</b><span>best evaluation, mean of "));
}

TEST_CASE("runs in environments of other sizes are two kinds, whatever their options") {
  const TemporaryFolder folder;
  const auto a = make_known_run(folder.path() / "a", 1, "80"), b = make_known_run(folder.path() / "b", 2, "80");
  for (const auto& [run, steps] : {std::pair(a, 12), std::pair(b, 13)})
    change_file(run / "config.json", [&](Config& config) { config["env_spec"] = Config::Map{{"max_steps", steps}}; });
  CHECK_THAT(report({a, b}, plain), ContainsSubstring("2 runs of 2 kinds"));
}

TEST_CASE("numbers of failed episodes that can be none are not shown") {
  const TemporaryFolder folder;
  const auto run = make_known_run(folder.path() / "a", 1, "80");
  const auto page = [&](const char* failed) {
    confirm(run);
    change_file(run / "result.json", [&](Config& result) {
      result["best_failed"] = parse_json(failed, "test");
      result["confirmed"]["failed"] = parse_json(failed, "test");
    });
    return report({run}, plain);
  };
  CHECK_THAT(page("2"), ContainsSubstring("2 of 2 episodes failed") && ContainsSubstring("2 of 16 episodes failed"));
  for (const char* failed : {"-5", "1000000000000000000"}) CHECK_THAT(page(failed), !ContainsSubstring("failed"));
}
