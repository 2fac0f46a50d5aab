#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lua/object.hpp"
#include "lua/protect.hpp"
#include "lua/tables.hpp"
import iap.core;

namespace iap::lua {

/// One call from Lua: reads its arguments, gives its results. Messages name the function, the argument, what was expected and
/// what came. Arguments count from 1; in methods the object itself is number 0.
class Call {
 public:
  explicit Call(lua_State* state);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  lua_State* state() const { return state_; }
  /// The function's full name: "iap.env.make", "env:step".
  const std::string& name() const { return name_; }
  /// Stack index of an argument.
  int at(int argument) const { return argument + first_; }
  /// Whether the argument is missing or nil.
  bool absent(int argument) const { return lua_isnoneornil(state_, at(argument)); }

  double number(int argument, const char* what, std::optional<double> fallback = {}) const;
  std::int64_t integer(int argument, const char* what, std::int64_t low, std::int64_t high,
                       std::optional<std::int64_t> fallback = {}) const;
  std::string string(int argument, const char* what, std::optional<std::string> fallback = {}) const;
  /// A list of numbers.
  std::vector<double> numbers(int argument, const char* what) const;
  /// A table of options; a missing one is an empty map. Objects that have a config (environments, blueprints) may stand in it.
  Config config(int argument, const char* what, const TableRules& rules = {}) const;
  /// Checks that a function was passed.
  void function(int argument, const char* what) const;

  /// Stays alive until the call ends, whoever closes it meanwhile.
  template <typename T>
  T& object(int argument, const char* what) const {
    return *static_cast<T*>(object(argument, what, ClassOf<T>::info));
  }
  /// The object a method was called on.
  template <typename T>
  T& self() const {
    return object<T>(0, "self");
  }
  /// Null if the argument is something else.
  template <typename T>
  T* object_or_null(int argument) const {
    const auto found = find_object(state_, at(argument));
    return found.info == &ClassOf<T>::info ? &object<T>(argument, T::class_name) : nullptr;
  }

  /// Each pushes one result; all return the number pushed, so that a body can end in `return call.give(x);`.
  int give(bool value);
  int give(std::int64_t value);
  int give(int value) { return give(std::int64_t{value}); }
  int give(double value);
  int give(std::string_view value);
  int give(const std::string& value) { return give(std::string_view(value)); }
  int give(const char* value) { return give(std::string_view(value)); }
  int give(const Config& value);
  int give(std::span<const float> values);
  int give(std::span<const double> values);
  template <typename T>
  int give(std::unique_ptr<T> object, std::size_t native_bytes = 0) {
    push_object(state_, std::move(object), native_bytes);
    return 1;
  }

  /// @throws Error "NAME: argument I 'WHAT': expected EXPECTED, got VALUE".
  [[noreturn]] void refuse(int argument, const char* what, std::string_view expected) const;
  /// @throws Error "NAME: MESSAGE".
  [[noreturn]] void fail(std::string_view message) const;

 private:
  void* object(int argument, const char* what, const ClassInfo& info) const;

  lua_State* state_;
  std::string name_;
  int first_;
  mutable std::vector<Holding*> used_;  ///< objects that were handed out
};

/// Runs `body` with every exception caught. Returns its results, or -1 with the message in `message`.
int run_guarded(lua_State* state, Body body, std::span<char> message) noexcept;

/// The C function that Lua sees for `body`; its first upvalue is the function's full name.
template <Body body>
int entry(lua_State* state) {
  char message[2048];
  const int results = run_guarded(state, body, message);
  if (results >= 0) return results;
  lua_settop(state, 0);
  lua_pushstring(state, message);
  return lua_error(state);
}

}  // namespace iap::lua
