#include "lua/call.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>

#include "lua/meter.hpp"

namespace iap::lua {

Call::Call(lua_State* state) : state_(state) {
  name_ = lua_type(state, lua_upvalueindex(1)) == LUA_TSTRING ? std::string(string_at(state, lua_upvalueindex(1))) : "function";
  first_ = name_.find(':') == std::string::npos ? 0 : 1;
}

Call::~Call() { std::ranges::for_each(used_, let_go); }

void Call::fail(std::string_view message) const { throw Error(text(name_, ": ", message)); }

void Call::refuse(int argument, const char* what, std::string_view expected) const {
  const std::string got = describe_value(state_, at(argument));
  if (argument == 0) fail(text("expected ", expected, " before the colon, got ", got));
  fail(text("argument ", argument, " '", what, "': expected ", expected, ", got ", got));
}

double Call::number(int argument, const char* what, std::optional<double> fallback) const {
  if (absent(argument) && fallback) return *fallback;
  if (lua_type(state_, at(argument)) != LUA_TNUMBER) refuse(argument, what, "a number");
  return lua_tonumberx(state_, at(argument), nullptr);
}

std::int64_t Call::integer(int argument, const char* what, std::int64_t low, std::int64_t high,
                           std::optional<std::int64_t> fallback) const {
  if (absent(argument) && fallback) return *fallback;
  int whole = 0;
  if (lua_type(state_, at(argument)) != LUA_TNUMBER) refuse(argument, what, "an integer");
  const std::int64_t value = lua_tointegerx(state_, at(argument), &whole);
  if (!whole) refuse(argument, what, "an integer");
  if (value < low || value > high) refuse(argument, what, text("an integer in [", low, ", ", high, "]"));
  return value;
}

std::string Call::string(int argument, const char* what, std::optional<std::string> fallback) const {
  if (absent(argument) && fallback) return *fallback;
  if (lua_type(state_, at(argument)) != LUA_TSTRING) refuse(argument, what, "a string");
  return std::string(string_at(state_, at(argument)));
}

std::vector<double> Call::numbers(int argument, const char* what) const {
  if (lua_type(state_, at(argument)) != LUA_TTABLE) refuse(argument, what, "a list of numbers");
  return read_numbers(state_, at(argument), text(name_, ": argument ", argument, " '", what, "'"));
}

Config Call::config(int argument, const char* what, const TableRules& rules) const {
  if (absent(argument)) return Config::Map{};
  const auto found = find_object(state_, at(argument));
  if (lua_type(state_, at(argument)) != LUA_TTABLE && !(found.info && found.info->config)) refuse(argument, what, "a table");
  return read_config(state_, at(argument), name_, rules);
}

void Call::function(int argument, const char* what) const {
  if (lua_type(state_, at(argument)) != LUA_TFUNCTION) refuse(argument, what, "a function");
}

void* Call::object(int argument, const char* what, const ClassInfo& info) const {
  const auto found = find_object(state_, at(argument));
  if (found.info != &info) refuse(argument, what, text("an object of type ", info.name));
  if (!found.box->object) fail(text("this ", info.name, " is closed"));
  Holding* const holding = found.box->holding;
  if (std::ranges::find(used_, holding) == used_.end()) {
    used_.push_back(holding);
    ++holding->holders;
  }
  return found.box->object;
}

int Call::give(bool value) {
  reserve(state_, 1);
  lua_pushboolean(state_, value);
  return 1;
}

int Call::give(std::int64_t value) {
  reserve(state_, 1);
  lua_pushinteger(state_, value);
  return 1;
}

int Call::give(double value) {
  reserve(state_, 1);
  lua_pushnumber(state_, value);
  return 1;
}

int Call::give(std::string_view value) {
  push_string(state_, value);
  return 1;
}

int Call::give(const Config& value) {
  push_config(state_, value);
  return 1;
}

int Call::give(std::span<const float> values) {
  push_numbers(state_, values);
  return 1;
}

int Call::give(std::span<const double> values) {
  push_numbers(state_, values);
  return 1;
}

namespace {

/// What it costs a confined state to come into C++: bodies look through their strings, above all to say what is wrong with them.
void spend_on(Meter& meter, lua_State* state) {
  constexpr std::size_t steps_a_call = 20, bytes_a_step = 4;
  std::size_t steps = steps_a_call;
  for (int i = lua_gettop(state); i > 0; --i)
    if (lua_type(state, i) == LUA_TSTRING) steps += lua_rawlen(state, i) / bytes_a_step;
  meter.spend(steps);
}

}  // namespace

int run_guarded(lua_State* state, Body body, std::span<char> message) noexcept {
  Meter* const meter = Meter::of(state);
  const auto copy = [message](std::string_view what) {
    const auto put = [message](std::size_t at, std::string_view part) {
      std::memcpy(message.data() + at, part.data(), part.size());
      return at + part.size();
    };
    std::size_t length = 0;
    if (what.size() < message.size()) {
      length = put(0, what);
    } else {
      // The middle goes: reasons and remedies stand at the end, behind names that may be long.
      constexpr std::string_view cut = " ... ";
      const std::size_t half = (message.size() - 1 - cut.size()) / 2;
      std::size_t end = what.size() - half;
      while (end < what.size() && (what[end] & 0xc0) == 0x80) ++end;
      length = put(put(put(0, what.substr(0, whole_characters(what, half))), cut), what.substr(end));
    }
    message[length] = '\0';
  };
  const auto keep = [&copy, meter](std::string_view what) {
    constexpr std::uint64_t steps_a_failure = 1000;
    if (meter) meter->owe(steps_a_failure);
    // The text may be a file's; whole lines of its own could pass for other messages.
    copy(one_line(what));
  };
  try {
    try {
      if (meter) spend_on(*meter, state);
      Call call(state);
      return body(call);
    } catch (const LuaError& error) {
      keep(error.what());
    } catch (const std::exception& error) {
      keep(where(state) + error.what());
    }
  } catch (...) {
    copy("out of memory or an unknown exception");
  }
  return -1;
}

}  // namespace iap::lua
