module;
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>
/// iap.ranks: one run over many processes, of which rank 0 runs the script and all others play what it deals.
export module iap.ranks;
import iap.core;
export import :dealer;
export import :types;

export namespace iap {

/// `size` ranks within this process, which threads may share out among themselves: the reference for other transports.
std::vector<std::unique_ptr<Ranks>> thread_ranks(int size);

/// Which of several processes this one was started as, by the variables that mpirun, mpiexec and srun set.
struct Launch {
  int rank = 0, size = 1;
  std::string launcher;  ///< "Open MPI", "MPICH" or "Slurm"
  std::string id;        ///< what all processes of this start have in common, and those of another have not; "" where it is unknown
};

/// Nothing where this process stands alone. What it was started as does not change.
const std::optional<Launch>& launched();
/// Processes that this one starts from now on stand alone. After MPI has begun, which reads the same variables.
void start_others_alone();

/// The ranks of a launched job over MPI, by the plugin that fits its launcher. @throws Error if that is not installed, saying which
/// package has it; if MPI cannot begin.
std::unique_ptr<Ranks> mpi_ranks(const Launch& launch);

/// What this machine is called.
std::string host_name();

/// What decides the last bits of what a process computes: alike, two compute the same.
struct Computation {
  std::string build;              ///< the linker's hash of the program or library that holds the engine, "" if it has none
  std::string instructions;       ///< as `chosen_instructions`
  std::uint32_t mathematics = 0;  ///< what the C library's functions come to, in a number
};
/// That of this process.
Computation own_computation();

/// A job: ranks that have found each other to be of the same build and started for the same task, with libraries that compute the
/// same bits, and have agreed on the best instruction set that all have, so that no result depends on where an episode is played.
class Job {
 public:
  /// Waits for all ranks. @throws JobRefused on every rank where one is of another build, cannot do its task, has another one than
  /// rank 0 or computes other bits, naming it; Interrupted.
  explicit Job(std::unique_ptr<Ranks> ranks, RankTask task = {});
  /// Rank 0: sends the others home.
  ~Job();
  int rank() const;
  /// All ranks, on rank 0.
  const std::vector<RankInfo>& ranks() const;
  Traffic traffic() const;

  /// Rank 0: from now on, and as long as the job lasts, rollouts of known environments are dealt to all ranks (open_rollouts).
  void take_rollouts();
  /// The others: plays what rank 0 deals until the job is over. An interrupt here is told to rank 0, whose work then ends in
  /// Interrupted.
  void serve();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace iap
