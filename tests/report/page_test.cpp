#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "../comma_locale.hpp"
#include "../core/temporary_folder.hpp"
#include "../render/moving_pictures.hpp"
import iap.core;
import iap.policy;
import iap.render;
import iap.report;
import iap.train;
#include "base64.hpp"
#include "pages.hpp"
#include "small_runs.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

int count(std::string_view words, std::string_view part) {
  int found = 0;
  for (std::size_t at = words.find(part); at != std::string_view::npos; at = words.find(part, at + part.size())) ++found;
  return found;
}

/// Every element is closed in order; what stands outside of tags has no stray angle bracket.
void check_well_formed(const std::string& html) {
  const std::vector<std::string> empty{"meta", "img", "!doctype"};
  std::vector<std::string> open;
  for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
    const std::size_t end = html.find('>', at);
    REQUIRE(end != std::string::npos);
    std::string tag = html.substr(at + 1, end - at - 1);
    const bool closes = tag[0] == '/', closed = tag.back() == '/';
    tag = tag.substr(closes, tag.find_first_of(" \n/", 1) - closes);
    if (closed || std::ranges::find(empty, tag) != empty.end()) continue;
    if (!closes) {
      open.push_back(tag);
      continue;
    }
    INFO(html.substr(at > 200 ? at - 200 : 0, 220));
    REQUIRE(!open.empty());
    REQUIRE(open.back() == tag);
    open.pop_back();
  }
  CHECK(open.empty());
}

}  // namespace

TEST_CASE("the report of a run is one file with everything in it") {
  const TemporaryFolder folder;
  const auto run = folder.path() / "first run";
  make_run(run, 4);
  const std::string html = report({run});
  check_well_formed(html);
  check_well_formed(report({run}, {.episodes = 3}));  // enough for the table of the probe
  CHECK(count(html, "http") == 0);
  CHECK(count(html, "<script") == 0);
  for (const auto& address : between(html, "src=\"", "\"")) CHECK(address.starts_with("data:image/"));
  CHECK_THAT(html, ContainsSubstring("<h1>cartpole-swingup</h1>"));
  for (const char* words : {"Learning curve", "What it attends to", "From scores to patches", "Parameters", "Settings",
                            "<code>policy.blocks.1.top</code></td><td>3<", "<code>env.pixels</code></td><td>24, 32<",
                            "compare a &lt; b &amp;&amp; &quot;c&quot;"})
    CHECK_THAT(html, ContainsSubstring(words));
  // 48 values a patch, 4 dimensions, queries and keys; 6 positions into 1 action with its bias.
  CHECK_THAT(html, ContainsSubstring("<td>total</td><td></td><td class=\"number outputs\">1</td><td class=\"number\">391</td>"));

  CHECK_THAT(html, ContainsSubstring("patches of equal score are in every range that this score lies in."));

  // The histogram, drawn for two widths, counts every patch of every frame once: 48 patches, 2 episodes of 12 frames.
  int counted = 0;
  for (const auto& bar : between(html, "<rect class=\"bar\"", " patch")) counted += std::stoi(bar.substr(bar.rfind(": ") + 2));
  CHECK(counted == 2 * 48 * 24);
  // Of the chosen 3 in 48, 4% count as the highest: 46 of 1152 and who shares the lowest of their scores.
  const auto highest = between(html, "highest 4%</b><span>", " patches");
  REQUIRE(highest.size() == 1);
  CHECK(std::abs(std::stoi(highest[0]) - 46) <= 2);
  CHECK(count(html, "class=\"colours\"") == 1);

  const auto webps = between(html, "src=\"data:image/webp;base64,", "\"");
  REQUIRE(webps.size() == 1 + 6 + 6);
  const Moving video = decode_webp(decode_base64(webps[0]));
  CHECK(video.frames.size() > 1);
  CHECK((video.frames[0].shape() == ImageShape{336, 448, 3, PixelType::uint8}));
  CHECK(decode_webp(decode_base64(webps[12])).frames.size() == 1);
  const auto examples = between(html, "src=\"data:image/png;base64,", "\"");
  CHECK(examples.size() == 4 * 12);
  CHECK(decode_base64(examples[0]).starts_with("\x89PNG"));
}

