#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <thread>

#include "cli/ranks.hpp"
#include "cli/sweep.hpp"
import iap.core;
import iap.ranks;

namespace iap::cli {
namespace {

/// Ranks begin at different times, and each rehearses the script first; a network's disk may show a new file a minute late.
constexpr auto patience = std::chrono::seconds(150);
/// In which another entry may be that of an earlier launch of the same name, until rank 0 has put its own on record.
constexpr auto doubt = std::chrono::seconds(10);

std::filesystem::path list_of_launches(const std::filesystem::path& folder) { return run_file(folder, "ranks.txt"); }

/// What all ranks of a sweep have in common, as rank 0 puts it on record: words, and behind them the command in one line.
struct Entry {
  std::string build, instructions, mathematics, script, command;
  bool operator==(const Entry&) const = default;
};

Entry own_entry(const SweepCommand& command, const SweepPlan& plan) {
  std::string line = "iap";
  for (const auto& word : common_words(command.words)) line += " " + shell_word(word);
  const auto computation = own_computation();
  return {computation.build.empty() ? "unknown" : computation.build, computation.instructions,
          std::to_string(computation.mathematics), std::to_string(crc32(plan.script)), one_line(line)};
}

/// The last one, should two launches ever have had the same name; nothing where there is none.
std::optional<Entry> entry_of_rank_0(const std::filesystem::path& folder, const std::string& launch) {
  std::ifstream lines(list_of_launches(folder));
  std::optional<Entry> last;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(launch + " ")) continue;
    std::istringstream words(line.substr(launch.size()));
    Entry entry;
    words >> entry.build >> entry.instructions >> entry.mathematics >> entry.script >> std::ws;
    if (std::getline(words, entry.command)) last = entry;
  }
  return last;
}

/// What a rank says that has `own` where rank 0 has `theirs`.
std::string objection(const SweepCommand& command, const Entry& own, const Entry& theirs) {
  if (own.command != theirs.command)
    return text("was given another command than rank 0 ('", own.command, "' where that has '", theirs.command,
                "'); all ranks share the runs of one sweep (--seeds N are runs, too). Start sweeps of their own alone, without "
                "mpirun or srun");
  if (own.script != theirs.script)
    return text("has another text of '", command.file.string(),
                "' than rank 0; name a script on a shared disk by its whole path, or copy it to all hosts");
  if (own.build != theirs.build)
    return text("runs another build of iap (", own.build, ") than rank 0 (", theirs.build,
                "); install the same package on all hosts");
  if (own.instructions != theirs.instructions)
    return text("computes with ", own.instructions, " instructions where rank 0 has ", theirs.instructions,
                "; start all ranks with --portable, or with --instructions and a set that all have");
  return "computes exp, sin or cos with other last bits than rank 0; start all ranks with --portable, and with the same release of "
         "the C library";
}

/// Of one launch. Its rank 0 has the lock alone, and those who look for it share theirs, so that they do not take each other for
/// it.
std::filesystem::path lock_of_launch(const SweepCommand& command, const std::filesystem::path& folder) {
  return run_file(folder, text("ranks.", crc32(command.launch), ".txt"));
}

std::string refusal(const std::string& why) {
  return why +
         ", and without locks ranks would begin the same runs; name a folder with --out whose file system gives all hosts locks "
         "(Lustre where it is mounted with -o flock), or start the parts alone, with --job I/N";
}

}  // namespace

void sign_in(const SweepCommand& command, const SweepPlan& plan, const std::filesystem::path& folder) {
  if (command.ranks == 1 || command.launch.empty() || command.collect) return;
  const auto [build, instructions, mathematics, script, line] = own_entry(command, plan);
  AppendFile(list_of_launches(folder))
      .append(text(command.launch, " ", build, " ", instructions, " ", mathematics, " ", script, " ", line, "\n"));
}

void await_first_rank(const SweepCommand& command, const SweepPlan& plan, const std::filesystem::path& folder) {
  if (command.launch.empty() || command.collect) return;
  const Entry own = own_entry(command, plan);
  const Launcher launcher;
  for (const auto begin = Clock::now();; std::this_thread::sleep_for(std::chrono::milliseconds(300))) {
    if (launcher.is_gone()) throw Interrupted();
    const auto theirs = entry_of_rank_0(folder, command.launch);
    if (theirs == own) return;
    if (theirs && Clock::now() - begin > doubt) throw Error(objection(command, own, *theirs));
    if (!theirs && Clock::now() - begin > patience)
      throw Error(text("finds nothing of rank 0 in '", std::filesystem::absolute(folder).string(),
                       "': the sweep's folder must be one that all ranks see, and all must be given the same command; name a "
                       "folder on a shared disk with --out, by its whole path"));
  }
}

FirstRankLock::FirstRankLock(const SweepCommand& command, const std::filesystem::path& folder) {
  if (command.ranks == 1 || command.launch.empty() || command.collect) return;
  path_ = lock_of_launch(command, folder);
  descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw Error(text("cannot write '", path_.string(), "': ", std::strerror(errno)));
  while (flock(descriptor_, LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    const int error = errno;
    unlink(path_.c_str());
    close(descriptor_);
    throw Error(refusal(text("'", path_.string(), "' cannot be locked (", std::strerror(error), ")")));
  }
}

FirstRankLock::~FirstRankLock() {
  if (descriptor_ < 0) return;
  unlink(path_.c_str());
  close(descriptor_);
}

FirstRank::FirstRank(const SweepCommand& command, const std::filesystem::path& folder)
    : path_(lock_of_launch(command, folder)), seen_(command.rank == 0 || command.launch.empty()) {}

bool FirstRank::is_seen() {
  if (seen_) return true;
  // Without the file rank 0 is not there yet, or no more.
  if (const int descriptor = open(path_.c_str(), O_RDONLY | O_CLOEXEC); descriptor >= 0) {
    seen_ = flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(descriptor);
  }
  if (!missed_) missed_ = Clock::now();
  if (!seen_ && Clock::now() - *missed_ > doubt)
    throw Error(refusal(text("sees no lock of rank 0 on '", std::filesystem::absolute(path_).string(),
                             "': rank 0 has ended, or the file system gives none, or each host its own")));
  return seen_;
}

Launcher::Launcher() : process_(getppid()) {}

bool Launcher::is_gone() const {
  pollfd errors = {STDERR_FILENO, 0, 0};
  return getppid() != process_ || (poll(&errors, 1, 0) > 0 && (errors.revents & POLLERR) != 0);
}

}  // namespace iap::cli
