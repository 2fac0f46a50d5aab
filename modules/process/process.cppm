module;
#include <filesystem>
#include <string>
#include <vector>
/// Child processes: how they are started, and what is told of their end.
export module iap.process;
import iap.core;

export namespace iap {

struct ProcessStart {
  std::filesystem::path program;   ///< "/proc/self/exe": this program as it runs now, whatever has become of its file
  std::vector<std::string> words;  ///< its arguments, the first of them its name
  std::filesystem::path log;       ///< what it prints goes to the end of this file; empty: to where this process prints
  int channel = -1;                ///< a descriptor of this process that the child has as `channel_descriptor`; -1: none
};

/// Where a child finds its channel.
inline constexpr int channel_descriptor = 3;

/// Starts a process without input, with the default answer to every signal that a terminal or a job's end sends, in a group of its
/// own (a terminal's Ctrl-C reaches it through its parent alone) and with none of this process's files beside those named.
/// Returns its number. @throws Error naming the reason.
int start_process(const ProcessStart& start);

/// How a process ended, from what waitpid says: "ended with exit code 3", "was killed by signal 11 (Segmentation fault)".
std::string describe_end(int status);

}  // namespace iap
