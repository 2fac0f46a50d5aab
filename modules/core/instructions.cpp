module;
#include <hwy/targets.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
module iap.core;

namespace iap {
namespace {

bool portable = false;

// Highway's SupportedTargets() is no question: it lets all threads use whatever the machine has, and counts on its caller to put
// the chosen ones in force again. So it is called where the choice is made, and nowhere else.
std::int64_t put_in_force() {
  const std::int64_t sets = hwy::SupportedTargets();
  hwy::GetChosenTarget().Update(sets);
  return sets;
}

std::atomic<std::int64_t>& sets_in_force() {
  static std::atomic<std::int64_t> sets = put_in_force();
  return sets;
}

}  // namespace

std::int64_t instruction_sets() { return sets_in_force(); }

// Highway numbers better instruction sets lower.
std::string best_instruction_set(std::int64_t sets) { return hwy::TargetName(sets & -sets); }

void use_instruction_sets(std::int64_t sets) {
  hwy::DisableTargets(~sets);
  sets_in_force() = put_in_force();
}

void choose_instructions(std::string_view name) {
  const bool asks_portable = name == portable_instructions;
  const std::string_view wanted = asks_portable ? "SSSE3" : name;
  std::string names(portable_instructions);
  for (std::int64_t left = instruction_sets() & ~(HWY_EMU128 | HWY_SCALAR); left != 0; left &= left - 1) {
    const std::string found = best_instruction_set(left);
    if (found == wanted) {
      use_instruction_sets(left);
      portable = asks_portable;
      return;
    }
    names += ", " + found;
  }
  throw Error(text("instructions: this machine does not have '", name, "'; take one of ", names));
}

std::string chosen_instructions() {
  return portable ? std::string(portable_instructions) : best_instruction_set(instruction_sets());
}

}  // namespace iap
