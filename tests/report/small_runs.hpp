#pragma once
// Included after `import iap.core; import iap.train;`.
#include <cstdint>
#include <filesystem>
#include <string>

/// A cart and pole in small pictures.
inline iap::Config small_env() {
  return iap::parse_json(R"({"name": "cartpole-swingup", "pixels": [24, 32], "action_repeat": 2, "time_limit": 24})", "test");
}

inline iap::Config small_policy(const std::string& kernel = "relu") {
  iap::Config policy = iap::parse_json(R"({"kind": "sequence", "blocks": [
      {"kind": "rank", "patch": 4, "stride": 4, "d": 4, "top": 3, "values": "position"},
      {"kind": "linear", "activation": "tanh"}]})",
                                       "test");
  iap::set_path(policy, "blocks.1.kernel", kernel);
  return policy;
}

/// Trains for three iterations.
inline void make_run(const std::filesystem::path& out, std::int64_t seed, const iap::Config& policy = small_policy(),
                     const iap::Config& env = small_env()) {
  iap::TrainOptions options;
  options.env = env;
  options.policy = policy;
  options.optimizer = iap::Config::Map{{"kind", "es"}, {"population", 4}};
  options.iterations = 3;
  options.eval_every = 2;
  options.eval_episodes = 2;
  options.seed = static_cast<std::uint64_t>(seed);
  options.threads = 1;
  options.out = out;
  options.quiet = true;
  options.script = "-- compare a < b && \"c\"\n";
  iap::train(options);
}
