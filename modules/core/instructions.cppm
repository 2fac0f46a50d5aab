module;
#include <cstdint>
#include <string>
#include <string_view>
export module iap.core:instructions;

export namespace iap {

/// What `choose_instructions` calls those that x86-64 machines since 2011 have in common.
inline constexpr std::string_view portable_instructions = "portable";

/// Instruction sets that kernels are compiled for, a bit each; those in use, by default all of this machine.
std::int64_t instruction_sets();
/// The best one of `sets`, as in "AVX2". It decides the last bits of results.
std::string best_instruction_set(std::int64_t sets);
/// Keeps kernels to `sets`, of which this machine has at least one, from their next call on. Not while they run.
void use_instruction_sets(std::int64_t sets);

/// Keeps kernels to the set `name` of this machine and to lesser ones, or, with "portable", to SSSE3: 128 bits, and no
/// multiplication fused with an addition. As `use_instruction_sets`. @throws Error that names the sets of this machine.
void choose_instructions(std::string_view name);
/// What was chosen last: "portable", or the best set in use.
std::string chosen_instructions();

}  // namespace iap
