module;
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
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

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// 0 where there is none.
pid_t parent_of(pid_t process) {
  std::ifstream status(text("/proc/", process, "/status"));
  for (std::string key; status >> key;)
    if (pid_t parent = 0; key == "PPid:" && status >> parent) return parent;
  return 0;
}

/// MPICH tells its processes nothing that is this start's own. But what starts them on each host was told where mpiexec listens.
std::string address_of_mpiexec() {
  for (pid_t process = getppid(); process > 1; process = parent_of(process)) {
    std::ifstream words(text("/proc/", process, "/cmdline"));
    for (std::string word; std::getline(words, word, '\0');)
      if (word == "--control-port" && std::getline(words, word, '\0')) return word;
  }
  return "";
}

/// A job that was queued again has the same numbers.
std::string slurm_step() {
  const std::string job = variable("SLURM_JOB_ID");
  return job.empty() ? "" : text(job, ".", variable("SLURM_STEP_ID"), ".", variable("SLURM_RESTART_COUNT"));
}

std::string id_by(const std::string& launcher) {
  if (launcher == "Open MPI") {
    // A number that mpirun draws; others are made of its process's.
    const std::string drawn = variable("OMPI_MCA_orte_precondition_transports");
    return drawn.empty() ? variable("PMIX_NAMESPACE") : drawn;
  }
  // srun may speak to MPICH, too.
  const std::string address = launcher == "MPICH" ? address_of_mpiexec() : "";
  return address.empty() ? slurm_step() : address;
}

std::optional<Launch> find_launch() {
  for (const auto& launcher : launchers) {
    const auto rank = number_in(launcher.rank), size = number_in(launcher.size);
    if (!rank || !size) continue;
    if (*size < 2) return {};
    return Launch{*rank, *size, launcher.name, id_by(launcher.name)};
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
