#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/temporary_folder.hpp"
import iap.core;
import iap.env;
import iap.envs;
import iap.envs.legged;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

std::unique_ptr<Env> make(Config::Map options) {
  options["name"] = "legged";
  return make_env(options);
}

struct Outcome {
  double reward = 0, largest = 0, lean = 0;
  int steps = 0;
  bool fell = false;
};

// A whole episode of at most `steps` steps with one action.
Outcome play(Env& env, const std::vector<float>& action, int steps) {
  Outcome outcome;
  env.reset(4);
  while (outcome.steps < steps && !outcome.fell) {
    const auto result = env.step(action);
    ++outcome.steps;
    outcome.reward += result.reward;
    outcome.largest = std::max(outcome.largest, std::abs(result.reward));
    outcome.fell = result.terminated;
    const auto state = env.observe().vector;
    outcome.lean = std::max({outcome.lean, std::abs(static_cast<double>(state[0])), std::abs(static_cast<double>(state[1]))});
  }
  return outcome;
}

// The same in small, of the same material.
std::string scaled(std::string_view urdf, double factor) {
  const std::string whole(urdf);
  const std::regex attribute(R"re(\b(xyz|size|radius|length|value|i[xyz][xyz])="([^"]*)")re");
  std::string out;
  auto from = whole.begin();
  for (std::sregex_iterator it(whole.begin(), whole.end(), attribute), end; it != end; ++it) {
    const std::string name = (*it)[1];
    const double by = std::pow(factor, name == "value" ? 3 : name.size() == 3 && name[0] == 'i' ? 5 : 1);
    std::istringstream values((*it)[2]);
    out.append(from, whole.begin() + it->position(2));
    for (double value = 0; values >> value;) out += (out.back() == '"' ? "" : " ") + general_text(by * value, 17);
    from = whole.begin() + it->position(2) + it->length(2);
  }
  return out.append(from, whole.end());
}

}  // namespace

TEST_CASE("without an action, robots stand where they were put") {
  for (const char* robot : {"a1", "laikago"})
    for (const char* engine : {"bullet", "mujoco"}) {
      CAPTURE(robot, engine);
      const auto env = make({{"robot", robot}, {"engine", engine}});
      const auto outcome = play(*env, std::vector<float>(12), 1250);
      CHECK(outcome.steps == 1250);
      CHECK(outcome.lean < .2);
      CHECK(std::abs(outcome.reward) < .1);
      CHECK(env->spec().control_dt == .004);
      CHECK(env->spec().state_names[15] == "angle of RL knee");
      CHECK(env->observe().vector.size() == 28);
    }
}

TEST_CASE("small robots stand, the smallest with steps of physics that are as small") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "small.urdf";
  struct Small {
    double thigh, timestep;
    int physics_steps;
  };
  for (const auto& [thigh, timestep, physics_steps] : {Small{.05, .001, 4}, {.03, .001, 4}, {.01, .0001, 40}})
    for (const char* engine : {"bullet", "mujoco"}) {
      CAPTURE(thigh, engine);
      write_file_atomic(file, scaled(legged_urdf("a1"), thigh / .2));
      const auto env =
          make({{"urdf", file.string()}, {"engine", engine}, {"timestep", timestep}, {"physics_steps", physics_steps}});
      const auto outcome = play(*env, std::vector<float>(12), 250);
      CHECK_FALSE(outcome.fell);
      CHECK(outcome.lean < .2);
    }
}

TEST_CASE("no episode begins with a joint beyond its limits") {
  for (const char* engine : {"bullet", "mujoco"}) {
    CAPTURE(engine);
    const auto env = make({{"engine", engine}, {"jitter", 1.}});
    int beyond = 0, limits = 0;
    for (int seed = 0; seed < 40; ++seed) {
      env->reset(static_cast<std::uint64_t>(seed));
      const auto angles = env->observe().vector.subspan(4, 12);
      for (std::size_t i = 2; i < 12; i += 3) {  // knees stand at -1.8 and reach from -2.697 to -.916
        beyond += angles[i] < -2.69701 || angles[i] > -.91599;
        limits += std::abs(angles[i] + .916) < 1e-6;
      }
    }
    CHECK(beyond == 0);
    CHECK(limits > 0);
  }
}

