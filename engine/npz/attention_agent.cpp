module;
#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
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

std::string_view last_name(const ParameterSlice& slice) { return std::string_view(slice.name).substr(slice.name.rfind('.') + 1); }

const ParameterSlice& find_slice(const ParameterLayout& layout, std::string_view name) {
  return *std::ranges::find(layout.slices(), name, last_name);
}

// Calls visit(published index, index in the policy's vector) for every parameter of an AttentionAgent.
template <typename Visit>
void pair_parameters(const ParameterLayout& layout, Visit visit) {
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
  const std::string got = observation.images.empty() ? "none" : describe(observation.images.front().shape);
  throw Error(text("AttentionAgent: looks at ", image_size, " x ", image_size, " RGB images, got ", got,
                   "; make the environment with pixels = {", image_size, ", ", image_size, "}"));
}

Config agent_config() { return Config::Map{{"kind", "attention_agent"}}; }

constexpr std::array<std::string_view, 3> published_kinds{"rank", "lstm", "linear"};

// The blocks that compute, in their order: what was written as a sequence of AttentionAgent's blocks is AttentionAgent.
void collect_parts(const Block& block, std::vector<const Block*>& parts) {
  if (block.kind() != "sequence" && block.kind() != "attention_agent") return parts.push_back(&block);
  for (const auto& child : block.children()) collect_parts(*child, parts);
}

std::vector<const Block*> parts_of(const Policy& policy) {
  std::vector<const Block*> parts;
  collect_parts(policy.root(), parts);
  return parts;
}

// Of a block's options those that its actions depend on.
Config deciding_options(const Block& block) {
  Config options = block.config();
  Config::Map& entries = *options.map();
  for (const char* idle : {"name", "threads"}) entries.erase(idle);
  if (block.kind() == "linear") entries.erase("scale");  // of initial weights
  // A list of one kind of values, however often it is named, is that kind.
  if (const Config* values = options.find("values"); values && values->list()) {
    const Config first = values->list()->front();
    if (std::ranges::all_of(*values->list(), [&](const Config& value) { return value == first; })) entries["values"] = first;
  }
  return options;
}

bool same(const Config* one, const Config* other) {
  if (!one || !other) return one == other;
  return *one == *other || (one->number() && one->number() == other->number());
}

std::string shown(const Config* value) { return value ? value->describe() : "no such option"; }

void check_options(const Block& block, const Block& published) {
  const Config own = deciding_options(block), wanted = deciding_options(published);
  std::vector<std::string> keys{"kernel"};  // the first to name, as others follow from it
  for (const Config* side : {&own, &wanted})
    for (const auto& [key, value] : *side->map()) keys.push_back(key);
  for (const auto& key : keys)
    if (const Config *value = own.find(key), *expected = wanted.find(key); !same(value, expected))
      throw Error(text("AttentionAgent: block '", block.path(), "' has ", key, " = ", shown(value),
                       " where the published agent has ", shown(expected),
                       ", which weights alone do not tell; hand on the policy file itself"));
}

// Whether an import of the policy's weights would act as the policy does.
void check_architecture(const Policy& policy) {
  const auto parts = parts_of(policy);
  const auto [own, kind] = std::ranges::mismatch(parts, published_kinds, {}, &Block::kind);
  if (own != parts.end() || kind != published_kinds.end())
    throw Error(text("AttentionAgent: the policy has ",
                     own != parts.end() ? text("block '", (*own)->path(), "'") : "no more blocks", " where AttentionAgent has ",
                     kind != published_kinds.end() ? text("a block ", *kind) : "no more",
                     "; only policies of kind attention_agent can be exported"));
  check_image(policy.observation());
  const Policy published(agent_config(), policy.observation(), policy.action_size());
  const auto wanted = parts_of(published);
  for (std::size_t i = 0; i < parts.size(); ++i) check_options(*parts[i], *wanted[i]);
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
  Policy policy(agent_config(), observation, action_size);
  if (published.size() != policy.size())
    throw Error(
        text("AttentionAgent: got ", published.size(), " parameters; with ", action_size, " actions it has ", policy.size()));
  std::vector<float> parameters(policy.size());
  pair_parameters(policy.layout(), [&](std::size_t from, std::size_t to) { parameters[to] = published[from]; });
  policy.set_parameters(parameters);
  return policy;
}

std::vector<float> attention_agent_parameters(const Policy& policy) {
  check_architecture(policy);
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
