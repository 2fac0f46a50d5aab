#include "lua/pattern.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace iap::lua {
namespace {

constexpr char escape = '%';
/// Nested calls of `match`, as in the original; C's stack is small in some threads.
constexpr int deepest = 200;
constexpr std::size_t bytes_a_step = 8;

bool in_class(unsigned char c, unsigned char name) {
  const auto answer = [name](bool inside) { return std::islower(name) ? inside : !inside; };
  switch (std::tolower(name)) {
    case 'a': return answer(std::isalpha(c) != 0);
    case 'c': return answer(std::iscntrl(c) != 0);
    case 'd': return answer(std::isdigit(c) != 0);
    case 'g': return answer(std::isgraph(c) != 0);
    case 'l': return answer(std::islower(c) != 0);
    case 'p': return answer(std::ispunct(c) != 0);
    case 's': return answer(std::isspace(c) != 0);
    case 'u': return answer(std::isupper(c) != 0);
    case 'w': return answer(std::isalnum(c) != 0);
    case 'x': return answer(std::isxdigit(c) != 0);
    case 'z': return answer(c == 0);
    default: return name == c;
  }
}

}  // namespace

PatternMatcher::PatternMatcher(lua_State* state, std::string_view subject, std::string_view pattern)
    : state_(state),
      meter_(Meter::of(state)),
      subject_(subject),
      pattern_(pattern),
      pattern_end_(pattern.data() + pattern.size()) {}

const char* PatternMatcher::match_at(const char* start) {
  level_ = 0;
  depth_ = 0;
  return match(start, pattern_.data());
}

const char* PatternMatcher::item_end(const char* pattern) {
  const char first = *pattern++;
  if (first == escape) {
    if (pattern == pattern_end_) fail("malformed pattern (ends with '%')");
    return pattern + 1;
  }
  if (first != '[') return pattern;
  if (pattern < pattern_end_ && *pattern == '^') ++pattern;
  // The first character belongs to the set, even if it is ']'.
  do {
    step();
    if (pattern == pattern_end_) fail("malformed pattern (missing ']')");
    if (*pattern++ == escape) {
      if (pattern == pattern_end_) fail("malformed pattern (missing ']')");
      ++pattern;
    }
  } while (pattern == pattern_end_ || *pattern != ']');
  return pattern + 1;
}

/// `set` is at '[', `last` at its ']'.
bool PatternMatcher::in_set(unsigned char c, const char* set, const char* last) {
  const bool inside = set[1] != '^';
  if (!inside) ++set;
  while (++set < last) {
    step();
    if (*set == escape) {
      ++set;
      if (in_class(c, static_cast<unsigned char>(*set))) return inside;
    } else if (set[1] == '-' && set + 2 < last) {
      set += 2;
      if (static_cast<unsigned char>(set[-2]) <= c && c <= static_cast<unsigned char>(*set)) return inside;
    } else if (static_cast<unsigned char>(*set) == c) {
      return inside;
    }
  }
  return !inside;
}

bool PatternMatcher::single(const char* at, const char* pattern, const char* next) {
  step();
  if (at >= end()) return false;
  const auto c = static_cast<unsigned char>(*at);
  switch (*pattern) {
    case '.': return true;
    case escape: return in_class(c, static_cast<unsigned char>(pattern[1]));
    case '[': return in_set(c, pattern, next - 1);
    default: return static_cast<unsigned char>(*pattern) == c;
  }
}

const char* PatternMatcher::match_balance(const char* at, const char* pattern) {
  if (pattern_end_ - pattern < 2) fail("malformed pattern (missing arguments to '%b')");
  if (at == end() || *at != pattern[0]) return nullptr;
  int open = 1;
  while (++at < end()) {
    step();
    if (*at == pattern[1]) {
      if (--open == 0) return at + 1;
    } else if (*at == pattern[0]) {
      ++open;
    }
  }
  return nullptr;
}

const char* PatternMatcher::match_frontier(const char* at, const char* pattern, const char** next) {
  if (pattern == pattern_end_ || *pattern != '[') fail("missing '[' after '%f' in pattern");
  *next = item_end(pattern);
  const char before = at == begin() ? '\0' : at[-1], here = at == end() ? '\0' : *at;
  const bool enters = !in_set(static_cast<unsigned char>(before), pattern, *next - 1) &&
                      in_set(static_cast<unsigned char>(here), pattern, *next - 1);
  return enters ? at : nullptr;
}

