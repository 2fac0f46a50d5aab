#include "cli/sweep.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "cli/failed_episodes.hpp"
#include "cli/values.hpp"
import iap.core;
import iap.report;
import iap.script;
import iap.train;
#include "core/there.hpp"

namespace iap::cli {
namespace {

void check_command(const SweepCommand& command) {
  check_is_script(command.file);
  const auto status = status_of(command.file);
  const std::string name = command.file.string();
  if (!std::filesystem::exists(status)) throw Error(text("there is no script '", name, "'"));
  if (std::filesystem::is_directory(status)) throw Error(text("'", name, "' is a folder; name the script in it"));
  if (!std::filesystem::is_regular_file(status))
    throw Error(text("'", name, "' is no regular file, and each run of a sweep reads its script anew; save it in one"));
}

std::string go_on(const SweepCommand& command) {
  std::string line = shell_word(command.run.program);
  for (const auto& word : command.words) line += " " + shell_word(word);
  return "continue with\n  " + line + "\n";
}

/// A sweep on its way through its rungs.
class Sweep {
 public:
  Sweep(const SweepCommand& command, SweepList list)
      : command_(command), list_(std::move(list)), part_(jobs_of_part(command_, list_)), active_(list_.combinations.size()) {
    std::iota(active_.begin(), active_.end(), std::size_t{0});
    check_sweep_folder(list_);
    plan_ = check_script(command_, list_);
    rungs_ = sweep_rungs(command_, list_, plan_.iterations);
    check_passed(list_, part_, rungs_, command_.collect);
  }

  /// Says what would be run.
  void show() {
    tell_of_runs();
    for (const std::size_t number : part_) {
      const SweepJob& job = list_.jobs[number];
      JobRecord record = read_record(job.folder);
      add_passed(record, job.folder);
      std::string state = "to do";
      if (record.done(rungs_.back()))
        state = "done";
      else if (record.status == JobRecord::Status::failed)
        state = "to do again; failed: " + record.message;
      else if (record.status != JobRecord::Status::unknown)
        state = "to go on";
      std::cout << job.folder.string() << ": " << state << "\n";
    }
    std::cout << part_.size() << (part_.size() == 1 ? " run, " : " runs, ") << command_.jobs << " at a time\n";
    // Last, where the number of runs would else be all that a long list leaves on the screen.
    if (command_.halving) std::cout << rungs_text() << "\n";
  }

  int run() { return command_.rank == 0 ? run_and_tell() : help(); }

 private:
  /// The runs that the first rank does not get to.
  int help() {
    make_folder(list_.folder);
    await_first_rank(command_, plan_, list_.folder);
    for (std::size_t i = 0; i < rungs_.size() && !command_.collect; ++i) {
      if (!run_rung(i, [] {})) return Exit::interrupted;
      if (i + 1 < rungs_.size() && !promote(rungs_[i])) break;
    }
    return Exit::success;
  }

  int run_and_tell() {
    if (command_.collect && !std::filesystem::is_directory(status_of(list_.folder)))
      throw Error(text("--collect: there is no sweep in '", list_.folder.string(), "'; name its folder with --out"));
    make_folder(list_.folder);
    const FirstRankLock lock(command_, list_.folder);
    sign_in(command_, plan_, list_.folder);
    tell_of_runs();
    if (command_.halving) std::cerr << rungs_text() << "\n";
    const auto changed = [this] {
      if (!command_.part) renew_table();
    };
    for (std::size_t i = 0; i < rungs_.size(); ++i) {
      reached_ = i + 1;
      if (!command_.collect && !run_rung(i, changed)) {
        renew_table();
        std::cerr << "interrupted with " << done_in_rung(rungs_[i]) << "; " << go_on(command_);
        return Exit::interrupted;
      }
      if (i + 1 < rungs_.size() && !promote(rungs_[i])) break;
    }
    return command_.part ? end_of_part() : end();
  }

