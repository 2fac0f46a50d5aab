module;
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>
module iap.rollout;
import iap.core;
import iap.process;
import :messages;
import :player;
import :safeguards;
import :types;
import :worker;

namespace iap {
namespace {

/// To build an environment, where episodes are cut off: models and pictures are read once.
constexpr double least_build_timeout = 60;

struct WorkerProgram {
  std::filesystem::path program;
  std::vector<std::string> words;
};

std::optional<WorkerProgram>& worker_program() {
  static std::optional<WorkerProgram> program;
  return program;
}

/// Asks whether to go on while another process is waited for, and is asked many times a second.
class Patience {
 public:
  /// `seconds` 0: as long as it takes.
  Patience(double seconds, const Wanted& wanted) : wanted_(wanted), limited_(seconds > 0), left_(seconds) {}
  void operator()() {
    check_interrupt();
    if (wanted_ && !wanted_()) throw Interrupted();
    const auto now = Clock::now();
    left_ -= counted(now - last_);
    last_ = now;
    if (limited_ && left_.count() < 0) throw TimedOut();
  }
  struct TimedOut {};

 private:
  using Seconds = std::chrono::duration<double>;

  /// What counts of the time since the last look. While nobody asked for long, this process was stopped, and the other one most
  /// likely, too. Twice in a row it is a machine that is too busy to ask, on which what hangs ends all the same.
  Seconds counted(Seconds between_looks) {
    constexpr Seconds most_between_looks{1}, usual{0.02};
    const bool was_late = std::exchange(late_, between_looks > most_between_looks);
    if (!late_) return between_looks;
    return was_late ? most_between_looks : usual;
  }

  const Wanted& wanted_;
  bool limited_;
  Seconds left_;
  Clock::time_point last_ = Clock::now();
  bool late_ = false;  ///< whether the last look was
};

/// A child process and what it starts, which end with the object.
class Child {
 public:
  explicit Child(int number) : number_(number) {}
  ~Child() { end(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// As `end`, once it has ended by itself, for which it has a while.
  int end_by_itself() {
    const auto until = Clock::now() + time_to_go;
    siginfo_t gone{};
    while (number_ != 0 && gone.si_pid == 0 && Clock::now() < until &&
           waitid(P_PID, static_cast<id_t>(number_), &gone, WEXITED | WNOHANG | WNOWAIT) == 0)
      if (gone.si_pid == 0) std::this_thread::sleep_for(between_looks);
    return end();
  }

  /// Kills what is left of its group, which it leads (start_process); how it ended.
  int end() {
    int status = 0;
    if (number_ == 0) return status;
    kill(-number_, SIGKILL);
    while (waitpid(number_, &status, 0) < 0 && errno == EINTR) {
    }
    bury_orphans(std::exchange(number_, 0));
    return status;
  }

 private:
  static constexpr auto between_looks = std::chrono::milliseconds(5);

  /// What the leader of a group left is this process's where that is process 1, as in a container: nobody else waits for it.
  static void bury_orphans(int group) {
    const auto until = Clock::now() + time_to_go;
    for (pid_t found = 1; found >= 0 && Clock::now() < until; found = waitpid(-group, nullptr, WNOHANG))
      if (found == 0) std::this_thread::sleep_for(between_looks);
  }

  int number_;
};

int start_worker(int channel) {
  require_worker();
  const WorkerProgram& program = *worker_program();
  return start_process({program.program, program.words, {}, channel});
}

std::string env_name(const Config& env) {
  const Config* name = env.find("name");
  return name && name->string() ? *name->string() : "";
}

class WorkerPlayer final : public Player {
 public:
  WorkerPlayer(const RolloutSetup& setup, const Safeguards& safeguards, std::array<Channel, 2> ends, std::string& files)
      : name_(env_name(env_of(setup, "environment"))),
        timeout_(safeguards.episode_timeout),
        memory_(safeguards.worker_memory),
        child_(start_worker(ends[1].descriptor())),
        channel_(std::move(ends[0])) {
    ends[1].close();
    const double patience = timeout_ > 0 ? std::max(timeout_, least_build_timeout) : 0;
    files = exchange(encode(WorkerOrder{setup, instruction_sets(), safeguards.worker_memory}), patience, {},
                     text("environment '", name_, "', before its first episode"))
                .files;
  }

  /// Where its process answers, its environment goes as one of this process would.
  ~WorkerPlayer() override {
    if (!answered_) return;
    leave();
    child_.end_by_itself();
  }
  WorkerPlayer(const WorkerPlayer&) = delete;
  WorkerPlayer& operator=(const WorkerPlayer&) = delete;

  void leave() override { channel_.close(); }

  Episode play(const RolloutTask& task, const Wanted& wanted) override {
    return exchange(encode(task), timeout_, wanted, text("environment '", name_, "', seed ", task.seed)).episode;
  }

 private:
  /// Says something to the worker and waits for its answer. `what` begins the message about a worker that is lost.
  WorkerAnswer exchange(const std::string& message, double seconds, const Wanted& wanted, const std::string& what) {
    answered_ = false;
    Patience patience(seconds, wanted);
    const auto go_on = [&patience] { patience(); };
    std::string bytes;
    try {
      if (!channel_.send(message, go_on) || !channel_.receive(bytes, go_on)) {
        const int end = child_.end_by_itself();
        // The limit of processor time (ulimit -t) is each process's own, and the episode's fault in none.
        if (WIFSIGNALED(end) && WTERMSIG(end) == SIGXCPU) {
          request_interrupt(SIGXCPU);
          throw Interrupted();
        }
        throw Error(text(what, ": the process that played it ", describe_end(end),
                         memory_ > 0 ? text("; its limit is worker_memory = ", memory_, " MiB") : ""));
      }
    } catch (const Patience::TimedOut&) {
      throw Error(text(what, ": took longer than ", seconds, " s and was cut off (episode_timeout)"));
    }
    WorkerAnswer answer = decode_answer(bytes);
    answered_ = true;
    if (!answer.error.empty()) throw Error(told(answer.error, what));
    return answer;
  }

  /// A worker's message. Where its memory is limited and has run out, the limit is named; and the environment with the seed, as
  /// there may have been no memory to say so.
  std::string told(const std::string& error, const std::string& what) const {
    const auto says = [&error](const char* words) { return error.find(words) != std::string::npos; };
    if (memory_ == 0 || (!says("out of memory") && !says("not enough memory") && !says("bad_alloc"))) return error;
    return text(error.starts_with("environment '") ? "" : what + ": ", error, " (it needed more than worker_memory = ", memory_,
                " MiB)");
  }

  std::string name_;
  double timeout_;
  int memory_;  ///< MiB; 0: any amount
  Child child_;
  Channel channel_;
  bool answered_ = false;
};

}  // namespace

void set_worker(std::filesystem::path program, std::vector<std::string> words) {
  worker_program() = {std::move(program), std::move(words)};
}

void require_worker() {
  if (worker_program()) return;
  throw Error(
      "this program cannot play episodes in processes of their own (isolate, episode_timeout, worker_memory): it has not named one "
      "that does; run the script with `iap run`, or call iap::set_worker");
}

std::unique_ptr<Player> worker_player(const RolloutSetup& setup, const Safeguards& safeguards, std::string& files) {
  return std::make_unique<WorkerPlayer>(setup, safeguards, Channel::pair(), files);
}

}  // namespace iap