const char* PatternMatcher::match_capture(const char* at, char digit) {
  const int index = digit - '1';
  if (index < 0 || index >= level_ || captures_[static_cast<std::size_t>(index)].length == unfinished)
    luaL_error(state_, "invalid capture index %%%d", index + 1);
  const Capture& capture = captures_[static_cast<std::size_t>(index)];
  // A position has no text.
  const auto length = static_cast<std::size_t>(std::max<std::ptrdiff_t>(capture.length, 0));
  step(1 + length / bytes_a_step);
  const bool same =
      capture.length >= 0 && static_cast<std::size_t>(end() - at) >= length && std::memcmp(capture.begin, at, length) == 0;
  return same ? at + length : nullptr;
}

const char* PatternMatcher::expand_most(const char* at, const char* pattern, const char* next) {
  std::ptrdiff_t count = 0;
  while (single(at + count, pattern, next)) ++count;
  for (; count >= 0; --count)
    if (const char* found = match(at + count, next + 1)) return found;
  return nullptr;
}

const char* PatternMatcher::expand_least(const char* at, const char* pattern, const char* next) {
  for (;; ++at) {
    if (const char* found = match(at, next + 1)) return found;
    if (!single(at, pattern, next)) return nullptr;
  }
}

const char* PatternMatcher::open_capture(const char* at, const char* pattern, std::ptrdiff_t length) {
  if (level_ >= static_cast<int>(most_captures)) fail("too many captures");
  captures_[static_cast<std::size_t>(level_)] = {at, length};
  ++level_;
  const char* found = match(at, pattern);
  if (!found) --level_;
  return found;
}

const char* PatternMatcher::close_capture(const char* at, const char* pattern) {
  int index = level_ - 1;
  while (index >= 0 && captures_[static_cast<std::size_t>(index)].length != unfinished) --index;
  if (index < 0) fail("invalid pattern capture");
  Capture& capture = captures_[static_cast<std::size_t>(index)];
  capture.length = at - capture.begin;
  const char* found = match(at, pattern);
  if (!found) capture.length = unfinished;
  return found;
}

const char* PatternMatcher::match(const char* at, const char* pattern) {
  if (++depth_ > deepest) fail("pattern too complex");
  // Items that stand once are taken in this loop.
  while (at && pattern != pattern_end_) {
    step();
    const char* next = nullptr;
    const char second = pattern + 1 < pattern_end_ ? pattern[1] : '\0';
    if (*pattern == '(') {
      at = second == ')' ? open_capture(at, pattern + 2, position) : open_capture(at, pattern + 1, unfinished);
      break;
    }
    if (*pattern == ')') {
      at = close_capture(at, pattern + 1);
      break;
    }
    if (*pattern == '$' && pattern + 1 == pattern_end_) {
      at = at == end() ? at : nullptr;
      break;
    }
    if (*pattern == escape && second == 'b') {
      at = match_balance(at, pattern + 2);
      pattern += 4;
    } else if (*pattern == escape && second == 'f') {
      at = match_frontier(at, pattern + 2, &next);
      pattern = next;
    } else if (*pattern == escape && second >= '0' && second <= '9') {
      at = match_capture(at, second);
      pattern += 2;
    } else {
      next = item_end(pattern);
      const char times = next < pattern_end_ ? *next : '\0';
      const bool here = single(at, pattern, next), may_lack = times == '*' || times == '-' || times == '?';
      if (here && (times == '*' || times == '+')) {
        at = expand_most(times == '+' ? at + 1 : at, pattern, next);
        break;
      }
      if (here && times == '-') {
        at = expand_least(at, pattern, next);
        break;
      }
      if (here && times == '?') {
        if (const char* found = match(at + 1, next + 1)) {
          at = found;
          break;
        }
      } else if (!may_lack) {
        at = here ? at + 1 : nullptr;
        pattern = next;
        continue;
      }
      pattern = next + 1;
    }
  }
  --depth_;
  return at;
}

void PatternMatcher::push_capture(int index, const char* start, const char* finish) const {
  if (index >= level_) {
    if (index != 0) luaL_error(state_, "invalid capture index %%%d", index + 1);
    lua_pushlstring(state_, start, static_cast<std::size_t>(finish - start));
    return;
  }
  const Capture& capture = captures_[static_cast<std::size_t>(index)];
  if (capture.length == unfinished) luaL_error(state_, "unfinished capture");
  if (capture.length == position)
    lua_pushinteger(state_, capture.begin - begin() + 1);
  else
    lua_pushlstring(state_, capture.begin, static_cast<std::size_t>(capture.length));
}

int PatternMatcher::push_captures(const char* start, const char* finish, bool whole) const {
  const int count = capture_count(whole);
  luaL_checkstack(state_, count, "too many captures");
  for (int i = 0; i < count; ++i) push_capture(i, start, finish);
  return count;
}

}  // namespace iap::lua
