#include "cli/ranks.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/interrupts.hpp"
import iap.core;
import iap.ranks;

namespace iap::cli {
namespace {

// Rank 0 ends the job in good order, with the others at their place until it says so. What a launcher tells all ranks, it hears
// itself; what meets one of them alone, that one tells it. Handlers rather than SIG_IGN, which the programs that environments start
// would inherit.
void leave_signals_to_rank_0() {
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) catch_signal(signal, [](int) {});
  for (const int signal : {SIGXCPU, SIGHUP, SIGPIPE}) catch_signal(signal, [](int caught) { request_interrupt(caught); });
}

Job* joined = nullptr;
bool tried_mpi = false;

// How long a rank that fails waits for the others to meet.
constexpr unsigned patience = 10;  // seconds
std::string own_words;

// As a signal's handler, too: MPI waits without an end for ranks that do not come, and MPICH's mpiexec ends the job for one that is
// killed before MPI begins, not for one that exits.
void end_unmet(int) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, own_words.data(), own_words.size());
  end_by(SIGTERM);
}

}  // namespace

void EndJob::operator()(Job* job) const {
  joined = nullptr;
  delete job;
}

bool speaks() {
  const auto& launch = launched();
  return !launch || launch->rank == 0;
}

std::vector<std::string> common_words(const std::vector<std::string>& words) {
  std::vector<std::string> common;
  bool script_words = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--") script_words = true;
    const auto is_own = [&word = words[i]](std::string_view option) {
      return word.starts_with(option) && (word.size() == option.size() || word[option.size()] == '=');
    };
    if (script_words || (!is_own("--threads") && !is_own("--jobs")))
      common.push_back(words[i]);
    else if (words[i].find('=') == std::string::npos)
      ++i;
  }
  return common;
}

int end_with_others(const std::vector<std::string>& words, std::string_view why, int code) {
  const auto& launch = launched();
  if (!launch) return code;
  // Its mpirun ends all when one fails, and takes one that meets others in MPI and is left alone there for broken.
  const bool ended_by_launcher = launch->launcher == "Open MPI";
  if (ended_by_launcher && speaks()) return code;
  std::cout << std::flush;
  if (!speaks()) own_words = text("rank ", launch->rank, " on ", host_name(), ": ", why, "\n");
  catch_signal(SIGALRM, end_unmet);
  alarm(patience);
  try {
    if (!ended_by_launcher && !tried_mpi) Job(mpi_ranks(*launch), {common_words(words), std::string(why)});
  } catch (const JobRefused&) {
    alarm(0);
    return speaks() ? code : Exit::success;
  } catch (const std::exception&) {
    // No MPI, no meeting.
  }
  if (speaks()) end_unmet(SIGALRM);
  for (;;) pause();
}

JoinedJob join_job(const std::vector<std::string>& words) {
  const auto& launch = launched();
  if (!launch) return nullptr;
  if (launch->rank != 0) leave_signals_to_rank_0();
  tried_mpi = true;
  auto ranks = mpi_ranks(*launch);
  // Again, as MPI may take some of them when it begins: MPICH's SIGHUP.
  if (launch->rank != 0) leave_signals_to_rank_0();
  JoinedJob job(new Job(std::move(ranks), {common_words(words), ""}));
  start_others_alone();
  if (launch->rank == 0) job->take_rollouts();
  // To a launcher, a process that leaves its job without a farewell has failed. Last, so that what the farewell needs outlives it.
  joined = job.get();
  std::atexit([] { EndJob()(joined); });
  return job;
}

int serve(Job& job) {
  job.serve();
  return Exit::success;
}

}  // namespace iap::cli
