#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

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

/// Of a run with this table.
std::string page_of(const std::string& table) {
  const TemporaryFolder folder;
  const auto run = folder.path() / "a";
  make_run(run, 1);
  write_file_atomic(run / "metrics.csv", table);
  return report({run}, {.pictures = false});
}

}  // namespace

TEST_CASE("points of a learning curve stand where its values say") {
  const std::string html =
      page_of("iteration,return_mean,eval_mean,eval_std,seconds,steps\n0,,100,0,1,0\n1,10,,,2,10\n2,20,50,0,3,20\n3,30,0,0,4,30\n");
  const auto line = heights(between(html, "class=\"line c1\" d=\"", "\"")[0]);
  REQUIRE(line.size() == 3);
  CHECK(std::abs((line[1] - line[0]) - (line[2] - line[1])) < 0.11);
  CHECK(line[0] < line[1]);
  const auto zero = between(html, "<path class=\"axis\" d=\"M54 ", "H")[0];
  CHECK(std::abs(std::stod(zero) - line[2]) < 0.11);
  // The grid goes from 0 to the axis's end, which is a tick, and no further.
  const auto plots = between(html, "<svg viewBox=\"0 0 900 ", "</svg>");
  REQUIRE(plots.size() == 1);
  const auto rows = between(plots[0], "<path class=\"grid\" d=\"M54 ", "H");
  REQUIRE(rows.size() >= 4);
  CHECK(rows.front() == zero);
  CHECK(std::abs(std::stod(rows.back()) - line[0]) < 0.11);  // 100 is the highest value, and a tick
}

TEST_CASE("a stage that begins with the last iteration has its line at the plot's edge") {
  const std::string html =
      page_of("iteration,return_mean,eval_mean,eval_std,seconds,steps,stage\n0,,100,0,1,0,1\n1,10,,,2,10,1\n2,20,50,0,3,20,2\n");
  const auto marks = between(html, "<path class=\"mark\" d=\"M", " "), lines = between(html, "class=\"line c1\" d=\"", "\"");
  REQUIRE(marks.size() == 2);
  REQUIRE(lines.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) CHECK(lines[i].find("L" + marks[i] + " ") != std::string::npos);
}

