#pragma once
// Included after the imports, "../core/temporary_folder.hpp" and "../render/moving_pictures.hpp".
#include <algorithm>
#include <string>

inline iap::Policy some_policy(const iap::Config& architecture, const iap::Config& env) {
  const auto made = iap::make_env(env);
  iap::Policy policy(architecture, made->spec().observation, made->spec().action_size);
  policy.initialise(5);
  return policy;
}

/// The frames of an episode.
inline Moving film(iap::Policy& policy, const iap::Config& env, const iap::VideoOptions& options) {
  const TemporaryFolder folder;
  iap::write_video(folder.path() / "v.png", policy, env, options);
  return ApngDecoder(iap::read_file(folder.path() / "v.png")).decode();
}

inline iap::Config with(iap::Config config, const char* path, const char* value) {
  iap::set_path(config, path, value);
  return config;
}

inline bool same(const iap::Image& a, const iap::Image& b) {
  return a.shape() == b.shape() && std::ranges::equal(a.bytes(), b.bytes());
}
