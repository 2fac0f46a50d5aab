#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "lua/bounded.hpp"
#include "lua/meter.hpp"

namespace iap::lua {
namespace {

constexpr std::size_t bytes_a_step = 8;

/// What it takes to read all arguments.
std::uint64_t steps_of_arguments(lua_State* state) {
  auto steps = static_cast<std::uint64_t>(lua_gettop(state));
  for (int i = lua_gettop(state); i > 0; --i)
    if (lua_type(state, i) == LUA_TSTRING) steps += lua_rawlen(state, i) / bytes_a_step;
  return steps;
}

int all_of_it(lua_State* state) {
  charge(state, steps_of_arguments(state));
  return run_original(state);
}

/// Takes time in proportion to what lies between the positions that arguments 2 and 3 name, as string.byte does.
int a_range_of_it(lua_State* state) {
  const auto length = static_cast<lua_Integer>(lua_type(state, 1) == LUA_TSTRING ? lua_rawlen(state, 1) : 0);
  const lua_Integer first = luaL_optinteger(state, 2, 1), last = luaL_optinteger(state, 3, first);
  const bool same_side = (first < 0) == (last < 0);
  const lua_Integer most = same_side ? std::clamp<lua_Integer>(last / 2 - first / 2 + 1, 0, length) : length;
  charge(state, static_cast<std::uint64_t>(most));
  // The original says what is wrong where there is none.
  lua_checkstack(state, static_cast<int>(std::min({length, 2 * most, lua_Integer{INT_MAX - stack_to_spare}})) + stack_to_spare);
  return run_original(state);
}

/// What string.pack fills at most by its format alone, whose numbers can be large, and what reading the format costs.
struct Formatted {
  std::uint64_t bytes, steps;
};

Formatted read_format(lua_State* state) {
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  std::size_t length = 0;
  const char* format = luaL_checklstring(state, 1, &length);
  std::uint64_t bytes = length, number = 0;
  for (std::size_t i = 0; i < length; ++i) {
    const bool digit = format[i] >= '0' && format[i] <= '9';
    number = digit ? std::min(10 * number + static_cast<std::uint64_t>(format[i] - '0'), most) : 0;
    if (digit) bytes = std::min(bytes + number, most);
  }
  return {bytes, length + bytes / bytes_a_step};
}

int formatted(lua_State* state) {
  charge(state, read_format(state).steps);
  return run_original(state);
}

int pack(lua_State* state) {
  const auto [bytes, steps] = read_format(state);
  check_string(state, bytes);
  charge(state, steps + steps_of_arguments(state));  // numbers may be texts
  return run_original(state);
}

int rep(lua_State* state) {
  std::size_t length = 0, gap = 0;
  luaL_checklstring(state, 1, &length);
  const lua_Integer count = luaL_checkinteger(state, 2);
  luaL_optlstring(state, 3, "", &gap);
  if (count > 0) {
    constexpr double most = 1e15;
    const double bytes = static_cast<double>(count) * static_cast<double>(length + gap) - static_cast<double>(gap);
    check_string(state, static_cast<std::uint64_t>(std::min(bytes, most)));
    // A repetition of nothing is a loop all the same.
    charge(state, static_cast<std::uint64_t>(count));
  }
  return run_original(state);
}

/// The first buffer of a state makes the metatable of all, between a userdata and the memory that it holds: the meter would not
/// know what that is for.
void make_first_buffer(lua_State* state) {
  luaL_Buffer buffer;
  luaL_buffinitsize(state, &buffer, 2 * LUAL_BUFFERSIZE);
  luaL_pushresultsize(&buffer, 0);
  lua_pop(state, 1);
}

void wrap_all(lua_State* state, const char* library, std::initializer_list<luaL_Reg> functions) {
  lua_getglobal(state, library);
  for (const auto& [name, function] : functions) wrap_function(state, name, function);
  lua_pop(state, 1);
}

}  // namespace

void bound_strings(lua_State* state) {
  make_first_buffer(state);
  wrap_all(state, LUA_STRLIBNAME,
           {{"byte", a_range_of_it},
            {"char", all_of_it},
            {"format", all_of_it},
            {"lower", all_of_it},
            {"pack", pack},
            {"packsize", formatted},
            {"rep", rep},
            {"reverse", all_of_it},
            {"unpack", formatted},
            {"upper", all_of_it}});
  wrap_all(state, LUA_MATHLIBNAME, {{"max", all_of_it}, {"min", all_of_it}});
  wrap_all(state, LUA_UTF8LIBNAME, {{"char", all_of_it}, {"codepoint", a_range_of_it}, {"len", all_of_it}, {"offset", all_of_it}});
}

}  // namespace iap::lua
