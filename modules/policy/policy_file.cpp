module;
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>
module iap.policy;
import iap.core;

namespace iap {
namespace {

constexpr std::string_view magic = "IAPPOLCY";
constexpr std::uint32_t version = 1;

Config slices_of(const ParameterLayout& layout) {
  Config::List slices;
  for (const auto& slice : layout.slices()) {
    Config::List shape;
    for (const int extent : slice.shape) shape.push_back(extent);
    Config entry;
    entry["name"] = slice.name;
    entry["shape"] = std::move(shape);
    slices.push_back(std::move(entry));
  }
  return slices;
}

void check_slices(const Config& stored, const ParameterLayout& layout) {
  const Config built = slices_of(layout);
  if (stored == built) return;
  const std::size_t stored_count = stored.list() ? stored.list()->size() : 0;
  for (std::size_t i = 0; i < built.list()->size(); ++i) {
    const Config& expected = (*built.list())[i];
    const Config found = i < stored_count ? (*stored.list())[i] : Config();
    if (!(found == expected))
      throw Error(text("parameter slice ", i + 1, " is ", found.describe(), ", this program builds ", expected.describe(),
                       "; it was written by another version"));
  }
  throw Error(text("has ", stored_count, " parameter slices, this program builds ", built.list()->size()));
}

PolicyFile decode(std::string_view payload, const std::string& source) {
  Reader reader(payload, source);
  const Config header = parse_json(reader.get_string(), source);
  Options options(source, header);
  const Config& architecture = options.value("architecture");
  const auto action_size = options.integer_in("action_size", 1, std::numeric_limits<int>::max());
  const ObservationSpec observation = observation_from_config(options.value("observation"), source);
  const Config& slices = options.value("slices");
  Config metadata = options.value("metadata");
  options.finish();
  const auto parameters = reader.get_all<float>();
  if (!reader.at_end()) throw Error(text(source, ": has bytes after its parameters; the file is damaged"));
  try {
    Policy policy(architecture, observation, static_cast<int>(action_size));
    check_slices(slices, policy.layout());
    policy.set_parameters(parameters);
    return {std::move(policy), std::move(metadata)};
  } catch (const Error& error) {
    throw Error(text(source, ": ", error.what()));
  }
}

}  // namespace

std::string save_policy(const Policy& policy, const Config& metadata) {
  Config header;
  header["architecture"] = policy.architecture();
  header["observation"] = to_config(policy.observation());
  header["action_size"] = policy.action_size();
  header["slices"] = slices_of(policy.layout());
  header["metadata"] = metadata;
  Writer writer;
  writer.put_string(to_json(header));
  writer.put_all(policy.parameters());
  return seal(magic, version, writer.bytes());
}

PolicyFile load_policy(std::string_view file, const std::string& source) {
  if (file.size() >= magic.size() && !file.starts_with(magic))
    throw Error(text(source, ": is no policy file; those of a run are its best.iap and final.iap"));
  return decode(unseal(file, magic, version, source), source);
}

void write_policy_file(const std::filesystem::path& path, const Policy& policy, const Config& metadata) {
  write_file_atomic(path, save_policy(policy, metadata));
}

PolicyFile read_policy_file(const std::filesystem::path& path) { return load_policy(read_file(path), path.string()); }

}  // namespace iap
