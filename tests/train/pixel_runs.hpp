#pragma once
// Included after `import iap.core; import iap.env; import iap.train;` and run_files.hpp.
#include <filesystem>

/// A small run from pixels of a cart-pole, whose policy has a P that depends on the size of the image.
inline iap::TrainOptions pixel_run(const std::filesystem::path& out, int height, int width) {
  using iap::Config;
  iap::TrainOptions options = small_run(out);
  options.make_env = {};
  options.env =
      Config::Map{{"name", "cartpole-balance"}, {"pixels", Config::List{height, width}}, {"action_repeat", 8}, {"time_limit", 48}};
  options.policy = Config::Map{
      {"kind", "sequence"},
      {"blocks",
       Config::List{Config::Map{{"kind", "trans"}, {"patch", 4}, {"d", 2}, {"tokens", 3}, {"dv", 2}, {"encoding", "learned"}},
                    Config::Map{{"kind", "linear"}, {"activation", "tanh"}}}}};
  options.confirm_episodes = 2;
  return options;
}

inline iap::Config pixels(int height, int width) { return iap::Config::Map{{"pixels", iap::Config::List{height, width}}}; }

/// What `train` refuses these options with.
inline std::string refusal(const iap::TrainOptions& options) {
  try {
    iap::train(options);
  } catch (const iap::Error& error) {
    return error.what();
  }
  return "no error";
}