TEST_CASE("no episode begins with a toe in the floor, however far the joints are from their pose") {
  const std::vector<std::pair<Config::Map, std::string>> worlds{
      {{{"name", "legged"}, {"robot", "laikago"}}, "laikago"},
      {{{"name", "a1-obstacle-course"}, {"view", "none"}, {"platform_height", .5}}, "a1"}};
  for (auto [options, robot] : worlds) {
    options.insert({{"jitter", .5}, {"largest_roll", 3.2}, {"largest_pitch", 3.2}, {"physics_steps", 1}, {"timestep", 1e-5}});
    int raised = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      CAPTURE(robot, seed);
      const auto ends_below = [&](double height) {
        options["lowest"] = height;
        const auto env = make_env(options);
        env->reset(seed);
        return env->step(std::vector<float>(env->spec().action_size)).terminated;
      };
      options["lowest"] = 0.;
      const auto env = make_env(options);
      env->reset(seed);
      const auto angles = env->observe().vector.subspan(4, 12);
      const double touching = legged_robot(robot).touching_height({angles.begin(), angles.end()});
      CHECK_FALSE(ends_below(touching - 1e-6));
      raised += ends_below(touching + 1e-6);
    }
    CHECK(raised > 5);
  }
}

TEST_CASE("a robot that folds its legs on one side falls, and that ends the episode") {
  for (const char* engine : {"bullet", "mujoco"}) {
    CAPTURE(engine);
    const auto env = make({{"engine", engine}, {"action_scale", 1.}, {"largest_roll", .25}});
    std::vector<float> action(12);
    for (const int left : {1, 3}) {
      action[3 * left + 1] = 1;
      action[3 * left + 2] = -1;
    }
    const auto outcome = play(*env, action, 1000);
    CHECK(outcome.fell);
    CHECK_THROWS_MATCHES(env->step(action), Error, MessageMatches(ContainsSubstring("call reset")));
  }
}

TEST_CASE("a simulation that goes to pieces ends the episode and pays nothing") {
  // Without limits of their torques, motors that are damped once in 10 ms throw the legs about ever faster.
  std::string urdf(legged_urdf("a1"));
  const std::string effort = "effort=\"";
  for (auto at = urdf.find(effort); at != std::string::npos; at = urdf.find(effort, at + 1))
    urdf.insert(at + effort.size(), "0\" was=\"");
  const TemporaryFolder folder;
  const auto file = folder.path() / "unlimited.urdf";
  write_file_atomic(file, urdf);
  for (const char* engine : {"bullet", "mujoco"}) {
    CAPTURE(engine);
    const auto env = make({{"urdf", file.string()},
                           {"engine", engine},
                           {"timestep", .01},
                           {"largest_roll", 3.2},
                           {"largest_pitch", 3.2},
                           {"lowest", 0.}});
    env->reset(1);
    StepResult result;
    for (int i = 0; i < 20 && !result.unstable; ++i) result = env->step(std::vector<float>(12, 1));
    CHECK(result.unstable);
    CHECK(result.terminated);
    CHECK(result.reward == 0);
  }
}

TEST_CASE("a negative limit of a joint is refused by environment, option, file and joint, whether or not the joint has a range") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "dog.urdf";
  std::string urdf(legged_urdf("a1"));
  const auto write = [&](const std::string& from, const std::string& to) {
    const auto at = urdf.find(from, urdf.find("<joint name=\"FR_hip\""));
    REQUIRE(at != std::string::npos);
    urdf.replace(at, from.size(), to);
    write_file_atomic(file, urdf);
    CHECK_THROWS_MATCHES(make({{"urdf", file.string()}}), Error,
                         Catch::Matchers::Message("environment 'legged': option 'urdf': " + file.string() +
                                                  ": joint 'FR_hip' has a negative limit of effort or velocity"));
  };
  write("effort=\"", "effort=\"-");
  write("type=\"revolute\"", "type=\"continuous\"");
}

TEST_CASE("an episode's reward is the way ahead, clipped at each step") {
  // Standing on a slippery floor the sum is the base's way; with a low top speed no step pays more.
  const auto env = make({{"top_speed", .1}, {"velocities", false}});
  std::vector<float> action(12, 1.f);
  const auto outcome = play(*env, action, 100);
  CHECK(outcome.largest <= .1 * .004 + 1e-12);
  CHECK(outcome.largest > 0);
  CHECK(env->observe().vector.size() == 16);
}

