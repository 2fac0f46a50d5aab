module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.report;
import iap.core;
import iap.policy;
import iap.train;
import :axis;
import :html;
import :run_data;
import :sections;
#include "../charts/letters.hpp"
#include "colour_class.hpp"

namespace iap {
namespace {

/// How many of the runs have the value.
std::size_t having(const RunGroup& group, double Run::* value) {
  return static_cast<std::size_t>(std::ranges::count_if(group.runs, [&](const Run& run) { return !std::isnan(run.*value); }));
}

/// Of the runs that have the value; NaN where none has.
double mean_of(const RunGroup& group, double Run::* value) {
  double sum = 0;
  for (const Run& run : group.runs)
    if (!std::isnan(run.*value)) sum += run.*value;
  return sum / static_cast<double>(having(group, value));
}

/// "seeds", or "2 of 3 seeds" where only some have the value.
std::string seeds_having(const RunGroup& group, double Run::* value) {
  const std::size_t have = having(group, value), all = group.runs.size();
  return have > 0 && have < all ? text(have, " of ", all, " seeds") : "seeds";
}

/// "60.4", or "60.4 (52.1 to 66)" of several runs.
std::string spread(const RunGroup& group, double Run::* value) {
  if (group.runs.size() == 1) return figure(group.runs.front().*value);
  Range range;
  for (const Run& run : group.runs) range.include(run.*value);
  if (range.empty()) return "–";
  const bool all = having(group, value) == group.runs.size();
  return text(figure(mean_of(group, value)), " <small>(", figure(range.low), " to ", figure(range.high),
              all ? "" : "; " + seeds_having(group, value), ")</small>");
}

/// What a run has done.
double iterations_of(const Run& run) { return static_cast<double>(run.iterations); }
double steps_of(const Run& run) { return run.steps; }

/// "56", or "49 to 56" of runs that have done differently many.
std::string least_to_most(const RunGroup& group, double (*count)(const Run&)) {
  Range range;
  for (const Run& run : group.runs) range.include(count(run));
  if (range.empty()) return "–";
  return range.low < range.high ? text(figure(range.low), " to ", figure(range.high)) : figure(range.low);
}

double fresh_episodes_of(const Run& run) { return run.summary->confirmed->episodes; }

/// "10 episodes", or "10 to 90 episodes" of runs that were asked for differently many, with another `noun` for them; of a group all
/// of which is confirmed.
std::string fresh_episodes(const RunGroup& group, std::string_view noun) {
  const std::string count = least_to_most(group, fresh_episodes_of);
  return text(count, " ", noun, count == "1" ? "" : "s");
}

bool same_iterations(const RunGroup& group) {
  return std::ranges::all_of(group.runs, [&](const Run& run) { return run.iterations == group.runs.front().iterations; });
}

bool all_confirmed(const RunGroup& group) {
  return std::ranges::all_of(group.runs, [](const Run& run) { return run.summary && run.summary->confirmed; });
}

/// Of the best policies on fresh episodes.
double confirmed_mean(const RunGroup& group) {
  double sum = 0;
  for (const Run& run : group.runs) sum += run.summary->confirmed->mean;
  return sum / static_cast<double>(group.runs.size());
}

/// Of several episodes those that failed.
struct Failures {
  double failed = 0, episodes = 0;
};

/// In the best evaluations of the runs that have ended; what was counted of one that goes on is in no file for others.
Failures best_failures(const RunGroup& group) {
  Failures all;
  for (const Run& run : group.runs) {
    const Config* episodes = run.config.find("eval_episodes");
    all.episodes += episodes ? episodes->number().value_or(0) : 0;
    all.failed += run.summary ? run.summary->best_failed : 0;
  }
  return all;
}

/// On the fresh episodes of a group all of which is confirmed.
Failures confirmed_failures(const RunGroup& group) {
  Failures all;
  for (const Run& run : group.runs) {
    all.episodes += run.summary->confirmed->episodes;
    all.failed += run.summary->confirmed->failed;
  }
  return all;
}

/// ", 3 of 16 episodes failed", or "" where none did.
std::string failed_text(const Failures& all) {
  return all.failed > 0 ? text(", ", figure(all.failed), " of ", counted(all.episodes, "episode"), " failed") : "";
}

/// The same behind a figure of a table, in small letters.
std::string failed_note(const Failures& all) {
  const std::string words = failed_text(all);
  return words.empty() ? "" : text(" <small>(", words.substr(2), ")</small>");
}

/// Whether all confirmations are of as many episodes; those of a sweep's short runs have fewer.
bool confirmed_alike(const std::vector<RunGroup>& groups) {
  std::set<int> lengths;
  for (const RunGroup& group : groups)
    for (const Run& run : group.runs)
      if (run.summary && run.summary->confirmed) lengths.insert(run.summary->confirmed->episodes);
  return lengths.size() < 2;
}

/// Of a group all of which is confirmed, with the number of episodes where groups are not `alike`.
std::string confirmed_cell(const RunGroup& group, bool alike) {
  const std::string episodes = alike ? "" : text(" <small>(", fresh_episodes(group, "episode"), ")</small>");
  return figure(confirmed_mean(group)) + episodes + failed_note(confirmed_failures(group));
}

std::string seeds_of(const RunGroup& group) {
  std::string seeds;
  for (const Run& run : group.runs) seeds += text(seeds.empty() ? "" : ", ", run.seed);
  return seeds;
}

/// A number that is broken reads as another: the style sheet makes its letters as small as the longest word needs.
std::string tile(const std::string& value, std::string_view name, std::string_view kind = "") {
  std::size_t longest = 0;
  for (std::size_t begin = 0, end = 0; end < value.size(); begin = end + 1) {
    end = std::min(value.find(' ', begin), value.size());
    longest = std::max(longest, letters(std::string_view(value).substr(begin, end - begin)));
  }
  return text("<div class=\"tile", kind.empty() ? "" : " ", kind, "\" style=\"--letters:", longest, "\"><b>", value, "</b><span>",
              name, "</span></div>\n");
}

std::string legend_entry(std::string_view label, int colour, bool thin) {
  return text("<span><i class=\"", colour_class(colour), thin ? " thin" : "", "\"></i>", escaped(label), "</span>");
}

/// Those of all runs, if they have come to the same ones.
std::vector<double> common_stage_starts(const std::vector<RunGroup>& groups) {
  const auto first = stage_starts(groups.front().runs.front().metrics);
  for (const RunGroup& group : groups)
    for (const Run& run : group.runs)
      if (stage_starts(run.metrics) != first) return {};
  return first;
}

/// One drawing for screens and one for phones, where the first would shrink to nothing. Returns without a place on an axis, as
/// infinite ones, keep nobody from the rest of the page.
std::string chart_figure(const std::vector<Curve>& curves, const std::string& legend, const std::string& description,
                         const std::string& y_label, const std::string& words, const std::vector<double>& stages) try {
  Frame frame{.x_label = "iteration", .y_label = y_label, .description = description, .marks = stages};
  const std::string caption = with_stages(words, stages);
  std::string html = text("<figure><div class=\"legend\">", legend, "</div>\n<div class=\"wide\">", svg_curves(curves, frame));
  frame.width = 340;
  frame.height = 260;
  html += text("</div><div class=\"narrow\">", svg_curves(curves, frame), "</div>");
  if (!caption.empty()) html += text("<figcaption>", caption, "</figcaption>");
  return html + "</figure>\n";
} catch (const Error& error) {
  return text("<p>There is no curve: ", escaped(error.what()), "</p>\n");
}

/// A single run: what the mean policy reached, with the deviation between its episodes, and how the population did, in the colours
/// of `write_learning_curve`.
std::string single_run_figure(const Run& run) {
  Curve population{.label = "population mean", .colour = 0, .x = run.metrics.column("iteration"), .thin = true};
  population.y = run.metrics.column("return_mean");
  Curve evaluation{.label = "mean policy, evaluation", .colour = 1, .dots = true};
  const auto means = run.metrics.column("eval_mean"), deviations = run.metrics.column("eval_std");
  bool spread = false;
  for (std::size_t i = 0; i < means.size(); ++i) {
    if (!std::isfinite(means[i])) continue;
    spread = spread || std::isfinite(deviations[i]);
    const double deviation = std::isfinite(deviations[i]) ? deviations[i] : 0;
    evaluation.x.push_back(population.x[i]);
    evaluation.y.push_back(means[i]);
    evaluation.low.push_back(means[i] - deviation);
    evaluation.high.push_back(means[i] + deviation);
  }
  evaluation.dots = evaluation.x.size() <= most_dots;
  const std::string legend =
      legend_entry(evaluation.label, evaluation.colour, false) + legend_entry(population.label, population.colour, true);
  return chart_figure({population, evaluation}, legend, "Learning curve of seed " + std::to_string(run.seed), "return",
                      spread ? "Band: one standard deviation between the evaluation's episodes." : "", stage_starts(run.metrics));
}

std::string groups_figure(const std::vector<RunGroup>& groups, const std::string& column, const std::string& description,
                          bool band_note) {
  std::vector<Curve> curves;
  std::string legend;
  bool bands = false;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const int place = static_cast<int>(i);
    for (Curve& curve : learning_curves(groups[i], column, place)) curves.push_back(std::move(curve));
    legend += legend_entry(groups[i].label, place, false);
    bands = bands || groups[i].runs.size() > 1;
  }
  std::string words = bands && band_note ? "Thick: mean over seeds. Band: lowest to highest seed. Thin: each seed." : "";
  if (groups.size() > looks)
    words += text(words.empty() ? "" : " ", "Of more than ", looks, " kinds, some look alike; pointed at, a line says its name.");
  return chart_figure(curves, legend, description, "return", words, common_stage_starts(groups));
}

std::set<std::string> paths_of(const std::vector<Settings>& all) {
  std::set<std::string> paths;
  for (const auto& settings : all)
    for (const auto& [path, value] : settings) paths.insert(path);
  return paths;
}

/// Text of several lines, as that of an environment in Lua, keeps them, and is opened by whoever wants to read it.
std::string setting_value(const std::string& shown) {
  const std::size_t end = shown.find('\n');
  if (end == std::string::npos || end + 1 == shown.size()) return escaped(shown);
  return text("<details><summary>several lines</summary><pre>", escaped(shown), "</pre></details>");
}

std::string setting_row(const std::string& path, const std::vector<Settings>& all, bool differs) {
  std::string row = text("<tr", differs ? " class=\"differs\"" : "", "><td class=\"name\"><code>", escaped(path), "</code></td>");
  for (const auto& settings : all) {
    const auto found = settings.find(path);
    row += text("<td>", found == settings.end() ? "–" : setting_value(found->second.shown), "</td>");
    if (!differs) break;
  }
  return row + "</tr>\n";
}

}  // namespace

