#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "lua/bounded.hpp"
#include "lua/meter.hpp"
#include "lua/pattern.hpp"

namespace iap::lua {
namespace {

constexpr std::size_t bytes_a_step = 8;

std::string_view string_argument(lua_State* state, int argument) {
  std::size_t size = 0;
  const char* characters = luaL_checklstring(state, argument, &size);
  return {characters, size};
}

/// Where a search begins, counted from 0, of the argument that counts from 1 or back from -1.
std::size_t start_argument(lua_State* state, int argument, std::size_t size) {
  const lua_Integer given = luaL_optinteger(state, argument, 1), length = static_cast<lua_Integer>(size);
  const lua_Integer place = given > 0 ? given : given == 0 || given < -length ? 1 : length + given + 1;
  return static_cast<std::size_t>(place) - 1;
}

int give_nothing(lua_State* state) {
  luaL_pushfail(state);
  return 1;
}

bool is_plain(std::string_view pattern) { return pattern.find_first_of("^$*+?.([%-") == std::string_view::npos; }

/// The place of `part` in `whole` from `start` on, or npos. What is compared is charged.
std::size_t find_plain(lua_State* state, std::string_view whole, std::string_view part, std::size_t start) {
  if (part.empty()) return start;
  for (std::size_t at = start; part.size() <= whole.size() - at; ++at) {
    const auto* found = static_cast<const char*>(std::memchr(whole.data() + at, part[0], whole.size() - at - part.size() + 1));
    const std::size_t next = found ? static_cast<std::size_t>(found - whole.data()) : whole.size();
    charge(state, 1 + (next - at) / bytes_a_step);
    if (!found) break;
    at = next;
    std::size_t same = 1;
    while (same < part.size() && whole[at + same] == part[same]) ++same;
    charge(state, same / bytes_a_step);
    if (same == part.size()) return at;
  }
  return std::string_view::npos;
}

int search(lua_State* state, bool find) {
  const auto subject = string_argument(state, 1);
  auto pattern = string_argument(state, 2);
  const std::size_t start = start_argument(state, 3, subject.size());
  if (start > subject.size()) return give_nothing(state);
  charge(state, 1 + pattern.size() / bytes_a_step);
  if (find && (lua_toboolean(state, 4) || is_plain(pattern))) {
    const std::size_t place = find_plain(state, subject, pattern, start);
    if (place == std::string_view::npos) return give_nothing(state);
    lua_pushinteger(state, static_cast<lua_Integer>(place) + 1);
    const std::size_t end = place + pattern.size();
    lua_pushinteger(state, static_cast<lua_Integer>(end));
    return 2;
  }
  const bool anchored = pattern.starts_with('^');
  if (anchored) pattern.remove_prefix(1);
  PatternMatcher matcher(state, subject, pattern);
  for (const char* at = subject.data() + start;; ++at) {
    if (const char* end = matcher.match_at(at)) {
      if (!find) return matcher.push_captures(at, end, true);
      lua_pushinteger(state, at - subject.data() + 1);
      lua_pushinteger(state, end - subject.data());
      return 2 + matcher.push_captures(at, end, false);
    }
    if (anchored || at == matcher.end()) return give_nothing(state);
  }
}

int find(lua_State* state) { return search(state, true); }
int match(lua_State* state) { return search(state, false); }

/// Where gmatch is; the last match is kept, because an empty one may not follow right behind another.
struct Progress {
  std::size_t next;
  const char* last;
};

/// Upvalues: subject, pattern, progress.
int next_match(lua_State* state) {
  const auto subject = string_at(state, lua_upvalueindex(1)), pattern = string_at(state, lua_upvalueindex(2));
  auto& progress = *static_cast<Progress*>(lua_touserdata(state, lua_upvalueindex(3)));
  PatternMatcher matcher(state, subject, pattern);
  for (; progress.next <= subject.size(); ++progress.next) {
    const char* at = subject.data() + progress.next;
    const char* end = matcher.match_at(at);
    if (!end || end == progress.last) continue;
    progress.last = end;
    progress.next = static_cast<std::size_t>(end - subject.data());
    return matcher.push_captures(at, end, true);
  }
  return 0;
}

int gmatch(lua_State* state) {
  const auto subject = string_argument(state, 1);
  string_argument(state, 2);
  const std::size_t start = start_argument(state, 3, subject.size());
  lua_settop(state, 2);
  auto* progress = static_cast<Progress*>(lua_newuserdatauv(state, sizeof(Progress), 0));
  *progress = {std::min(start, subject.size() + 1), nullptr};
  lua_pushcclosure(state, next_match, 3);
  return 1;
}

/// What gsub puts together; the buffer's place on the stack is at the top between its calls.
struct Substitution {
  lua_State* state;
  PatternMatcher* matcher;
  luaL_Buffer* joined;
  std::uint64_t size;