TEST_CASE("a report is a function of the runs") {
  const TemporaryFolder folder;
  make_run(folder.path() / "a", 4);
  CHECK(report({folder.path() / "a"}) == report({folder.path() / "a"}));
}

TEST_CASE("runs that differ in their seeds are one curve with a band, others are compared") {
  const TemporaryFolder folder;
  const auto path = [&](const char* name) { return folder.path() / name; };
  make_run(path("a"), 1);
  make_run(path("b"), 2);
  make_run(path("c"), 1, small_policy("exp"));
  const std::string html = report({path("a"), path("c"), path("b")}, {.pictures = false});
  check_well_formed(html);
  CHECK(count(html, "data:image") == 0);
  CHECK_THAT(html, ContainsSubstring("kernel relu</td><td class=\"name\">1, 2</td>") &&
                       ContainsSubstring("kernel exp</td><td class=\"name\">1</td>") && ContainsSubstring("3 runs of 2 kinds") &&
                       ContainsSubstring("<td>relu</td><td>exp</td>"));
  // Of each of two charts, drawn for two widths: a band for the group of two, its two seeds and their mean, and the single run.
  CHECK(count(html, "class=\"band c0\"") == 4);
  CHECK(count(html, "class=\"line c0 thin\"") == 8);
  CHECK(count(html, "class=\"line c0\"") == 4);
  CHECK(count(html, "class=\"line c1\"") == 4);
  CHECK(count(html, "class=\"band c1\"") == 0);
  // The mean lies half way between its two seeds.
  const auto seeds = between(html, "class=\"line c0 thin\" d=\"", "\"");
  const auto first = heights(seeds[0]), second = heights(seeds[1]),
             mean = heights(between(html, "class=\"line c0\" d=\"", "\"")[0]);
  REQUIRE(mean.size() == first.size());
  REQUIRE(mean.size() == 3);  // evaluations at 0, 2 and 3
  for (std::size_t i = 0; i < mean.size(); ++i) CHECK(std::abs(mean[i] - (first[i] + second[i]) / 2) < 0.11);
}

TEST_CASE("a report tells of episodes that an unstable simulation ended") {
  const TemporaryFolder folder;
  const auto run = folder.path() / "a";
  make_run(run, 1);
  const auto lede = [&](const std::string& first, const std::string& second) {
    write_file_atomic(run / "metrics.csv",
                      text("iteration,return_mean,eval_mean,eval_std,seconds,steps,unstable\n0,,100,0,1,0,0\n1,10,,,2,10,", first,
                           "\n2,20,50,0,3,20,", second, "\n3,30,0,0,4,30,0\n"));
    return between(report({run}, {.pictures = false}), "<p class=\"lede\">", "</p>").at(0);
  };
  CHECK_THAT(lede("4", "3"), ContainsSubstring(". a: the simulation became unstable in 7 training episodes."));
  CHECK_THAT(lede("0", "1"), ContainsSubstring("in 1 training episode."));
  CHECK_THAT(lede("0", "0"), !ContainsSubstring("unstable"));
}