std::string section(std::string_view heading, std::string_view note, std::string_view body) {
  return text("<section>\n<h2>", escaped(heading), "</h2>\n", note.empty() ? "" : text("<p class=\"note\">", note, "</p>\n"), body,
              "</section>\n");
}

std::string tiles_section(const RunGroup& group) {
  const Run& best = group.runs[group.best];
  const bool several = group.runs.size() > 1;
  std::string html = "<div class=\"tiles\">\n";
  const Failures chosen = best_failures(group), confirmed = all_confirmed(group) ? confirmed_failures(group) : Failures{};
  html += tile(figure(several ? mean_of(group, &Run::best_eval) : best.best_eval),
               text("best evaluation", several ? ", mean of " + seeds_having(group, &Run::best_eval) : "", failed_text(chosen)),
               "main");
  if (all_confirmed(group))
    html += tile(figure(confirmed_mean(group)), text(several ? "the same policies on " : "the same policy on ",
                                                     fresh_episodes(group, "fresh episode"), failed_text(confirmed)));
  html += tile(figure(mean_of(group, &Run::first_eval)), "untrained");
  html += tile(figure(static_cast<double>(best.policy->policy.size())), "parameters");
  html += tile(least_to_most(group, iterations_of), "iterations");
  html += tile(least_to_most(group, steps_of), several ? "training steps each" : "training steps");
  html += tile(duration(mean_of(group, &Run::seconds)), several ? "training time each" : "training time");
  html +=
      "</div>\n<p class=\"note\">The best evaluation is the highest of several, each over few episodes: it promises more than the "
      "policy keeps.";
  if (!several && all_confirmed(group)) {
    const Confirmation& fresh = *best.summary->confirmed;
    if (std::isfinite(fresh.high))
      html += text(" On ", counted(fresh.episodes, "episode"), " that no choice depended on, it earned ", figure(fresh.mean),
                   " (95% interval ", figure(fresh.low), " to ", figure(fresh.high), ").");
  }
  if (const auto value = failed_return(best); value && chosen.failed + confirmed.failed > 0)
    html += text(" Episodes that failed count as ", figure(*value), " in these figures: log.txt says why.");
  return html + "</p>\n";
}

