#include "script/kinds/task_names.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>
import iap.core;
import iap.sim;

namespace iap {
namespace {

constexpr std::size_t most_names = 1000, longest_name = 200;
/// As long as an instruction it takes to compare so many bytes, or pairs of letters of names that may be alike; asking MuJoCo for a
/// name takes as long as so many.
constexpr std::size_t bytes_a_step = 16, letters_a_step = 4, steps_a_name = 20;

}  // namespace

int find_task_name(lua_State* state, const MujocoWorld& world, const char* kind, const std::string& wanted) {
  const int count = world.count(kind);
  lua::spend(state, static_cast<std::uint64_t>(count) * (steps_a_name + wanted.size() / bytes_a_step));
  // MuJoCo's names end at the first zero byte. They are read as far as they are alike: to measure them would take all of them.
  if (wanted.empty() || wanted.find('\0') != std::string::npos) return -1;
  for (int i = 0; i < count; ++i)
    if (std::strcmp(world.name(kind, i), wanted.c_str()) == 0) return i;
  return -1;
}

std::string suggest_task_name(lua_State* state, const MujocoWorld& world, std::initializer_list<const char*> kinds,
                              const std::string& wanted) {
  const std::size_t letters = std::min(wanted.size(), longest_name);
  std::vector<std::string> names;
  std::size_t seen = 0;
  for (const char* kind : kinds) {
    for (int i = 0, count = world.count(kind); i < count && seen < most_names; ++i, ++seen) {
      const char* name = world.name(kind, i);
      const std::size_t length = ::strnlen(name, longest_name + 1);
      lua::spend(state, steps_a_name + length + length * letters / letters_a_step);
      if (length > 0 && length <= longest_name) names.emplace_back(name, length);
    }
  }
  return did_you_mean(wanted, names);
}

}  // namespace iap
