#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
import iap.core;
import iap.env;
import iap.envs;
import iap.envs.dm_control;
import iap.sim;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

ControlTask& task_of(Env& env) { return dynamic_cast<ControlTask&>(env.unwrapped()); }

const std::vector<std::string> tasks{"ball-in-cup-catch", "cartpole-swingup", "cheetah-run", "reacher-easy", "walker-walk"};

Config with(const std::string& name, const std::string& key, Config value) {
  return Config::Map{{"name", name}, {key, std::move(value)}};
}

}  // namespace

TEST_CASE("an unstable simulation ends the episode and pays nothing") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& name : tasks) {
    for (const double bad : {nan, 1e11}) {
      for (const int repeat : {1, 4}) {
        CAPTURE(name, bad, repeat);
        auto env = make_env(with(name, "action_repeat", repeat)), fresh = make_env(with(name, "action_repeat", repeat));
        const std::vector<float> action(env->spec().action_size, 0.25f);
        env->reset(1);
        env->step(action);
        auto& world = task_of(*env).world();
        (repeat == 1 ? world.qpos() : world.qvel()).back() = bad;
        const auto result = env->step(action);
        CHECK(result.terminated);
        CHECK(result.unstable);
        CHECK_FALSE(result.truncated);
        CHECK(result.reward == 0);
        CHECK_THROWS_MATCHES(env->step(action), Error, MessageMatches(ContainsSubstring("call reset")));
        env->reset(2);
        fresh->reset(2);
        for (int i = 0; i < 20; ++i) {
          const auto a = env->step(action), b = fresh->step(action);
          CHECK(a.reward == b.reward);
          CHECK_FALSE(a.terminated);
        }
        CHECK(std::ranges::equal(env->observe().vector, fresh->observe().vector));
      }
    }
  }
}

TEST_CASE("episodes are truncated after a thousand control steps, whatever the action repeat") {
  const std::map<std::string, double> control_dt{{"ball-in-cup-catch", 0.02},
                                                 {"cartpole-swingup", 0.01},
                                                 {"cheetah-run", 0.01},
                                                 {"reacher-easy", 0.02},
                                                 {"walker-walk", 0.025}};
  for (const auto& name : tasks) {
    for (const int repeat : {1, 3}) {
      auto env = make_env(with(name, "action_repeat", repeat));
      const std::vector<float> action(env->spec().action_size, 0.1f);
      CHECK_THROWS_MATCHES(env->step(action), Error, MessageMatches(ContainsSubstring("call reset")));
      env->reset(1);
      int steps = 0;
      StepResult result;
      while (!result.truncated && !result.terminated && steps < 2000) {
        result = env->step(action);
        ++steps;
      }
      CHECK(steps == (1000 + repeat - 1) / repeat);
      CHECK(steps == env->spec().max_steps);
      CHECK(result.truncated);
      CHECK_FALSE(result.terminated);
      CHECK(std::abs(task_of(*env).world().time() - 1000 * control_dt.at(name)) < 1e-9);
      CHECK_THROWS_AS(env->step(action), Error);
    }
  }
}

TEST_CASE("options choose what is observed") {
  const Config size(Config::List{32, 40});
  const auto observed = [](const Config& config) { return make_env(config)->spec().observation; };
  const double dt = 0.01;
  const ObservationSpec pixels{.images = {{"pixels", {32, 40, 3, PixelType::uint8}}}, .dt = dt};
  auto both = pixels;
  both.vector = 17;
  CHECK(observed(Config::Map{{"name", "cheetah-run"}}) == ObservationSpec{.vector = 17, .dt = dt});
  CHECK(observed(with("cheetah-run", "pixels", size)) == pixels);
  CHECK(observed(Config::Map{{"name", "cheetah-run"}, {"pixels", size}, {"state", true}}) == both);
  CHECK_THROWS_MATCHES(make_env(with("cheetah-run", "state", false)), Error, MessageMatches(ContainsSubstring("show nothing")));
  for (const Config& bad : {Config(Config::List{32}), Config(Config::List{0, 4}), Config(Config::List{4, 16385})})
    CHECK_THROWS_MATCHES(make_env(with("cheetah-run", "pixels", bad)), Error,
                         MessageMatches(ContainsSubstring("'pixels' must be {height, width}")));
}