std::string comparison_section(const std::vector<RunGroup>& groups) {
  const bool alike = confirmed_alike(groups);
  std::string table =
      "<div class=\"scroll\"><table class=\"comparison\">\n<tr><th>run</th><th>seeds</th><th class=\"number\">best evaluation</th>"
      "<th class=\"number\">on fresh episodes</th><th class=\"number\">last evaluation</th><th class=\"number\">parameters</th><th "
      "class=\"number\">iterations</th>"
      "<th class=\"number\">time</th></tr>\n";
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Run& best = groups[i].runs[groups[i].best];
    table += text("<tr><td class=\"name\"><i class=\"swatch ", colour_class(static_cast<int>(i)), "\"></i>",
                  escaped(groups[i].label), "</td><td class=\"name\">", seeds_of(groups[i]), "</td><td class=\"number\">",
                  spread(groups[i], &Run::best_eval), failed_note(best_failures(groups[i])), "</td><td class=\"number\">",
                  all_confirmed(groups[i]) ? confirmed_cell(groups[i], alike) : "–", "</td><td class=\"number\">",
                  spread(groups[i], &Run::last_eval), "</td><td class=\"number\">",
                  figure(static_cast<double>(best.policy->policy.size())), "</td><td class=\"number\">",
                  least_to_most(groups[i], iterations_of), "</td><td class=\"number\">",
                  duration(mean_of(groups[i], &Run::seconds)), "</td></tr>\n");
  }
  std::string note = "Evaluations of the mean policy; of several seeds, their mean and (lowest to highest).";
  if (!std::ranges::all_of(groups, same_iterations))
    note += " Where seeds have done differently many iterations, the last evaluation is each seed's own.";
  return section("Comparison", note, table + "</table></div>\n");
}

