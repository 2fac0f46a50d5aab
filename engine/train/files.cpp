module;
#include <cmath>
#include <cstdint>
#include <deque>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.train;
import iap.core;
import iap.optim;
import iap.policy;
import :checkpoint;
import :metrics;
import :metrics_logs;
import :progress;
import :run_folder;
import :settings;
import :trainer;
import :types;
#include "core/there.hpp"

namespace iap {
namespace {

/// What is said of a table that has `rows` of the rows up to iteration `last`; "" where none is lost.
std::string lost_rows(bool there, std::uint32_t rows, std::int64_t last) {
  const std::int64_t all = last + 1;
  if (rows >= all) return "";
  return text(there ? text("had only ", rows, " of the ", all, " rows") : "all rows", " up to iteration ", last,
              there ? "; the others are lost: " : " are lost: ",
              "charts and reports do not show these iterations, while the run itself goes on as it would have");
}

/// What the table has of the evaluation of an iteration.
void read_evaluation(const std::filesystem::path& table, std::int64_t iteration, IterationReport& report) {
  report.eval_mean = report.eval_std = empty_cell;
  for (const auto& [name, value] : MetricsFile::row(table, iteration)) {
    if (name == "eval_mean") report.eval_mean = value;
    if (name == "eval_std") report.eval_std = value;
  }
}

/// Writes a policy beside those that the run keeps. @throws Error where another file has its place.
void write_beside(const std::filesystem::path& file, const PolicyFile& policy) {
  const std::string bytes = save_policy(policy.policy, policy.metadata);
  RunFolder::check_place(file);
  if (!is_there(file)) return write_file_atomic(file, bytes);
  if (!holds(file, bytes))
    throw Error(text("'", file.string(), "' is another policy than the run's and would be written over; move it away"));
}

}  // namespace

/// Whatever keeps the run from its folder is refused while all is still there. @throws Error.
void Trainer::check_files(const std::filesystem::path& folder, bool resumed) const {
  // Links that lead out of the folder, too.
  for (const char* written : {"best.iap", "checkpoint.iap", "config.json", "experiment.lua", "metrics.csv"})
    run_file(folder, written);
  for (const char* anew : {"checkpoint.previous.iap", "final.iap", "result.json"}) RunFolder::check_place(folder / anew);
  MetricsLogs::check(folder);
  if (resumed) MetricsFile::check(run_file(folder, "metrics.csv"), report_of({}).columns);
}

/// The settings on record of a run that has done more than `asked` asks for.
Config Trainer::config_of_more(Config asked) const {
  try {
    Config kept = read_run_config(folder_->path());
    kept["confirm_episodes"] = *asked.find("confirm_episodes");
    return kept;
  } catch (const Error&) {
    const auto done = static_cast<std::int64_t>(state_.iteration);
    asked["iterations"] = done;
    if (asked["given"].find("iterations")) asked["given"]["iterations"] = done;
    return asked;
  }
}

/// Writes beside its files what the run says of itself. Where nothing is left to do, what is right stays, and needs no room.
std::deque<PartFile> Trainer::prepare_files(bool resumed) {
  std::deque<PartFile> parts;
  const auto prepare = [&](const char* name, std::string_view content) {
    const auto file = folder_->file(name);
    if (!is_over(resumed) || !holds(file, content)) parts.emplace_back(file).append(content);
  };
  Config config = run_config(options_, identity_);
  // Asked for less than it has done, the run stays what it is.
  const bool has_more = std::cmp_greater(state_.iteration, options_.iterations);
  if (has_more) config = config_of_more(std::move(config));
  prepare("config.json", to_json(config, 2) + "\n");
  if (!options_.script.empty() && !(has_more && is_there(folder_->file("experiment.lua"))))
    prepare("experiment.lua", options_.script);
  if (resumed) {
    const bool end_is_best = end_eval_ && *end_eval_ > state_.best_eval;
    const PolicyFile best = end_is_best
                                ? policy_of(mean_, mean_moments_, state_.iteration, end_eval_)
                                : policy_of(state_.best_parameters, state_.best_moments, state_.best_iteration, state_.best_eval);
    prepare("best.iap", save_policy(best.policy, best.metadata));
  }
  return parts;
}

/// Puts `parts` in their places. What only its end leaves is removed where there is something left to do.
void Trainer::replace_files(bool resumed, std::deque<PartFile> parts) {
  if (!is_over(resumed))
    for (const char* end : {"result.json", "final.iap"}) folder_->remove(end);
  for (PartFile& part : parts) part.commit();
}

/// Takes up the evaluation of the run's end from what it left when it last came to it; false where that has to be played again.
bool Trainer::recall_end(IterationReport& report) {
  if (!ended_before_ || ended_before_->iterations != state_.iteration) return false;
  read_evaluation(folder_->file("metrics.csv"), state_.iteration, report);
  if (report.eval_mean != ended_before_->last_eval) return false;
  report.evaluated = true;
  end_eval_ = report.eval_mean;
  end_failed_ = ended_before_->best_iteration == state_.iteration ? ended_before_->best_failed : 0;
  return true;
}

/// Brings the files to where an uninterrupted run of as many iterations would have them.
void Trainer::continue_files() {
  IterationReport report = report_of({});
  const bool over = is_over(true);
  // Ranks that play nothing any more have nothing to tell in a table of a single process.
  if (over) std::erase_if(report.columns, [](const auto& column) { return column.first == "messages" || column.first == "bytes"; });
  Columns end;
  if (!scheduled()) {
    if (over && !recall_end(report)) evaluate_mean(report);
    end = evaluation_columns(report);
    if (IterationReport left_out; !over) {
      read_evaluation(folder_->file("metrics.csv"), state_.iteration, left_out);
      // The table may have lost it.
      if (!std::isfinite(left_out.eval_mean) && ended_before_ && ended_before_->iterations == state_.iteration)
        left_out.eval_mean = ended_before_->last_eval;
      if (const double best = left_out.eval_mean; best > state_.best_eval) {
        const auto kept = folder_->path() / text("best.", state_.iteration, ".iap");
        write_beside(kept, policy_of(mean_, mean_moments_, state_.iteration, best));
        warn(text("the best policy so far is kept as '", kept.string(), "' (evaluation ", short_number(best),
                  "): only the run's end evaluated iteration ", state_.iteration,
                  ", which the longer run does not count; its best.iap is of iteration ", state_.best_iteration, " (",
                  short_number(state_.best_eval), ")"));
      }
    }
  }
  // Before the table loses what only the end of a shorter run had: there may be no room to go on.
  std::deque<PartFile> parts = prepare_files(true);
  const auto table = folder_->file("metrics.csv");
  const bool there = is_there(table);
  metrics_ = MetricsFile::resume(table, report.columns, state_.iteration, end);
  if (const auto lost = lost_rows(there, metrics_->rows(), state_.iteration); !lost.empty())
    warn(text("'", table.string(), "' ", there ? "" : "was missing; ", lost));
  if (const std::uint32_t beyond = metrics_->beyond(); beyond > 0) {
    const std::string dropped =
        text("'", table.string(), "' has ", beyond, beyond == 1 ? " iteration" : " iterations", " beyond the checkpoint, which ",
             beyond == 1 ? "is " : "are ", over ? "taken out of it" : "played again");
    // No kill leaves more of them than there are between two checkpoints.
    if (std::cmp_greater(beyond, options_.checkpoint_every)) {
      warn(dropped);
    } else {
      log(dropped);
      progress_->note(dropped);
    }
  }
  logs_.emplace(folder_->path(), options_.log);
  seconds_before_ = metrics_->seconds();
  replace_files(true, std::move(parts));
}

/// A row that is appended to a file whose name leads elsewhere by now is lost without a word. So this goes on, where others had
/// their hands on the tables that have the rows up to iteration `last`, in what lies there now, and says so.
/// @throws Error where that is not the run's table.
void Trainer::look_after_tables(const Columns& columns, std::int64_t last) {
  const FileStanding standing = metrics_->standing();
  if (standing != FileStanding::kept) {
    const bool there = standing != FileStanding::gone;
    const char* done = standing == FileStanding::changed ? "changed" : there ? "replaced" : "removed";
    const std::string happened =
        text("'", (folder_->path() / "metrics.csv").string(), "' was ", done, " while the run was at work");
    try {
      metrics_ = MetricsFile::resume(folder_->file("metrics.csv"), columns, last, {});
    } catch (const Error& error) {
      throw Error(text(happened, ", and the run cannot go on in it: ", error.what(),
                       "; once that is put right, --resume (resume = true) goes on from the last checkpoint"));
    }
    const auto lost = lost_rows(there, metrics_->rows(), last);
    const std::string_view now = there ? "the run goes on in it" : "a new one is begun";
    warn(text(happened, "; ", lost.empty() ? now : there ? "it " : "", lost));
  }
  const auto disturbed = logs_->disturbed();
  if (!disturbed.empty() || standing != FileStanding::kept) logs_ = MetricsLogs(folder_->path(), logs_->names());
  for (const auto& name : disturbed)
    warn(text("'", (folder_->path() / name).string(),
              "' was changed, replaced or removed while the run was at work; it is made anew from metrics.csv"));
}

/// The same for what happened since the last row. The run has come to its end all the same.
void Trainer::look_after_tables_at_end() {
  if (!folder_ || !metrics_ || !logs_) return;
  try {
    look_after_tables(report_of({}).columns, state_.iteration);
  } catch (const std::exception& error) {
    warn(error.what());
  }
}

void Trainer::save_checkpoint() {
  if (complete_.empty()) return;
  metrics_->sync();
  logs_->sync();
  write_checkpoint(folder_->path(), complete_);
  complete_.clear();
}

}  // namespace iap
