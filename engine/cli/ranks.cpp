#include "cli/ranks.hpp"

#include <csignal>
#include <cstdlib>
#include <initializer_list>
#include <iostream>
#include <memory>
#include <string_view>
#include <utility>

#include "cli/commands.hpp"
#include "cli/interrupts.hpp"
import iap.core;
import iap.ranks;

namespace iap::cli {
namespace {

// Rank 0 ends the job in good order, with the others at their place until it says so. What a launcher tells all ranks, it hears
// itself; what meets one of them alone, that one tells it.
void leave_signals_to_rank_0() {
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) std::signal(signal, SIG_IGN);
  for (const int signal : {SIGXCPU, SIGHUP, SIGPIPE}) catch_signal(signal, [](int) { request_interrupt(); });
}

Job* joined = nullptr;

}  // namespace

void EndJob::operator()(Job* job) const {
  joined = nullptr;
  delete job;
}

bool speaks() {
  const auto& launch = launched();
  return !launch || launch->rank == 0;
}

int refuse(std::string_view why) {
  if (!speaks()) return Exit::success;
  std::cerr << why << "\n";
  return Exit::usage;
}

JoinedJob join_job() {
  const auto& launch = launched();
  if (!launch) return nullptr;
  if (launch->rank != 0) leave_signals_to_rank_0();
  auto ranks = mpi_ranks(*launch);
  // Again, as MPI may take some of them when it begins: MPICH's SIGHUP.
  if (launch->rank != 0) leave_signals_to_rank_0();
  JoinedJob job(new Job(std::move(ranks)));
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
