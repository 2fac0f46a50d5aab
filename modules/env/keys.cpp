module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
module iap.env;
import iap.core;
#include "env/keys.hpp"

namespace iap {
namespace {

/// Those of `window_help`.
constexpr std::string_view window_characters = " .vntq+=-0";

bool is_key(std::string_view name) {
  constexpr std::string_view named[]{"left", "right", "up", "down"};
  if (std::ranges::find(named, name) != std::end(named)) return true;
  return name.size() == 1 && name[0] > ' ' && name[0] <= '~' && !(name[0] >= 'A' && name[0] <= 'Z');
}

bool is_action(const Config& values, std::size_t actions) {
  const auto* list = values.list();
  return list && list->size() <= actions &&
         std::ranges::all_of(*list, [](const Config& value) { return value.number() && std::isfinite(*value.number()); });
}

}  // namespace

extern "C++" {

const std::string_view window_help = "space pause  . step  v view  n new episode  t take over  + - 0 speed  q quit";

std::string keys_flaw(const std::string& owner, const Config& table, std::size_t actions) {
  if (!table.map()) return text(owner, " must be a table of keys, { left = {-1}, right = {1} }, got ", table.describe());
  for (const auto& [name, values] : *table.map()) {
    const bool rest = name == "rest";
    if (!rest && !is_key(name))
      return text(owner, ": there is no key '", name,
                  "'; keys are left, right, up, down and single small letters, digits and signs");
    if (!rest && name.size() == 1 && window_characters.find(name[0]) != window_characters.npos)
      return text(owner, ": the key '", name, "' does something else (", window_help, ")");
    if (!is_action(values, actions))
      return text(owner, ".", name, " must be a list of up to ", actions, " numbers, one an action, got ", values.describe());
  }
  return "";
}
}

}  // namespace iap
