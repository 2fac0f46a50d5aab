#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/processes.hpp"
#include "cli/sweep.hpp"
import iap.core;
import iap.train;

namespace iap::cli {
namespace {

/// What the job's processes print.
std::filesystem::path log_of(const SweepJob& job) { return run_file(job.folder, "output.txt"); }

std::string after(const std::string& line) { return line.empty() ? "" : " after: " + line; }

/// Whether a line begins with "FILE:LINE: ", as errors do that end a script. Those say all that there is to say; others do not tell
/// that the process has ended there.
bool names_a_place(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return false;
  const auto end = line.find_first_not_of("0123456789", colon + 1);
  return end > colon + 1 && end != std::string_view::npos && line.substr(end).starts_with(": ");
}

/// How what a job has printed since byte `begin` ends: with the last line, or an error of more lines, joined.
std::string last_words(const std::filesystem::path& log, std::uintmax_t begin) {
  constexpr int most_lines = 30;
  const std::string all = read_file(log);
  std::string_view rest = std::string_view(all).substr(std::min<std::size_t>(begin, all.size()));
  const auto take_line = [&rest] {
    while (!rest.empty() && (rest.back() == '\n' || rest.back() == ' ')) rest.remove_suffix(1);
    const std::string_view line = rest.substr(rest.rfind('\n') + 1);
    rest.remove_suffix(line.size());
    return line;
  };
  const std::string last(take_line());
  std::string joined = last;
  for (int lines = 1; lines < most_lines && !rest.empty() && !names_a_place(joined); ++lines)
    joined = text(take_line(), " | ", joined);
  return names_a_place(joined) ? joined : last;
}

/// Runs a list of jobs, as many at once as were asked for.
class Runner {
 public:
  Runner(const SweepCommand& command, const SweepList& list, const SweepPlan& plan, const SweepRung& rung,
         const std::function<void()>& changed, Unrecorded& unrecorded, FirstRank& first_rank)
      : command_(command),
        list_(list),
        plan_(plan),
        rung_(rung),
        changed_(changed),
        unrecorded_(unrecorded),
        first_rank_(first_rank) {}

