#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "../core/temporary_folder.hpp"
import iap.core;
import iap.env;
import iap.envs;
import iap.policy;
import iap.render;
import iap.report;
import iap.train;
#include "small_runs.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

Policy built(const Config& architecture, const Config& env, std::uint64_t seed = 0) {
  const auto made = make_env(env);
  Policy policy(architecture, made->spec().observation, made->spec().action_size);
  policy.initialise(seed);
  return policy;
}

Config json(const char* text) { return parse_json(text, "test"); }

const Config state_env = json(R"({"name": "cheetah-run", "time_limit": 80, "action_repeat": 4})");
const Config state_policy = json(R"({"kind": "sequence", "blocks": [{"kind": "observation"}, {"kind": "rnn", "units": 3},
  {"kind": "linear", "activation": "tanh"}]})");

}  // namespace

TEST_CASE("the observation explains all of the state, and what leaves most of it out does not") {
  const ProbeResult result = probe(built(state_policy, state_env), state_env,
                                   {.blocks = {"1.observation", "2.rnn"}, .episodes = 8, .random_actions = true});
  REQUIRE(result.variables.size() == 17);
  CHECK(result.variables.front() == "position of rootz");
  CHECK(result.variables.back() == "velocity of ffoot");
  REQUIRE(result.blocks.size() == 2);
  CHECK(result.blocks[0].outputs == 17);
  CHECK(result.blocks[0].kind == "observation");
  for (const double r2 : result.blocks[0].r2) CHECK(r2 > 0.9999);
  CHECK(result.blocks[0].mean > 0.9999);
  CHECK(result.blocks[1].outputs == 3);
  CHECK(result.blocks[1].mean < 0.6);
  CHECK(result.fitted_episodes == 5);
  CHECK(result.tested_episodes == 3);
  CHECK(result.fitted_rows == 5 * 20);
  CHECK(result.tested_rows == 3 * 20);
}

TEST_CASE("a probed policy that sees pixels acts as it does in an evaluation") {
  const Config env = small_env();
  const Policy policy = built(small_policy(), env, 3);
  const ProbeResult result = probe(policy, env, {.episodes = 5, .seed = 7});
  const Evaluation evaluation = evaluate(policy, env, 5, 7, 2);
  for (std::size_t e = 0; e < 5; ++e) CHECK(result.returns[e] == evaluation.episodes[e].total);
  CHECK(result.blocks.size() == 1);
  CHECK(result.blocks[0].path == "1.rank");
  CHECK(result.variables == std::vector<std::string>{"position of slider", "cosine of pole_1", "sine of pole_1",
                                                     "velocity of slider", "velocity of hinge_1"});
  const ProbeResult random = probe(policy, env, {.episodes = 5, .seed = 7, .random_actions = true});
  CHECK(random.returns != result.returns);
}

TEST_CASE("random actions do not depend on the policy, and a probe not on the number of threads") {
  const Config env = small_env();
  const auto run = [&](std::uint64_t weights, int threads, bool random) {
    return probe(built(small_policy(), env, weights), env,
                 {.blocks = {"1.rank", "2.linear"}, .episodes = 4, .steps = 9, .random_actions = random, .threads = threads});
  };
  CHECK(run(1, 1, true).returns == run(2, 1, true).returns);
  CHECK(run(1, 1, false).returns != run(2, 1, false).returns);
  const ProbeResult one = run(1, 1, false), three = run(1, 3, false);
  CHECK(probe_csv(one) == probe_csv(three));
  CHECK(one.returns == three.returns);
  CHECK(one.fitted_rows == 3 * 9);
}

TEST_CASE("without attention every block that holds no other is probed") {
  const ProbeResult result = probe(built(state_policy, state_env), state_env, {.episodes = 3, .steps = 5});
  REQUIRE(result.blocks.size() == 3);
  CHECK(result.blocks[2].path == "3.linear");
}

