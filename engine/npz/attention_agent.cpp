module;
#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.npz;
import iap.core;
import iap.env;
import iap.envs;
import iap.policy;

namespace iap {
namespace {

constexpr const char* array_name = "params";
constexpr int image_size = 96;

// The arrays in published order, by the names of our slices. Published weights are outputs x inputs; ours of queries and keys are
// inputs x outputs.
struct Part {
  std::string_view name;
  bool transposed;
};
constexpr std::array<Part, 10> published_parts{{{"query_bias", false},
                                                {"query", true},
                                                {"key_bias", false},
                                                {"key", true},
                                                {"bias_hh", false},
                                                {"bias_ih", false},
                                                {"weight_hh", false},
                                                {"weight_ih", false},
                                                {"bias", false},
                                                {"weight", false}}};

std::string_view last_name(std::string_view path) { return path.substr(path.rfind('.') + 1); }

const ParameterSlice& find_slice(const ParameterLayout& layout, std::string_view name) {
  for (const auto& slice : layout.slices())
    if (last_name(slice.name) == name) return slice;
  throw Error(
      text("AttentionAgent: the policy has no parameters '", name, "'; only policies of kind attention_agent can be exported"));
}

void check_slices(const ParameterLayout& layout) {
  std::set<std::string_view> seen;
  for (const auto& slice : layout.slices()) {
    const auto name = last_name(slice.name);
    const bool known = std::ranges::find(published_parts, name, &Part::name) != published_parts.end();
    if (!known || !seen.insert(name).second)
      throw Error(text("AttentionAgent: has no place for the policy's parameters '", slice.name,
                       "'; only policies of kind attention_agent can be exported"));
  }
}

// Calls visit(published index, index in the policy's vector) for every parameter.
template <typename Visit>
void pair_parameters(const ParameterLayout& layout, Visit visit) {
  check_slices(layout);
  std::size_t published = 0;
  for (const auto& [name, transposed] : published_parts) {
    const auto& slice = find_slice(layout, name);
    const std::size_t columns = transposed ? static_cast<std::size_t>(slice.shape[1]) : 1, rows = slice.size / columns;
    for (std::size_t column = 0; column < columns; ++column)
      for (std::size_t row = 0; row < rows; ++row) visit(published++, slice.offset + row * columns + column);
  }
}

void check_image(const ObservationSpec& observation) {
  const ImageShape wanted{image_size, image_size, 3, PixelType::uint8};
  if (!observation.images.empty() && observation.images.front().shape == wanted) return;
  throw Error(text("AttentionAgent: looks at ", image_size, " x ", image_size, " RGB images; make the environment with pixels = {",
                   image_size, ", ", image_size, "}"));
}

std::vector<float> read_parameters(const std::filesystem::path& path) {
  check_file(path);
  const auto array = find_npz(read_file(path), array_name, path.string());
  if (!array) throw Error(text(path.string(), ": has no array '", array_name, "'; it holds no weights of AttentionAgent"));
  if (array->shape.size() != 1)
    throw Error(
        text(path.string(), ": array '", array_name, "' has ", array->shape.size(), " dimensions; published weights have one"));
  return {array->values.begin(), array->values.end()};
}

struct Published {
  std::string_view env;
  std::size_t parameters;
};
constexpr std::array<Published, 2> published_agents{{{"car-racing", 3667}, {"take-cover", 3633}}};

Config published_env(std::size_t parameters, const std::filesystem::path& path) {
  for (const auto& agent : published_agents)
    if (agent.parameters == parameters) return Config::Map{{"name", std::string(agent.env)}};
  throw Error(
      text(path.string(), ": holds ", parameters,
           " parameters; AttentionAgent has 3667 for car-racing and 3633 for take-cover. Name another environment to try it"));
}

}  // namespace

Policy attention_agent_policy(std::span<const float> published, const ObservationSpec& observation, int action_size) {
  check_image(observation);
  Policy policy(Config::Map{{"kind", "attention_agent"}}, observation, action_size);
  if (published.size() != policy.size())
    throw Error(
        text("AttentionAgent: got ", published.size(), " parameters; with ", action_size, " actions it has ", policy.size()));
  std::vector<float> parameters(policy.size());
  pair_parameters(policy.layout(), [&](std::size_t from, std::size_t to) { parameters[to] = published[from]; });
  policy.set_parameters(parameters);
  return policy;
}

std::vector<float> attention_agent_parameters(const Policy& policy) {
  std::vector<float> published(policy.size());
  pair_parameters(policy.layout(), [&](std::size_t to, std::size_t from) { published[to] = policy.parameters()[from]; });
  return published;
}

PolicyFile import_attention_agent(const std::filesystem::path& path, const Config& env) {
  const auto parameters = read_parameters(path);
  const Config chosen = env.is_null() ? published_env(parameters.size(), path) : env;
  const auto made = make_env(env_table(chosen, path.string()));
  try {
    Policy policy = attention_agent_policy(parameters, made->spec().observation, made->spec().action_size);
    Config metadata = env_record(made->spec());
    metadata["imported_from"] = path.filename().string();
    return {std::move(policy), std::move(metadata)};
  } catch (const Error& error) {
    throw Error(text(path.string(), ", for environment '", made->spec().name, "': ", error.what()));
  }
}

std::string export_attention_agent(const Policy& policy) {
  const auto published = attention_agent_parameters(policy);
  const NpyArray array{array_name, {published.size()}, NpyType::float32, {published.begin(), published.end()}};
  return format_npz({&array, 1});
}

}  // namespace iap
