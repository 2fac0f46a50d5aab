module;
#include <string>
#include <string_view>
module iap.policy;
import iap.core;

namespace iap {
namespace {

constexpr std::string_view mark = "loaded_from", suffix = ".lua";

bool ends_in_lua(const Config* value) { return value && value->string() && value->string()->ends_with(suffix); }

bool is_written_in_lua(const Config& config) {
  const Config* kind = config.find("kind");
  return (kind && *kind == Config("script")) || ends_in_lua(config.find("name"));
}

/// Marks with the text `source`, or takes marks away where it is null.
void walk(Config& config, const Config& source) {
  if (auto* items = config.list())
    for (auto& item : *items) walk(item, source);
  auto* entries = config.map();
  if (!entries) return;
  // An environment may be given by its name alone.
  if (const auto env = entries->find("env"); env != entries->end() && ends_in_lua(&env->second) && !source.is_null())
    env->second = Config::Map{{"name", env->second}};
  for (auto& [key, value] : *entries) walk(value, source);
  if (!is_written_in_lua(config)) return;
  if (source.is_null())
    entries->erase(std::string(mark));
  else
    config[mark] = source;
}

}  // namespace

// It is shown, not opened; and a policy file holds no other texts.
void confine_lua(Config& config, const std::string& source) { walk(config, printable(source)); }

void trust_lua(Config& config) { walk(config, {}); }

}  // namespace iap
