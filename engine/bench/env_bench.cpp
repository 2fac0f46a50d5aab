module;
#include <iomanip>
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
  void step() {
    for (float& value : action_) value = static_cast<float>(random_.uniform(env_.spec().action_low, env_.spec().action_high));
    const StepResult result = env_.step(action_);
    if (result.terminated || result.truncated) env_.reset(++episode_);
  }

 private:
  Env& env_;
  std::vector<float> action_;
  Random random_{7};
  std::uint64_t episode_ = 1;
};

constexpr const char* own_path = "own";

// Environments that draw their pictures themselves have no option `render`.
std::vector<std::string> drawing_paths(const std::string& env) {
  if (make_env(Config::Map{{"name", env}})->spec().config.find("render")) return {"cpu", "gl"};
  return {own_path};
}

}  // namespace

void bench_env(std::ostream& out) {
  constexpr int steps_a_call = 100;
  out << std::left << std::setw(24) << "environment" << std::right << std::setw(14) << "steps/s" << "\n";
  for (const auto& entry : env_catalog()) {
    const auto env = make_env(Config::Map{{"name", entry.name}});
    Driver driver(*env);
    const Timing timing = measure(0.5, [&] {
      for (int i = 0; i < steps_a_call; ++i) driver.step();
    });
    out << std::left << std::setw(24) << entry.name << std::right << std::fixed << std::setprecision(0) << std::setw(14)
        << 1e3 * steps_a_call / timing.median << "\n";
  }
}

void bench_draw(std::ostream& out) {
  struct Size {
    int height, width;
  };
  out << std::left << std::setw(24) << "environment" << std::right << std::setw(12) << "size" << std::setw(6) << "path"
      << std::setw(12) << "median ms" << std::setw(10) << "p99 ms" << "\n";
  for (const auto& entry : env_catalog())
    for (const Size size : {Size{64, 64}, Size{84, 84}, Size{100, 100}, Size{240, 320}})
      for (const std::string& path : drawing_paths(entry.name)) {
        Config config = Config::Map{{"name", entry.name}, {"pixels", Config::List{size.height, size.width}}};
        if (path != own_path) config["render"] = Config::Map{{"path", path}};
        const auto env = make_env(config);
        Driver driver(*env);
        out << std::left << std::setw(24) << entry.name << std::right << std::setw(12) << text(size.height, " x ", size.width)
            << std::setw(6) << path;
        try {
          // A picture is drawn once a state, so each call moves the world first; a step costs about a hundredth of a picture.
          const Timing timing = measure(0.4, [&] {
            driver.step();
            env->observe();
          });
          out << std::fixed << std::setprecision(3) << std::setw(12) << timing.median << std::setw(10) << timing.p99 << "\n";
        } catch (const Error& error) {
          out << "  " << error.what() << "\n";
        }
      }
}

}  // namespace iap
