module;
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <initializer_list>
#include <string>
#include <system_error>
#include <vector>
module iap.process;
import iap.core;

namespace iap {
namespace {

/// The parts of a spawn that must be given back.
struct Spawn {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;

  Spawn() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~Spawn() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;
};

void name_files(const ProcessStart& start, posix_spawn_file_actions_t& actions) {
  // First of all: where this process has no standard input, the channel may have its number.
  if (start.channel >= 0) posix_spawn_file_actions_adddup2(&actions, start.channel, channel_descriptor);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (!start.log.empty()) {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, start.log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  }
  posix_spawn_file_actions_addclosefrom_np(&actions, start.channel >= 0 ? channel_descriptor + 1 : STDERR_FILENO + 1);
}

void name_signals(posix_spawnattr_t& attributes) {
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGUSR1}) sigaddset(&defaults, signal);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

}  // namespace

int start_process(const ProcessStart& start) {
  Spawn spawn;
  name_files(start, spawn.actions);
  name_signals(spawn.attributes);
  std::vector<char*> arguments;
  for (const auto& word : start.words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (const int failure = posix_spawn(&child, start.program.c_str(), &spawn.actions, &spawn.attributes, arguments.data(), environ))
    throw Error(text("cannot start ", start.program.string(), start.log.empty() ? "" : " writing to '" + start.log.string() + "'",
                     ": ", std::generic_category().message(failure)));
  return child;
}

std::string describe_end(int status) {
  if (WIFSIGNALED(status)) return text("was killed by signal ", WTERMSIG(status), " (", strsignal(WTERMSIG(status)), ")");
  return text("ended with exit code ", WEXITSTATUS(status));
}

}  // namespace iap
