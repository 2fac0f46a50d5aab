// What the environments on FootholdEnv share.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>
import iap.core;
import iap.env;
import iap.envs;
import iap.envs.legged;
import iap.sim;
#include "foothold_chooser.hpp"

using namespace iap;

TEST_CASE("bad options of foothold environments name themselves") {
  struct Row {
    const char* env;
    Config::Map options;
    const char* message;
  };
  const std::vector<Row> rows{{"laikago-stairs", {{"least_depth", .3}, {"most_depth", .2}}, "'most_depth'"},
                              {"laikago-stairs", {{"least_rise", .3}, {"most_rise", .2}}, "'most_rise'"},
                              {"laikago-stairs", {{"steps", 0}}, "'steps'"},
                              {"laikago-stairs", {{"stepps", 3}}, "did you mean 'steps'"},
                              {"laikago-grid", {{"stone", 0}}, "'stone'"},
                              {"laikago-grid", {{"least_gap", .2}, {"most_gap", .1}}, "'most_gap'"},
                              {"laikago-grid", {{"rotation", 2}}, "'rotation'"},
                              {"laikago-stepstones", {{"least_gap", .3}}, "'most_gap'"},
                              {"laikago-stepstones", {{"behind", 1.5}}, "least_start = 0.75 m that begins behind = 1.5 m behind"},
                              {"laikago-grid", {{"behind", .75}}, "least_start = 0.75 m that begins behind = 0.75 m behind"},
                              {"laikago-stairs", {{"least_start", .3}}, "least_start = 0.3 m that begins behind = 0.45 m behind"},
                              {"laikago-stepstones", {{"gait", "gallop"}}, "gallop"},
                              {"laikago-stepstones", {{"swing_peak", .9}}, "'swing_peak'"},
                              {"laikago-stepstones", {{"depth_near", .5}, {"depth_far", .4}}, "'depth_far'"},
                              {"laikago-stepstones", {{"depth", false}, {"state", false}}, "leave out"},
                              {"laikago-stepstones", {{"reward", "gold"}}, "gold"}};
  for (Row row : rows) {
    CAPTURE(row.env, row.message);
    row.options["name"] = row.env;
    CHECK_THROWS_WITH(make_env(row.options), Catch::Matchers::ContainsSubstring(row.message));
  }
}

TEST_CASE("a depth camera without the robot sees the ground under its legs, and no further than it may") {
  const auto look = [](bool body) {
    const auto env = make_env(Config::Map{{"name", "laikago-stepstones"}, {"body", body}, {"depth_far", .8}});
    env->reset(3);
    std::vector<float> both;
    for (const auto& image : env->observe().images) both.insert(both.end(), image.floats(), image.floats() + image.shape.count());
    return both;
  };
  const auto with = look(true), without = look(false);
  REQUIRE(with.size() == 2 * 24 * 32);
  int nearer = 0;
  for (std::size_t i = 0; i < with.size(); ++i) {
    CHECK(with[i] <= without[i]);
    CHECK(without[i] <= .8f);
    nearer += with[i] < without[i];
  }
  CHECK(nearer > 20);
  CHECK(std::ranges::max(without) == .8f);
  // Nothing but the start and the floor beside it is below: without the robot nothing is nearer than the start.
  CHECK(std::ranges::min(without) > .3f);
  CHECK(std::ranges::min(with) < .25f);
}

TEST_CASE("the reward counts what has been crossed, or measures the way") {
  const Config::Map easy{{"name", "laikago-stepstones"}, {"least_gap", 0.}, {"most_gap", 0.}, {"depth", false}, {"cap", 1.}};
  Config::Map counting = easy;
  counting["reward"] = "crossed";
  const auto way = make_env(easy), crossed = make_env(counting);
  const std::vector<float> trot(22);
  double length = 0, count = 0;
  way->reset(1);
  crossed->reset(1);
  for (int i = 0; i < 150; ++i) {
    length += way->step(trot).reward;
    count += crossed->step(trot).reward;
  }
  const auto& world = dynamic_cast<FootholdEnv&>(crossed->unwrapped()).world();
  const double x = world.state().position[0];
  CHECK(std::abs(length - x) < 1e-9);
  int truth = 0;
  for (std::size_t i = 2; i < world.terrain().boxes.size(); ++i) {
    const auto& box = world.terrain().boxes[i];
    truth += x - .26 > box.placement.position[0] - box.half[0];
  }
  CHECK(truth >= 2);
  CHECK(count == truth);
  // Another episode pays anew.
  double again = 0;
  crossed->reset(1);
  for (int i = 0; i < 150 && again == 0; ++i) again += crossed->step(trot).reward;
  CHECK(again == 1);
}

TEST_CASE("a walk that was left in the midst of a swing leaves the next episode nothing") {
  const Config::Map options{{"name", "laikago-stepstones"}, {"depth", false}, {"gait", "walk"}, {"stones", 0}};
  const std::vector<float> ahead(22);
  const auto trace = [&ahead](Env& env) {
    std::vector<float> all;
    env.reset(2);
    for (int i = 0; i < 2; ++i) {
      env.step(ahead);
      const auto state = env.observe().vector;
      all.insert(all.end(), state.begin(), state.end());
    }
    return all;
  };
  const auto fresh = make_env(options), used = make_env(options);
  const auto truth = trace(*fresh);
  for (int steps = 1; steps < 4; ++steps) {
    used->reset(1);
    for (int i = 0; i < steps; ++i)
      if (used->step(ahead).terminated) break;
    CAPTURE(steps);
    CHECK(trace(*used) == truth);
  }
}

