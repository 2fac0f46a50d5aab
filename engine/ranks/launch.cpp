module;
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
module iap.ranks;
import iap.core;
import :types;

namespace iap {
namespace {

struct Launcher {
  const char *name, *rank, *size;
};

// A process that srun starts within a batch script has SLURM_PROCID too; its step has a single task then. PMIx (srun --mpi=pmix)
// sets no variable for the size, Slurm's own does.
constexpr Launcher launchers[] = {{"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                  {"MPICH", "PMI_RANK", "PMI_SIZE"},
                                  {"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};

std::optional<int> number_in(const char* variable) {
  const char* value = std::getenv(variable);
  int number = 0;
  if (!value || std::from_chars(value, value + std::strlen(value), number).ec != std::errc()) return {};
  return number;
}

std::optional<Launch> find_launch() {
  for (const auto& launcher : launchers) {
    const auto rank = number_in(launcher.rank), size = number_in(launcher.size);
    if (!rank || !size) continue;
    if (*size < 2) return {};
    return Launch{*rank, *size, launcher.name};
  }
  return {};
}

}  // namespace

const std::optional<Launch>& launched() {
  static const std::optional<Launch> launch = find_launch();
  return launch;
}

void start_others_alone() {
  launched();
  for (const auto& launcher : launchers) {
    unsetenv(launcher.rank);
    unsetenv(launcher.size);
  }
}

}  // namespace iap
