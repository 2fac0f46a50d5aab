module;
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>
export module iap.core:config;
import :error;

export namespace iap {

/// A tree of plain values: what an option table in Lua, a JSON header and a `--set` override have in common. Every catalog
/// (environments, blocks, kernels, optimizers) builds its objects from one, so that an object can always be rebuilt from a file.
class Config {
 public:
  using List = std::vector<Config>;
  using Map = std::map<std::string, Config, std::less<>>;

  Config() = default;
  Config(bool value) : value_(value) {}
  Config(int value) : value_(std::int64_t{value}) {}
  Config(std::int64_t value) : value_(value) {}
  Config(double value) : value_(value) {}
  Config(const char* value) : value_(std::string(value)) {}
  Config(std::string value) : value_(std::move(value)) {}
  Config(List value) : value_(std::move(value)) {}
  Config(Map value) : value_(std::move(value)) {}

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  const bool* boolean() const { return std::get_if<bool>(&value_); }
  const std::string* string() const { return std::get_if<std::string>(&value_); }
  const List* list() const { return std::get_if<List>(&value_); }
  const Map* map() const { return std::get_if<Map>(&value_); }
  Map* map() { return std::get_if<Map>(&value_); }
  List* list() { return std::get_if<List>(&value_); }
  /// The value as a number; integers widen. Empty for anything else.
  std::optional<double> number() const;
  /// The value as an integer; a double with an integral value counts. Empty for anything else.
  std::optional<std::int64_t> integer() const;

  /// The entry of a map, or nullptr.
  const Config* find(std::string_view key) const;
  /// The entry of a map, created if missing; a null value becomes a map first. @throws Error if this is no map.
  Config& operator[](std::string_view key);

  /// "a number", "a string", "a list" ... for messages.
  std::string type_name() const;
  /// Short, human form of the value for messages.
  std::string describe() const;

  bool operator==(const Config&) const = default;

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Map> value_;
};

/// JSON text of `config`; numbers round-trip exactly. Non-finite numbers are written as the strings "inf", "-inf", "nan".
std::string to_json(const Config& config, int indent = -1);
/// Whether JSON holds `text` as it is: it must be UTF-8, or bytes of it are lost.
bool is_utf8(std::string_view text);
/// @throws Error that names `source` and the position if `json` is malformed.
Config parse_json(std::string_view json, std::string_view source);

/// An option that is wrong in itself: unknown, missing, of the wrong type or out of a fixed range, whatever the object is built on.
class OptionError : public Error {
 public:
  using Error::Error;
};

/// An option that no reader asked for.
class UnknownOption : public OptionError {
 public:
  /// `guessed`: whether the message says what was perhaps meant.
  UnknownOption(const std::string& message, std::string option, bool guessed)
      : OptionError(message), option_(std::move(option)), guessed_(guessed) {}
  const std::string& option() const { return option_; }
  bool guessed() const { return guessed_; }

 private:
  std::string option_;
  bool guessed_;
};

/// Reads the option table of one object (`owner` names it in messages) and refuses what nobody asked for. What the object was given
/// (`config`) and what it became (`completed`) are two things: the first is what somebody may change, the second rebuilds the
/// object whatever the defaults are by then.
class Options {
 public:
  /// `config` must be a map or null (no options). It has to outlive this object. @throws Error otherwise.
  Options(std::string owner, const Config& config);

  bool has(std::string_view key) const;
  /// The whole table as it was given.
  const Config& config() const { return *config_; }
  /// Readers: without `fallback` a missing key is an error. @throws OptionError naming owner, key, expected and got.
  double number(std::string_view key, std::optional<double> fallback = {});
  /// As `number`, and inside [low, high].
  double number_in(std::string_view key, double low, double high, std::optional<double> fallback = {});
  std::int64_t integer_in(std::string_view key, std::int64_t low, std::int64_t high, std::optional<std::int64_t> fallback = {});
  bool boolean(std::string_view key, std::optional<bool> fallback = {});
  std::string string(std::string_view key, std::optional<std::string> fallback = {});
  /// One of `names`; an unknown name is an error with the nearest valid one.
  std::string choice(std::string_view key, const std::vector<std::string>& names, std::optional<std::string> fallback = {});
  std::vector<std::int64_t> integers(std::string_view key, std::optional<std::vector<std::int64_t>> fallback = {});
  /// The raw value (null if missing).
  const Config& value(std::string_view key);
  /// As `value`, for what iap itself writes into the tables that it stores: messages do not offer it.
  const Config& record(std::string_view key);
  /// A missing key is an empty list; a value that is no list is an error.
  const Config::List& list(std::string_view key);

  /// The table as its readers understood it: what was given, and the fallback of every option that was asked for and is missing.
  /// It builds the same object even where a fallback changes later.
  Config completed() const;
  /// What `completed` is to hold for `key`: for readers without a fallback, and for tables inside this one.
  void complete(std::string_view key, Config value);

  /// Says what `key` depends on, such as "kernel = \"favor++\"", for tables in which nobody reads it: `finish` then names that.
  void goes_with(std::string_view key, std::string_view condition);

  /// @throws OptionError naming the first key that no reader asked for, with what it depends on; UnknownOption with the nearest
  /// known one.
  void finish() const;
  /// @throws Error "owner: message".
  [[noreturn]] void fail(std::string_view message) const;
  const std::string& owner() const { return owner_; }

 private:
  [[noreturn]] void refuse(std::string_view message) const;
  const Config* look_up(std::string_view key);
  const Config& require(std::string_view key, const Config* found) const;

  std::string owner_;
  const Config* config_;
  std::vector<std::string> asked_, records_;
  std::map<std::string, std::string, std::less<>> conditions_;
  Config::Map filled_;
};

}  // namespace iap