TEST_CASE("a name of any length fills up no other row of a table to it") {
  const std::string longest(100'000, 'x');
  const ProbeResult result{.variables = {longest, "b"}, .blocks = {{"1.rank", "rank", 1, {0, 0}, {1, 1}, 0}}, .returns = {}};
  const std::string table = probe_table(result);
  CHECK(table.find("\n" + longest + "  ") != std::string::npos);
  CHECK(table.size() < longest.size() + 2000);
}

TEST_CASE("names in letters of several bytes keep a table's columns apart") {
  const ProbeResult result{
      .variables = {"h\u00f6he", "\u03b1"}, .blocks = {{"1.\u00fc", "rank", 1, {0, 1}, {1, 1}, 0.5}}, .returns = {}};
  CHECK(probe_table(result) == "state  1.\u00fc (1)\nh\u00f6he      0.00\n\u03b1         1.00\nmean      0.50\n");
}

TEST_CASE("a table, a row for each variable, and a file hold what was measured") {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const ProbeResult result{.variables = {"a", "speed of b", "c"},
                           .blocks = {{"1.rank", "rank", 20, {0.25, -3, none}, {1, 10, none}, 0.125},
                                      {"2.lstm", "lstm", 4, {0.996, 0.5, none}, {0.01, 1e6, none}, 0.748}},
                           .fitted_episodes = 2,
                           .tested_episodes = 1,
                           .returns = {}};
  CHECK(probe_table(result) ==
        "state       1.rank (20)  2.lstm (4)\n"
        "a                  0.25        1.00\n"
        "speed of b         0.00        0.50\n"
        "c                     -           -\n"
        "mean               0.12        0.75\n");
  CHECK(probe_csv(result) ==
        "block,outputs,state,r2,ridge\n1.rank,20,a,0.25,1\n1.rank,20,speed of b,-3,10\n1.rank,20,c,,\n"
        "2.lstm,4,a,0.996,0.01\n2.lstm,4,speed of b,0.5,1000000\n2.lstm,4,c,,\n");
  // The chart's bars: as many pixels of a colour as the values say, negative ones and those that are missing left out.
  const TemporaryFolder folder;
  write_probe_chart(folder.path() / "chart.png", result, "t");
  const Image chart = read_png(folder.path() / "chart.png");
  const int width = chart.shape().width;
  const auto longest = [&](int red, int green, int blue) {
    std::vector<int> runs;
    for (int y = 80; y < chart.shape().height; ++y) {
      int run = 0;
      for (int x = 0; x < width; ++x) {
        const auto* p = chart.bytes().data() + 3 * (static_cast<std::size_t>(y) * width + x);
        run += p[0] == red && p[1] == green && p[2] == blue;
      }
      if (run > 0 && (runs.empty() || runs.back() != run)) runs.push_back(run);
    }
    return runs;
  };
  const auto first = longest(0, 114, 178), second = longest(213, 94, 0);
  REQUIRE(first.size() == 1);
  REQUIRE(second.size() == 2);
  CHECK(std::abs(first[0] / double(second[0]) - 0.25 / 0.996) < 0.01);
  CHECK(std::abs(second[1] / double(second[0]) - 0.5 / 0.996) < 0.01);
}

TEST_CASE("what cannot be probed is one clear message") {
  const Config env = small_env();
  const Policy policy = built(small_policy(), env);
  const auto refuses = [](const Policy& probed, const Config& world, const ProbeOptions& options, const std::string& why) {
    CHECK_THROWS_MATCHES(probe(probed, world, options), Error, MessageMatches(ContainsSubstring(why)));
  };
  refuses(policy, env, {.blocks = {"1.rnk"}}, "policy: there is no block '1.rnk'; did you mean '1.rank'?");
  refuses(policy, env, {.blocks = {"1.rank", "1.rank"}}, "block '1.rank' is named twice");
  refuses(policy, env, {.episodes = 2}, "2 episodes are too few to fit on two thirds and test on the rest; play at least 3");
  refuses(policy, env, {.episodes = 1}, "1 episode is too few");
  refuses(policy, env, {.episodes = 3, .steps = -1}, "must not be negative, got -1");
  refuses(policy, json(R"({"name": "cartpole-swingup", "pixels": [24, 40]})"), {.episodes = 3},
          "gives another observation than the policy was built for: the image 'pixels' of 24 x 40 x 3 uint8 instead of ");
  const Policy wide =
      built(json(R"({"kind": "sequence", "blocks": [{"kind": "linear", "units": 2049}, {"kind": "linear"}]})"), state_env);
  refuses(wide, state_env, {.blocks = {"1.linear"}}, "block '1.linear' hands over 2049 values, at most 2048 can be fitted");
  // What overflows is named even where nothing behind it does.
  Policy overflows = built(json(R"({"kind": "sequence", "blocks": [{"kind": "linear", "units": 2}, {"kind": "observation"},
    {"kind": "linear", "activation": "tanh"}]})"),
                           state_env);
  std::vector<float> parameters(overflows.parameters().begin(), overflows.parameters().end());
  std::fill_n(parameters.begin(), overflows.layout().slices().front().size, 3e38f);
  overflows.set_parameters(parameters);
  refuses(overflows, state_env, {.episodes = 3, .random_actions = true}, "block '1.linear': output 1 is ");
  CHECK(probe(overflows, state_env, {.blocks = {"3.linear"}, .episodes = 3}).blocks.size() == 1);
}

