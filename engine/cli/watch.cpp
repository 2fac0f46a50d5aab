#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/failed_episodes.hpp"
#include "cli/interrupts.hpp"
#include "cli/values.hpp"
import iap.core;
import iap.report;
import iap.train;

#include "train/lock_of_run.hpp"

namespace iap::cli {
namespace {

namespace fs = std::filesystem;
using Seconds = std::chrono::duration<double>;

/// @throws Interrupted.
void wait(double seconds) {
  constexpr Seconds slice(0.05);
  for (const auto end = Clock::now() + Seconds(seconds); Clock::now() < end;) {
    check_interrupt();
    std::this_thread::sleep_for(slice);
  }
  check_interrupt();
}

/// The state of the run. The moment that it takes to say what it is is given to a folder that a process has just made, and where a
/// run was `watched` and is gone, as another one may be about to begin there, or cannot be looked at, as its disk may come back.
RunState state_of(const fs::path& folder, bool watched) {
  constexpr double patience = 2, pause = 0.1;
  for (double waited = 0;; waited += pause) {
    try {
      if (const auto state = run_state(folder)) return *state;
    } catch (const Error&) {
      if (!watched || waited >= patience) throw;
    }
    std::error_code ignored;
    if (waited >= patience || !(watched || fs::exists(folder / "log.txt", ignored))) break;
    wait(pause);
  }
  if (watched)
    throw Error(text("the run's folder '", folder.string(),
                     "' was moved or removed while it was watched; give the folder where the run is now"));
  throw Error(
      text("'", folder.string(), "' is not the folder of a run: it has no config.json; start the run first, and give its folder"));
}

bool holds_run(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "config.json", ignored);
}

/// What a page depends on.
using Trace = std::vector<std::pair<std::uintmax_t, fs::file_time_type>>;
Trace trace_of(const fs::path& folder) {
  Trace trace;
  for (const char* name : {"metrics.csv", "best.iap", "final.iap", "result.json"}) {
    std::error_code size_error, time_error;
    const auto size = fs::file_size(folder / name, size_error);
    const auto time = fs::last_write_time(folder / name, time_error);
    trace.emplace_back(size_error ? 0 : size, time_error ? fs::file_time_type::min() : time);
  }
  return trace;
}

std::string end_line(const fs::path& folder) {
  const auto summary = sound_summary(folder);
  if (!summary) return "is no longer at work, but not complete (interrupted?); --resume continues it";
  const auto failed = failed_episodes(folder, static_cast<int>(summary->iterations));
  return text("ended after iteration ", summary->iterations, " (", one_line(summary->stop_reason), ")",
              failed.any() ? text("; episodes failed and count as failed_return: ", failed.places(), "; log.txt says why") : "");
}

class Watch {
 public:
  explicit Watch(const WatchCommand& command)
      : folder_(command.run),
        out_(command.out ? *command.out : report_place(std::vector{command.run})),
        every_(command.every),
        options_(command.options) {
    options_.memory = std::make_shared<ReportMemory>();
    check_outputs({{"--out", command.out}});
  }

  void run() {
    // Whether the run is at work is asked first: what it wrote before it ended is then on the last page.
    for (bool at_work = is_at_work(false);; at_work = is_at_work(true)) {
      const auto begin = Clock::now();
      if (Trace now = trace_of(folder_); now != seen_ || !at_work) {
        renew(at_work);
        seen_ = std::move(now);
      }
      if (!at_work && holds_run(folder_)) return;
      // Pages that take long to make leave the machine to the run.
      constexpr double rest = 4;
      wait(std::max(static_cast<double>(every_), rest * seconds_since(begin)));
    }
  }

  /// Makes the last page one that loads itself no more, however the watch ended.
  void settle() {
    std::error_code ignored;
    if (written_ && fs::is_regular_file(out_, ignored)) settle_page(out_);
  }

 private:
  /// Where nobody can tell, until it has ended.
  bool is_at_work(bool watched) {
    if (state_of(folder_, watched).in_use) return true;
    if (lock_of_run(folder_) != FileLock::none || sound_summary(folder_)) return false;
    if (!std::exchange(untold_, true))
      std::cerr
          << text("note: whether '", one_line(folder_.string()),
                  "' is at work cannot be told, as its log.txt cannot be read or its file system gives no locks; the watch goes "
                  "on until the run is complete (result.json); Ctrl-C ends it")
          << std::endl;
    return true;
  }

  void renew(bool at_work) {
    options_.refresh = at_work ? every_ : 0;
    const fs::path folders[]{folder_};
    try {
      write_report(folders, out_, options_);
      if (!told_) tell("");
      told_ = true;
    } catch (const Error& error) {
      if (!holds_run(folder_)) return;  // the next look at it tells
      // The last page's trouble is how the command ends.
      if (at_work) complain(error.what());
      if (!told_ || !emptiness(folder_).empty()) {  // another run may have begun in the place of one that had a page
        write_waiting_page(folder_, out_, options_.refresh);
        if (!written_ && at_work) tell(" (nothing to report yet)");
      }
      written_ = true;
      if (!at_work) throw;
    }
    written_ = true;
  }

  /// Says once why there is no page of a run that has something to show; twice in a row it is no file that is just being written.
  void complain(const std::string& trouble) {
    std::error_code ignored;
    const bool same = std::exchange(trouble_, trouble) == trouble;
    if (!same || complained_ || !emptiness(folder_).empty() || !fs::exists(folder_ / "best.iap", ignored)) return;
    complained_ = true;
    std::cerr << "note: there is no page: " << one_line(trouble) << std::endl;
  }

  void tell(const char* note) const {
    std::cout << "report   " << one_line(out_.string());
    if (options_.refresh > 0) std::cout << ", renewed while the run goes on; open it in a browser";
    std::cout << note << std::endl;
  }

  fs::path folder_, out_;
  int every_;
  ReportOptions options_;
  Trace seen_;
  bool written_ = false, told_ = false, complained_ = false;
  bool untold_ = false;  ///< whether it was said that nobody can tell
  std::string trouble_;  ///< why the last page was not written
};

}  // namespace

int watch(const WatchCommand& command) {
  catch_interrupts(nullptr);
  catch_termination();
  Watch watched(command);
  try {
    watched.run();
  } catch (const Interrupted&) {
    watched.settle();
    std::cout << "watch    ended; the run goes on" << std::endl;
    return Exit::interrupted;
  } catch (...) {
    try {
      watched.settle();
    } catch (const Error&) {
      // Why the watch ends says more.
    }
    throw;
  }
  std::cout << "run      " << end_line(command.run) << std::endl;
  return Exit::success;
}

}  // namespace iap::cli