TEST_CASE("the ground's friction is an option of foothold environments") {
  const auto way = [](double friction) {
    const auto env = make_env(Config::Map{{"name", "laikago-stepstones"},
                                          {"depth", false},
                                          {"stones", 0},
                                          {"friction", friction},
                                          {"largest_roll", 3.},
                                          {"largest_pitch", 3.},
                                          {"lowest", -1.}});
    double sum = 0;
    env->reset(1);
    for (int i = 0; i < 20; ++i) {
      const auto result = env->step(std::vector<float>(22));
      sum += result.reward;
      if (result.terminated) break;
    }
    return sum;
  };
  CHECK(way(0) != way(1));
}

TEST_CASE("foothold environments give the same bits on two threads as on one") {
  const auto play = [](std::vector<double>& trace) {
    for (const char* name : {"laikago-stepstones", "laikago-grid", "laikago-stairs"}) {
      const auto env = make_env(Config::Map{{"name", name}});
      env->reset(5);
      std::vector<float> action(22);
      for (int i = 0; i < 12; ++i) {
        for (std::size_t k = 0; k < action.size(); ++k)
          action[k] = static_cast<float>(std::sin(i + 3. * static_cast<double>(k))) / 4;
        trace.push_back(env->step(action).reward);
        const auto seen = env->observe();
        for (const float value : seen.vector) trace.push_back(value);
        for (const auto& image : seen.images) trace.insert(trace.end(), image.floats(), image.floats() + image.shape.count());
      }
    }
  };
  std::vector<double> alone, first, second;
  play(alone);
  std::thread other([&] { play(second); });
  play(first);
  other.join();
  REQUIRE(alone.size() > 3 * 12 * 1600);
  CHECK(first == alone);
  CHECK(second == alone);
}

TEST_CASE("toes and gait are told as the last control step began with them, the missing velocity along the base's own axes") {
  const auto env = make_env(Config::Map{{"name", "laikago-stepstones"},
                                        {"depth", false},
                                        {"stones", 0},
                                        {"decision_steps", 1},
                                        {"pitch", .6},
                                        {"angle_noise", 0.},
                                        {"rate_noise", 0.}});
  auto& course = dynamic_cast<FootholdEnv&>(env->unwrapped());
  const auto& names = env->spec().state_names;
  const auto at = [&](const std::string& name) {
    const auto found = std::ranges::find(names, name);
    REQUIRE(found != names.end());
    return static_cast<double>(env->observe().vector[found - names.begin()]);
  };
  // A toe's centre in the base's frame, by the engine.
  const auto toe = [&](const std::string& link, int axis) {
    const RobotWorld& world = course.world();
    const auto& links = world.robot().links;
    const auto number = static_cast<int>(std::ranges::find(links, link, &RobotLink::name) - links.begin());
    const auto base = world.base_rotation();
    const auto place = world.link_placement(number).position;
    double sum = 0;
    for (int i = 0; i < 3; ++i) sum += base[3 * i + axis] * (place[i] - world.state().position[i]);
    return sum;
  };
  env->reset(1);
  std::vector<float> lean(22);
  lean.back() = 1;
  double moved = 0;
  for (int i = 0; i < 100; ++i) {
    const double before = toe("FR_toe", 0);
    REQUIRE_FALSE(env->step(lean).terminated);
    CAPTURE(i);
    CHECK(std::abs(at("toe of FR x") - before) < 1e-6);
    moved = std::max(moved, std::abs(toe("FR_toe", 0) - before));
    // The command is .3 m/s ahead.
    CHECK(std::abs(at("Raibert velocity x") - (.3 - at("forward speed"))) < 1e-6);
    CHECK(std::abs(at("forward speed") - course.world().velocity_in_base()[0]) < 1e-6);
  }
  CHECK(at("pitch") > .2);
  CHECK(moved > .005);
}

// The row "privileged" of docs/robots.md: test_envs "[figures]"
TEST_CASE("how far a policy comes that knows the ground", "[.][figures]") {
  struct Row {
    const char* env;
    double margin, ahead;
    float clearance, height;
  };
  for (const Row& row :
       {Row{"laikago-stepstones", .06, 0, -1, 0}, Row{"laikago-grid", .04, 0, 0, 0}, Row{"laikago-stairs", .04, .06, 0, .6f}}) {
    constexpr int seeds = 20;
    double way = 0, crossed = 0;
    int lasted = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const auto made = make_env(Config::Map{{"name", row.env}, {"depth", false}, {"reward", "crossed"}});
      auto& env = dynamic_cast<FootholdEnv&>(made->unwrapped());
      FootholdChooser choose(row.margin, row.clearance, row.ahead);
      std::vector<float> action(22);
      bool over = false;
      env.reset(seed);
      for (int i = 0; i < 600 && !over; ++i) {
        choose(env, action);
        action[19] = row.height;
        const auto result = env.step(action);
        crossed += result.reward / seeds;
        over = result.terminated;
      }
      way += env.world().state().position[0] / seeds;
      lasted += !over;
    }
    WARN(row.env << ": " << way << " m, " << crossed << " left behind, " << lasted << " of " << seeds << " lasted");
    CHECK(way > 1);
  }
}
