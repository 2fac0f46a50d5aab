#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

import iap.ranks;

/// The program as one of several processes that mpirun or srun has started.
namespace iap::cli {

/// Whether this is the process that runs the command and prints: it stands alone, or is rank 0.
bool speaks();
/// Those of a command line's words that all ranks of a job have: `--threads` and `--jobs` may be other numbers on each host.
std::vector<std::string> common_words(const std::vector<std::string>& words);
/// For a process that ends in failure before it has joined its job, and has said why if it is the one that speaks. Rank 0 ends the
/// others. Another one waits: where rank 0 met the same, it has spoken and ends the job; where rank 0 joins the job or meets
/// a failure of its own, it speaks for this one; where it goes on working, this one speaks after 10 s. Where the ranks do not meet,
/// a signal ends the process, and with it the job. Returns the exit code: that of success where rank 0 speaks, as launchers that
/// see another one end in failure kill rank 0, perhaps before it has spoken.
int end_with_others(const std::vector<std::string>& words, std::string_view why, int code);
/// With a farewell: launchers take a rank that is gone without one for failed.
struct EndJob {
  void operator()(Job* job) const;
};
using JoinedJob = std::unique_ptr<Job, EndJob>;
/// The job that this process is part of, on rank 0 with all rollouts dealt to all ranks; null where it stands alone. It also ends
/// where the process does without coming back here, as by a script's os.exit.
/// @throws Error where the ranks do not find or do not fit each other, as those do not that were given other `words`.
JoinedJob join_job(const std::vector<std::string>& words);
/// A rank that does not speak plays what rank 0 deals, and leaves signals to that: its own limit of processor time, the end of its
/// terminal or of who reads what it prints end the work of rank 0. Returns the exit code.
int serve(Job& job);

}  // namespace iap::cli
