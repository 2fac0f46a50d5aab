#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "../core/temporary_folder.hpp"
import iap.core;
import iap.envs;
import iap.policy;
import iap.report;
import iap.train;
#include "pages.hpp"
#include "small_runs.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("ranges of scores hold as many patches as they say") {
  const TemporaryFolder folder;
  // Noise in every pixel of every frame, so that no two patches have the same score.
  Config env = small_env();
  set_path(env, "distraction", R"({"noise": {"std": 0.1, "dynamic": true}})");
  make_run(folder.path() / "run", 4, small_policy(), env);
  const std::string html = report({folder.path() / "run"});
  const auto patches = [&](const std::string& range) {
    const auto found = between(html, range + "</b><span>", " patches");
    REQUIRE(found.size() == 1);
    std::string digits = found[0];
    std::erase_if(digits, [](unsigned char c) { return c < '0' || c > '9'; });
    return std::stoi(digits);
  };
  // Of 2 episodes of 12 frames of 48 patches, 1152: 0.04, 0.96 - 0.94, 0.55 - 0.45 and 0.05 of them.
  CHECK(patches("highest 4%") == 46);
  CHECK(patches("around the top 5%") == 23);
  CHECK(patches("the middle") == 116);
  CHECK(patches("lowest 5%") == 58);
}

TEST_CASE("of an episode of more than 32 steps every other one has its scores in the histogram") {
  const TemporaryFolder folder;
  Config env = small_env();
  env["time_limit"] = 80;
  make_run(folder.path() / "run", 4, small_policy(), env);
  int counted = 0;
  for (const auto& bar : between(report({folder.path() / "run"}, {.episodes = 1}), "<rect class=\"bar\"", " patch"))
    counted += std::stoi(bar.substr(bar.rfind(": ") + 2));
  CHECK(counted == 2 * 40 / 2 * 48);  // drawn for two widths
}

TEST_CASE("scores of both signs that span orders of magnitude spread over their histogram") {
  const TemporaryFolder folder;
  const auto run = folder.path() / "run";
  make_run(run, 4, small_policy("hybrid"));
  // Longer queries and keys, whose features grow exponentially.
  PolicyFile file = open_policy(run);
  std::vector<float> parameters(file.policy.parameters().begin(), file.policy.parameters().end());
  for (float& value : parameters) value *= 16;
  file.policy.set_parameters(parameters);
  write_policy_file(run / "best.iap", file.policy, file.metadata);
  const std::string html = report({run});
  CHECK(html.find("score of a patch (logarithmic; linear from -") != std::string::npos);
  // Drawn for two widths, each bar counts patches of 24 frames of 48; one of their ends has an exponent of its own.
  int counted = 0, most = 0;
  for (const auto& bar : between(html, "<rect class=\"bar\"", " patch")) {
    const int count = std::stoi(bar.substr(bar.rfind(": ") + 2));
    counted += count;
    most = std::max(most, count);
  }
  CHECK(counted == 2 * 24 * 48);
  CHECK(most < 24 * 48 / 2);
  // Ticks stand as far from 0 as from each other, and leave no room for another before the plot's ends.
  for (const auto& drawing : between(html, "aria-label=\"Histogram of patch scores\">", "</svg>")) {
    std::vector<double> ticks;
    for (const std::string& label : between(drawing, "<text x=\"", "</text>"))
      if (label.find("middle") != std::string::npos) ticks.push_back(std::stod(label));
    REQUIRE(ticks.size() >= 3);
    const double apart = ticks[1] - ticks[0];
    for (std::size_t i = 1; i < ticks.size(); ++i) CHECK(std::abs(ticks[i] - ticks[i - 1] - apart) < 0.3);
    const std::string axis = between(drawing, "<path class=\"axis\" d=\"M", "\"").at(0);
    CHECK(ticks.front() - std::stod(axis) < apart);
    CHECK(std::stod(axis.substr(axis.find('H') + 1)) - ticks.back() < apart);
  }
  for (const char* range : {"highest 4%", "lowest 5%"}) {
    const auto scores = between(html, text(range, "</b><span>"), "</span>");
    REQUIRE(scores.size() == 1);
    INFO(scores[0]);
    CHECK(scores[0].find('(') == std::string::npos);
    CHECK(scores[0].find(" × 10") != std::string::npos);
    CHECK(scores[0].find("0.00") == std::string::npos);
  }
  // What is positive has the axis that it had.
  make_run(folder.path() / "positive", 4, small_policy("exp"));
  CHECK(report({folder.path() / "positive"}).find("linear from") == std::string::npos);
}

TEST_CASE("the highest scores have their colour in the histogram, though all of them are the end of its axis") {
  const TemporaryFolder folder;
  const Config policy = parse_json(R"({"kind": "sequence", "blocks": [
      {"kind": "clock"}, {"kind": "look", "patch": 4, "stride": 4, "d": 3, "temperature": 1e-6}, {"kind": "linear"}]})",
                                   "test");
  make_run(folder.path() / "run", 4, policy);
  const std::string html = report({folder.path() / "run"}, {.episodes = 1});
  REQUIRE_THAT(html, ContainsSubstring(" patches, scores 1.00 to 1.00</span>"));
  const auto drawings = between(html, "aria-label=\"Histogram of patch scores\">", "</svg>");
  REQUIRE(drawings.size() == 2);
  for (const std::string& drawing : drawings) {
    const auto bars = between(drawing, "<rect class=\"bar c0\" x=\"", "</title>");
    REQUIRE(bars.size() == 1);
    CHECK(std::stod(between(bars[0], "width=\"", "\"").at(0)) >= 2.9);
  }
}