  bool run(const std::vector<std::size_t>& jobs) {
    for (const std::size_t job : jobs) {
      const JobRecord record = read_record(list_.jobs[job].folder);
      if (is_done(job, record)) continue;
      tries_before_[job] = record.tries;
      queue_.push_back(job);
    }
    total_ = jobs.size();
    ended_ = total_ - queue_.size();
    // Ranks begin at different places of the list, so that they seldom ask for the same run.
    const auto shift = queue_.size() * static_cast<std::size_t>(command_.rank) / static_cast<std::size_t>(command_.ranks);
    std::ranges::rotate(queue_, queue_.begin() + static_cast<std::ptrdiff_t>(shift));
    if (ended_ > 0) say(text(ended_, " of ", total_, " runs were done before"));
    const auto at_once = std::min<std::size_t>(static_cast<std::size_t>(command_.jobs), std::max<std::size_t>(queue_.size(), 1));
    threads_ = command_.run.threads.value_or(std::max(1, hardware_threads() / static_cast<int>(at_once)));
    while (!processes_.stopping() || processes_.running() > 0) {
      bool waits = false;
      for (std::size_t tries = queue_.size(); tries > 0 && processes_.running() < at_once && !processes_.stopping(); --tries)
        waits |= !try_next();
      if (queue_.empty() && processes_.running() == 0) {
        if (!reopen(jobs)) break;
        continue;
      }
      for (const auto& ended : processes_.wait(waits ? 300 : command_.ranks > 1 ? 1000 : 60'000)) try_end(ended);
      if (command_.ranks > 1 && !processes_.stopping() && launcher_.is_gone()) processes_.stop();
      if (processes_.stopping() && processes_.running() > 0 && !std::exchange(told_stopping_, true))
        say(text("stopping ", processes_.running(), " at work; a second Ctrl-C ends them at once"));
    }
    return queue_.empty() && !interrupted_;
  }

 private:
  void say(const std::string& line) const {
    if (command_.rank == 0) std::cerr << rung_.title << line << "\n" << std::flush;
  }

  /// Whether it is this sweep's own run that has got so far; what keeps us from knowing is told of when the job is begun.
  bool is_done(std::size_t job, const JobRecord& record) const try {
    return record.done(rung_.iterations) && holds_another_run(list_.jobs[job], plan_.settings[job]).empty();
  } catch (const Error&) {
    return false;
  }

  /// What is in the way of one job stops no other. False if that is another process.
  bool try_next() {
    const std::size_t number = queue_.front();
    bool begun = true;
    try {
      begun = begin_next();
    } catch (const Error& error) {
      begun_.erase(number);
      fail(number, error.what());
    }
    if (trouble_) std::rethrow_exception(trouble_);
    return begun;
  }

  void try_end(const Processes::Ended& ended) {
    try {
      end(ended);
    } catch (const Error& error) {
      fail(ended.id, error.what());
    }
    if (trouble_) std::rethrow_exception(trouble_);
  }

  void fail(std::size_t number, const std::string& message) {
    const SweepJob& job = list_.jobs[number];
    JobRecord record;
    try {
      record = read_record(job.folder);
      record.tries = std::max(record.tries, tries_before_[number] + 1);
      record.status = JobRecord::Status::failed;
      record.message = one_line(message);
      record.launch = command_.launch;
      write_record(job.folder, record);
    } catch (const Error&) {
      record.status = JobRecord::Status::failed;
      unrecorded_[number].message = record.message = one_line(message);
    }
    tell(job, record, "");
  }

  /// The run and its record are another sweep's, and stay as they are.
  void disown(std::size_t number, const std::string& why) {
    unrecorded_[number] = {.message = one_line(why), .of_another = true};
    tell(list_.jobs[number], {.status = JobRecord::Status::failed, .message = one_line(why)}, "");
  }

  /// False if another process is at the next job, which goes to the end of the queue.
  bool begin_next() {
    const std::size_t number = queue_.front();
    const SweepJob& job = list_.jobs[number];
    queue_.pop_front();
    make_folder(job.folder);
    // Held until the run has ended and is on record: of several sweeps one works on a job.
    AppendFile claim(log_of(job));
    const FileLock lock = claim.lock();
    if (lock == FileLock::taken || is_in_use(job.folder)) {
      put_off(number);
      return false;
    }
    if (lock == FileLock::none && !std::exchange(told_lockless_, true))
      say("warning: the file system gives no locks; see to it that no other sweep works in this folder");
    JobRecord record = read_record(job.folder);
    if (!command_.launch.empty() && has_failed(record, number)) {  // by another rank, whose reason stands
      tell(job, record, "by another process");
      return true;
    }
    if (const auto why = holds_another_run(job, plan_.settings[number]); !why.empty()) {
      disown(number, why);
      return true;
    }
    if (has_failed(record, number) || record.done(rung_.iterations)) {
      tell(job, record, "by another process");
      return true;
    }
    if (const auto figures = passed_figures(job.folder, rung_.iterations)) {
      record.status = JobRecord::Status::done;
      record.message.clear();
      record.rungs[rung_.iterations] = *figures;
      record.launch = command_.launch;
      write_record(job.folder, record);
      tell(job, record, "done before");
      return true;
    }
    if (!is_apart()) {
      put_off(number);
      return false;
    }
    ++record.tries;
    record.status = JobRecord::Status::begun;
    record.iterations = rung_.iterations;
    record.message.clear();
    record.launch = command_.launch;
    write_record(job.folder, record);
    std::error_code missing;
    const auto size = std::filesystem::file_size(log_of(job), missing);
    begun_[number] = {.at = Clock::now(), .log_size = missing ? 0 : size, .claim = std::move(claim)};
    processes_.start(number, words_of(number), log_of(job));
    return true;
  }

  /// Whether locks keep other ranks from what this one begins.
  bool is_apart() try { return first_rank_.is_seen(); } catch (const Error&) {
    trouble_ = std::current_exception();  // all jobs', not this one's
    return false;
  }

  /// In this sweep: what failed before it is tried again, once. Ranks begin at different times, the last perhaps when the first
  /// runs have failed: they go by what they have in common.
  bool has_failed(const JobRecord& record, std::size_t number) const {
    if (record.status != JobRecord::Status::failed) return false;
    return command_.launch.empty() ? record.tries > tries_before_.at(number) : record.launch == command_.launch;
  }

  /// Whether some of `jobs` have yet to end, though they had ended before: another sweep tries them again.
  bool reopen(const std::vector<std::size_t>& jobs) {
    for (const std::size_t job : jobs) {
      if (unrecorded_.contains(job)) continue;
      const JobRecord record = read_record(list_.jobs[job].folder);
      if (record.done(rung_.iterations) || record.status == JobRecord::Status::failed) continue;
      tries_before_.emplace(job, record.tries);
      queue_.push_back(job);
      --ended_;
    }
    return !queue_.empty();
  }

  void put_off(std::size_t number) {
    if (!std::exchange(waiting_[number], true) && command_.ranks == 1)
      say(list_.jobs[number].name + ": another process is at it; waiting for it");
    queue_.push_back(number);
  }

  /// Only the whole run's best policy is worth playing again, but scripts read what comes of it; fewer than two episodes have no
  /// interval.
  std::int64_t confirmation_below(std::size_t number) const {
    const Config* episodes = plan_.settings[number].find("confirm_episodes");
    return std::min<std::int64_t>(episodes ? episodes->integer().value_or(0) : 0, 2);
  }

  std::vector<std::string> words_of(std::size_t number) const {
    const SweepJob& job = list_.jobs[number];
    std::vector<std::string> words{command_.run.program, "run", command_.file.string()};
    for (const auto& assignment : overrides_of(command_, list_, job.combination)) words.insert(words.end(), {"--set", assignment});
    if (!rung_.last) {
      words.insert(words.end(), {"--set", text("iterations=", rung_.iterations)});
      words.insert(words.end(), {"--set", text("confirm_episodes=", confirmation_below(number))});
    }
    words.insert(words.end(), {"--seed", std::to_string(job.seed), "--threads", std::to_string(threads_), "--out",
                               job.folder.string(), "--resume", "--sweep-process", std::to_string(getpid())});
    if (!command_.run.arguments.empty()) words.emplace_back("--");
    words.insert(words.end(), command_.run.arguments.begin(), command_.run.arguments.end());
    return words;
  }

  void end(const Processes::Ended& ended) {
    const SweepJob& job = list_.jobs[ended.id];
    const Begun begun = std::move(begun_.at(ended.id));
    begun_.erase(ended.id);
    if (processes_.stopping() && (ended.exit_code == Exit::interrupted || ended.signal != 0)) {
      interrupted_ = true;
      return;
    }
    if (was_busy(ended, job)) return put_off(ended.id);
    JobRecord record = read_record(job.folder);
    record.message = problem(ended, job, begun.log_size);
    if (record.message.empty()) record.message = change_of_settings(ended.id);
    if (record.message.empty()) take_figures(job, record, begun.log_size);
    record.status = record.message.empty() ? JobRecord::Status::done : JobRecord::Status::failed;
    write_record(job.folder, record);
    const double seconds = seconds_since(begun.at);
    tell(job, record, text(fixed_text(seconds, seconds < 10 ? 1 : 0), " s"));
  }

  /// Why a run that trained to its end is none of this sweep's, or "".
  std::string change_of_settings(std::size_t number) const {
    const auto settings = settings_on_record(list_.jobs[number].folder);
    const auto difference = settings ? settings_difference(plan_.settings[number], *settings) : "";
    if (difference.empty()) return "";
    return text("trained with other settings than it was rehearsed with (", difference,
                "); they must follow from the options and the seed (math.randomseed before math.random), and ",
                command_.file.string(),
                " and what it reads must stay as they are while the sweep is at work: change them back and remove that run, or "
                "choose another folder with --out");
  }

  /// Whether a run ended because another process had come to its folder. A script may end itself with the same exit code: where
  /// nobody works any more, that counts once.
  bool was_busy(const Processes::Ended& ended, const SweepJob& job) {
    return ended.signal == 0 && ended.exit_code == Exit::busy &&
           (is_in_use(job.folder) || !std::exchange(busy_before_[ended.id], true));
  }

  void take_figures(const SweepJob& job, JobRecord& record, std::uintmax_t log_size) const try {
    record.rungs[rung_.iterations] = read_figures(job.folder, rung_.iterations);
  } catch (const Error& error) {
    record.message = text(error.what(), "; ended with exit code ", int{Exit::success}, after(last_words(log_of(job), log_size)));
  }

  /// Why a process ended otherwise than it should, or "".
  static std::string problem(const Processes::Ended& ended, const SweepJob& job, std::uintmax_t log_size) {
    if (ended.signal == 0 && ended.exit_code == Exit::success) return "";
    // The end of its output is the command that goes on with this run alone.
    if (ended.signal == 0 && ended.exit_code == Exit::interrupted)
      return "was interrupted (by a signal or a limit); started again, the sweep goes on with it";
    const std::string line = last_words(log_of(job), log_size);
    if (ended.signal != 0) return text("killed by signal ", ended.signal, " (", strsignal(ended.signal), ")", after(line));
    if (ended.exit_code == Exit::failure && names_a_place(line)) return line;
    return text("ended with exit code ", ended.exit_code, after(line));
  }

  void tell(const SweepJob& job, const JobRecord& record, const std::string& time) {
    ++ended_;
    const std::string head = text("[", ended_, "/", total_, "] ", job.name, ": ");
    if (record.status == JobRecord::Status::failed)
      say(text(head, "failed: ", record.message));
    else
      say(text(head, command_.metric, " ", record.value(rung_.iterations, command_.metric), ", ", time));
    try {
      changed_();
    } catch (const Error&) {
      trouble_ = std::current_exception();  // all jobs', not this one's
    }
  }

  struct Begun {
    Clock::time_point at;
    std::uintmax_t log_size = 0;
    AppendFile claim;
  };

  const SweepCommand& command_;
  const SweepList& list_;
  const SweepPlan& plan_;
  const SweepRung& rung_;
  const std::function<void()>& changed_;
  Unrecorded& unrecorded_;
  std::exception_ptr trouble_;
  std::deque<std::size_t> queue_;
  std::map<std::size_t, Begun> begun_;
  std::map<std::size_t, int> tries_before_;
  std::map<std::size_t, bool> waiting_, busy_before_;
  std::size_t total_ = 0, ended_ = 0;
  int threads_ = 1;
  Launcher launcher_;
  FirstRank& first_rank_;
  bool interrupted_ = false, told_stopping_ = false, told_lockless_ = false;
  Processes processes_;  // last: its end waits for the children
};

}  // namespace

bool run_jobs(const SweepCommand& command, const SweepList& list, const SweepPlan& plan, const std::vector<std::size_t>& jobs,
              const SweepRung& rung, const std::function<void()>& changed, Unrecorded& unrecorded, FirstRank& first_rank) {
  return Runner(command, list, plan, rung, changed, unrecorded, first_rank).run(jobs);
}

}  // namespace iap::cli
