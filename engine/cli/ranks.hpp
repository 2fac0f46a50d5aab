#pragma once
#include <memory>
#include <string_view>

import iap.ranks;

/// The program as one of several processes that mpirun or srun has started.
namespace iap::cli {

/// Whether this is the process that runs the command and prints: it stands alone, or is rank 0.
bool speaks();
/// Tells what is wrong with the command line. Returns the exit code, which is that of success where rank 0 speaks: a launcher that
/// sees another one end in failure kills rank 0, perhaps before it has spoken.
int refuse(std::string_view why);
/// With a farewell: launchers take a rank that is gone without one for failed.
struct EndJob {
  void operator()(Job* job) const;
};
using JoinedJob = std::unique_ptr<Job, EndJob>;
/// The job that this process is part of, on rank 0 with all rollouts dealt to all ranks; null where it stands alone. It also ends
/// where the process does without coming back here, as by a script's os.exit.
/// @throws Error where the ranks do not find or do not fit each other.
JoinedJob join_job();
/// A rank that does not speak plays what rank 0 deals, and leaves signals to that: its own limit of processor time, the end of its
/// terminal or of who reads what it prints end the work of rank 0. Returns the exit code.
int serve(Job& job);

}  // namespace iap::cli
