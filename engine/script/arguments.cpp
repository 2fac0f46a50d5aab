#include "script/arguments.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "script/lua_text.hpp"
#include "script/objects.hpp"
import iap.core;
import iap.policy;

namespace iap {
namespace {

using lua::Call;

/// The options that the catalog shows for `kind`; an empty table for what is in no catalog.
Config example_of(std::string_view kind) {
  for (const auto& entry : block_catalog())
    if (entry.name == kind) return parse_json(entry.example, kind);
  return Config::Map{};
}

bool holds_blocks(std::string_view kind) { return example_of(kind).find("blocks") != nullptr; }

template <typename T>
bool is_object(lua_State* state, int index) {
  return lua::find_object(state, index).info == &lua::ClassOf<T>::info;
}

/// The largest list position in the table at `index`: what `#` says where there are no holes.
lua_Integer last_position(lua_State* state, int index) {
  lua_Integer last = 0;
  lua::reserve(state, 3);
  lua_pushnil(state);
  while (lua_next(state, index)) {
    if (lua_isinteger(state, -2)) last = std::max(last, lua_tointegerx(state, -2, nullptr));
    lua_pop(state, 1);
  }
  return last;
}

/// The integers among positional values, for the example in a message; none where anything else came.
struct Integers {
  std::string joined;
  int count = 0;
  bool plain = true;

