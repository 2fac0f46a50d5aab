module;
#include <cmath>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
module iap.train;
import iap.core;
import iap.env;
import iap.optim;
import iap.policy;
import iap.rollout;
import :checkpoint;
import :metrics;
import :metrics_logs;
import :progress;
import :run_folder;
import :run_state;
import :settings;
import :trainer;
import :types;
#include "policy/image_changes.hpp"

namespace iap {

/// Goes to the iteration of the checkpoint in `folder`, and changes nothing there. Returns why the previous one had to be taken, or
/// ""; nothing if there is none to go on from.
std::optional<std::string> Trainer::take_up(const std::filesystem::path& folder) {
  auto found = find_checkpoint(folder);
  if (!found) return {};
  const std::string source = (folder / "checkpoint.iap").string();
  const Config before = complete_identity(found->checkpoint.identity, options_, worlds_, identity_, source);
  if (const auto difference = first_difference(comparable(before), comparable(identity_)); !difference.empty())
    throw Error(text(
        "cannot resume '", folder.string(), "' with other settings (", difference,
        "); only iterations, threads, confirm_episodes, checkpoint_every, log, what is printed and how episodes are kept apart "
        "(isolate, episode_timeout, worker_memory, retries) may change. Give it the settings and files of before, choose another "
        "folder with --out (out = FOLDER), or remove '",
        folder.string(), "' to begin anew"));
  state_ = std::move(found->checkpoint);
  state_.identity = identity_;
  go_to_stage_of(state_.iteration);
  Reader reader(state_.optimizer, source);
  optimizer_->load(reader);
  if (!reader.at_end() || state_.best_parameters.size() != evaluation().policy.size() ||
      optimizer_->iteration() != state_.iteration || state_.moments.size() != evaluation().policy.moments().size() ||
      state_.best_moments.size() != state_.moments.size())
    throw Error(text(source, ": does not fit this program's policy and optimizer; it was written by another version"));
  return std::move(found->warning);
}

/// Says what a resumed run cannot promise where something else computes than before, or where the script's own options are others.
void Trainer::check_basis() {
  try {
    const Config before = read_run_config(folder_->path());
    for (const auto& sentence : computed_differently(before)) warn(sentence);
    std::string changed;
    for (const auto& option : changed_options(before, recorded_options(options_.script_options)))
      changed += (changed.empty() ? "" : "; ") + option;
    if (!changed.empty())
      warn(text("the run was made with other options of the script so far (", changed,
                "); another folder with --out has a run of these alone"));
  } catch (const Error& error) {
    warn(text("writing config.json anew, because ", error.what()));
  }
}

/// Looks up how a resumed run ended before.
void Trainer::look_back() {
  try {
    ended_before_ = read_summary(folder_->path());
  } catch (const Error& error) {
    warn(text("making result.json anew, because ", error.what()));
  }
}

/// Asks on_iteration about the last completed row once more: whether it had ended the run there, had failed or had not come to it,
/// is in no checkpoint. Of the run's last iteration a result.json says that it was asked.
bool Trainer::had_enough() const {
  if (!options_.on_iteration || state_.iteration == 0 || (finished() && ended_before_)) return false;
  IterationReport report{.iteration = state_.iteration,
                         .eval_std = empty_cell,
                         .columns = MetricsFile::row(folder_->file("metrics.csv"), state_.iteration)};
  if (report.columns.empty()) return false;
  for (auto& [name, value] : report.columns) {
    if ((name == "eval_mean" || name == "eval_std") && !scheduled()) value = empty_cell;
    if (!std::isfinite(value)) continue;
    for (const auto& [known, entry] :
         {std::pair("return_mean", &report.return_mean), std::pair("return_best", &report.return_best),
          std::pair("seconds", &report.seconds), std::pair("eval_mean", &report.eval_mean), std::pair("eval_std", &report.eval_std),
          std::pair("steps_per_second", &report.steps_per_second)})
      if (name == known) *entry = value;
    report.evaluated |= name == "eval_mean";
  }
  return !options_.on_iteration(report) && !finished();
}

/// Brings the run to its first or next iteration.
/// Looks whether anything of an episode outlives it in the policy's blocks. Not where episodes are kept apart from this process:
/// what may hang or take its process along has no trial here either. @throws Error saying what.
void Trainer::check_episodes() const {
  if (options_.safeguards.isolated()) return;
  if (const auto kept = kept_across_episodes(stage().world.policy); !kept.empty()) throw Error(text("policy: ", kept));
}

void Trainer::begin() {
  const auto trouble = folder_ && options_.resume ? take_up(folder_->path()) : std::optional<std::string>();
  const bool resumed = trouble.has_value();
  if (!resumed) check_episodes();
  if (folder_) {
    check_files(folder_->path(), resumed);
    if (resumed) {
      if (!trouble->empty()) {
        warn("continuing from the previous checkpoint, because " + *trouble);
        restore_newest(folder_->path(), state_);
      }
      keep_mean();
      look_back();
      check_basis();
      had_enough_ = had_enough();
    }
    log(text(resumed ? "resumes" : "begins", " at iteration ", optimizer_->iteration(), " of ", options_.iterations, ": ",
             stage().world.spec.name, ", ", stage().world.policy.size(), " parameters, population ", optimizer_->population(), ", ",
             pool_->threads(), " threads, ", chosen_instructions()));
    if (initial_ && !resumed) log(initial_line());
  }
  tell_begin(resumed);
  progress_->start(optimizer_->iteration(), options_.iterations);
  if (resumed) return continue_files();
  IterationReport report = report_of({});
  if (folder_) {
    replace_files(false, prepare_files(false));
    metrics_.emplace(folder_->file("metrics.csv"), report.columns);
    logs_.emplace(folder_->path(), options_.log);
  }
  evaluate_mean(report);
  state_.first_eval = report.eval_mean;
  complete(report);
  if (folder_) check_confined();
}

/// What the run begins at, at which size that was, and where that policy is another one than ours although its parameters fit.
std::string Trainer::initial_line() const {
  const std::string sizes = image_changes(initial_->file.policy.observation(), stage().world.policy.observation());
  const std::string difference = first_difference(initial_->file.policy.architecture(), stage().world.policy.architecture());
  return text("begins at the parameters of ", initial_->place, " (content ", initial_->content, ")",
              sizes.empty() ? "" : ", brought " + sizes, difference.empty() ? "" : text("; its blocks differ: ", difference));
}

/// Whether the end of the run has nothing to play any more.
bool Trainer::is_confirmed() const {
  const int episodes = confirm_episodes(options_);
  return episodes == 0 || (ended_before_ && ended_before_->confirmed && ended_before_->confirmed->episodes == episodes);
}

void Trainer::tell_begin(bool resumed) {
  if (!folder_) return;
  const std::uint32_t done = optimizer_->iteration();
  const auto wanted = static_cast<std::uint32_t>(options_.iterations);
  std::string line = text("begins, ", wanted, " iterations");
  const std::string rest = is_confirmed() ? "nothing was left to do" : "what is left is to confirm its best policy";
  if (had_enough_)
    line = text("ended at iteration ", done, " of ", wanted, " (on_iteration); ", rest);
  else if (resumed && !finished())
    line = text("continues after iteration ", done, " of ", wanted);
  else if (resumed && done > wanted)
    line = text("has done ", done, " iterations, more than the ", wanted, " asked for; ", rest);
  else if (resumed && !optimizer_->stop_reason().empty())
    line = text("ended at iteration ", done, " of ", wanted, " (", optimizer_->stop_reason(), "); ", rest);
  else if (resumed)
    line = text("is complete with ", done, " iterations; ", rest);
  progress_->note(place() + line);
}

}  // namespace iap