TEST_CASE("a report speaks of single frames where nothing but frames is seen") {
  const TemporaryFolder folder;
  const Config state = parse_json(R"({"name": "cartpole-swingup", "action_repeat": 2, "time_limit": 24})", "test");
  make_run(folder.path() / "state", 4, parse_json(R"({"kind": "sequence", "blocks": [{"kind": "linear"}]})", "test"), state);
  make_run(folder.path() / "frames", 4);
  Config both = small_env();
  both["state"] = true;
  make_run(folder.path() / "both", 4, small_policy(), both);
  for (const char* run : {"state", "frames", "both"}) {
    INFO(run);
    write_report(std::vector{folder.path() / run}, folder.path() / "report.html", {.episodes = 4});
    const std::string html = read_file(folder.path() / "report.html");
    CHECK_THAT(html, ContainsSubstring("What it knows of the state") && ContainsSubstring("0: no more than its mean."));
    CHECK((html.find("No single frame shows a velocity") != std::string::npos) == (run == std::string("frames")));
  }
}

TEST_CASE("a report says what the policy knows of the state, or why that is not said") {
  const TemporaryFolder folder;
  make_run(folder.path() / "run", 4);
  const auto page = [&](int episodes) {
    write_report(std::vector<std::filesystem::path>{folder.path() / "run"}, folder.path() / "report.html", {.episodes = episodes});
    return read_file(folder.path() / "report.html");
  };
  const std::string html = page(4);
  CHECK_THAT(html, ContainsSubstring("What it knows of the state") &&
                       ContainsSubstring("<td class=\"name\">cosine of pole_1</td>") &&
                       ContainsSubstring("3 episodes and 36 decisions fitted, 1 and 12 tested"));
  CHECK_THAT(page(2), ContainsSubstring("Not measured: probe: 2 episodes are too few"));
  // The figures are those of the probe.
  const PolicyFile file = read_policy_file(folder.path() / "run" / "best.iap");
  const ProbeResult result = probe(file.policy, small_env(), {.episodes = 4});
  std::size_t at = 0;
  for (const double r2 : result.blocks[0].r2) {
    const std::string shown = std::isnan(r2) ? "readout\">–" : "readout c0\"><div>" + fixed_text(std::max(r2, 0.0), 2);
    at = html.find(shown, at);
    INFO(shown);
    REQUIRE(at != std::string::npos);
  }
}
