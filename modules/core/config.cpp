module;
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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

}  // namespace iap
