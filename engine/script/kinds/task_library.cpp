#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "script/kinds/script_kinds.hpp"
import iap.core;
import iap.envs.mujoco;

namespace iap {
namespace {

using lua::Call;
using lua::entry;

// In the order of Sigmoid.
constexpr std::array sigmoids{"gaussian", "hyperbolic", "long_tail", "reciprocal", "cosine", "linear", "quadratic", "tanh_squared"};
constexpr std::array range_names{"lower", "upper", "margin", "value_at_margin", "sigmoid"};

Sigmoid read_sigmoid(const Call& call) {
  if (lua_type(call.state(), -1) != LUA_TSTRING)
    call.fail(text("option 'sigmoid' must be a name, got ", lua::describe_value(call.state(), -1)));
  const auto name = lua::string_at(call.state(), -1);
  const auto found = std::ranges::find(sigmoids, name);
  if (found == sigmoids.end())
    call.fail(
        text("there is no sigmoid '", name, "'", did_you_mean(name, std::vector<std::string>(sigmoids.begin(), sigmoids.end()))));
  return static_cast<Sigmoid>(found - sigmoids.begin());
}

/// Reads the table at argument 2 entry by entry: rewards call it at every step.
ToleranceRange read_range(const Call& call) {
  lua_State* state = call.state();
  if (lua_type(state, call.at(2)) != LUA_TTABLE) call.refuse(2, "range", "a table {lower = ..., upper = ..., margin = ...}");
  ToleranceRange range;
  const std::array<double*, 4> numbers{&range.lower, &range.upper, &range.margin, &range.value_at_margin};
  bool lower = false, upper = false;
  lua::reserve(state, 3);
  lua_pushnil(state);
  while (lua_next(state, call.at(2))) {
    const auto key = lua_type(state, -2) == LUA_TSTRING ? lua::string_at(state, -2) : std::string_view();
    const auto place = static_cast<std::size_t>(std::ranges::find(range_names, key) - range_names.begin());
    if (place == range_names.size()) {
      const std::string got = key.empty() ? lua::describe_value(state, -2) : std::string(key);
      call.fail(
          text("unknown option '", got, "'", did_you_mean(got, std::vector<std::string>(range_names.begin(), range_names.end()))));
    }
    if (place == numbers.size()) {
      range.sigmoid = read_sigmoid(call);
    } else {
      if (lua_type(state, -1) != LUA_TNUMBER)
        call.fail(text("option '", key, "' must be a number, got ", lua::describe_value(state, -1)));
      *numbers[place] = lua_tonumberx(state, -1, nullptr);
    }
    lower = lower || place == 0;
    upper = upper || place == 1;
    lua_pop(state, 1);
  }
  if (lower && !upper) range.upper = std::numeric_limits<double>::infinity();
  if (upper && !lower) range.lower = -std::numeric_limits<double>::infinity();
  return range;
}

/// @lua function iap.tolerance
/// How good x is, from 0 to 1: 1 between the bounds, else a sigmoid of the distance over `margin` (DM Control's
/// `rewards.tolerance`, Tassa
/// et al. 2018, section 4.2). Scripts and task files have it.
/// @param x number - the value to judge; NaN is an error
/// @param options table ? - the range; both bounds are 0 where neither is given
/// @option lower number = (0; -inf if only upper is given) - from here on x is good
/// @option upper number = (0; inf if only lower is given) - up to here x is good
/// @option margin number 0.. = 0 - distance from the bounds at which `value_at_margin` is left; 0: nothing is paid outside
/// @option value_at_margin number 0..1 = 0.1 - what is left at the margin; below 1, and above 0 for all but cosine, linear and
/// quadratic
/// @option sigmoid "gaussian"|"hyperbolic"|"long_tail"|"reciprocal"|"cosine"|"linear"|"quadratic"|"tanh_squared" = "gaussian" - how
/// it falls
/// @return number - in [0, 1]
/// @example iap.tolerance(1.2, { lower = 1.5, margin = 0.5 })
/// @see tasks.md#data
int give_tolerance(Call& call) {
  const double x = call.number(1, "x");
  if (std::isnan(x)) call.fail("x is NaN, which is neither good nor bad; look where it comes from");
  return call.give(tolerance(x, call.absent(2) ? ToleranceRange{} : read_range(call)));
}

constexpr lua::Function functions[] = {{"tolerance", entry<give_tolerance>}};

}  // namespace

void open_tolerance_face(lua_State* state) {
  for (const auto& function : functions) lua::add_function(state, "iap", ".", function);
}

void open_task_library(lua_State* state) { lua::push_functions(state, "iap", ".", functions); }

}  // namespace iap
