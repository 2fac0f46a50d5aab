module;
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
module iap.core;

namespace iap {
namespace {

using Json = nlohmann::json;

Json encode(const Config& config) {
  if (const auto* flag = config.boolean()) return *flag;
  if (const auto* string = config.string()) return *string;
  if (const auto* items = config.list()) {
    Json array = Json::array();
    for (const auto& item : *items) array.push_back(encode(item));
    return array;
  }
  if (const auto* entries = config.map()) {
    Json object = Json::object();
    for (const auto& [key, value] : *entries) object[key] = encode(value);
    return object;
  }
  if (config.is_null()) return nullptr;
  const double number = *config.number();
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  if (config.type_name() == "an integer") return *config.integer();
  return number;
}

/// Deeper nesting is refused, because trees are walked recursively and a hostile file must not exhaust the stack.
constexpr int deepest = 200;

Config decode(const Json& json, std::string_view source, int depth = 0) {
  if (depth > deepest) throw Error(text(source, ": JSON is nested more than ", deepest, " levels deep"));
  switch (json.type()) {
    case Json::value_t::boolean: return json.get<bool>();
    case Json::value_t::string: return json.get<std::string>();
    case Json::value_t::number_integer: return json.get<std::int64_t>();
    case Json::value_t::number_unsigned: {
      const auto number = json.get<std::uint64_t>();
      if (std::in_range<std::int64_t>(number)) return static_cast<std::int64_t>(number);
      return static_cast<double>(number);
    }
    case Json::value_t::number_float: return json.get<double>();
    case Json::value_t::array: {
      Config::List items;
      for (const auto& item : json) items.push_back(decode(item, source, depth + 1));
      return items;
    }
    case Json::value_t::object: {
      Config::Map entries;
      for (const auto& [key, value] : json.items()) entries.emplace(key, decode(value, source, depth + 1));
      return entries;
    }
    default: return {};
  }
}

}  // namespace

std::string to_json(const Config& config, int indent) {
  return encode(config).dump(indent, ' ', false, Json::error_handler_t::replace);
}

Config parse_json(std::string_view json, std::string_view source) {
  try {
    return decode(Json::parse(json), source);
  } catch (const Json::exception& error) {
    throw Error(text(source, ": not valid JSON (", error.what(), ")"));
  }
}

}  // namespace iap
