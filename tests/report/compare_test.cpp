#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "../core/temporary_folder.hpp"
import iap.core;
import iap.render;
import iap.report;

using namespace iap;
using Catch::Matchers::ContainsSubstring;

namespace {

struct Runs {
  TemporaryFolder root;
  std::vector<std::filesystem::path> folders;
  void add(const std::string& metrics) {
    folders.push_back(root.path() / std::to_string(folders.size()));
    std::filesystem::create_directories(folders.back());
    write_file_atomic(folders.back() / "metrics.csv", metrics);
  }
};

}  // namespace

TEST_CASE("a mean curve has the runs' mean and deviation where every run has a value") {
  Runs runs;
  runs.add("iteration,eval_mean\n0,1\n1,\n2,4\n3,7\n4,9\n");
  runs.add("iteration,eval_mean\n0,2\n1,5\n2,8\n3,\n");
  runs.add("iteration,eval_mean\n0,6\n1,\n2,0\n3,1\n");
  const Series curve = mean_curve({"three", runs.folders}, "eval_mean", Band::deviation);
  CHECK(curve.label == "three");
  CHECK(curve.x == std::vector<double>{0, 2});
  CHECK(std::abs(curve.y[0] - 3) < 1e-12);
  CHECK(std::abs(curve.y[1] - 4) < 1e-12);
  // Of 1, 2, 6 and of 4, 8, 0: squares of the differences add up to 14 and 32, of n - 1 = 2 degrees of freedom.
  CHECK(std::abs(curve.high[0] - (3 + std::sqrt(7.0))) < 1e-12);
  CHECK(std::abs(curve.low[1] - (4 - std::sqrt(16.0))) < 1e-12);

  const Series range = mean_curve({"three", runs.folders}, "eval_mean", Band::range);
  CHECK(range.low == std::vector<double>{1, 0});
  CHECK(range.high == std::vector<double>{6, 8});
  const Series error = mean_curve({"three", runs.folders}, "eval_mean", Band::error);
  CHECK(std::abs(error.high[0] - (3 + std::sqrt(7.0 / 3))) < 1e-12);
  CHECK(std::abs(error.low[1] - (4 - std::sqrt(16.0 / 3))) < 1e-12);

  const Series single = mean_curve({"one", {runs.folders[0]}}, "eval_mean", Band::deviation);
  CHECK(single.x == std::vector<double>{0, 2, 3, 4});
  CHECK(single.y == std::vector<double>{1, 4, 7, 9});
  CHECK(single.low.empty());
}

TEST_CASE("an iteration without a value leaves a gap in a mean curve, but for evaluations") {
  Runs runs;
  runs.add("iteration,return_mean\n0,\n1,1\n2,2\n3,nan\n4,inf\n5,5\n6,6\n7,\n");
  runs.add("iteration,return_mean\n0,\n1,1\n2,\n3,3\n4,4\n5,9\n6,2\n");
  const auto shown = [](const std::vector<double>& values) {
    std::string words;
    for (const double value : values) words += (std::isfinite(value) ? text(value) : "-") + " ";
    return words;
  };
  const Series single = mean_curve({"one", {runs.folders[0]}}, "return_mean", Band::range);
  CHECK(shown(single.y) == "1 2 - 5 6 ");
  CHECK(single.low.empty());
  const Series both = mean_curve({"two", runs.folders}, "return_mean", Band::range);
  CHECK(shown(both.y) == "1 - 7 4 ");
  CHECK(shown(both.low) == "1 - 5 2 ");
  CHECK(shown(both.high) == "1 - 9 6 ");
  CHECK(both.x.front() == 1);
  CHECK(both.x.back() == 6);
}