  void add(lua_State* state, int index) {
    plain = plain && lua_type(state, index) == LUA_TNUMBER && lua_isinteger(state, index);
    if (plain) joined += text(count++ ? ", " : "", lua_tointegerx(state, index, nullptr));
  }
};

/// How a block without blocks is written, with the integers that came without a name.
std::string named_form(std::string_view kind, const Integers& given) {
  const std::string one = given.plain && given.count == 1 ? given.joined : "";
  if (kind == "mlp") return text("{ hidden = { ", given.plain && given.count > 0 ? given.joined : "16, 16", " } }");
  if (kind == "script") return "{ file = \"block.lua\" }";
  if (kind == "cnn") return "{ layers = { { channels = 4, pool = 2 } } }";
  if (kind == "hierarchy") return "{ high = a, low = b }";
  if (kind == "attention_agent") return "{ rank = { patch = 7, top = 10 } }";
  const Config example = example_of(kind);
  if (example.find("patch")) return text("{ patch = ", one.empty() ? "4" : one, " }");
  if (example.find("units")) return text("{ units = ", one.empty() ? "16" : one, " }");
  return to_lua(example);
}

void refuse_positions(const Call& call, std::string_view kind, lua_Integer last) {
  lua_State* state = call.state();
  constexpr lua_Integer most = 16;
  Integers given;
  std::string first;
  for (lua_Integer i = 1; i <= std::min(last, most); ++i) {
    lua_rawgeti(state, call.at(1), i);
    if (i == 1) first = lua::describe_value(state, -1);
    given.add(state, -1);
    lua_pop(state, 1);
  }
  call.fail(text("takes options by name, got ", first, " without one; write ", call.name(), " ", named_form(kind, given)));
}

void check_item(const Call& call, lua_Integer position, int index) {
  lua_State* state = call.state();
  const int type = lua_type(state, index);
  const auto refuse = [&](std::string_view complaint) { call.fail(text("item ", position, " of the list ", complaint)); };
  const std::string got = lua::describe_value(state, index);
  if (type == LUA_TNIL) refuse("is nil; a name that stands there may be misspelled");
  if (type == LUA_TFUNCTION) refuse("is a function; call it with its options in braces, as in iap.policy.linear { units = 8 }");
  if (is_object<PolicyObject>(state, index))
    refuse("is a policy, which has its own parameters; take its blocks with policy:blueprint()");
  if (type == LUA_TTABLE) {
    lua::push_entry(state, index, "kind");
    const bool named = lua_type(state, -1) == LUA_TSTRING;
    lua_pop(state, 1);
    if (!named) refuse("is a table without a kind; write a block, as in iap.policy.linear { units = 8 }");
  } else if (!is_object<BlockBlueprint>(state, index)) {
    refuse(text("must be a block, as in iap.policy.linear { units = 8 }, got ", got));
  }
}

void check_items(const Call& call) {
  lua_State* state = call.state();
  lua::push_entry(state, call.at(1), "blocks");
  const bool named = lua_type(state, -1) != LUA_TNIL;
  lua_pop(state, 1);
  const lua_Integer last = last_position(state, call.at(1));
  if (last == 0 && !named) call.fail(text("holds no block; write ", call.name(), " { a, b }, with blocks that are not nil"));
  constexpr lua_Integer most = 1000;
  for (lua_Integer i = 1; i <= std::min(last, most); ++i) {
    lua_rawgeti(state, call.at(1), i);
    check_item(call, i, lua_gettop(state));
    lua_pop(state, 1);
  }
}

/// The type of an option of iap.train; its value lies on top of the stack.
int push_option(const Call& call, const char* key) {
  lua::push_entry(call.state(), call.at(1), key);
  return lua_type(call.state(), -1);
}

[[noreturn]] void refuse_option(const Call& call, const char* key, std::string_view expected, std::string_view example) {
  call.fail(text("option '", key, "' must be ", expected, ", got ", lua::describe_value(call.state(), -1), "; write ", key, " = ",
                 example));
}

}  // namespace

void check_block_arguments(const Call& call, std::string_view kind) {
  lua_State* state = call.state();
  const int count = lua_gettop(state), first = lua_type(state, call.at(1));
  const bool container = holds_blocks(kind);
  if (count == 0 || (count == 1 && first == LUA_TNIL)) return;
  lua::reserve(state, 1);
  if (first == LUA_TTABLE && count == 1) {
    if (container) return check_items(call);
    if (const auto last = last_position(state, call.at(1)); last > 0) refuse_positions(call, kind, last);
    return;
  }
  const std::string got = count > 1 ? text(count, " arguments") : lua::describe_value(state, call.at(1));
  if (container) call.fail(text("takes its blocks in one table, got ", got, "; write ", call.name(), " { a, b } with braces"));
  Integers given;
  for (int i = 1; i <= count; ++i) given.add(state, i);
  call.fail(text("takes one table of options, got ", got, "; write ", call.name(), " ", named_form(kind, given)));
}

void check_training_arguments(const Call& call) {
  lua_State* state = call.state();
  constexpr std::string_view whole = "; write iap.train { env = ..., policy = ..., optimizer = ... } with braces";
  if (lua_type(state, call.at(1)) != LUA_TTABLE)
    call.fail(text("argument 1 'options': expected a table, got ", lua::describe_value(state, call.at(1)), whole));
  if (lua_gettop(state) > 1) call.fail(text("takes one table, got ", lua_gettop(state), " arguments", whole));
  const int top = lua_gettop(state);
  const int env = push_option(call, "env");
  if (env != LUA_TNIL && env != LUA_TSTRING && env != LUA_TTABLE && !is_object<EnvObject>(state, -1))
    refuse_option(call, "env", "an environment, its name, or a table {name = ...}", "iap.env.make(\"cheetah-run\")");
  const int policy = push_option(call, "policy");
  if (is_object<PolicyObject>(state, -1))
    call.fail(
        "option 'policy' must be a block, got a policy, which has its own parameters; take its blocks with policy:blueprint(), "
        "and its parameters with init = policy");
  if (policy != LUA_TNIL && (policy != LUA_TTABLE || last_position(state, lua_gettop(state)) > 0) &&
      !is_object<BlockBlueprint>(state, -1))
    refuse_option(call, "policy", "a block", "iap.policy.sequence { a, b }");
  const int init = push_option(call, "init");
  if (init != LUA_TNIL && init != LUA_TSTRING && init != LUA_TTABLE && !is_object<PolicyObject>(state, -1))
    refuse_option(call, "init", "a policy, or the path of a run or policy file", "\"runs/first\"");
  const int evaluated = push_option(call, "eval_env");
  if (evaluated != LUA_TNIL && evaluated != LUA_TSTRING && evaluated != LUA_TTABLE && !is_object<EnvObject>(state, -1))
    refuse_option(call, "eval_env", "an environment or a table of the options that change", "{ reward = \"task\" }");
  const int optimizer = push_option(call, "optimizer");
  if (optimizer != LUA_TNIL && optimizer != LUA_TTABLE && !is_object<OptimizerBlueprint>(state, -1))
    refuse_option(call, "optimizer", "an optimizer", "iap.optim.es { population = 32 }");
  lua_settop(state, top);
}

}  // namespace iap
