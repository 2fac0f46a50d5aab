#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

import iap.core;
import iap.env;
import iap.envs;
import iap.envs.take_cover;
import iap.npz;
import iap.policy;
import iap.rollout;

inline std::string published_file(const std::string& name) {
  return std::string(IAP_TEST_DATA) + "/attention_agent/" + name + ".npz";
}

/// Returns of the published CarRacing agent on the tracks of `seeds`.
inline std::vector<double> drive(const std::string& modification, std::uint64_t first_seed, int episodes) {
  auto env = iap::make_env(iap::Config::Map{{"name", "car-racing"}, {"modification", modification}});
  auto policy = iap::import_attention_agent(published_file("car_racing"), "car-racing").policy;
  std::vector<double> returns;
  for (int i = 0; i < episodes; ++i)
    returns.push_back(iap::run_episode(*env, policy, first_seed + static_cast<std::uint64_t>(i)).total);
  return returns;
}

/// Returns of the published DoomTakeCover agent, with Freedoom's art; none where that is not installed.
inline std::vector<double> take_cover(const std::string& modification, std::uint64_t first_seed, int episodes) {
  if (!iap::take_cover::find_wad()) return {};
  auto env = iap::make_env(iap::Config::Map{{"name", "take-cover"}, {"modification", modification}, {"art", "freedoom"}});
  auto policy = iap::import_attention_agent(published_file("take_cover")).policy;
  std::vector<double> returns;
  for (int i = 0; i < episodes; ++i)
    returns.push_back(iap::run_episode(*env, policy, first_seed + static_cast<std::uint64_t>(i)).total);
  return returns;
}

inline double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}
