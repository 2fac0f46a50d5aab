module;
#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>
module iap.bench;
import iap.core;
import iap.env;
import iap.envs;
import iap.envs.dm_control;
import iap.policy;
import iap.render;
import iap.rollout;
import iap.sim;
#include "bench.hpp"

namespace iap {
namespace {

constexpr int size = 100, repeat = 4, policy_steps = 250, settling_steps = 200;

Config env_config() {
  return Config::Map{{"name", "cheetah-run"}, {"pixels", Config::List{size, size}}, {"action_repeat", repeat}};
}

Policy make_policy(const EnvSpec& spec) {
  const Config::Map rank{{"kind", "rank"}, {"patch", 4}, {"d", 8}, {"top", 5}, {"kernel", "relu"}};
  const Config::Map linear{{"kind", "linear"}, {"activation", "tanh"}};
  Policy policy(Config::Map{{"kind", "sequence"}, {"blocks", Config::List{rank, linear}}}, spec.observation, spec.action_size);
  policy.initialise(1);
  return policy;
}

/// What nobody can do without: as many physics steps, pictures and policy steps as one episode has, called directly.
class BareLoop {
 public:
  explicit BareLoop(const EnvSpec& spec)
      : world_(dm_control_files("cheetah")), policy_(make_policy(spec)), picture_({size, size, 3}) {}

  void episode() {
    world_.reset();
    world_.forward();
    for (int i = 0; i < settling_steps; ++i) world_.step(1);
    const ImageView view = picture_.view();
    for (int i = 0; i < policy_steps; ++i) {
      camera_.draw(world_, 0, {}, size, size, picture_.bytes());
      const auto action = policy_.act({{&view, 1}, {}});
      std::ranges::copy(action, world_.ctrl().begin());
      for (int k = 0; k < repeat; ++k) world_.step(1);
    }
  }

 private:
  MujocoWorld world_;
  MujocoCamera camera_;
  Policy policy_;
  Image picture_;
};

double median_ratio(std::vector<double> engine, std::vector<double> bare) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < engine.size(); ++i) ratios.push_back(engine[i] / bare[i]);
  std::ranges::sort(ratios);
  return ratios[ratios.size() / 2];
}

}  // namespace

void bench_rollout(std::ostream& out) {
  const Config config = env_config();
  const auto env = make_env(config);
  const Policy policy = make_policy(env->spec());
  const auto factory = [&] { return make_env(config); };
  out << "cheetah-run, " << size << " x " << size << " pixels, action repeat " << repeat << ", IAP-rank relu (L = 625, d = 8)\n";
  std::vector<RolloutTask> tasks;
  const int all = hardware_threads();
  for (int i = 0; i < std::max(16, 4 * all); ++i) tasks.push_back({policy.parameters(), static_cast<std::uint64_t>(i)});
  for (int threads = 1; threads <= all; threads = threads < all ? std::min(2 * threads, all) : all + 1) {
    RolloutPool pool(factory, policy.clone(), threads);
    const Timing timing = measure(2, [&] { pool.run(tasks); });
    const double steps = 1e3 * static_cast<double>(tasks.size()) * policy_steps / timing.median;
    out << threads << (threads == 1 ? " thread:  " : " threads: ") << fixed_text(steps, 0) << " policy steps/s ("
        << fixed_text(steps * repeat, 0) << " environment steps/s)\n";
  }
  // The two take turns, so that a change of the machine's speed meets both.
  RolloutPool pool(factory, policy.clone(), 1);
  BareLoop loop(env->spec());
  std::vector<double> engine_times, bare_times;
  for (int round = 0; round < 15; ++round) {
    engine_times.push_back(measure(0, [&] { pool.run({tasks.data(), 1}); }).median);
    bare_times.push_back(measure(0, [&] { loop.episode(); }).median);
  }
  const double more = 100 * (median_ratio(engine_times, bare_times) - 1);
  out << "engine over the bare loop of mj_step, draw and policy: " << (more < 0 ? "" : "+") << fixed_text(more, 1)
      << "% (median of " << engine_times.size() << " pairs)\n";
}

}  // namespace iap
