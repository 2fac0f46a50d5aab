module;
#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "script/context.hpp"
#include "script/show.hpp"
module iap.script;
import iap.core;
#include "script/impl.hpp"

namespace iap {
namespace {

bool is_name(std::string_view name) {
  return std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

/// Puts what loading the chunk makes on the stack. Returns what is wrong with it, or "".
std::string load_trouble(lua::State& lua, std::string_view chunk) {
  try {
    lua.load_text(chunk, "=input");
    return "";
  } catch (const lua::LuaError& error) {
    return error.what();
  }
}

/// Loads an input as an expression, then as statements. Returns false if it is only the beginning of either. @throws ScriptError
/// with what is wrong with the expression where the input `says_so`, else with the statements.
bool load_input(lua::State& lua, std::string_view input, bool says_so) {
  const std::string of_expression = load_trouble(lua, "return " + std::string(input));
  if (of_expression.empty()) return true;
  const std::string of_statements = load_trouble(lua, input);
  if (of_statements.empty()) return true;
  if (of_expression.ends_with("<eof>") || of_statements.ends_with("<eof>")) return false;
  throw ScriptError(says_so ? of_expression : of_statements, "");
}

/// An input begins with an empty stack and leaves it so, however it ends.
class EmptyStack {
 public:
  explicit EmptyStack(lua_State* state) : state_(state) { lua_settop(state_, 0); }
  ~EmptyStack() { lua_settop(state_, 0); }
  EmptyStack(const EmptyStack&) = delete;
  EmptyStack& operator=(const EmptyStack&) = delete;

 private:
  lua_State* state_;
};

/// Replaces the table or object at the top by the value of `key`, without metamethods; an object's methods count as its entries.
void descend(lua_State* state, std::string_view key) {
  if (lua_type(state, -1) == LUA_TUSERDATA && lua::find_object(state, -1).info) {
    lua_getmetatable(state, -1);
    lua::push_entry(state, -1, "__index");
    lua_replace(state, -3);
    lua_pop(state, 1);
  }
  if (lua_type(state, -1) == LUA_TTABLE && !key.empty()) {
    lua::push_entry(state, -1, key);
    lua_replace(state, -2);
  }
}

}  // namespace

Script::Reply Script::evaluate(std::string_view input) {
  auto& lua = impl_->lua;
  const auto first = input.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  const EmptyStack stack(lua);
  const bool says_so = input[first] == '=';
  if (says_so) input.remove_prefix(first + 1);
  if (!load_input(lua, input, says_so)) return {.incomplete = true};
  impl_->context.script = input;
  impl_->context.begin_input();
  impl_->run(LUA_MULTRET);
  Reply reply;
  const int count = lua_gettop(lua);
  // The last value stays at hand: what took hours may not be lost because nobody gave it a name.
  if (count > 0 && lua_type(lua, 1) != LUA_TNIL) {
    lua::reserve(lua, 1);
    lua_pushvalue(lua, 1);
    // Raw: a script may guard its globals against names that it does not know.
    lua::protect(lua, 1, 0, [](lua_State* inner) noexcept {
      lua_pushglobaltable(inner);
      lua_insert(inner, 1);
      lua_pushliteral(inner, "_");
      lua_insert(inner, 2);
      lua_rawset(inner, 1);
    });
  }
  try {
    for (int i = 1; i <= count; ++i) reply.text += (i > 1 ? "\t" : "") + show(lua, i);
  } catch (const lua::LuaError& error) {
    impl_->end_call();
    throw ScriptError(error.what(), "");
  }
  return reply;
}

std::vector<std::string> Script::complete(std::string_view prefix) const {
  lua_State* state = impl_->lua;
  const int top = lua_gettop(state);
  lua::reserve(state, 8);
  lua_rawgeti(state, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  std::size_t begin = 0;
  for (std::size_t end; (end = prefix.find_first_of(".:", begin)) != std::string_view::npos; begin = end + 1)
    descend(state, prefix.substr(begin, end - begin));
  descend(state, "");
  std::vector<std::string> found;
  const auto wanted = prefix.substr(begin);
  if (lua_type(state, -1) == LUA_TTABLE) {
    lua_pushnil(state);
    while (lua_next(state, -2)) {
      if (lua_type(state, -2) == LUA_TSTRING)
        if (const auto name = lua::string_at(state, -2); name.starts_with(wanted) && is_name(name))
          found.push_back(std::string(prefix.substr(0, begin)).append(name));
      lua_pop(state, 1);
    }
  }
  lua_settop(state, top);
  std::ranges::sort(found);
  return found;
}

}  // namespace iap