TEST_CASE("the film of a page is played again by the seed that stands below it") {
  const TemporaryFolder folder;
  const auto run = folder.path() / "one run";
  make_run(run, 4);
  const std::string html = report({run}, {.episodes = 1, .seed = 6});
  const auto command = between(html, "<code>iap play ", "</code>");
  REQUIRE(command.size() == 1);
  CHECK(command[0].starts_with("&#39;" + run.string() + "&#39; --seed "));
  const std::uint64_t seed = std::stoull(command[0].substr(command[0].rfind(' ') + 1));
  CHECK_THAT(html, ContainsSubstring(text("Its own seed is ", seed, ":")));
  PolicyFile file = open_policy(run);
  const StripInfo played =
      write_strip(folder.path() / "strip.png", file.policy, *recorded_env(file.metadata), {.seed = seed, .frames = 1});
  const auto told = between(html, "All of an episode of return ", ", in real time");
  REQUIRE(told.size() == 1);
  CHECK(std::abs(std::stod(told[0]) / played.episode.total - 1) < 0.005);
  CHECK(told[0].ends_with(text(", ", played.episode.steps, " steps")));
}

TEST_CASE("a page says at which pace a film shows steps that are too long for real time") {
  const TemporaryFolder folder;
  Config env = small_env();
  for (const auto& [key, value] : Config::Map{{"name", "reacher-easy"}, {"action_repeat", 1000}, {"time_limit", 20}})
    env[key] = value;
  make_run(folder.path() / "slow", 4, small_policy(), env);
  const std::string html = report({folder.path() / "slow"}, {.episodes = 1});
  CHECK_THAT(html, ContainsSubstring(" step, at 2 times the real speed. Its own seed is "));
  CHECK_THAT(html, !ContainsSubstring("in real time"));
}

TEST_CASE("a page names the blocks whose scores it shows where others look at the same image") {
  const TemporaryFolder folder;
  const auto heading = [&](const Config& policy) {
    const auto run = folder.path() / std::to_string(policy.find("blocks")->list()->front().find("heads") != nullptr);
    make_run(run, 4, policy);
    const auto found = between(report({run}, {.episodes = 1}), "<h3>Scores of all patches", "</h3>");
    REQUIRE(found.size() == 1);
    return found[0];
  };
  Config heads = small_policy();
  set_path(heads, "blocks.1.heads", "2");
  CHECK(heading(heads) == " by <code>1.rank.head_1</code>");
  CHECK(heading(small_policy()).empty());
}

TEST_CASE("a page says of one fresh episode that it is one") {
  const TemporaryFolder folder;
  const auto run = folder.path() / "run";
  make_run(run, 4);
  const auto page = [&](const char* episodes) {
    Config summary = parse_json(read_file(run / "result.json"), "result.json");
    set_path(summary, "confirmed.episodes", episodes);
    write_file_atomic(run / "result.json", to_json(summary));
    return report({run}, {.pictures = false});
  };
  CHECK_THAT(page("8"), ContainsSubstring("on 8 fresh episodes<") && ContainsSubstring("On 8 episodes that no choice"));
  CHECK_THAT(page("1"), ContainsSubstring("on 1 fresh episode<") && ContainsSubstring("On 1 episode that no choice"));
}

TEST_CASE("a page ends with the command that makes it again") {
  const TemporaryFolder folder;
  const auto run = folder.path() / "a";
  make_run(run, 1);
  const auto command = [&](const ReportOptions& options) {
    const std::string made = between(report({run}, options), "Made by <code>iap report ", "</code>").at(0);
    return made.substr(std::min(made.find(" --"), made.size()));
  };
  CHECK(command({.episodes = 1, .seed = 7}) == " --episodes 1 --seed 7");
  CHECK(command({.policy = PolicyChoice::final, .pictures = false, .seed = 7}) == " --policy final --no-pictures");
  CHECK(command({}) == "");
}

TEST_CASE("a page that is made again shows the policy of that time, though its file is as large as the one before") {
  const TemporaryFolder folder;
  const auto run = folder.path() / "run", best = run / "best.iap";
  make_run(run, 4);
  const ReportOptions options{.episodes = 1, .memory = std::make_shared<ReportMemory>()};
  const std::string before = report({run}, options);
  CHECK(report({run}, options) == before);
  const auto size = std::filesystem::file_size(best);
  PolicyFile file = read_policy_file(best);
  std::vector<float> parameters(file.policy.parameters().begin(), file.policy.parameters().end());
  for (float& parameter : parameters) parameter = -parameter;
  file.policy.set_parameters(parameters);
  write_policy_file(best, file.policy, file.metadata);
  REQUIRE(std::filesystem::file_size(best) == size);
  const std::string anew = report({run}, {.episodes = 1});
  CHECK(anew != before);
  CHECK(report({run}, options) == anew);
  // Where the last policy is the best one, too, the page says which of them was asked for.
  std::filesystem::copy_file(best, run / "final.iap", std::filesystem::copy_options::overwrite_existing);
  ReportOptions last = options;
  last.policy = PolicyChoice::final;
  CHECK(report({run}, last) == report({run}, {.policy = PolicyChoice::final, .episodes = 1}));
}
