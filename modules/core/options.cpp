module;
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.core;
#include "core/option_log.hpp"

namespace iap {
namespace {
const Config nothing;
const Config::List empty_list;

thread_local std::vector<OptionRead>* option_log = nullptr;

/// The entry of an option in the log: its readers call one another, and each adds what it knows.
void note(const std::string& owner, std::string_view key, const auto& add) {
  if (!option_log) return;
  auto found = std::ranges::find_if(*option_log, [&](const auto& read) { return read.owner == owner && read.key == key; });
  if (found == option_log->end())
    found =
        option_log->insert(found, OptionRead{.owner = owner, .key = std::string(key), .type = "any", .fallback = {}, .names = {}});
  add(*found);
}

void note_type(const std::string& owner, std::string_view key, std::string_view type, const Config& fallback) {
  note(owner, key, [&](OptionRead& read) {
    read.type = type;
    if (!fallback.is_null()) read.fallback = fallback;
  });
}

void note_range(const std::string& owner, std::string_view key, double low, double high) {
  note(owner, key, [&](OptionRead& read) {
    read.low = low;
    read.high = high;
  });
}

/// A fallback, or nothing.
template <typename T>
Config config_of(const std::optional<T>& fallback) {
  if (!fallback) return {};
  return Config(*fallback);
}

/// The remedy for a list that was written without brackets, "64,64" or "64x64", as on a command line; "" for anything else.
std::string bracket_remedy(const Config& value) {
  const auto* words = value.string();
  if (!words || words->empty() || words->find_first_not_of("0123456789-, xX{}") != std::string::npos) return "";
  std::string list;
  bool apart = false;
  for (const char c : *words) {
    const bool figure = ('0' <= c && c <= '9') || c == '-';
    if (figure && apart && !list.empty()) list += ',';
    if (figure) list += c;
    apart = !figure;
  }
  return list.empty() ? "" : text("; write it as [", list, "]");
}

/// `names` in their order, each once, but for those of `others`.
std::vector<std::string> once_each(const std::vector<std::string>& names, const std::vector<std::string>& others) {
  std::set<std::string_view> known(others.begin(), others.end());
  std::vector<std::string> once;
  for (const auto& name : names)
    if (known.insert(name).second) once.push_back(name);
  return once;
}

/// `{}` of Lua, which does not tell an empty list from an empty map.
bool is_empty_table(const Config& value) { return value.map() && value.map()->empty(); }

/// Whether a whole number stands there as one ("64.0" is none).
bool is_whole(const Config& value) { return value.type_name() == "an integer"; }
}  // namespace

extern "C++" std::vector<OptionRead>* log_options(std::vector<OptionRead>* log) noexcept { return std::exchange(option_log, log); }

Options::Options(std::string owner, const Config& config) : owner_(std::move(owner)), config_(&config) {
  if (!config.is_null() && !config.map() && !(config.list() && config.list()->empty()))
    refuse(text("expected a table of options, got ", config.describe()));
}

void Options::fail(std::string_view message) const { throw Error(text(owner_, ": ", message)); }

void Options::refuse(std::string_view message) const { throw OptionError(text(owner_, ": ", message)); }

bool Options::has(std::string_view key) const {
  const auto* found = config_->find(key);
  return found && !found->is_null();
}

const Config* Options::look_up(std::string_view key) {
  asked_.emplace_back(key);  // once more where it was before: a file's Lua asks for many, and to look for each takes the square
  note(owner_, key, [](const OptionRead&) {});
  return has(key) ? config_->find(key) : nullptr;
}

const Config& Options::require(std::string_view key, const Config* found) const {
  if (found) return *found;
  // Of the names that nobody read; a slip rarely takes the first letter.
  const std::set<std::string_view> asked(asked_.begin(), asked_.end());
  std::vector<std::string> unread;
  if (const auto* entries = config_->map())
    for (const auto& [name, value] : *entries)
      if (name.starts_with(key.substr(0, 1)) && !asked.contains(name)) unread.push_back(name);
  const std::string meant = nearest_name(key, unread);
  refuse(text("option '", key, "' is missing", meant.empty() ? "" : text("; is it '", meant, "'?")));
}

double Options::number(std::string_view key, std::optional<double> fallback) {
  note_type(owner_, key, "number", config_of(fallback));
  const auto* found = look_up(key);
  if (!found && fallback) {
    complete(key, *fallback);
    return *fallback;
  }
  const Config& value = require(key, found);
  const auto number = value.number();
  if (!number) refuse(text("option '", key, "' must be a number, got ", value.describe()));
  if (!std::isfinite(*number)) refuse(text("option '", key, "' must be finite, got ", *number));
  return *number;
}

double Options::number_in(std::string_view key, double low, double high, std::optional<double> fallback) {
  note_range(owner_, key, low, high);
  const double value = number(key, fallback);
  if (value < low || value > high) {
    // Just beyond a bound, fewer digits would show the two as one.
    const auto shown = [&](double number) {
      const std::string few = text(number);
      const bool close = few == text(value) && (few == text(low) || few == text(high));
      return close && parse_json(few, "").number() != number ? to_json(Config(number)) : few;
    };
    refuse(text("option '", key, "' must be in [", shown(low), ", ", shown(high), "], got ", shown(value)));
  }
  return value;
}

std::int64_t Options::integer_in(std::string_view key, std::int64_t low, std::int64_t high, std::optional<std::int64_t> fallback) {
  note_type(owner_, key, "integer", config_of(fallback));
  note_range(owner_, key, static_cast<double>(low), static_cast<double>(high));
  const auto* found = look_up(key);
  if (!found && fallback) {
    complete(key, *fallback);
    return *fallback;
  }
  const Config& value = require(key, found);
  const auto whole = value.integer();
  if (!whole) refuse(text("option '", key, "' must be an integer, got ", value.describe()));
  if (*whole < low || *whole > high) refuse(text("option '", key, "' must be in [", low, ", ", high, "], got ", *whole));
  if (!is_whole(value)) complete(key, *whole);
  return *whole;
}

bool Options::boolean(std::string_view key, std::optional<bool> fallback) {
  note_type(owner_, key, "boolean", config_of(fallback));
  const auto* found = look_up(key);
  if (!found && fallback) {
    complete(key, *fallback);
    return *fallback;
  }
  const Config& value = require(key, found);
  if (!value.boolean()) refuse(text("option '", key, "' must be true or false, got ", value.describe()));
  return *value.boolean();
}

std::string Options::string(std::string_view key, std::optional<std::string> fallback) {
  note_type(owner_, key, "string", config_of(fallback));
  const auto* found = look_up(key);
  if (!found && fallback) {
    complete(key, *fallback);
    return *fallback;
  }
  const Config& value = require(key, found);
  if (!value.string()) refuse(text("option '", key, "' must be a string, got ", value.describe()));
  return *value.string();
}

std::string Options::choice(std::string_view key, const std::vector<std::string>& names, std::optional<std::string> fallback) {
  note(owner_, key, [&](OptionRead& read) { read.names = names; });
  const std::string name = string(key, std::move(fallback));
  if (std::ranges::find(names, name) == names.end()) refuse(text("unknown ", key, " '", name, "'", did_you_mean(name, names)));
  return name;
}

std::vector<std::int64_t> Options::integers(std::string_view key, std::optional<std::vector<std::int64_t>> fallback) {
  note_type(owner_, key, "integers", fallback ? Config(Config::List(fallback->begin(), fallback->end())) : Config());
  const auto* found = look_up(key);
  if (!found && fallback) {
    complete(key, Config::List(fallback->begin(), fallback->end()));
    return *std::move(fallback);
  }
  const Config& value = require(key, found);
  if (is_empty_table(value)) {
    complete(key, Config::List{});
    return {};
  }
  if (!value.list()) refuse(text("option '", key, "' must be a list of integers, got ", value.describe(), bracket_remedy(value)));
  std::vector<std::int64_t> numbers;
  for (const auto& item : *value.list()) {
    const auto whole = item.integer();
    if (!whole) refuse(text("option '", key, "' must hold integers, got ", item.describe()));
    numbers.push_back(*whole);
  }
  if (!std::ranges::all_of(*value.list(), is_whole)) complete(key, Config::List(numbers.begin(), numbers.end()));
  return numbers;
}

const Config& Options::value(std::string_view key) {
  const auto* found = look_up(key);
  return found ? *found : nothing;
}

const Config& Options::record(std::string_view key) {
  if (std::ranges::find(records_, key) == records_.end()) records_.emplace_back(key);
  return value(key);
}

const Config::List& Options::list(std::string_view key) {
  note_type(owner_, key, "list", {});
  const Config& found = value(key);
  if (found.is_null()) return empty_list;
  if (is_empty_table(found)) return empty_list;
  if (!found.list()) refuse(text("option '", key, "' must be a list, got ", found.describe()));
  return *found.list();
}

Config Options::completed() const {
  Config::Map table = filled_;
  if (const auto* entries = config_->map())
    for (const auto& [key, value] : *entries)
      if (!value.is_null()) table.try_emplace(key, value);
  return table;
}

void Options::complete(std::string_view key, Config value) { filled_.insert_or_assign(std::string(key), std::move(value)); }

void Options::goes_with(std::string_view key, std::string_view condition) {
  conditions_.insert_or_assign(std::string(key), std::string(condition));
}

void Options::finish() const {
  const auto* entries = config_->map();
  if (!entries) return;
  const std::set<std::string_view> asked(asked_.begin(), asked_.end());
  for (const auto& [key, value] : *entries) {
    if (asked.contains(key)) continue;
    if (const auto found = conditions_.find(key); found != conditions_.end())
      refuse(text("option '", key, "' goes with ", found->second));
    const auto offered = once_each(asked_, records_);
    throw UnknownOption(text(owner_, ": unknown option '", key, "'", did_you_mean(key, offered)), key,
                        !nearest_name(key, offered).empty());
  }
}

}  // namespace iap