TEST_CASE("a comparison that cannot be drawn says which curve or file is at fault") {
  Runs runs;
  runs.add("iteration,eval_mean\n0,1\n");
  runs.add("iteration,eval_mean\n1,1\n");
  CHECK_THROWS_WITH(mean_curve({"none", {}}, "eval_mean", Band::range),
                    ContainsSubstring("'none'") && ContainsSubstring("no runs"));
  CHECK_THROWS_WITH(mean_curve({"apart", runs.folders}, "eval_mean", Band::range),
                    ContainsSubstring("'apart'") && ContainsSubstring("in every run"));
  CHECK_THROWS_WITH(mean_curve({"a", runs.folders}, "eval_maen", Band::range),
                    ContainsSubstring("metrics.csv") && ContainsSubstring("did you mean 'eval_mean'"));
  CHECK_THROWS_WITH(mean_curve({"a", {runs.root.path() / "missing"}}, "eval_mean", Band::range), ContainsSubstring("missing"));
}

TEST_CASE("a run is no second seed of itself") {
  Runs runs;
  runs.add("iteration,eval_mean\n0,1\n");
  runs.add("iteration,eval_mean\n0,2\n");
  runs.folders.push_back(runs.root.path() / "." / "0" / "");
  CHECK_THROWS_WITH(mean_curve({"twice", runs.folders}, "eval_mean", Band::range),
                    ContainsSubstring("names, too; it would count as two seeds"));
  // In two curves it may stand.
  CHECK_NOTHROW(write_comparison(runs.root.path() / "c.png", {{"a", {runs.folders[0]}}, {"b", {runs.folders[0]}}}, "eval_mean", "t",
                                 Band::range));
}

TEST_CASE("a copy is no second seed, and runs of other environments have no mean") {
  const TemporaryFolder root;
  const auto run = [&](const char* name, std::int64_t seed, const char* setting = "", const char* value = "") {
    const auto folder = root.path() / name;
    std::filesystem::create_directories(folder);
    write_file_atomic(folder / "metrics.csv", text("iteration,eval_mean\n0,", seed, "\n9,", 10 * seed, "\n"));
    Config config =
        parse_json(R"({"env": {"name": "cheetah-run"}, "optimizer": {"kind": "es", "sigma": 0.1}, "iterations": 9})", name);
    config["seed"] = seed;
    if (*setting != 0) set_path(config, setting, value);
    write_file_atomic(folder / "config.json", to_json(config));
    return folder;
  };
  const auto one = run("one", 1), two = run("two", 2), copy = run("copy", 1, "iterations", "20"),
             wide = run("wide", 1, "optimizer.sigma", "0.4"), walker = run("walker", 2, "env.name", "walker-walk");
  const auto png = root.path() / "c.png";
  const auto drawn = [&](const std::vector<CurveGroup>& groups) {
    write_comparison(png, groups, "eval_mean", "t", Band::range);
    return read_file(png);
  };
  CHECK_THROWS_WITH(drawn({{"a", {one, two, copy}}}),
                    ContainsSubstring("copy' and '") && ContainsSubstring("one' have the same settings and the same seed, 1;"));
  CHECK_THROWS_WITH(drawn({{"a", {one, walker}}}), ContainsSubstring("'a'") && ContainsSubstring("one' plays cheetah-run and '") &&
                                                       ContainsSubstring("walker' plays walker-walk;"));
  CHECK_NOTHROW(drawn({{"a", {one, two}}, {"b", {walker}}, {"c", {copy}}}));
  // Evaluated in one world, they have a mean there, and none where they were trained.
  const auto evaluated = [](const std::filesystem::path& folder) {
    Config config = parse_json(read_file(folder / "config.json"), "config");
    config["eval_env"] = Config::Map{{"name", "reacher-easy"}};
    write_file_atomic(folder / "config.json", to_json(config));
    return folder;
  };
  const CurveGroup worlds{"w", {evaluated(run("cheetah", 1)), evaluated(run("walks", 2, "env.name", "walker-walk"))}};
  CHECK_NOTHROW(mean_curve(worlds, "eval_mean", Band::range));
  CHECK_THROWS_WITH(mean_curve(worlds, "return_mean", Band::range), ContainsSubstring("plays cheetah-run"));
  // Who groups other settings may mean it; the picture says so.
  const std::string seeds = drawn({{"a", {one, two}}});
  CHECK(mean_curve({"a", {wide, two}}, "eval_mean", Band::range).y == mean_curve({"a", {one, two}}, "eval_mean", Band::range).y);
  // What the caption says is told by a chart with that caption.
  const auto says = [&](const std::vector<CurveGroup>& groups, const std::string& caption) {
    Chart chart{.title = "t", .x_label = "iteration", .y_label = "return", .caption = caption};
    for (const auto& group : groups) chart.series.push_back(mean_curve(group, "eval_mean", Band::range));
    write_chart(root.path() / "said.png", chart);
    return drawn(groups) == read_file(root.path() / "said.png");
  };
  CHECK(says({{"a", {one, two}}}, "Line: mean of 2 seeds. Band: from the lowest to the highest seed."));
  const std::string runs =
      "Line: mean of 2 runs. Band: from the lowest to the highest run. Runs of a line differ in more than their seeds: ";
  CHECK(says({{"a", {wide, two}}}, runs + "optimizer.sigma."));
  const auto other = [&](int settings) {
    const auto folder = run(text("other", settings).c_str(), 1);
    Config config = parse_json(read_file(folder / "config.json"), "config");
    for (int i = 0; i < settings; ++i) set_path(config, text("policy.s", i), "1");
    write_file_atomic(folder / "config.json", to_json(config));
    return folder;
  };
  CHECK(says({{"a", {other(3), two}}}, runs + "policy.s0, policy.s1, policy.s2."));
  CHECK(says({{"a", {other(4), two}}}, runs + "policy.s0, policy.s1, policy.s2 and 1 more."));
  std::vector<CurveGroup> lines;
  for (int i = 0; i < 5; ++i) lines.push_back({text("l", i), {wide, two}});
  const std::string three = runs + "l0 in optimizer.sigma; l1 in optimizer.sigma; l2 in optimizer.sigma";
  CHECK(says(lines, three + "; 2 more lines."));
  lines.pop_back();
  CHECK(says(lines, three + "; 1 more line."));
  lines.pop_back();
  CHECK(says(lines, three + "."));
  std::filesystem::remove(one / "config.json");
  std::filesystem::remove(two / "config.json");
  CHECK(drawn({{"a", {one, two}}}) == seeds);
}

