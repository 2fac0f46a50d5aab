#include "host/texts.hpp"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "host/structs.hpp"
import iap.core;
import iap.env;
import iap.envs;
import iap.script;
#include "core/opens_table.hpp"
#include "core/walk_config.hpp"
#include "policy/handed_on.hpp"

namespace iap::host {
namespace {

constexpr std::string_view spaces = " \t\r\n";

std::string placed_path(const std::string& path) {
  std::error_code gone;  // the folder: nothing relative is found from there anyway
  std::string whole = std::filesystem::absolute(path, gone).string();
  // No option takes other bytes.
  return gone || !is_utf8(whole) ? path : whole;
}

void place(Config* path) {
  if (path && path->string() && !path->string()->empty()) *path = placed_path(*path->string());
}

Config* entry(Config& table, const char* key) { return table.find(key) ? &table[key] : nullptr; }

/// @throws BadArgument for what Lua's tables cannot hold or others cut short: a NUL, where names would end for the system, a
/// library or a message, and a null in a list, which would be a hole or its end.
void check_entries(const std::string& source, const Config& table) {
  constexpr const char* remedy = "holds a character NUL; take it out";
  const auto clean = [](std::string_view part) { return part.find('\0') == std::string_view::npos; };
  walk_config(table, [&](const std::string& place, const std::string* name, const Config& value) {
    require(!name || clean(*name), source, ": the name of option '", printable(place), "' ", remedy);
    if (name && is_file_record(*name)) return false;  // what a Lua file holds is no name
    require(name || !value.is_null(), source, ": option '", place, "' is null; a list has a value at each place");
    const auto* string = value.string();
    require(!string || clean(*string), source, ": option '", place, "' is '", string ? printable(*string) : "", "', which ",
            remedy);
    return true;
  });
}

}  // namespace

Config host_table(const char* text, const std::string& source) {
  Config table = parse_table(text, source);
  check_entries(source, table);
  return table;
}

bool is_table(const char* text) {
  // The name of a file that somebody else made is never read as a table of the host's own.
  std::error_code too_long;
  return opens_table(text) && !std::filesystem::exists(text, too_long);
}

Config env_text(const char* function, const char* argument, const char* text) {
  require(text, function, ": '", argument, "' is null; give the environment as a table or its name");
  const std::string source = iap::text(function, ": '", argument, "'");
  try {
    if (is_table(text)) return env_table(host_table(text, source), source);
    const std::string_view whole(text);
    const auto first = whole.find_first_not_of(spaces), last = whole.find_last_not_of(spaces);
    require(first != std::string_view::npos, source, " is empty; give the environment as a table or its name");
    return env_table(Config(std::string(whole.substr(first, last - first + 1))), source);
  } catch (const Error& error) {
    throw BadArgument(error.what());
  }
}

std::unique_ptr<Env> make_named_env(const char* function, const char* argument, const Config& config) {
  register_lua();
  try {
    return make_env(config);
  } catch (const Error& error) {
    throw BadArgument(text(function, ": '", argument, "': ", error.what()));
  }
}

Config placed(Config env) {
  Config* distraction = entry(env, "distraction");
  Config* videos = distraction ? entry(*distraction, "videos") : nullptr;
  std::error_code missing;
  const bool folder = videos && videos->string() && std::filesystem::is_directory(*videos->string(), missing);
  // What a text in Lua calls so is its own, and it is held as it was read; a task in Lua takes the distractions' videos.
  if (folder || !is_lua_env(env)) place(videos);
  if (is_lua_env(env)) return env;
  for (const char* option : {"frames", "scene", "wad"}) place(entry(env, option));
  // The files of a robot that is held, too, are known by that path.
  if (!env.find("model_files")) place(entry(env, "urdf"));
  return env;
}

FilesRead placed(const FilesRead& files) {
  FilesRead all = files;
  for (const auto& [name, content] : files) all.emplace(placed_path(name), content);
  return all;
}

Described::Described(const EnvSpec& spec) : spec_(spec), config_(to_json(env_handed_on(spec.config))) {
  for (const auto& name : spec_.state_names) names_.push_back(name.c_str());
}

void Described::describe(const char* function, iap_env_spec* out) const {
  check_struct(function, "'spec'", "iap_env_spec", out);
  fill_struct(out, {.size = 0,
                    .name = spec_.name.c_str(),
                    .config = config_.c_str(),
                    .action_size = static_cast<std::size_t>(spec_.action_size),
                    .action_low = spec_.action_low,
                    .action_high = spec_.action_high,
                    .control_dt = spec_.control_dt,
                    .max_steps = spec_.max_steps,
                    .vector_size = static_cast<std::size_t>(spec_.observation.vector),
                    .state_names = names_.empty() ? nullptr : names_.data(),
                    .image_count = spec_.observation.images.size()});
}

}  // namespace iap::host
