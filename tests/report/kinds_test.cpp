#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
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

using Changes = std::vector<std::pair<std::string, std::string>>;

/// A run of three iterations, and copies of it with other settings.
class Runs {
 public:
  Runs() { make_run(path("first"), 1); }

  std::filesystem::path path(const std::string& name) const { return root_.path() / name; }

  std::filesystem::path copy(const std::string& name, std::int64_t seed, const Changes& changes) const {
    std::filesystem::copy(path("first"), path(name));
    Config config = parse_json(read_file(path(name) / "config.json"), "config.json");
    config["seed"] = seed;
    for (const auto& [setting, value] : changes) set_path(config, setting, value);
    write_file_atomic(path(name) / "config.json", to_json(config));
    return path(name);
  }

  /// Of what was asked for and what it became.
  std::filesystem::path with(const std::string& name, std::int64_t seed, const std::string& setting,
                             const std::string& value) const {
    return copy(name, seed, {{setting, value}, {"given." + setting, value}});
  }

 private:
  TemporaryFolder root_;
};

std::string page(const std::vector<std::filesystem::path>& runs) { return report(runs, {.pictures = false}); }

std::vector<std::string> labels(const std::string& html) {
  return between(html, "<td class=\"name\"><i class=\"swatch c", "</td>");
}

bool is_one_kind(const std::string& html) {
  return html.find("mean of seeds") != std::string::npos && html.find(" kinds, trained by") == std::string::npos;
}

}  // namespace

TEST_CASE("settings are the same where their values are, however these read") {
  const Runs runs;
  const auto yes = runs.with("yes", 1, "env.mode", "true"), word = runs.with("word", 2, "env.mode", R"("yes")");
  const std::string html = page({yes, word});
  CHECK_THAT(html, ContainsSubstring("2 runs of 2 kinds"));
  CHECK(labels(html) == std::vector<std::string>{"0\"></i>mode true", "1\"></i>mode &quot;yes&quot;"});
  CHECK_THAT(html, ContainsSubstring("<code>env.mode</code></td><td>true</td><td>&quot;yes&quot;</td>"));
  const auto list = runs.with("list", 1, "env.mode", "[1, 2]"), words = runs.with("words", 1, "env.mode", R"("1, 2")");
  CHECK_THAT(page({list, words}), ContainsSubstring("2 runs of 2 kinds"));
  const auto dotted = runs.with("dotted", 1, "env.rules", R"({"a.b": 1})"),
             deep = runs.with("deep", 1, "env.rules", R"({"a": {"b": 1}})");
  CHECK_THAT(page({dotted, deep}), ContainsSubstring("2 runs of 2 kinds") && ContainsSubstring("env.rules.&quot;a.b&quot;"));
  CHECK(is_one_kind(page({runs.with("whole", 1, "env.mode", "1"), runs.with("real", 2, "env.mode", "1.0")})));
}

TEST_CASE("runs that read different files are of different kinds; one without a record is like those that are alike") {
  const Runs runs;
  const char *few = R"({"vids": "2 files, 300 bytes, checksum 1"})", *more = R"({"vids": "4 files, 700 bytes, checksum 2"})";
  const auto v1 = runs.copy("v1", 1, {{"files", few}}), v2 = runs.copy("v2", 2, {{"files", more}}),
             v3 = runs.copy("v3", 1, {{"files", more}}), v4 = runs.copy("v4", 2, {{"files", few}}), old = runs.path("first"),
             older = runs.copy("older", 3, {});
  const std::string html = page({v1, v2});
  CHECK_THAT(html, ContainsSubstring("2 runs of 2 kinds") && ContainsSubstring("<code>files.vids</code></td><td>2 files"));
  CHECK(labels(html) == std::vector<std::string>{"0\"></i>v1", "1\"></i>v2"});
  CHECK_THAT(page({v1, v3}), ContainsSubstring("2 runs of 2 kinds"));
  CHECK(is_one_kind(page({v1, v4})));
  CHECK(is_one_kind(page({v1, older})));
  CHECK_THAT(page({older, v1, v2}), ContainsSubstring("3 runs of 3 kinds"));
  // Records of earlier programs say nothing about how the files begin and end.
  const auto with_ends = [&](const std::string& name, std::int64_t seed, const std::string& ends) {
    return runs.copy(name, seed, {{"files", R"({"vids": "2 files, 300 bytes, checksum 1, ends )" + ends + "\"}"}});
  };
  const auto v5 = with_ends("v5", 5, "7"), v6 = with_ends("v6", 6, "8");
  CHECK(is_one_kind(page({v1, v5})));
  CHECK(is_one_kind(page({older, v1, v5})));
  CHECK_FALSE(is_one_kind(page({v5, v6})));
  CHECK_FALSE(is_one_kind(page({v2, v5})));
  CHECK_THROWS_WITH(page({v1, old}), ContainsSubstring("have the same settings and the same seed, 1;"));

  const auto mean = [](const std::vector<std::filesystem::path>& line) {
    return mean_curve({"a", line}, "eval_mean", Band::range);
  };
  CHECK_NOTHROW(mean({v1, v3}));
  CHECK_THROWS_WITH(mean({v1, old}), ContainsSubstring("have the same settings and the same seed, 1;"));
  const auto drawn = [&](const std::filesystem::path& one, const std::filesystem::path& other) {
    const auto png = runs.path("c.png");
    write_comparison(png, {{"a", {one, other}}}, "eval_mean", "t", Band::range);
    return read_file(png);
  };
  CHECK(drawn(v1, v4) != drawn(v1, v2));
}