  static void tell_once(const std::string& note, std::string& told) {
    if (!note.empty() && note != told) std::cerr << one_line(note) << "\n";
    told = note;
  }

  /// At the end, too: a script may be edited while its sweep is at work, and other machines may have parts of it.
  void tell_of_others() {
    tell_once(other_texts(command_, list_, plan_, part_), told_of_texts_);
    tell_once(other_bits(list_, plan_, command_.collect ? std::vector<std::size_t>() : part_), told_of_bits_);
  }

  void tell_of_runs() {
    tell_of_others();
    for (const std::size_t number : part_)
      if (const auto flaw = record_flaw(list_.jobs[number].folder); !flaw.empty())
        std::cerr << one_line(text("note: ", flaw, "; the sweep goes by what the run itself has written")) << "\n";
  }

  std::string rungs_text() const {
    std::string words = "halving: ";
    std::size_t left = list_.combinations.size();
    for (std::size_t i = 0; i < rungs_.size(); ++i) {
      words += text(i ? ", then " : "", left, left == 1 ? " combination" : " combinations", i ? " to " : " for ", rungs_[i],
                    rungs_[i] == 1 ? " iteration" : " iterations");
      left = std::max<std::size_t>(left / static_cast<std::size_t>(command_.halving.value_or(1)), 1);
    }
    return words;
  }

  bool is_active(std::size_t combination) const { return std::ranges::find(active_, combination) != active_.end(); }

  /// `changed` is called after each run.
  bool run_rung(std::size_t i, const std::function<void()>& changed) {
    std::vector<std::size_t> jobs;
    for (const std::size_t job : part_)
      if (is_active(list_.jobs[job].combination)) jobs.push_back(job);
    const SweepRung rung{.iterations = rungs_[i],
                         .last = i + 1 == rungs_.size(),
                         .title = rungs_.size() > 1 ? text("rung ", i + 1, "/", rungs_.size(), " ") : ""};
    return run_jobs(command_, list_, plan_, jobs, rung, changed, unrecorded_, first_rank_);
  }

  /// A job's record with what its own folder does not say: that it failed where nothing can be written there, or another sweep's
  /// run lies there, and, to a collector, what a run came to at a rung that it has passed.
  JobRecord record_of(std::size_t number) const {
    const auto& folder = list_.jobs[number].folder;
    JobRecord record = read_record(folder);
    const auto failed = unrecorded_.find(number);
    if (failed != unrecorded_.end() && failed->second.of_another)
      return {.status = JobRecord::Status::failed, .message = failed->second.message};
    if (failed != unrecorded_.end() && !record.done(rungs_[reached_ - 1]) && record.status != JobRecord::Status::failed) {
      record.status = JobRecord::Status::failed;
      record.message = failed->second.message;
    }
    if (command_.collect) add_passed(record, folder);
    return record;
  }

  /// Puts into `record` what the run itself says of the rungs that it has passed; a run that cannot be read has failed.
  void add_passed(JobRecord& record, const std::filesystem::path& folder) const {
    for (const int rung : rungs_) try {
        const auto figures = record.done(rung) ? std::nullopt : passed_figures(folder, rung);
        if (!figures) continue;
        record.rungs[rung] = *figures;
        record.status = JobRecord::Status::done;
        record.message.clear();
      } catch (const NotEvaluated&) {
        continue;
      } catch (const Error& error) {
        record.status = JobRecord::Status::failed;
        record.message = one_line(error.what());
        return;
      }
  }

  std::vector<JobRecord> records() const {
    std::vector<JobRecord> all;
    for (std::size_t number = 0; number < list_.jobs.size(); ++number) all.push_back(record_of(number));
    return all;
  }

  /// "3 of 12 runs done"
  std::string done_in_rung(int iterations) const {
    std::size_t done = 0, all = 0;
    for (const std::size_t number : part_) {
      const SweepJob& job = list_.jobs[number];
      if (!is_active(job.combination)) continue;
      ++all;
      done += record_of(number).done(iterations);
    }
    return text(done, " of ", all, " runs done", rungs_.size() > 1 ? text(" in rung ", reached_, " of ", rungs_.size()) : "");
  }

