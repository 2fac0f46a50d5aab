#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

#include "lua/lua.hpp"
import iap.core;

using namespace iap;

namespace {

constexpr const char* source = R"(return function()
  local x, v, t = 0, 0, {}
  return {
    loops = function(_, action)
      for i = 1, 20 do
        v = v + 0.01 * (action - x)
        x = x + 0.01 * v
        t[i] = x * math.sin(v)
      end
      return x
    end,
    tables = function()
      local out = {}
      for i = 1, 8 do out[i] = i end
      return out
    end,
    strings = function() return #(("%d,%d"):format(1, 2):gsub("%d", "x")) + #("ab"):rep(3) end,
  }
end)";

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double nanoseconds_a_call(lua::ScriptObject& object, int method, const char* name) {
  constexpr int calls = 20000;
  const double begin = processor_seconds();
  for (int i = 0; i < calls; ++i) {
    object.invoke(method, name, 1, [](lua_State* state) noexcept {
      lua_pushnumber(state, 0.5);
      return 1;
    });
    object.clear();
  }
  return (processor_seconds() - begin) * 1e9 / calls;
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

}  // namespace

// For docs/security.md: free and confined in turns, medians of 21 rounds.
TEST_CASE("what a call of a free and of a confined object costs", "[.cost]") {
  const Config free_config = Config::Map{{"source", source}},
               confined_config = Config::Map{{"source", source}, {"loaded_from", "some.iap"}};
  Options free_options("free", free_config), confined_options("confined", confined_config);
  lua::ScriptObject free("block.lua", free_options), confined("block.lua", confined_options);
  for (const char* name : {"loops", "tables", "strings"}) {
    const std::array methods{free.method(name, true), confined.method(name, true)};
    std::array<std::vector<double>, 2> times;
    std::vector<double> ratios;
    for (std::size_t round = 0; round < 21; ++round) {
      for (const std::size_t which : {round % 2, 1 - round % 2})
        times[which].push_back(nanoseconds_a_call(which == 0 ? free : confined, methods[which], name));
      ratios.push_back(times[1].back() / times[0].back());
    }
    std::cout << text(name, ": free ", median(times[0]), " ns, confined ", median(times[1]), " ns, ratio ", median(ratios), "\n");
    CHECK(median(ratios) < 5);
  }
}
