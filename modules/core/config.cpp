module;
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>
module iap.core;

namespace iap {

std::optional<double> Config::number() const {
  if (const auto* whole = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value_)) return *real;
  return {};
}

std::optional<std::int64_t> Config::integer() const {
  if (const auto* whole = std::get_if<std::int64_t>(&value_)) return *whole;
  const auto* real = std::get_if<double>(&value_);
  constexpr double exact_limit = 9007199254740992.0;
  if (real && std::trunc(*real) == *real && std::abs(*real) <= exact_limit) return static_cast<std::int64_t>(*real);
  return {};
}

const Config* Config::find(std::string_view key) const {
  const auto* entries = map();
  if (!entries) return nullptr;
  const auto entry = entries->find(key);
  return entry == entries->end() ? nullptr : &entry->second;
}

Config& Config::operator[](std::string_view key) {
  if (is_null()) value_ = Map{};
  if (!map()) throw Error(text("cannot set '", key, "' inside ", type_name()));
  return (*map())[std::string(key)];
}

std::string Config::type_name() const {
  static constexpr const char* names[] = {"nothing", "a boolean", "an integer", "a number", "a string", "a list", "a table"};
  return names[value_.index()];
}

std::string Config::describe() const {
  std::string json = to_json(*this);
  constexpr std::size_t longest = 60;
  if (json.size() > longest) json = json.substr(0, longest) + "...";
  return json;
}

namespace {

/// The child of `node` that one part of a path names, or nullptr; positions in lists count from 1, as in Lua.
Config* child(Config& node, std::string_view key, std::string_view path, bool create) {
  auto* items = node.list();
  if (!items) {
    if (create || (!node.is_null() && !node.map())) return &node[key];
    if (node.is_null()) return nullptr;
    const auto entry = node.map()->find(key);
    return entry == node.map()->end() ? nullptr : &entry->second;
  }
  std::size_t position = 0;
  const auto [end, failure] = std::from_chars(key.data(), key.data() + key.size(), position);
  if (failure != std::errc() || end != key.data() + key.size() || position < 1 || position > items->size())
    throw Error(
        text("option path '", path, "': '", key, "' is no position in a list of ", items->size(), "; positions count from 1"));
  return &(*items)[position - 1];
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

std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    parts.push_back(path.substr(begin, end - begin));
    if (parts.back().empty()) throw Error(text("option path '", path, "' has an empty part; write it like env.action_repeat"));
    begin = end + 1;
  }
  return parts;
}

}  // namespace

void set_path(Config& config, std::string_view path, std::string_view value) {
  Config read = read_value(value, path);
  const bool erase = read.is_null();
  const auto parts = parts_of(path);
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

}  // namespace iap
