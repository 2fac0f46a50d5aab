module;
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>
module iap.rollout;
import iap.core;
import iap.policy;
import :messages;
import :safeguards;
import :types;

namespace iap {
namespace {

template <typename T>
void put_optional(Writer& writer, const std::optional<T>& value) {
  writer.put(static_cast<std::uint8_t>(value.has_value()));
  if (value) writer.put(*value);
}

template <typename T>
void get_optional(Reader& reader, std::optional<T>& value) {
  if (reader.get<std::uint8_t>() != 0) value = reader.get<T>();
}

}  // namespace

RolloutSetup setup_of(const Config& env, const Policy& prototype) {
  return {to_json(env), to_json(prototype.architecture()), to_json(to_config(prototype.observation())), prototype.action_size()};
}

Config env_of(const RolloutSetup& setup, const std::string& source) { return parse_json(setup.env, source); }

Policy policy_of(const RolloutSetup& setup, const std::string& source) {
  const ObservationSpec observation = observation_from_config(parse_json(setup.observation, source), source);
  return {parse_json(setup.architecture, source), observation, setup.action_size};
}

void put(Writer& writer, const RolloutSetup& setup) {
  for (const auto* json : {&setup.env, &setup.architecture, &setup.observation}) writer.put_string(*json);
  writer.put(setup.action_size);
}

void get(Reader& reader, RolloutSetup& setup) {
  for (auto* json : {&setup.env, &setup.architecture, &setup.observation}) *json = reader.get_string();
  setup.action_size = reader.get<std::int32_t>();
}

void put(Writer& writer, const Safeguards& safeguards) {
  writer.put(static_cast<std::uint8_t>(safeguards.isolate));
  writer.put(safeguards.episode_timeout);
  writer.put(std::int32_t{safeguards.worker_memory});
  put_optional(writer, safeguards.retries);
  put_optional(writer, safeguards.failed_return);
}

void get(Reader& reader, Safeguards& safeguards) {
  safeguards.isolate = reader.get<std::uint8_t>() != 0;
  safeguards.episode_timeout = reader.get<double>();
  safeguards.worker_memory = reader.get<std::int32_t>();
  get_optional(reader, safeguards.retries);
  get_optional(reader, safeguards.failed_return);
}

void put(Writer& writer, const std::vector<Moment>& moments) {
  writer.put(std::uint64_t{moments.size()});
  for (const auto& [count, mean, squares] : moments)
    for (const double value : {count, mean, squares}) writer.put(value);
}

void get(Reader& reader, std::vector<Moment>& moments) {
  moments.clear();
  for (auto left = reader.get<std::uint64_t>(); left > 0; --left) {
    const auto count = reader.get<double>(), mean = reader.get<double>(), squares = reader.get<double>();
    moments.push_back({count, mean, squares});
  }
}

void put(Writer& writer, const ActionNoise& noise) {
  writer.put(noise.deviation);
  writer.put(noise.seed);
}

void get(Reader& reader, ActionNoise& noise) {
  noise.deviation = reader.get<double>();
  noise.seed = reader.get<std::uint64_t>();
}

void put(Writer& writer, const Episode& episode) {
  writer.put(episode.total);
  writer.put(std::int32_t{episode.steps});
  for (const bool flag : {episode.terminated, episode.truncated, episode.unstable}) writer.put(static_cast<std::uint8_t>(flag));
  writer.put_string(episode.failure);
  writer.put(std::int32_t{episode.retries});
  writer.put_string(episode.retried_for);
  writer.put_all(std::span<const float>(episode.actions));
  put(writer, episode.gathered);
}

void get(Reader& reader, Episode& episode) {
  episode.total = reader.get<double>();
  episode.steps = reader.get<std::int32_t>();
  for (bool* flag : {&episode.terminated, &episode.truncated, &episode.unstable}) *flag = reader.get<std::uint8_t>() != 0;
  episode.failure = reader.get_string();
  episode.retries = reader.get<std::int32_t>();
  episode.retried_for = reader.get_string();
  episode.actions = reader.get_all<float>();
  get(reader, episode.gathered);
}

}  // namespace iap
