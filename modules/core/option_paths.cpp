module;
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>
module iap.core;

namespace iap {

std::vector<std::string_view> path_parts(std::string_view path) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    parts.push_back(path.substr(begin, end - begin));
    if (parts.back().empty()) throw Error(text("option path '", path, "' has an empty part; write it like env.action_repeat"));
    begin = end + 1;
  }
  return parts;
}

std::string first_part(std::string_view path) { return std::string(path.substr(0, path.find('.'))); }

const Config* entry_of(const Config& tree, std::string_view key) {
  const auto* items = tree.list();
  if (!items) return tree.find(key);
  std::size_t position = 0;
  const auto [end, failure] = std::from_chars(key.data(), key.data() + key.size(), position);
  const bool there = failure == std::errc() && end == key.data() + key.size() && position >= 1 && position <= items->size();
  return there ? &(*items)[position - 1] : nullptr;
}

Config* entry_of(Config& tree, std::string_view key) { return const_cast<Config*>(entry_of(std::as_const(tree), key)); }

const Config* entry_at(const Config& tree, std::string_view path) {
  const Config* found = &tree;
  for (const auto part : path_parts(path)) {
    found = entry_of(*found, part);
    if (!found) break;
  }
  return found;
}

Config* entry_at(Config& tree, std::string_view path) { return const_cast<Config*>(entry_at(std::as_const(tree), path)); }

namespace {

/// The child of `node` that one part of a path names, or nullptr.
Config* child(Config& node, std::string_view key, std::string_view path, bool create) {
  const auto* items = node.list();
  if (!items && !node.is_null() && !node.map())
    throw Error(text("option path '", path, "': cannot set '", key, "' inside ", node.type_name(), " (", node.describe(), ")"));
  if (!items && create) return &node[key];
  Config* found = entry_of(node, key);
  if (items && !found)
    throw Error(
        text("option path '", path, "': '", key, "' is no position in a list of ", items->size(), "; positions count from 1"));
  return found;
}

/// A number as Lua and people write it too (".5", "-.5", "1.", "+1") as JSON has it; "" for anything else, versions and numbers
/// with leading zeros included.
std::string json_number(std::string_view value) {
  constexpr std::string_view digits = "0123456789";
  const auto take_digits = [&] {
    const auto taken = value.substr(0, std::min(value.find_first_not_of(digits), value.size()));
    value.remove_prefix(taken.size());
    return std::string(taken);
  };
  const auto take = [&value](std::string_view any) {
    const bool found = !value.empty() && any.find(value.front()) != std::string_view::npos;
    const std::string taken(value.substr(0, found ? 1 : 0));
    value.remove_prefix(taken.size());
    return taken;
  };
  const std::string sign = take("+-"), whole = take_digits(), point = take("."), part = point.empty() ? "" : take_digits();
  if ((whole + part).empty() || (whole.size() > 1 && whole.starts_with('0'))) return "";
  std::string number = (sign == "-" ? "-" : "") + (whole.empty() ? "0" : whole);
  if (!point.empty()) number += "." + (part.empty() ? "0" : part);
  if (const auto letter = take("eE"); !letter.empty()) {
    const std::string exponent_sign = take("+-"), exponent = take_digits();
    if (exponent.empty()) return "";
    number += "e" + exponent_sign + exponent;
  }
  return value.empty() ? number : "";
}

Config read_value(std::string_view value, std::string_view path) {
  const std::string number = json_number(value);
  try {
    return parse_json(number.empty() ? value : number, path);
  } catch (const Error&) {
    return std::string(value);
  }
}

}  // namespace

void set_path(Config& config, std::string_view path, std::string_view value) {
  Config read = read_value(value, path);
  const bool erase = read.is_null();
  const auto parts = path_parts(path);
  Config *parent = nullptr, *node = &config;
  for (const auto part : parts) {
    parent = node;
    node = child(*node, part, path, !erase);
    if (!node) return;
  }
  if (!erase)
    *node = std::move(read);
  else if (auto* items = parent->list())
    items->erase(items->begin() + (node - items->data()));
  else
    parent->map()->erase(parent->map()->find(parts.back()));
}

Config with_changes(Config options, const Config& changes) {
  const auto* entries = changes.map();
  if (!entries) return options;
  for (const auto& [key, value] : *entries) {
    if (!value.is_null())
      options[key] = value;
    else if (auto* given = options.map())
      given->erase(key);
  }
  return options;
}

}  // namespace iap
