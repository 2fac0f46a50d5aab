#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include "cli/ranks.hpp"
#include "cli/sweep.hpp"
import iap.core;
import iap.script;

namespace iap::cli {
namespace {

/// Ranks begin at different times, and each rehearses the script first; a network's disk may show a new file a minute late.
constexpr auto patience = std::chrono::seconds(150);
/// In which another command may be that of an earlier launch of the same name, until rank 0 has put its own on record.
constexpr auto doubt = std::chrono::seconds(10);

std::filesystem::path list_of_launches(const std::filesystem::path& folder) { return run_file(folder, "ranks.txt"); }

/// What rank 0 was given, in one line, by what it has put on record; "" where it has not. The last one, should two launches ever
/// have had the same name.
std::string command_of_rank_0(const std::filesystem::path& folder, const std::string& launch) {
  std::ifstream lines(list_of_launches(folder));
  std::string command;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(launch + " ")) command = line.substr(launch.size() + 1);
  return command;
}

std::string command_line(const SweepCommand& command) {
  std::string line = "iap";
  for (const auto& word : common_words(command.words)) line += " " + shell_word(word);
  return one_line(line);
}

}  // namespace

void sign_in(const SweepCommand& command, const std::filesystem::path& folder) {
  if (command.ranks == 1 || command.launch.empty() || command.collect) return;
  AppendFile(list_of_launches(folder)).append(text(command.launch, " ", command_line(command), "\n"));
}

FirstRank::FirstRank(const SweepCommand& command, std::filesystem::path folder)
    : command_(command), folder_(std::move(folder)), met_(command.launch.empty() || command.collect) {}

void FirstRank::look() {
  if (met_) return;
  const auto theirs = command_of_rank_0(folder_, command_.launch), own = command_line(command_);
  met_ = !theirs.empty() && (theirs == own || Clock::now() - begin_ > doubt);
  if (met_ && theirs != own)
    throw Error(
        text("was given another command than rank 0 ('", own, "' where that has '", theirs,
             "'); all ranks share the runs of one sweep (--seeds N are runs, too). Start sweeps of their own alone, without "
             "mpirun or srun"));
  if (!met_ && Clock::now() - begin_ > patience)
    throw Error(text("finds nothing of rank 0 in '", std::filesystem::absolute(folder_).string(),
                     "': the sweep's folder must be one that all ranks see, and all must be given the same command; name a folder "
                     "on a shared disk with --out, by its whole path"));
}

void FirstRank::wait() {
  for (look(); !met_; look()) std::this_thread::sleep_for(std::chrono::milliseconds(300));
}

Launcher::Launcher() : process_(getppid()) {}

bool Launcher::is_gone() const {
  pollfd errors = {STDERR_FILENO, 0, 0};
  return getppid() != process_ || (poll(&errors, 1, 0) > 0 && (errors.revents & POLLERR) != 0);
}

}  // namespace iap::cli