  void add(const char* from, std::size_t count) {
    size += count;
    charge(state, count / bytes_a_step);
    check_string(state, size);
    luaL_addlstring(joined, from, count);
  }
  void add(char character) {
    check_string(state, ++size);
    luaL_addchar(joined, character);
  }
  void add_value() {
    size += lua_rawlen(state, -1);
    check_string(state, size);
    luaL_addvalue(joined);
  }
  /// The replacement is a string, in which %0 to %9 are what was captured.
  void add_text(const char* start, const char* end) {
    auto text = string_at(state, 3);
    for (auto escape = text.find('%'); escape != std::string_view::npos; escape = text.find('%')) {
      add(text.data(), escape);
      const char what = escape + 1 < text.size() ? text[escape + 1] : '\0';
      if (what == '%') {
        add('%');
      } else if (what == '0') {
        add(start, static_cast<std::size_t>(end - start));
      } else if (what >= '1' && what <= '9') {
        matcher->push_capture(what - '1', start, end);
        lua_tolstring(state, -1, nullptr);
        add_value();
      } else {
        luaL_error(state, "invalid use of '%%' in replacement string");
      }
      text.remove_prefix(escape + 2);
    }
    add(text.data(), text.size());
  }
  /// Whether the match was replaced.
  bool add_match(const char* start, const char* end) {
    switch (lua_type(state, 3)) {
      case LUA_TFUNCTION:
        lua_pushvalue(state, 3);
        lua_call(state, matcher->push_captures(start, end, true), 1);
        break;
      case LUA_TTABLE:
        matcher->push_capture(0, start, end);
        lua_gettable(state, 3);
        break;
      default: add_text(start, end); return true;
    }
    if (!lua_toboolean(state, -1)) {
      lua_pop(state, 1);
      add(start, static_cast<std::size_t>(end - start));
      return false;
    }
    if (!lua_isstring(state, -1)) luaL_error(state, "invalid replacement value (a %s)", luaL_typename(state, -1));
    lua_tolstring(state, -1, nullptr);
    add_value();
    return true;
  }
};

int gsub(lua_State* state) {
  const auto subject = string_argument(state, 1);
  auto pattern = string_argument(state, 2);
  const int replacement = lua_type(state, 3);
  const lua_Integer most = luaL_optinteger(state, 4, static_cast<lua_Integer>(subject.size()) + 1);
  luaL_argexpected(
      state, replacement == LUA_TNUMBER || replacement == LUA_TSTRING || replacement == LUA_TFUNCTION || replacement == LUA_TTABLE,
      3, "string/function/table");
  if (replacement == LUA_TNUMBER) lua_tolstring(state, 3, nullptr);
  const bool anchored = pattern.starts_with('^');
  if (anchored) pattern.remove_prefix(1);
  PatternMatcher matcher(state, subject, pattern);
  luaL_Buffer joined;
  luaL_buffinit(state, &joined);
  Substitution substitution{state, &matcher, &joined, 0};
  const char *at = subject.data(), *last = nullptr;
  lua_Integer count = 0;
  bool changed = false;
  while (count < most) {
    const char* end = matcher.match_at(at);
    if (end && end != last) {
      ++count;
      changed = substitution.add_match(at, end) || changed;
      at = last = end;
    } else if (at < matcher.end()) {
      substitution.add(*at++);
    } else {
      break;
    }
    if (anchored) break;
  }
  if (changed) {
    substitution.add(at, static_cast<std::size_t>(matcher.end() - at));
    luaL_pushresult(&joined);
  } else {
    lua_pushvalue(state, 1);
  }
  lua_pushinteger(state, count);
  return 2;
}

}  // namespace

void bound_patterns(lua_State* state) {
  lua_getglobal(state, LUA_STRLIBNAME);
  for (const auto& [name, function] : {luaL_Reg{"find", find}, {"match", match}, {"gmatch", gmatch}, {"gsub", gsub}}) {
    lua_pushcfunction(state, function);
    lua_setfield(state, -2, name);
  }
  lua_pop(state, 1);
}

}  // namespace iap::lua
