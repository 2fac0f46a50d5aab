module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
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

/// What a file holds beside its policy. Whoever reads it finds a table, in it environments as tables: hosts hand those on as a
/// text, which as a bare name could be the text of another table; `confine_lua` sees to the names in these.
Config read_metadata(Config metadata, const std::string& source) {
  if (metadata.is_null()) return Config::Map{};
  if (!metadata.map()) throw Error(text(source, ": its metadata are ", metadata.describe(), ", not a table; the file is damaged"));
  for (const char* key : {"env", "env_given"})
    if (const Config* env = metadata.find(key); env && env->string()) metadata[key] = Config::Map{{"name", *env}};
  return metadata;
}

/// Takes the names of hierarchies' levels out. Whether there were any.
bool forget_level_names(Config& architecture) {
  bool any = false;
  if (Config::List* list = architecture.list())
    for (Config& item : *list) any |= forget_level_names(item);
  Config::Map* map = architecture.map();
  if (!map || is_lua_block(architecture)) return any;
  const auto kind = map->find("kind");
  const bool hierarchy = kind != map->end() && kind->second == Config("hierarchy");
  for (auto& [key, value] : *map) {
    any |= forget_level_names(value);
    if (hierarchy && (key == "high" || key == "low") && value.map()) any |= value.map()->erase("name") > 0;
  }
  return any;
}

/// Decodes what `unseal` gave.
PolicyFile decode(std::string_view payload, const std::string& source, Trust trust) {
  Reader reader(payload, source);
  constexpr double bytes_a_character = 64;  // of lists of lists, which are the largest as trees
  const auto told = Reader(payload, source).get<std::uint64_t>();
  check_memory(text(source, ": its header"),
               bytes_a_character * static_cast<double>(std::min<std::uint64_t>(told, payload.size())));
  const std::string json = reader.get_string();
  const Config header = parse_json(json, source);
  Options options(source, header);
  Config architecture = options.value("architecture");
  const auto action_size = options.integer_in("action_size", 1, std::numeric_limits<int>::max());
  const ObservationSpec observation = observation_from_config(options.value("observation"), source);
  const Config& slices = options.value("slices");
  const auto moments = moments_from_config(options.list("moments"), source);
  Config metadata = read_metadata(options.value("metadata"), source);
  options.finish();
  check_memory(text(source, ": its parameters"), static_cast<double>(payload.size() - json.size()));
  const auto parameters = reader.get_all<float>();
  if (!reader.at_end()) throw Error(text(source, ": has bytes after its parameters; the file is damaged"));
  for (const auto& [part, kind] : {std::pair(&architecture, ConfigKind::policy), std::pair(&metadata, ConfigKind::metadata)}) {
    if (trust == Trust::yes)
      trust_lua(*part, kind);
    else
      confine_lua(*part, source, kind);
  }
  const auto build = [&] {
    return Policy(architecture, observation, static_cast<int>(action_size), parameters,
                  [&](const ParameterLayout& layout) { check_slices(slices, layout); });
  };
  const auto build_any = [&] {
    try {
      return build();
    } catch (const Error&) {
      // Earlier programs called levels high and low, whatever their name.
      if (forget_level_names(architecture)) {
        try {
          return build();
        } catch (const Error&) {  // the other one tells what the file holds
        }
      }
      throw;
    }
  };
  try {
    Policy policy = build_any();
    if (!moments.empty() || !policy.moments().empty()) policy.set_moments(moments);
    return {std::move(policy), std::move(metadata)};
  } catch (const Error& error) {
    const std::string message = error.what(), prefix = source + ": ";
    throw Error(message.starts_with(prefix) ? message : prefix + message);
  }
}

/// @throws Error unless the file begins as a policy's does.
void check_kind(std::string_view file, const std::string& source) {
  if (file.size() >= magic.size() && !file.starts_with(magic))
    throw Error(text(source, ": is no policy file; those of a run are its best.iap and final.iap"));
}

}  // namespace

Config to_config(std::span<const Moment> moments) {
  Config::List list;
  for (const auto& [count, mean, squares] : moments) list.push_back(Config::List{count, mean, squares});
  return list;
}

std::vector<Moment> moments_from_config(const Config::List& list, const std::string& source) {
  std::vector<Moment> moments;
  for (const auto& item : list) {
    const Config::List numbers = item.list() ? *item.list() : Config::List{};
    if (numbers.size() != 3)
      throw Error(text(source, ": moment ", moments.size() + 1, " is ", item.describe(), ", not three numbers"));
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    moments.push_back({numbers[0].number().value_or(none), numbers[1].number().value_or(none), numbers[2].number().value_or(none)});
  }
  return moments;
}

std::string save_policy(const Policy& policy, const Config& metadata) {
  Config header, architecture = policy.architecture(), kept = metadata;
  // Where a text came from is a matter of this process.
  trust_lua(architecture, ConfigKind::policy);
  trust_lua(kept, ConfigKind::metadata);
  header["architecture"] = std::move(architecture);
  header["observation"] = to_config(policy.observation());
  header["action_size"] = policy.action_size();
  header["slices"] = slices_of(policy.layout());
  if (!policy.moments().empty()) header["moments"] = to_config(policy.moments());
  header["metadata"] = std::move(kept);
  Writer writer;
  writer.put_string(to_json(header));
  writer.put_all(policy.parameters());
  return seal(magic, version, writer.bytes());
}

PolicyFile load_policy(std::string_view file, const std::string& source, Trust trust) {
  check_kind(file, source);
  return decode(unseal(file, magic, version, source), source, trust);
}

void write_policy_file(const std::filesystem::path& path, const Policy& policy, const Config& metadata) {
  check_foreign_ending(path, "a policy is no script", {".lua"});
  write_file_atomic(path, save_policy(policy, metadata));
}

PolicyFile read_policy_file(const std::filesystem::path& path, Trust trust) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw Error(text("'", path.string(), "' is a folder, no policy file; of a run's folder give the best.iap"));
  if (std::filesystem::is_regular_file(path, ignored)) {  // a pipe may give a policy too
    // At one time there are the file and what it holds, then that and its parameters.
    constexpr double copies = 2;
    check_file(path, UINTMAX_MAX, copies);
  }
  std::string file = read_file(path);
  check_kind(file, path.string());
  const std::string payload = unseal(file, magic, version, path.string());
  std::string().swap(file);
  return decode(payload, path.string(), trust);
}

}  // namespace iap
