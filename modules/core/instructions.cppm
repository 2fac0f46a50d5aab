module;
#include <cstdint>
#include <string>
export module iap.core:instructions;

export namespace iap {

/// Instruction sets that kernels are compiled for, a bit each; those of this machine.
std::int64_t instruction_sets();
/// The best one of `sets`, as in "AVX2". It decides the last bits of results.
std::string best_instruction_set(std::int64_t sets);
/// Keeps kernels to `sets`, of which this machine has at least one, from their next call on. Not while they run.
void use_instruction_sets(std::int64_t sets);

}  // namespace iap