TEST_CASE("population and evaluation have the same colours in a run's picture as on its page") {
  const TemporaryFolder folder;
  const auto run = folder.path() / "a";
  make_run(run, 1);
  write_file_atomic(run / "metrics.csv",
                    "iteration,return_mean,eval_mean,eval_std,seconds,steps\n0,10,90,0,1,0\n1,10,90,0,2,10\n2,10,90,0,3,20\n");
  const std::string html = report({run}, {.pictures = false});
  CHECK_THAT(between(html, "<path class=\"line c0", "</title>").at(0), ContainsSubstring("population mean"));
  CHECK_THAT(between(html, "<path class=\"line c1", "</title>").at(0), ContainsSubstring("mean policy, evaluation"));
  CHECK_THAT(html, ContainsSubstring("<i class=\"c0 thin\"></i>population mean") &&
                       ContainsSubstring("<i class=\"c1\"></i>mean policy, evaluation"));
  CHECK_THAT(html, ContainsSubstring("--c0: #0b66b5; --c1: #cf5a0d;"));  // blue, orange

  write_learning_curve(run, folder.path() / "curve.png");
  const Image picture = read_png(folder.path() / "curve.png");
  // Of the blue and of the orange pixels, half lie above: most are those of lines, the evaluation's over the population's.
  const auto middle = [&](int red, int green, int blue) {
    std::vector<int> rows;
    for (int y = 0; y < picture.shape().height; ++y)
      for (int x = 0; x < picture.shape().width; ++x) {
        const auto* at = &picture.bytes()[3 * (static_cast<std::size_t>(y) * picture.shape().width + x)];
        if (std::abs(at[0] - red) + std::abs(at[1] - green) + std::abs(at[2] - blue) < 6) rows.push_back(y);
      }
    REQUIRE(rows.size() > 500);
    return rows[rows.size() / 2];
  };
  CHECK(middle(0, 114, 178) > middle(213, 94, 0) + 200);
}

TEST_CASE("what is no run is one clear message") {
  const TemporaryFolder folder;
  const auto run = folder.path() / "run";
  const auto refuses = [&](const std::filesystem::path& path, const std::string& why) {
    CHECK_THROWS_MATCHES(report({path}), Error, MessageMatches(ContainsSubstring(path.string()) && ContainsSubstring(why)));
  };
  refuses(folder.path() / "nothing", "there is no run");
  make_run(run, 1);
  refuses(run / "best.iap", "a report needs the folder of a run");
  std::filesystem::create_directories(folder.path() / "empty");
  refuses(folder.path() / "empty", "it has no config.json");
  std::filesystem::copy(run, folder.path() / "begun");
  write_file_atomic(folder.path() / "begun" / "metrics.csv", "iteration,eval_mean\n0,3\n");
  std::filesystem::remove(folder.path() / "begun" / "result.json");
  refuses(folder.path() / "begun", "has not finished its first iteration; there is nothing to report yet");
  for (const char* cell : {"1e+300", "-1e+300", "-1"}) {
    write_file_atomic(folder.path() / "begun" / "metrics.csv", text("iteration,eval_mean\n0,3\n", cell, ",3\n"));
    refuses(folder.path() / "begun", text("ends with iteration ", cell, ", which is none"));
  }
  for (const char* content : {"{", "[]", R"({"iterations": 1})"}) {
    std::filesystem::remove_all(folder.path() / "spoilt");
    std::filesystem::copy(run, folder.path() / "spoilt");
    write_file_atomic(folder.path() / "spoilt" / "result.json", content);
    refuses(folder.path() / "spoilt", "result.json");
    refuses(folder.path() / "spoilt", "; resume the run, which writes it anew, or remove it");
  }
  std::filesystem::copy(run, folder.path() / "bare");
  std::filesystem::remove(folder.path() / "bare" / "best.iap");
  std::filesystem::remove(folder.path() / "bare" / "final.iap");
  refuses(folder.path() / "bare", "best.iap");
  write_file_atomic(run / "config.json", "{");
  refuses(run, "config.json");
  CHECK_THROWS_MATCHES(report({}), Error, MessageMatches(ContainsSubstring("at least one run")));
}

