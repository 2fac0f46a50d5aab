module;
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>
module iap.bench;
import iap.core;
import iap.env;
import iap.envs;
import iap.render;
#include "bench.hpp"

namespace iap {
namespace {

/// Random actions; a new episode whenever one ends.
class Driver {
 public:
  explicit Driver(Env& env) : env_(env), action_(static_cast<std::size_t>(env.spec().action_size)) { env_.reset(1); }
  void step(bool looks = false) {
    for (float& value : action_) value = static_cast<float>(random_.uniform(env_.spec().action_low, env_.spec().action_high));
    const StepResult result = env_.step(action_);
    if (result.terminated || result.truncated) env_.reset(++episode_);
    if (looks) env_.observe();
  }

 private:
  Env& env_;
  std::vector<float> action_;
  Random random_{7};
  std::uint64_t episode_ = 1;
};

struct Look {
  std::string name;
  Config::Map options;  // beside name and pixels
};

// The last two are MuJoCo's own renderer with what dm_control asks of it, and with the least that it can do.
std::vector<Look> looks() {
  const auto render = [](const char* path, bool all, int samples) {
    return Config(Config::Map{{"path", path}, {"shadows", all}, {"reflection", all}, {"sky", all}, {"samples", samples}});
  };
  const Config still("medium"), moving(Config::Map{{"difficulty", "medium"}, {"dynamic", true}});
  return {{"cpu", {}},
          {"cpu, 4 samples", {{"render", render("cpu", true, 4)}}},
          {"cpu, distracted", {{"distraction", still}}},
          {"cpu, distracted, moving", {{"distraction", moving}}},
          {"gl", {{"render", render("gl", true, 1)}}},
          {"gl, 4 samples", {{"render", render("gl", true, 4)}}},
          {"gl, bare", {{"render", render("gl", false, 1)}}}};
}

// One environment for each thing to be drawn.
std::vector<std::string> drawn_environments() {
  return {"ball-in-cup-catch", "car-racing", "cartpole-swingup", "cheetah-run", "reacher-easy", "walker-walk"};
}

// Environments that draw their pictures themselves have no option `render`.
std::vector<Look> looks_of(const std::string& env) {
  if (make_env(Config::Map{{"name", env}})->spec().config.find("render")) return looks();
  return {{"own", {}}};
}

/// `count` boxes around and before a camera, as an obstacle course has them.
Scene course(int count) {
  Scene scene;
  scene.lights = {{.position = {0, 0, 5}, .diffuse = {.7F, .7F, .7F}, .directional = true}};
  scene.primitives = {{.shape = Shape::plane, .position = {0, 0, -.5F}}};
  Random random(1);
  for (int i = 0; i < count; ++i) {
    const auto along = [&](double low, double high) { return static_cast<float>(random.uniform(low, high)); };
    scene.primitives.push_back({.shape = Shape::box,
                                .size = {along(.1, .6), along(.1, .2), along(.1, .6)},
                                .position = {along(-3, 3), along(1, 12), along(-.5, .5)},
                                .rgba = {along(0, 1), along(0, 1), along(0, 1), 1}});
  }
  return scene;
}

void bench_boxes(std::ostream& out) {
  const auto row = [&](int boxes, const std::string& size, const std::string& what, const Timing& timing) {
    out << left_text(text(boxes, " boxes"), 24) << right_text(size, 12) << "  " << left_text(what, 24)
        << right_text(fixed_text(timing.median, 4), 10) << right_text(fixed_text(timing.p99, 4), 10) << "\n";
  };
  for (const int boxes : {50, 280}) {
    const Scene scene = course(boxes);
    Caster caster;
    std::vector<std::uint8_t> rgb(32 * 32 * 3);
    std::vector<float> metres(24 * 32);
    const DrawOptions bare{.shadows = false, .reflection = false, .sky = false};
    row(boxes, "32 x 32", "cpu, no shadows", measure(0.2, [&] { caster.draw(scene, bare, 32, 32, rgb); }));
    row(boxes, "32 x 32", "cpu, shadows", measure(0.2, [&] { caster.draw(scene, {}, 32, 32, rgb); }));
    row(boxes, "24 x 32", "cpu, depth", measure(0.2, [&] { caster.draw_depth(scene, 24, 32, metres); }));
  }
}

}  // namespace

void bench_env(std::ostream& out) {
  constexpr int steps_a_call = 100;
  out << left_text("environment", 24) << right_text("steps/s", 14) << right_text("a cpu second", 14) << right_text("seen", 14)
      << "\n";
  for (const auto& entry : env_catalog()) {
    const auto env = make_env(Config::Map{{"name", entry.name}});
    Driver driver(*env);
    const auto run = [&](bool looks) {
      return measure(0.5, [&] {
        for (int i = 0; i < steps_a_call; ++i) driver.step(looks);
      });
    };
    const auto rate = [](double milliseconds) { return right_text(fixed_text(1e3 * steps_a_call / milliseconds, 0), 14); };
    const Timing blind = run(false);
    out << left_text(entry.name, 24) << rate(blind.median) << rate(blind.processor);
    // Those that show pictures by themselves.
    if (env->spec().observation.images.empty())
      out << right_text("-", 14) << "\n";
    else
      out << rate(run(true).processor) << "\n";
  }
}

void bench_draw(std::ostream& out) {
  struct Size {
    int height, width;
  };
  out << left_text("environment", 24) << right_text("size", 12) << "  " << left_text("drawn by", 24) << right_text("median ms", 10)
      << right_text("p99 ms", 10) << "\n";
  for (const std::string& name : drawn_environments())
    for (const Size size : {Size{64, 64}, Size{84, 84}, Size{100, 100}, Size{240, 320}})
      for (const Look& look : looks_of(name)) {
        Config config(look.options);
        config["name"] = name;
        config["pixels"] = Config::List{size.height, size.width};
        const auto env = make_env(config);
        Driver driver(*env);
        out << left_text(name, 24) << right_text(text(size.height, " x ", size.width), 12) << "  " << left_text(look.name, 24);
        try {
          // A picture is drawn once a state, so each call moves the world first; a step costs about a hundredth of a picture.
          const auto draw = [&] {
            driver.step();
            env->observe();
          };
          // Long enough for a moving background to have shown all its frames.
          constexpr int first_calls = 130;
          for (int i = 0; i < first_calls && look.options.contains("distraction"); ++i) draw();
          const Timing timing = measure(0.2, draw);
          out << right_text(fixed_text(timing.median, 3), 10) << right_text(fixed_text(timing.p99, 3), 10) << "\n";
        } catch (const Error& error) {
          out << "  " << error.what() << "\n";
        }
      }
  bench_boxes(out);
}

}  // namespace iap