TEST_CASE("labels without room show where they differ") {
  Runs runs;
  runs.add("iteration,eval_mean\n0,0\n10,100\n");
  const auto png = runs.root.path() / "c.png";
  const std::string same(200, 'x'), letters = "ÄÖÜß" + same;
  const auto pictures = [&](const std::string& one, const std::string& other) {
    // The pictures of the two labels beside each other, in both orders: alike where a reader cannot tell them.
    std::vector<std::string> drawn;
    for (const auto& [first, second] : {std::pair(one, other), std::pair(other, one)}) {
      write_comparison(png, {{first, runs.folders}, {second, runs.folders}}, "eval_mean", "t", Band::range);
      drawn.push_back(read_file(png));
    }
    return drawn;
  };
  for (const auto& [one, other] :
       {std::pair(same + "1", same + "2"), std::pair("1" + same, "2" + same), std::pair(same + "1" + same, same + "2" + same),
        std::pair(same, same + same + "/" + same), std::pair(letters + "ä" + letters, letters + "ö" + letters)}) {
    const auto drawn = pictures(one, other);
    CHECK(drawn[0] != drawn[1]);
  }
  const auto equal = pictures(same, same);
  CHECK(equal[0] == equal[1]);
}

TEST_CASE("files of Lua are the same environment where their texts are the same") {
  const TemporaryFolder root;
  const auto run = [&](const char* name, std::int64_t seed, const char* file, const char* source) {
    const auto folder = root.path() / name;
    std::filesystem::create_directories(folder);
    write_file_atomic(folder / "metrics.csv", "iteration,eval_mean\n0,1\n");
    Config config = Config::Map{{"seed", seed}, {"env", Config::Map{{"name", file}, {"source", source}}}};
    write_file_atomic(folder / "config.json", to_json(config));
    return folder;
  };
  const auto a = run("a", 1, "hop.lua", "return 1"), copied = run("b", 2, "elsewhere/jump.lua", "return 1"),
             edited = run("c", 3, "elsewhere/hop.lua", "return 2"), other = run("d", 4, "run.lua", "return 3");
  const auto mean = [](const std::vector<std::filesystem::path>& runs) {
    return mean_curve({"g", runs}, "eval_mean", Band::range);
  };
  CHECK_NOTHROW(mean({a, copied}));
  CHECK_NOTHROW(mean({a, edited}));
  CHECK_THROWS_WITH(mean({a, other}), ContainsSubstring("plays hop.lua and") && ContainsSubstring("plays run.lua"));
  CHECK_THROWS_WITH(mean({a, run("e", 1, "jump.lua", "return 1")}), ContainsSubstring("the same seed, 1;"));
}