TEST_CASE("a run that stands still and a run that cannot be played are reported as what they are") {
  const TemporaryFolder folder;
  const auto run = folder.path() / "short";
  make_run(run, 1);
  Config config = parse_json(read_file(run / "config.json"), "config.json");
  config["iterations"] = 50;
  write_file_atomic(run / "config.json", to_json(config));
  CHECK_THAT(report({run}, {.pictures = false}), ContainsSubstring("short stands at iteration 3 of 50"));

  PolicyFile file = open_policy(run);
  file.metadata["env"] = Config::Map{{"name", "gone.lua"}};
  write_policy_file(run / "best.iap", file.policy, file.metadata);
  const std::string html = report({run});
  CHECK_THAT(html, ContainsSubstring("There are none: ") && ContainsSubstring("gone.lua"));
  check_well_formed(html);
}

TEST_CASE("no locale of the host's changes a page") {
  const TemporaryFolder folder;
  make_run(folder.path() / "run", 1);
  const ReportOptions options{.pictures = false, .episodes = 2};
  const std::string plain = report({folder.path() / "run"}, options);
  CHECK_THAT(plain, ContainsSubstring("<svg"));
  const CommaLocale here;
  CHECK(report({folder.path() / "run"}, options) == plain);
}

TEST_CASE("all settings are shown, those with their defaults too") {
  const TemporaryFolder folder;
  make_run(folder.path() / "run", 1);
  const std::string page = report({folder.path() / "run"}, {.pictures = false, .episodes = 2});
  for (const char* setting : {"optimizer.learning_rate", "optimizer.beta1", "policy.blocks.1.kernel", "policy.blocks.2.scale",
                              "env.render.shadows", "eval_episodes"})
    CHECK_THAT(page, ContainsSubstring(setting));
  CHECK(count(page, "given.") == 0);
}

TEST_CASE("runs whose settings differ in the fourth digit are two kinds, and the settings say so") {
  const TemporaryFolder folder;
  for (const char* name : {"a", "b"}) make_run(folder.path() / name, 1);
  const auto file = folder.path() / "b" / "config.json";
  Config config = parse_json(read_file(file), "config.json");
  set_path(config, "optimizer.sigma", "0.1004");
  set_path(config, "optimizer.sigma_decay", "0.9999");
  write_file_atomic(file, to_json(config));
  const std::string page = report({folder.path() / "a", folder.path() / "b"}, {.pictures = false});
  CHECK_THAT(page, ContainsSubstring("2 runs of 2 kinds") && ContainsSubstring("0.1004") && ContainsSubstring("0.9999"));
}

TEST_CASE("runs in folders of the same name are told apart by the folders above") {
  const TemporaryFolder folder;
  for (const char* run : {"x/here/run", "y/here/run", "other"})
    std::filesystem::create_directories((folder.path() / run).parent_path());
  make_run(folder.path() / "x/here/run", 1);
  make_run(folder.path() / "y/here/run", 1, small_policy("exp"));
  make_run(folder.path() / "other", 1, small_policy("trig"));
  const std::string html = report({folder.path() / "x/here/run", folder.path() / "y/here/run", folder.path() / "other"});
  CHECK(html.find("experiment.lua of x/here/run") != std::string::npos);
  CHECK(html.find("experiment.lua of y/here/run") != std::string::npos);
  CHECK(html.find("experiment.lua of other") != std::string::npos);
}