TEST_CASE("a camera is chosen by index or by name") {
  const Config size(Config::List{24, 24});
  const auto picture = [&](const Config& camera) {
    auto env = make_env(Config::Map{{"name", "cheetah-run"}, {"pixels", size}, {"camera", camera}});
    env->reset(1);
    const auto image = env->observe().images[0];
    return crc32({reinterpret_cast<const char*>(image.bytes()), image.shape.count()});
  };
  CHECK(picture("side") == picture(0));
  CHECK(picture("back") == picture(1));
  CHECK(picture(0) != picture(1));
  CHECK_THROWS_MATCHES(make_env(with("cheetah-run", "camera", "bakc")), Error,
                       MessageMatches(ContainsSubstring("'cheetah-run'") && ContainsSubstring("did you mean 'back'")));
  CHECK_THROWS_MATCHES(make_env(with("cheetah-run", "camera", 2)), Error, MessageMatches(ContainsSubstring("[0, 1]")));
}

TEST_CASE("there is nothing to see before the first reset") {
  CHECK_THROWS_MATCHES(make_env(Config::Map{{"name", "cheetah-run"}})->observe(), Error,
                       MessageMatches(ContainsSubstring("cheetah-run: nothing to see before the first reset")));
}

TEST_CASE("a picture shows the state after the step") {
  // Wide enough for the pole to cover a pixel.
  auto env = make_env(Config::Map{{"name", "cartpole-swingup"}, {"pixels", Config::List{64, 64}}});
  const auto picture = [&] {
    const auto image = env->observe().images[0];
    return crc32({reinterpret_cast<const char*>(image.bytes()), image.shape.count()});
  };
  env->reset(1);
  const auto before = picture();
  auto& world = task_of(*env).world();
  world.qpos()[1] = 0;
  world.forward();
  env->step(std::vector{0.0f});
  CHECK(picture() != before);
  env->reset(1);
  CHECK(picture() == before);
}

TEST_CASE("the state's names say what its values are") {
  for (const auto& row : env_catalog()) {
    const auto env = make_env(Config::Map{{"name", row.name}, {"state", true}});
    INFO(row.name);
    const EnvSpec& spec = env->spec();
    REQUIRE(spec.state_names.size() == static_cast<std::size_t>(spec.observation.vector));
    CHECK(state_names_flaw(spec).empty());
    auto* task = dynamic_cast<ControlTask*>(&env->unwrapped());
    if (!task) continue;
    env->reset(3);
    for (int i = 0; i < 7; ++i) env->step(std::vector<float>(static_cast<std::size_t>(spec.action_size), 0.3F));
    const auto state = env->observe().vector;
    const MujocoWorld& world = task->world();
    const auto expected = [&](const std::string& name) -> std::optional<double> {
      const auto rest = [&](std::string_view begin) -> std::optional<std::string> {
        return name.starts_with(begin) ? std::optional(name.substr(begin.size())) : std::nullopt;
      };
      if (const auto joint = rest("position of ")) return world.qpos()[world.qpos_address(world.id("joint", *joint))];
      if (const auto joint = rest("velocity of ")) return world.qvel()[world.qvel_address(world.id("joint", *joint))];
      if (const auto body = rest("cosine of ")) return world.body_rotation(world.id("body", *body))[0];
      if (const auto body = rest("sine of ")) return world.body_rotation(world.id("body", *body))[2];
      if (const auto body = rest("height of ")) return world.body_position(world.id("body", *body))[2];
      return {};
    };
    int known = 0;
    for (std::size_t i = 0; i < state.size(); ++i)
      if (const auto value = expected(spec.state_names[i])) {
        INFO(spec.state_names[i]);
        CHECK(state[i] == static_cast<float>(*value));
        ++known;
      }
    CHECK(known >= static_cast<int>(state.size()) - 2);  // reacher's two distances to its target
    CHECK(make_env(Config::Map{{"name", row.name}, {"pixels", Config::List{16, 16}}, {"action_repeat", 2}, {"state", true}})
              ->spec()
              .state_names == spec.state_names);
    CHECK(make_env(Config::Map{{"name", row.name}, {"pixels", Config::List{16, 16}}})->spec().state_names.empty());
  }
}