TEST_CASE("a robot from a file travels with the environment's config, bundled ones by their names") {
  const auto folder = std::filesystem::temp_directory_path() / "iap_legged_travels";
  std::filesystem::remove_all(folder);
  make_folder(folder);
  const auto file = folder / "dog.urdf";
  std::string urdf(legged_urdf("a1"));
  const std::string link = "<link name=\"trunk\">";
  REQUIRE(urdf.find(link) != std::string::npos);
  urdf.insert(urdf.find(link) + link.size(),
              "<collision><geometry><mesh filename=\"package://dog/hat.obj\"/></geometry></collision>");
  write_file_atomic(file, urdf);
  write_file_atomic(folder / "hat.obj", "v 0 0 .1\nv .1 0 .1\nv 0 .1 .1\nv 0 0 .2\n");
  const auto spec = make({{"urdf", file.string()}})->spec();
  const Config files = Config::Map{{file.string(), urdf}, {"package://dog/hat.obj", read_file(folder / "hat.obj")}};
  CHECK(*spec.config.find("model_files") == files);
  CHECK(*spec.given.find("model_files") == files);
  const auto total = [](const Config& config) { return play(*make_env(config), std::vector<float>(12, .1F), 20).reward; };
  const double before = total(spec.config);
  // Another robot under the same name is not read, and none is needed.
  write_file_atomic(file, legged_urdf("laikago"));
  CHECK(total(spec.config) == before);
  CHECK(total(spec.given) == before);
  CHECK(total(Config::Map{{"name", "legged"}, {"urdf", file.string()}}) != before);
  std::filesystem::remove_all(folder);
  CHECK(total(parse_json(to_json(spec.config), "test")) == before);
  // A file of before holds the path alone.
  CHECK_THROWS_MATCHES(make({{"urdf", file.string()}}), Error,
                       MessageMatches(ContainsSubstring("option 'urdf'") && ContainsSubstring("dog.urdf")));
  Config lacking = spec.config;
  lacking["model_files"].map()->erase("package://dog/hat.obj");
  CHECK_THROWS_MATCHES(make_env(lacking), Error, MessageMatches(ContainsSubstring("do not hold 'package://dog/hat.obj'")));
  lacking["model_files"]["package://dog/hat.obj"] = 3;
  CHECK_THROWS_MATCHES(make_env(lacking), Error, MessageMatches(ContainsSubstring("'package://dog/hat.obj' is damaged")));
  CHECK_FALSE(make({{"robot", "a1"}})->spec().config.find("model_files"));
}

TEST_CASE("a robot from a file is the robot that the file describes") {
  const auto file = std::filesystem::temp_directory_path() / "iap_legged_test.urdf";
  // Its gains and pose are not the presets', its axes may point either way and its joints have any names.
  std::string backwards(legged_urdf("laikago"));
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"<axis xyz=\"0 1 0\"/>", "<axis xyz=\"0 -1 0\"/>"},
                                 {"lower=\"-1.3\" upper=\"3.4\"", "lower=\"-3.4\" upper=\"1.3\""},
                                 {"lower=\"-2.164\" upper=\"0\"", "lower=\"0\" upper=\"2.164\""},
                                 {"FR_hip\"", "a\""}})
    for (auto at = backwards.find(from); at != std::string::npos; at = backwards.find(from, at + to.size()))
      backwards.replace(at, from.size(), to);
  std::string forwards(legged_urdf("laikago"));
  const std::string bent = "lower=\"-2.164\" upper=\"0\"";
  for (auto at = forwards.find(bent); at != std::string::npos; at = forwards.find(bent, at))
    forwards.replace(at, bent.size(), "lower=\"0\" upper=\"2.164\"");
  for (const std::string& urdf : {std::string(legged_urdf("a1")), std::string(legged_urdf("laikago")), backwards, forwards})
    for (const char* engine : {"bullet", "mujoco"}) {
      write_file_atomic(file, urdf);
      const auto env = make({{"urdf", file.string()}, {"engine", engine}});
      const auto outcome = play(*env, std::vector<float>(12), 1250);
      CAPTURE(engine);
      CHECK_FALSE(outcome.fell);
      CHECK(outcome.lean < .2);
    }
  CHECK_THROWS_MATCHES(make({{"urdf", file.string()}, {"robot", "a1"}}), Error, MessageMatches(ContainsSubstring("give one")));
  std::filesystem::remove(file);
  CHECK_THROWS_MATCHES(make({{"urdf", file.string()}}), Error, MessageMatches(ContainsSubstring("iap_legged_test.urdf")));
  CHECK_THROWS_MATCHES(make({{"robot", "a2"}}), Error, MessageMatches(ContainsSubstring("did you mean 'a1'")));
  CHECK_THROWS_MATCHES(make({{"engine", "mujocco"}}), Error, MessageMatches(ContainsSubstring("did you mean 'mujoco'")));
}