  /// Leaves the best. False if there are none, or not all that are needed to tell.
  bool promote(int iterations) {
    const std::size_t keep = std::max<std::size_t>(active_.size() / static_cast<std::size_t>(*command_.halving), 1);
    const auto all = records();
    std::vector<std::size_t> further;  // combinations
    std::size_t forgotten = 0;         // runs that are beyond the rung and whose figures there only job.json had
    for (std::size_t number = 0; number < all.size(); ++number) {
      const JobRecord& record = all[number];
      if (!is_active(list_.jobs[number].combination)) continue;
      const bool beyond = record.rungs.upper_bound(iterations) != record.rungs.end();
      if (beyond) further.push_back(list_.jobs[number].combination);
      if (record.done(iterations) || record.status == JobRecord::Status::failed) continue;
      if (!beyond || !command_.collect) return false;
      ++forgotten;
    }
    if (forgotten > 0) {
      std::cerr << "note: " << forgotten << (forgotten == 1 ? " run has" : " runs have") << " no evaluation at iteration "
                << iterations << " any more, which job.json had; the combinations that went further count as the best there\n";
      active_ = std::move(further);
      std::ranges::sort(active_);
      active_.erase(std::ranges::unique(active_).begin(), active_.end());
      return true;
    }
    active_ = ranking(command_, list_, all, active_, iterations);
    active_.resize(std::min(active_.size(), keep));
    return !active_.empty();
  }

  /// What each combination has come to; a rung that it was not let into is none of its.
  std::vector<SweepRow> rows() const {
    const auto all = records();
    std::vector<SweepRow> rows;
    for (std::size_t i = 0; i < list_.combinations.size(); ++i) rows.push_back(sweep_row(command_, list_, all, i, rungs_));
    return rows;
  }

  /// Not where another process has the folder's lock: runs are at work, which nobody would look after meanwhile, and the last table
  /// is written when all have ended.
  void renew_table() const {
    const SweepLock lock(list_.folder);
    if (!lock.is_taken()) write_sweep_table(list_, rows());
  }

  /// Whether a job's folder holds a run with other settings; one that cannot be read holds none.
  bool is_of_others(std::size_t number) const try {
    return !holds_another_run(list_.jobs[number], plan_.settings[number]).empty();
  } catch (const Error&) {
    return false;
  }

  /// Tells the failures among the jobs of this process.
  int failures() const {
    int failed = 0;
    bool strange = false;
    for (const std::size_t number : part_) {
      const JobRecord record = record_of(number);
      if (record.status != JobRecord::Status::failed) continue;
      ++failed;
      strange = strange || is_of_others(number);
      std::cerr << "failed   " << list_.jobs[number].folder.string() << ": " << record.message << "\n";
    }
    if (failed > 0)
      std::cerr << failed << " of " << part_.size() << " runs failed; started again, the sweep tries them again"
                << (strange ? ", once those with other settings are removed\n" : "\n");
    return failed;
  }

  int end_of_part() {
    tell_of_others();
    std::cout << "part " << command_.part->number << "/" << command_.part->of
              << " is done; when all parts are, make the table with --collect in place of --job\n";
    return failures() > 0 ? Exit::failure : Exit::success;
  }

