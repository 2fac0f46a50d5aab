module;
#include <hwy/targets.h>

#include <cstdint>
#include <string>
module iap.core;

namespace iap {

std::int64_t instruction_sets() { return hwy::SupportedTargets(); }

// Highway numbers better instruction sets lower.
std::string best_instruction_set(std::int64_t sets) { return hwy::TargetName(sets & -sets); }

void use_instruction_sets(std::int64_t sets) { hwy::DisableTargets(~sets); }

}  // namespace iap
