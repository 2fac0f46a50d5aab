#pragma once
#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace iap::cli {

/// Child processes that run this program. While an object lives, Ctrl-C, SIGTERM and SIGHUP ask the children and the programs that
/// they wait for to end in good order; a second Ctrl-C, or a SIGTERM 5 s or more after the first, kills both. One object at a time.
class Processes {
 public:
  Processes();
  /// Ends the children in good order and waits for them.
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  struct Ended {
    std::size_t id;
    int exit_code;  ///< meaningless where `signal` is set
    int signal;     ///< that killed it, or 0
  };

  /// Starts the program with `words` behind its name, without input and with its output at the end of the file `log`. The child
  /// has none of our open files. @throws Error naming the reason.
  void start(std::size_t id, const std::vector<std::string>& words, const std::filesystem::path& log);
  /// Waits for news, at most so long. Returns those that have ended.
  std::vector<Ended> wait(int milliseconds);
  std::size_t running() const { return running_.size(); }
  /// Whether the user wants everything to end.
  bool stopping() const;
  /// As the user's Ctrl-C.
  void stop();

 private:
  /// To each child and what it has started: each leads a group of its own.
  void pass_on(int signal) const;
  void ask_to_end() const;

  std::map<pid_t, std::size_t> running_;
  int passed_on_ = 0;
};

/// For a child of `Processes`: asks this process to end (SIGTERM) when the process `parent` does. False if that has happened.
bool end_with(pid_t parent);

}  // namespace iap::cli