TEST_CASE("the curves of a long run keep their extremes and take no more room than a page has pixels") {
  const TemporaryFolder folder;
  const auto run = folder.path() / "a";
  make_run(run, 1);
  const auto page_of = [&](int rows) {
    std::string table = "iteration,return_mean,eval_mean,eval_std,seconds,steps\n";
    for (int i = 0; i <= rows; ++i) {
      const int mean = i == rows / 3 ? 100 : i == rows / 2 ? 1 : 40 + i * 7919 % 20;
      table += text(i, ",,", mean, ",0,", i, ",", 10 * i, "\n");
    }
    write_file_atomic(run / "metrics.csv", table);
    return report({run}, {.pictures = false});
  };
  const std::string few = page_of(300), many = page_of(100'000);
  CHECK(few.size() + 1'500'000 > many.size());
  std::vector<double> ends[2];
  for (const std::string* html : {&few, &many}) {
    const auto line = heights(between(*html, "class=\"line c1\" d=\"", "\"")[0]);
    ends[html == &many] = {std::ranges::min(line), std::ranges::max(line)};
  }
  CHECK(ends[0] == ends[1]);
  CHECK(heights(between(few, "class=\"line c1\" d=\"", "\"")[0]).size() == 301);
}

TEST_CASE("rows that stand twice in a table, and columns that it lacks, are told with the file") {
  const TemporaryFolder folder;
  const auto run = folder.path() / "a", file = run / "metrics.csv", png = folder.path() / "c.png";
  make_run(run, 1);
  const std::string table = read_file(file), rows = table.substr(table.find('\n') + 1);
  const auto refused = [&](const std::string& content, const std::string& why) {
    write_file_atomic(file, content);
    const auto named = ContainsSubstring(file.string()), told = ContainsSubstring(why);
    CHECK_THROWS_WITH(report({run}, {.pictures = false}), named && told);
    CHECK_THROWS_WITH(mean_curve({"a", {run}}, "eval_mean", Band::range), named && told);
    CHECK_THROWS_WITH(write_learning_curve(run, png), named && told);
  };
  refused(table + rows, "has iteration 0 in row 5, after iteration 3; each has one row");
  const auto last = table.rfind("\n3,") + 1;
  refused(table + table.substr(last), "has iteration 3 in row 5, after iteration 3;");
  std::string renamed = table;
  renamed.replace(renamed.find("eval_mean"), 9, "evaluated");
  refused(renamed, "the table has no column 'eval_mean'");
  write_file_atomic(file, table);
  CHECK_NOTHROW(report({run}, {.pictures = false}));
}

TEST_CASE("half a row at a table's end is left out of pages and charts") {
  const TemporaryFolder folder;
  const auto run = folder.path() / "a", png = folder.path() / "c.png";
  make_run(run, 1);
  const std::string table = read_file(run / "metrics.csv");
  const auto shown = [&](const std::string& content) {
    write_file_atomic(run / "metrics.csv", content);
    write_learning_curve(run, png);
    return between(report({run}, {.pictures = false}), "<section>", "</section>").at(0) + read_file(png);
  };
  const std::string whole = shown(table);
  for (const char* half : {"4", "4,1.5", "4,1000,1"}) CHECK(shown(table + half) == whole);
  CHECK(shown(table.substr(0, table.size() - 1)) == shown(table.substr(0, table.rfind("\n3,") + 1)));
}

TEST_CASE("curves of several runs have gaps where the population has no mean, as that of a single run has") {
  const TemporaryFolder folder;
  const auto one = folder.path() / "a", other = folder.path() / "b";
  make_run(one, 1);
  make_run(other, 2);
  const auto rows = [](const char* second) {
    return text("iteration,return_mean,eval_mean,eval_std,seconds,steps\n0,,1,0,1,0\n1,10,,,2,10\n2,20,5,0,3,20\n3,", second,
                ",,,3,20\n4,30,,,4,30\n5,40,9,0,5,40\n");
  };
  write_file_atomic(one / "metrics.csv", rows(""));
  write_file_atomic(other / "metrics.csv", rows("25"));
  const auto pieces = [](const std::string& html, const std::string& line) {
    const auto paths = between(html, "<path class=\"line c0" + line + "\" d=\"", "\"");
    std::vector<int> counts;
    for (const auto& path : paths) counts.push_back(static_cast<int>(std::ranges::count(path, 'M')));
    return counts;
  };
  // Each drawn for wide and for narrow screens: evaluations, then populations.
  const std::string html = report({one, other}, {.pictures = false});
  CHECK(pieces(html, " thin") == std::vector<int>{1, 1, 1, 1, 2, 1, 2, 1});
  CHECK(pieces(html, "") == std::vector<int>{1, 1, 2, 2});
  CHECK(pieces(report({one}, {.pictures = false}), " thin") == std::vector<int>{2, 2});
}

TEST_CASE("kinds that share a colour differ by their dashes, in curves, legend and tables") {
  const TemporaryFolder folder;
  constexpr int kinds = 49;
  std::vector<std::filesystem::path> runs{folder.path() / "kind0"};
  make_run(runs[0], 1);
  for (int i = 1; i < kinds; ++i) {
    runs.push_back(folder.path() / text("kind", i));
    std::filesystem::copy(runs[0], runs.back());
    Config config = parse_json(read_file(runs.back() / "config.json"), "config.json");
    config.map()->erase("given");
    set_path(config, "optimizer.sigma", text(0.1 + 0.01 * i));
    write_file_atomic(runs.back() / "config.json", to_json(config));
  }
  const std::string html = report(runs, {.pictures = false});
  for (const char* begin : {"<i class=\"swatch ", "<path class=\"line "}) {
    const auto classes = between(html, begin, "\"");
    REQUIRE(classes.size() >= kinds);
    CHECK(classes[0] == "c0");
    CHECK(classes[7] == "c7");
    CHECK(classes[8] == "c0 d1");
    CHECK(classes[15] == "c7 d1");
    CHECK(classes[16] == "c0 d2");
    CHECK(std::set<std::string>(classes.begin(), classes.begin() + kinds - 1).size() == kinds - 1);
    CHECK(classes[kinds - 1] == "c0");
  }
  const auto note = ContainsSubstring("Of more than 48 kinds, some look alike; pointed at, a line says its name.");
  CHECK_THAT(html, note);
  runs.pop_back();
  CHECK_THAT(report(runs, {.pictures = false}), !note);
  CHECK(between(html, "<div class=\"legend\">", "</div>")[0].find("<i class=\"c1 d1\"></i>") != std::string::npos);
}

TEST_CASE("scores over many decades have ticks that keep apart, on a page wide and narrow") {
  const TemporaryFolder folder;
  const auto run = folder.path() / "a";
  Config policy = small_policy("exp");
  set_path(policy, "blocks.1.encoding", "sinusoidal");
  set_path(policy, "blocks.1.encoding_scale", "20");
  make_run(run, 1, policy);
  const std::string html = report({run});
  int drawings = 0;
  for (const std::string& drawing : between(html, "aria-label=\"Histogram of patch scores\">", "</svg>")) {
    ++drawings;
    double before = 0;
    std::size_t labels = 0;
    for (const std::string& label : between(drawing, "<text x=\"", "</text>")) {
      if (label.find("middle") == std::string::npos) continue;
      const double x = std::stod(label);
      if (labels++ > 0) CHECK(x - before > 40);
      before = x;
    }
    CHECK(labels > 3);
  }
  CHECK(drawings == 2);
}