TEST_CASE("a page holds no texts that nobody reads") {
  const TemporaryFolder folder;
  const auto run = folder.path() / "run";
  make_run(run, 1);
  const std::size_t before = report({run}).size();
  std::string config = read_file(run / "config.json");
  config.insert(1, "\"novel\": \"" + std::string(1 << 20, 'x') + "\",");
  write_file_atomic(run / "config.json", config);
  CHECK(report({run}).size() < before + 2000);
  // As many texts, and lists whose numbers are written in more letters than the file has; and names of the page's head.
  const auto with = [&](const std::string& settings) {
    std::string changed = read_file(run / "config.json");
    write_file_atomic(run / "config.json", changed.insert(1, settings));
  };
  std::string texts, list = "\"novels\": [1e9";
  for (int i = 0; i < 1000; ++i) texts += text("\"page", i, "\": \"", std::string(5000, '\''), "\",");
  for (int i = 0; i < 10'000; ++i) list += ",1e14";
  with(texts + list + "],");
  CHECK(report({run}).size() < before + 3'000'000);
  Config named = parse_json(read_file(run / "config.json"), "test");
  named["env"]["name"] = std::string(1 << 20, 'x');
  write_file_atomic(run / "config.json", to_json(named));
  CHECK(report({run}).size() < before + 3'000'000);
  // Short ones stand in full, as far as a page has room for all of them.
  write_file_atomic(run / "config.json", config);
  texts.clear();
  for (int i = 0; i < 3000; ++i) texts += text("\"page", i, "\": \"", std::string(4000, 'x'), "\",");
  with(texts);
  CHECK_THROWS_MATCHES(report({run}), Error,
                       MessageMatches(ContainsSubstring("names and values of more than 8 MiB together, the most that is shown")));
  write_file_atomic(run / "config.json", config);
  write_file_atomic(run / "experiment.lua", "-");
  std::filesystem::resize_file(run / "experiment.lua", (std::uintmax_t{64} << 20) + 1);
  CHECK_THROWS_MATCHES(report({run}), Error, MessageMatches(ContainsSubstring("experiment.lua")));
}

TEST_CASE("a page holds nothing that steers a terminal or turns the direction of writing") {
  const TemporaryFolder folder;
  const auto run = folder.path() / "a";
  make_run(run, 1);
  Config config = parse_json(read_file(run / "config.json"), "config.json");
  config["odd"] = "red\x1b[31m and \u202eturned";
  write_file_atomic(run / "config.json", to_json(config));
  write_file_atomic(run / "experiment.lua", "-- of\r\n-- Windows\r\n");
  const std::string html = report({run}, {.pictures = false});
  CHECK_THAT(html, ContainsSubstring("red?[31m and ?turned") && ContainsSubstring("<pre>-- of\n-- Windows\n</pre>"));
  CHECK(html.find("\u202e") == std::string::npos);
}

TEST_CASE("a report names each run once") {
  const TemporaryFolder folder;
  make_run(folder.path() / "a", 4);
  std::filesystem::create_directory_symlink(folder.path() / "a", folder.path() / "b");
  for (const auto& same : {folder.path() / "a" / "", folder.path() / "." / "a", folder.path() / "b"})
    CHECK_THROWS_MATCHES(report({folder.path() / "a", same}), Error, MessageMatches(ContainsSubstring("so name it once")));
}

TEST_CASE("a seed counts once among runs of the same settings") {
  const TemporaryFolder folder;
  const auto path = [&](const char* name) { return folder.path() / name; };
  make_run(path("a"), 4);
  make_run(path("b"), 4);  // as `iap run` does a second time
  make_run(path("c"), 5);
  make_run(path("d"), 4, small_policy("exp"));
  const ReportOptions plain{.pictures = false};
  const auto refuses = [&](const std::vector<std::filesystem::path>& runs, const char* first, const char* second) {
    CHECK_THROWS_MATCHES(report(runs, plain), Error,
                         MessageMatches(ContainsSubstring("'" + path(first).string() + "' and '" + path(second).string() + "'") &&
                                        ContainsSubstring("the same seed, 4;") && ContainsSubstring("leave one of them out")));
  };
  refuses({path("a"), path("b")}, "a", "b");
  refuses({path("b"), path("d"), path("c"), path("a")}, "a", "b");
  CHECK_THAT(report({path("a"), path("c"), path("d")}, plain), ContainsSubstring("3 runs of 2 kinds"));

  // A copy of what a run was before it went on.
  std::filesystem::copy(path("a"), path("before"));
  Config config = parse_json(read_file(path("before") / "config.json"), "config.json");
  config["iterations"] = 2;
  write_file_atomic(path("before") / "config.json", to_json(config));
  const std::string metrics = read_file(path("a") / "metrics.csv");
  write_file_atomic(path("before") / "metrics.csv", metrics.substr(0, metrics.find("\n3,") + 1));
  CHECK_THAT(report({path("before")}, plain), !ContainsSubstring("stands at iteration"));
  refuses({path("a"), path("before")}, "a", "before");
}

TEST_CASE("a report says whether a block chooses patches or weighs all of them") {
  const TemporaryFolder folder;
  int runs = 0;
  const auto page = [&](const std::string& blocks) {
    const auto run = folder.path() / std::to_string(++runs);
    make_run(run, 1, parse_json(R"({"kind": "sequence", "blocks": [)" + blocks + R"(, {"kind": "linear"}]})", "test"));
    return report({run}, {.episodes = 1});
  };
  const auto concat = [](const std::string& one, const std::string& other) {
    return R"({"kind": "concat", "blocks": [)" + one + ", " + other + "]}";
  };
  const auto rank = [](const std::string& more) {
    return R"({"kind": "rank", "patch": 4, "d": 4, "top": 3, "heads": 2)" + more + "}";
  };
  const std::string
      trans = R"({"kind": "trans", "patch": 4, "d": 4, "tokens": 2, "dv": 2})",
      look = R"({"kind": "sequence", "blocks": [{"kind": "clock", "frequency": 1}, {"kind": "look", "patch": 4, "queries": 2}]})";
  const auto seen = ContainsSubstring("Squares are the patches whose positions or contents the rest of the policy sees"),
             weighed = ContainsSubstring("the patches that weigh most, though all count;");
  const auto chosen = ContainsSubstring("It chooses 3 per frame."), all = ContainsSubstring("All of them count");

  for (const auto& blocks :
       {rank(""), rank(R"(, "values": ["position", "centroid"])"), rank(R"(, "values": "centroid", "motion": true)")})
    CHECK_THAT(page(blocks), seen && chosen && !weighed && !all);
  for (const auto& blocks : {trans, look, rank(R"(, "values": "centroid")"), rank(R"(, "values": ["centroid"])")})
    CHECK_THAT(page(blocks), !seen && !chosen && weighed && all);
  CHECK_THAT(page(concat(rank(""), trans)), seen && weighed && chosen);
}

TEST_CASE("a report says what the policy was trained from") {
  const TemporaryFolder folder;
  const Config env = parse_json(R"({"name": "cartpole-swingup", "pixels": [12, 16], "state": true, "time_limit": 12})", "test");
  make_run(folder.path() / "seeing", 4, small_policy(), env);
  make_run(folder.path() / "blind", 4,
           parse_json(R"({"kind": "sequence", "blocks": [{"kind": "observation"}, {"kind": "linear"}]})", "test"), env);
  const ReportOptions plain{.pictures = false};
  CHECK_THAT(report({folder.path() / "seeing"}, plain), ContainsSubstring("from 12 × 16 pixels"));
  CHECK_THAT(report({folder.path() / "blind"}, plain), !ContainsSubstring("pixels."));
  CHECK_THAT(report({folder.path() / "seeing", folder.path() / "blind"}, plain),
             ContainsSubstring("trained by es from 12 × 16 pixels, in part without."));
}

TEST_CASE("a report of different runs names all their optimizers and sizes, that of a curriculum those of its stages") {
  const TemporaryFolder folder;
  const auto path = [&](const char* name) { return folder.path() / name; };
  const auto env = [](const std::string& pixels) {
    return parse_json(R"({"name": "cartpole-swingup", "pixels": )" + pixels + R"(, "time_limit": 12})", "test");
  };
  make_run(path("a"), 1, small_policy(), env("[12, 16]"));
  make_run(path("b"), 1, small_policy("exp"), env("[24, 32]"));
  const auto train_stages = [&](const char* name, int iterations) {
    TrainOptions options = read_train_options(parse_json(
        R"({"env": {"name": "cartpole-swingup", "pixels": [24, 32], "time_limit": 12}, "optimizer": {"kind": "pgpe", "population": 4},
            "curriculum": [{"through": 1}, {"through": 2, "pixels": [48, 64]}, {"through": 3, "pixels": [72, 96]}, {}],
            "eval_env": {"pixels": [36, 48]}, "eval_episodes": 1, "iterations": )" +
            std::to_string(iterations) + R"(, "policy": )" + to_json(small_policy()) + "}",
        "test"));
    options.threads = 1;
    options.out = path(name);
    options.quiet = true;
    train(options);
  };
  train_stages("stages", 4);
  train_stages("begun", 2);
  const ReportOptions plain{.pictures = false};
  CHECK_THAT(report({path("stages")}, plain),
             ContainsSubstring("1 run, trained by pgpe from 24 × 32, 48 × 64 and 72 × 96 pixels."));
  CHECK_THAT(report({path("begun")}, plain), ContainsSubstring("trained by pgpe from 24 × 32 and 48 × 64 pixels."));
  CHECK_THAT(report({path("a"), path("b"), path("begun")}, plain),
             ContainsSubstring("3 runs of 3 kinds, trained by es and pgpe from 12 × 16, 24 × 32 and 48 × 64 pixels."));
}

