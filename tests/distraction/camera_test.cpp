// The moved camera in a world: which of the model's cameras travel, and models that it cannot be used with.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>
import iap.core;
import iap.env;
import iap.envs;
import iap.envs.distraction;
import iap.sim;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

const char* const unmoved =
    R"({"camera": {"horizontal_delta": 0, "vertical_delta": 0, "roll_delta": 0, "zoom_in": 0, "zoom_out": 0}})";
const char* const displaced = R"({"camera": {"horizontal_delta": 0.4, "vertical_delta": 0.3, "zoom_out": 0.5}})";

MujocoWorld make_world(const std::string& xml) {
  const std::vector<MujocoFile> files{{"test.xml", xml}};
  return MujocoWorld(files);
}

Distraction distract(MujocoWorld& world, const char* config) {
  return Distraction(parse_json(config, "test"), "test", "own", world, 0, 8, 8);
}

/// An agent and a carriage on rails, and one camera.
struct Rails {
  Rails(std::string_view place, const std::string& camera) : world(make_world(model(place, camera))) { move(0, 0); }

  static std::string model(std::string_view place, const std::string& camera) {
    const auto at = [&](std::string_view here) { return here == place ? "<camera " + camera + " xyaxes='1 0 0 0 1 2'/>" : ""; };
    return "<mujoco><worldbody>" + at("world") +
           "<body name='agent' pos='0 0 .5'><joint type='slide' axis='1 0 0'/><geom size='.1'/>" + at("agent") +
           "<body pos='.2 0 .1'><geom size='.05'/></body></body>"
           "<body name='carriage' pos='0 -3 1'><joint type='slide' axis='1 0 0'/><geom size='.1'/>" +
           at("carriage") + "</body></worldbody></mujoco>";
  }

  void move(double agent, double carriage) {
    world.qpos()[0] = agent;
    world.qpos()[1] = carriage;
    world.forward();
  }

  std::vector<double> pose() {
    std::vector<double> values(12);
    std::ranges::copy(world.camera_position(0), values.begin());
    std::ranges::copy(world.camera_rotation(0), values.begin() + 3);
    return values;
  }

  MujocoWorld world;
};

double difference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  return worst;
}

}  // namespace

TEST_CASE("a camera whose numbers are all 0 is where the model's is, of whatever mode") {
  struct Case {
    const char *place, *camera;
  };
  for (const auto& [place, camera] :
       {Case{"world", "mode='fixed' pos='.3 -2 1.5'"}, Case{"agent", "mode='track' pos='.3 -2 1'"},
        Case{"agent", "mode='trackcom' pos='.3 -2 1'"}, Case{"world", "mode='targetbody' target='agent' pos='.3 -2 1.5'"},
        Case{"world", "mode='targetbodycom' target='agent' pos='.3 -2 1.5'"},
        Case{"carriage", "mode='targetbody' target='agent' pos='.3 0 1'"}, Case{"agent", "mode='fixed' pos='.3 -2 1'"},
        Case{"carriage", "mode='fixed' pos='.3 -2 1'"}, Case{"carriage", "mode='track' pos='.3 -2 1'"},
        Case{"world", "mode='fixed' pos='.3 2 1.5'"}, Case{"agent", "mode='trackcom' pos='-2 0 1'"},
        Case{"agent", "mode='trackcom' pos='.3 2 -1'"}, Case{"carriage", "mode='targetbody' target='agent' pos='.3 6 1'"}}) {
    CAPTURE(place, camera);
    Rails rails(place, camera);
    Distraction distraction = distract(rails.world, unmoved);
    MujocoCamera view;
    distraction.reset(rails.world, 3);
    for (int step = 0; step < 20; ++step) {
      rails.move(.1 * step, -.05 * step);
      const auto own = rails.pose();
      distraction.apply(rails.world, view);
      REQUIRE(difference(rails.pose(), own) < 1e-9);
      distraction.step();
    }
  }
}

TEST_CASE("a moved camera that turns towards a body stays in its place and looks to where the model's looks") {
  for (const char* mode : {"targetbody", "targetbodycom"}) {
    CAPTURE(mode);
    Rails rails("world", std::string("target='agent' pos='.3 -2 1.5' mode='") + mode + "'");
    Distraction distraction = distract(rails.world, displaced);
    MujocoCamera view;
    distraction.reset(rails.world, 5);
    const auto agent = rails.world.subtree_centre(1);
    const auto began = rails.pose();
    const double distance = std::hypot(began[0] - agent[0], began[1] - agent[1], began[2] - agent[2]);
    std::vector<double> place;
    for (int step = 0; step < 20; ++step) {
      rails.move(.1 * step, 0);
      const auto own = rails.pose();
      distraction.apply(rails.world, view);
      const auto moved = rails.pose();
      if (place.empty()) place = {moved[0], moved[1], moved[2]};
      REQUIRE(difference({moved[0], moved[1], moved[2]}, place) < 1e-9);
      // Both look along their own -z.
      std::array<double, 3> toward{};
      for (std::size_t i = 0; i < 3; ++i) toward[i] = own[i] - distance * own[5 + 3 * i] - moved[i];
      const double length = std::hypot(toward[0], toward[1], toward[2]);
      for (std::size_t i = 0; i < 3; ++i) REQUIRE(std::abs(-moved[5 + 3 * i] - toward[i] / length) < 1e-9);
      distraction.step();
    }
    CHECK(difference(place, {began[0], began[1], began[2]}) > .1);
  }
}

TEST_CASE("a camera whose numbers are all 0 shows the clean picture") {
  // Without the limits of the quadrant, too.
  std::string unlimited = unmoved;
  unlimited.insert(unlimited.find("}"), R"(, "upper_quadrant": false)");
  for (const char* name : {"cartpole-balance", "ball-in-cup-catch", "walker-walk", "cheetah-run", "reacher-easy"})
    for (const int camera : {0, 1}) {
      CAPTURE(name, camera);
      const auto last = [&](const Config& distraction) {
        auto env = make_env(
            Config::Map{{"name", name}, {"camera", camera}, {"pixels", Config::List{60, 80}}, {"distraction", distraction}});
        env->reset(3);
        const std::vector<float> push(env->spec().action_size, 1);
        for (int step = 0; step < 60; ++step) env->step(push);
        const auto image = env->observe().images[0];
        return std::vector<double>(image.bytes(), image.bytes() + image.shape.count());
      };
      const auto clean = last(false);
      CHECK(difference(last(parse_json(unmoved, "test")), clean) == 0);
      CHECK(difference(last(parse_json(unlimited, "test")), clean) == 0);
    }
}

TEST_CASE("a model without a body has no agent to move a camera around") {
  const char* empty = "<mujoco><worldbody><camera pos='0 -2 1' xyaxes='1 0 0 0 1 2'/><geom size='1'/></worldbody></mujoco>";
  MujocoWorld world = make_world(empty);
  CHECK_THROWS_MATCHES(distract(world, R"({"camera": true})"), Error,
                       MessageMatches(ContainsSubstring("test: distraction.camera: ") && ContainsSubstring("add a <body>")));
  CHECK_NOTHROW(distract(world, R"({"camera": false, "noise": true})"));
}