TEST_CASE("a comparison shows each curve in its colour and its band") {
  Runs runs;
  runs.add("iteration,eval_mean\n0,0\n10,100\n");
  runs.add("iteration,eval_mean\n0,40\n10,100\n");
  runs.add("iteration,eval_mean\n0,80\n10,20\n");
  const auto png = runs.root.path() / "compare.png";
  write_comparison(png, {{"a", {runs.folders[0], runs.folders[1]}}, {"b", {runs.folders[2]}}}, "eval_mean", "title",
                   Band::deviation);
  Image image = read_png(png);
  const auto count = [&](int r, int g, int b) {
    int pixels = 0;
    for (std::size_t i = 0; i < image.bytes().size(); i += 3)
      pixels +=
          std::abs(image.bytes()[i] - r) < 3 && std::abs(image.bytes()[i + 1] - g) < 3 && std::abs(image.bytes()[i + 2] - b) < 3;
    return pixels;
  };
  CHECK(count(0, 114, 178) > 800);
  CHECK(count(213, 94, 0) > 800);
  // The band's triangle, 18% blue on white: half of the plot's width times the height of its left end, 56 of 120 units.
  CHECK(count(209, 230, 241) > 0.5 * 800 * 430 * 0.47 * 0.8);
  // From the lowest to the highest run the band is narrower: 40 of an axis of 100 units in place of 56.6 of one of 120.
  const int deviation = count(209, 230, 241);
  write_comparison(png, {{"a", {runs.folders[0], runs.folders[1]}}, {"b", {runs.folders[2]}}}, "eval_mean", "title", Band::range);
  image = read_png(png);
  CHECK(std::abs(count(209, 230, 241) / static_cast<double>(deviation) - 0.4 / (56.6 / 120)) < 0.06);
}

TEST_CASE("the legend keeps out of the way of the points, in rows that fit") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "chart.png";
  Chart chart;
  for (int i = 0; i < 6; ++i) chart.series.push_back({.label = "WWWWWWWWWWWW", .x = {0, 10}, .y = {0, 1}});
  chart.series[0].y = {1, 1};
  write_chart(path, chart);
  const Image image = read_png(path);
  const auto pixel = [&](int row, int column) { return image.bytes().data() + 3 * (static_cast<std::size_t>(row) * 900 + column); };
  const auto dark_pixels = [&](int first_row, int end_row, int first_column, int end_column) {
    int count = 0;
    for (int row = first_row; row < end_row; ++row)
      for (int column = first_column; column < end_column; ++column) {
        const auto* p = pixel(row, column);
        count += p[0] < 60 && p[1] < 60 && p[2] < 60;
      }
    return count;
  };
  constexpr int plot_top = 46 + 2 * 20;
  CHECK(dark_pixels(36, 56, 80, 900) > 300);
  CHECK(dark_pixels(56, 76, 80, 900) > 300);
  CHECK(dark_pixels(plot_top, 470, 80, 900) == 0);
  CHECK(dark_pixels(0, plot_top, 878, 900) == 0);
  // The line along the top is seen all the way.
  for (int column = 80; column < 870; ++column) {
    bool seen = false;
    for (int row = plot_top; row < 200; ++row) seen = seen || (pixel(row, column)[2] > 120 && pixel(row, column)[0] < 60);
    if (!seen) FAIL("the line is hidden at column " << column);
  }
}