  /// The runs for a page. Of those that have the same settings and seed, and so are the beginnings of one another, the longest.
  std::vector<std::filesystem::path> told_apart() const {
    std::map<std::string, std::size_t> places;  // in `runs`, by settings
    std::vector<std::filesystem::path> runs;
    std::vector<int> iterations;
    std::size_t left_out = 0;
    for (std::size_t number = 0; number < list_.jobs.size(); ++number) {
      const SweepJob& job = list_.jobs[number];
      const JobRecord record = record_of(number);
      if (record.rungs.empty()) continue;
      const int done = record.rungs.rbegin()->second.iterations;
      const auto config = sound_config(job.folder);
      if (!config) {
        const auto file = [&job](const char* name) { return "'" + (job.folder / name).string() + "'"; };
        std::cerr << one_line(text("note: the page leaves out ", job.name, ", because ", file("config.json"),
                                   " cannot be read; the sweep has it written anew once ", file("job.json"), " is removed"))
                  << "\n";
        continue;
      }
      Config settings = deciding_settings(*config);
      settings.map()->erase("files");  // runs of earlier programs have no record of them
      const auto [place, added] = places.emplace(to_json(settings), runs.size());
      if (added) {
        runs.push_back(job.folder);
        iterations.push_back(done);
        continue;
      }
      ++left_out;
      if (done <= iterations[place->second]) continue;
      runs[place->second] = job.folder;
      iterations[place->second] = done;
    }
    if (left_out > 0)
      std::cerr << "note: the page leaves out " << left_out << (left_out == 1 ? " run that is" : " runs that are")
                << " the beginning of another, or the same\n";
    return runs;
  }

  /// The runs are whole without it, and a page may want of a policy's Lua what only trust gives it.
  void write_page() const try {
    const auto runs = told_apart();
    if (runs.empty()) return;
    const auto page = run_file(list_.folder, "report.html");
    ReportOptions options;
    options.pictures = false;
    write_report(runs, page, options);
    std::cout << "page     " << page.string() << " (" << file_size_text(page) << ")\n";
  } catch (const Error& error) {
    std::cerr << "note: there is no page of all runs: " << one_line(error.what())
              << "; iap report makes one of runs that are named\n";
  }

  /// That figures of the table rest on episodes that failed, or "".
  std::string failed_note() const {
    FailedEpisodes all;
    std::size_t runs = 0, done = 0;
    for (std::size_t number = 0; number < list_.jobs.size(); ++number) {
      const JobRecord record = record_of(number);
      if (record.rungs.empty()) continue;
      const auto failed = failed_episodes(list_.jobs[number].folder, record.rungs.rbegin()->second.iterations);
      ++done;
      runs += failed.any();
      all += failed;
    }
    if (runs == 0) return "";
    return text("note: in ", runs, " of ", done, done == 1 ? " run" : " runs",
                " episodes failed and count as failed_return: ", all.places(), "; log.txt in a run's folder says why");
  }

  int end() {
    tell_of_others();
    const auto rows = this->rows();
    print_sweep_table(command_, list_, rows, failed_note());
    SweepLock lock(list_.folder);
    lock.wait();
    write_sweep_table(list_, this->rows());  // others may have gone on during the wait
    std::cout << "table    " << (list_.folder / "sweep.csv").string() << "\n";
    write_page();
    std::cout << std::flush;
    const int failed = failures();
    std::size_t open = 0;
    for (std::size_t number = 0; number < list_.jobs.size(); ++number)
      if (is_active(list_.jobs[number].combination)) {
        const auto record = record_of(number);
        open += !record.done(rungs_[reached_ - 1]) && record.status != JobRecord::Status::failed;
      }
    if (open > 0) std::cerr << open << " of " << list_.jobs.size() << " runs are not done\n";
    return failed > 0 || open > 0 ? Exit::failure : Exit::success;
  }

  const SweepCommand& command_;
  SweepList list_;
  std::vector<std::size_t> part_;
  std::vector<std::size_t> active_;  ///< combinations that train in this rung
  SweepPlan plan_;
  std::vector<int> rungs_;
  std::size_t reached_ = 1;  ///< rungs that were begun
  Unrecorded unrecorded_;
  FirstRank first_rank_{command_, list_.folder};
  std::string told_of_texts_, told_of_bits_;
};

}  // namespace

int sweep(const SweepCommand& command) {
  check_command(command);
  Sweep sweep(command, sweep_list(command));
  if (!command.dry_run) return sweep.run();
  if (command.rank == 0) sweep.show();
  return Exit::success;
}

}  // namespace iap::cli
