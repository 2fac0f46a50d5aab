#include "cli/ranks.hpp"

#include <csignal>
#include <initializer_list>
#include <iostream>
#include <memory>
#include <string_view>

#include "cli/commands.hpp"
import iap.ranks;

namespace iap::cli {

bool speaks() {
  const auto& launch = launched();
  return !launch || launch->rank == 0;
}

int refuse(std::string_view why) {
  if (!speaks()) return Exit::success;
  std::cerr << why << "\n";
  return Exit::usage;
}

std::unique_ptr<Job> join_job() {
  const auto& launch = launched();
  if (!launch) return nullptr;
  // Rank 0 ends the job in good order, with the others at their place until it says so.
  if (launch->rank != 0)
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) std::signal(signal, SIG_IGN);
  auto job = std::make_unique<Job>(mpi_ranks(*launch));
  start_others_alone();
  if (launch->rank == 0) job->take_rollouts();
  return job;
}

int serve(Job& job) {
  job.serve();
  return Exit::success;
}

}  // namespace iap::cli