std::string curves_section(const std::vector<RunGroup>& groups) {
  if (groups.size() == 1 && groups.front().runs.size() == 1)
    return section("Learning curve", "", single_run_figure(groups.front().runs.front()));
  return section("Learning curves", "",
                 "<h3>Evaluation of the mean policy</h3>\n" +
                     groups_figure(groups, "eval_mean", "Evaluations over iterations", true) + "<h3>Mean of the population</h3>\n" +
                     groups_figure(groups, "return_mean", "Population means over iterations", false));
}

std::string settings_section(const std::vector<RunGroup>& groups) {
  std::vector<Settings> all;
  for (const RunGroup& group : groups) all.push_back(flat_settings(group.runs.front().config));
  tell_values_apart(all);
  const auto differences = differing_settings(all);
  std::string different, same;
  for (const auto& path : paths_of(all)) {
    const bool differs = differences.contains(path);
    (differs ? different : same) += setting_row(path, all, differs);
  }
  std::string body;
  if (!different.empty()) {
    body += "<div class=\"scroll\"><table class=\"settings\">\n<tr><th>what differs</th>";
    for (std::size_t i = 0; i < groups.size(); ++i)
      body += text("<th><i class=\"swatch ", colour_class(static_cast<int>(i)), "\"></i>", escaped(groups[i].label), "</th>");
    body += "</tr>\n" + different + "</table></div>\n";
  }
  body += text("<details", groups.size() == 1 ? " open" : "", "><summary>", groups.size() == 1 ? "All settings" : "What all share",
               "</summary><div class=\"scroll\"><table class=\"settings\">\n", same, "</table></div></details>\n");
  for (const RunGroup& group : groups) {
    const Run& run = group.runs[group.best];
    if (!run.script.empty())
      body += text("<details><summary>experiment.lua of ", escaped(run.name), "</summary><pre>", escaped(run.script),
                   "</pre></details>\n");
  }
  return section("Settings", "", body);
}

}  // namespace iap
