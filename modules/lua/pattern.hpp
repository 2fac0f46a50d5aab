#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lua/meter.hpp"

namespace iap::lua {

/// Lua's patterns (manual, section 6.4.1), matched step by step at the meter's expense: in the original, one call may take
/// exponentially long. Trivially destructible, as errors in patterns are Lua errors.
class PatternMatcher {
 public:
  PatternMatcher(lua_State* state, std::string_view subject, std::string_view pattern);

  /// The end of the match that begins at `start`, or null. Raises for a malformed pattern.
  const char* match_at(const char* start);
  /// How many values `push_captures` pushes of a match: the whole of it where the pattern has no captures.
  int capture_count(bool whole) const { return level_ == 0 && whole ? 1 : level_; }
  /// Pushes what was captured; with `whole`, all of the match (from `start` to `end`) where the pattern has no captures.
  int push_captures(const char* start, const char* end, bool whole) const;
  /// Pushes capture `index`, counted from 0; the whole match is capture 0 of a pattern without any.
  void push_capture(int index, const char* start, const char* end) const;

  const char* begin() const { return subject_.data(); }
  const char* end() const { return subject_.data() + subject_.size(); }

 private:
  static constexpr std::size_t most_captures = 32;
  static constexpr std::ptrdiff_t unfinished = -1, position = -2;
  struct Capture {
    const char* begin;
    std::ptrdiff_t length;
  };

  const char* match(const char* at, const char* pattern);
  const char* match_balance(const char* at, const char* pattern);
  const char* match_frontier(const char* at, const char* pattern, const char** next);
  const char* match_capture(const char* at, char digit);
  const char* expand_most(const char* at, const char* pattern, const char* next);
  const char* expand_least(const char* at, const char* pattern, const char* next);
  const char* open_capture(const char* at, const char* pattern, std::ptrdiff_t length);
  const char* close_capture(const char* at, const char* pattern);
  bool single(const char* at, const char* pattern, const char* next);
  bool in_set(unsigned char c, const char* set, const char* last);
  /// Behind the item that begins at `pattern`: a character, a class or a set.
  const char* item_end(const char* pattern);
  void step(std::uint64_t steps = 1) { meter_->charge(state_, steps); }
  void fail(const char* message) const { luaL_error(state_, "%s", message); }

  lua_State* state_;
  Meter* meter_;
  std::string_view subject_, pattern_;
  const char* pattern_end_;
  int level_ = 0, depth_ = 0;
  std::array<Capture, most_captures> captures_;
};

}  // namespace iap::lua