TEST_CASE("groups that differ in many options are named after what their folders have in common") {
  const TemporaryFolder folder;
  const auto path = [&](const std::string& name) { return folder.path() / name; };
  const auto made = [&](const std::string& name, std::int64_t seed, const char* sigma) {
    if (!std::filesystem::exists(path("first"))) make_run(path("first"), 1);
    std::filesystem::copy(path("first"), path(name));
    Config config = parse_json(read_file(path(name) / "config.json"), "config.json");
    config.map()->erase("given");
    config["seed"] = seed;
    for (const char* option : {"sigma", "learning_rate", "beta1", "beta2"})
      set_path(config, std::string("optimizer.") + option, sigma);
    write_file_atomic(path(name) / "config.json", to_json(config));
    return path(name);
  };
  const ReportOptions plain{.pictures = false};
  const auto labels = [&](const std::vector<std::filesystem::path>& runs) {
    return between(report(runs, plain), "<td class=\"name\"><i class=\"swatch c", "</td>");
  };
  const auto swept = labels({made("sigma=.2,top=1-seed1", 1, "0.2"), made("sigma=.2,top=1-seed2", 2, "0.2"),
                             made("sigma=.3,top=1-seed10", 10, "0.3"), made("sigma=.3,top=1-seed11", 11, "0.3"),
                             made("sigma=.4,top=1-seed1", 1, "0.4")});
  CHECK(swept == std::vector<std::string>{"0\"></i>sigma=.2,top=1", "1\"></i>sigma=.3,top=1", "2\"></i>sigma=.4,top=1-seed1"});
  // Beginnings that would tell nothing apart.
  const auto numbered = labels({made("run1", 1, "0.5"), made("run2", 2, "0.5"), made("run3", 1, "0.6"), made("run4", 2, "0.6")});
  CHECK(numbered == std::vector<std::string>{"0\"></i>run1 and 1 more", "1\"></i>run3 and 1 more"});
}

TEST_CASE("after one iteration the population's mean is seen") {
  const TemporaryFolder folder;
  const auto run = folder.path() / "a";
  make_run(run, 4);
  const std::string metrics = read_file(run / "metrics.csv");
  std::size_t end = 0;  // of the rows up to iteration 1
  while (!metrics.substr(end).starts_with("2,")) end = metrics.find('\n', end) + 1;
  write_file_atomic(run / "metrics.csv", metrics.substr(0, end));
  const std::string html = report({run}, {.pictures = false});
  check_well_formed(html);
  CHECK(count(html, "<circle class=\"dot c0\"") == 2);  // wide and narrow
}