TEST_CASE("each kind has a name of its own: as much of a setting's path as tells it from the others, or its folder") {
  const Runs runs;
  const auto one = runs.with("h1", 1, "policy.blocks.1.heads", "2"), other = runs.with("h2", 1, "policy.blocks.2.heads", "2");
  CHECK(labels(page({one, other})) == std::vector<std::string>{"0\"></i>1.heads 2", "1\"></i>2.heads 2"});
  CHECK(labels(page({one, runs.with("h3", 1, "policy.blocks.1.heads", "3")})) ==
        std::vector<std::string>{"0\"></i>heads 2", "1\"></i>heads 3"});
  const auto fast = [&](const std::string& name, const std::string& files) {
    return runs.copy(name, 1, {{"env.speed", "3"}, {"given.env.speed", "3"}, {"files.vids", files}});
  };
  CHECK(labels(page({fast("s1", "4 files"), runs.copy("s3", 1, {{"files.vids", "3 files"}}), fast("s2", "2 files")})) ==
        std::vector<std::string>{"0\"></i>s1", "1\"></i>s3", "2\"></i>s2"});
}

TEST_CASE("the best policies of several seeds may have been confirmed on differently many episodes") {
  const Runs runs;
  const auto confirmed = [&](const std::string& name, std::int64_t seed, int episodes, const Changes& changes = {}) {
    const auto run = runs.copy(name, seed, changes);
    Config result = parse_json(read_file(run / "result.json"), "result.json");
    result["confirmed"] = Config::Map{{"episodes", episodes}, {"mean", 7.0}, {"std", 1.0}};
    write_file_atomic(run / "result.json", to_json(result));
    return run;
  };
  const auto few = confirmed("few", 1, 10), more = confirmed("more", 2, 40), most = confirmed("most", 3, 90),
             one = confirmed("one", 4, 1);
  CHECK_THAT(page({few, more, most}), ContainsSubstring("<span>the same policies on 10 to 90 fresh episodes</span>"));
  CHECK_THAT(page({more}), ContainsSubstring("<span>the same policy on 40 fresh episodes</span>"));
  CHECK_THAT(page({one}), ContainsSubstring("<span>the same policy on 1 fresh episode</span>"));
  CHECK_THAT(page({confirmed("negative", 5, -3)}), !ContainsSubstring("fresh episode"));
  const auto other = confirmed("other", 6, 1, {{"env.speed", "3"}, {"given.env.speed", "3"}});
  CHECK_THAT(page({few, more, other}),
             ContainsSubstring("7 <small>(10 to 40 episodes)</small>") && ContainsSubstring("7 <small>(1 episode)</small>"));
}

TEST_CASE("a seed without an evaluation takes nothing from the others") {
  const Runs runs;
  const std::string columns = "iteration,return_mean,eval_mean,eval_std,seconds,steps\n";
  const auto tabled = [&](const std::string& name, std::int64_t seed, const std::string& rows) {
    const auto run = runs.copy(name, seed, {});
    write_file_atomic(run / "metrics.csv", columns + rows);
    write_file_atomic(run / "experiment.lua", "-- of " + name + "\n");
    return run;
  };
  const auto low = tabled("low", 1, "0,,4,0,0,0\n1,5,10,0,1,9\n"), high = tabled("high", 2, "0,,4,0,0,0\n1,5,30,0,1,9\n"),
             none = tabled("none", 3, "0,,,,0,0\n1,5,,,1,9\n"), other = runs.with("other", 1, "env.speed", "3");
  CHECK_THAT(page({low, high, none}), ContainsSubstring("<b>20</b><span>best evaluation, mean of 2 of 3 seeds</span>") &&
                                          ContainsSubstring("experiment.lua of high<"));
  CHECK_THAT(page({low, high, none, other}), ContainsSubstring("20 <small>(10 to 30; 2 of 3 seeds)</small>"));
  CHECK_THAT(page({low, high}), ContainsSubstring("<b>20</b><span>best evaluation, mean of seeds</span>"));
  CHECK_THAT(page({none}), ContainsSubstring("<b>–</b><span>best evaluation</span>"));
}
