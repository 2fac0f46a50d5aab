module;
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <variant>
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

/// The child of `node` that one part of a path names; positions in lists count from 1, as in Lua.
Config& child(Config& node, std::string_view key, std::string_view path) {
  auto* items = node.list();
  if (!items) return node[key];
  std::size_t position = 0;
  const auto [end, failure] = std::from_chars(key.data(), key.data() + key.size(), position);
  if (failure != std::errc() || end != key.data() + key.size() || position < 1 || position > items->size())
    throw Error(
        text("option path '", path, "': '", key, "' is no position in a list of ", items->size(), "; positions count from 1"));
  return (*items)[position - 1];
}

}  // namespace

void set_path(Config& config, std::string_view path, std::string_view value) {
  Config* node = &config;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const auto key = path.substr(begin, end - begin);
    if (key.empty()) throw Error(text("option path '", path, "' has an empty part; write it like env.action_repeat"));
    node = &child(*node, key, path);
    begin = end + 1;
  }
  try {
    *node = parse_json(value, path);
  } catch (const Error&) {
    *node = Config(std::string(value));
  }
}

}  // namespace iap
