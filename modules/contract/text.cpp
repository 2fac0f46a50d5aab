module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>
module iap.contract;
import iap.core;

namespace iap {
namespace {

constexpr int first_column = 9, second_column = 13;

/// "12,300": three digits say enough of what a clock measured.
std::string rate(double per_second) {
  if (per_second < 1000) return general_text(per_second, 3);
  const std::string digits = fixed_text(per_second, 0);
  std::string shown;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) shown += ',';
    shown += i < 3 ? digits[i] : '0';
  }
  return shown;
}

std::string note(std::string_view line) { return text("\n", left_text("", first_column + second_column), line); }

/// The error that a rule met, unless an earlier rule told it.
std::string finding(const ContractReport& report, const RuleResult& rule) {
  for (const RuleResult& earlier : report.rules) {
    if (&earlier == &rule) break;
    if (rule.outcome == RuleOutcome::failed && earlier.outcome == RuleOutcome::failed && earlier.finding == rule.finding)
      return text("the same error as under '", earlier.name, "'");
  }
  return rule.finding;
}

std::string lines_of(const ContractReport& report, const RuleResult& rule) {
  static constexpr std::string_view heads[]{"passed", "warning", "FAILED", "skipped"};
  std::string lines =
      left_text(heads[static_cast<std::size_t>(rule.outcome)], first_column) + left_text(rule.name, second_column) + rule.promise;
  const std::string found = finding(report, rule);
  if (rule.outcome == RuleOutcome::passed || rule.outcome == RuleOutcome::skipped)
    return found.empty() ? lines : text(lines, " (", found, ")");
  lines += note(found);
  return found == rule.finding ? lines + note("remedy: " + rule.remedy) : lines;
}

/// "kept: 17 of 17 rules, 1 warning", "broken: 2 of 17 rules (reward, steps)"
std::string summary(const ContractReport& report) {
  std::string broken;
  std::size_t count = 0, skipped = 0, warned = 0;
  for (const RuleResult& rule : report.rules) {
    skipped += rule.outcome == RuleOutcome::skipped ? 1 : 0;
    warned += rule.outcome == RuleOutcome::warning ? 1 : 0;
    if (rule.outcome != RuleOutcome::failed) continue;
    broken += text(count++ == 0 ? "" : ", ", rule.name);
  }
  const std::string more = text(warned > 0 ? text(", ", warned, warned == 1 ? " warning" : " warnings") : "",
                                skipped > 0 ? text("; not checked: ", skipped) : "");
  if (count > 0) return text("broken: ", count, " of ", report.rules.size(), " rules (", broken, ")", more);
  return text("kept: ", report.rules.size() - skipped, " of ", report.rules.size(), " rules", more);
}

}  // namespace

std::string_view outcome_name(RuleOutcome outcome) {
  static constexpr std::string_view names[]{"passed", "warning", "failed", "skipped"};
  return names[static_cast<std::size_t>(outcome)];
}

std::string to_text(const ContractReport& report) {
  const ContractOptions& options = report.options;
  std::string lines = text(report.environment, "\n", options.episodes, options.episodes == 1 ? " episode" : " episodes",
                           " from seed ", options.seed, " on, up to ", options.steps, " steps each, random actions\n\n");
  for (const RuleResult& rule : report.rules) lines += lines_of(report, rule) + "\n";
  if (report.steps_per_second > 0)
    lines += text("\nspeed    ", rate(report.steps_per_second), " steps a second without ",
                  report.shows_pictures ? "pictures, " : "observations, ", rate(report.looks_per_second), " with, on one thread");
  return text(lines, "\n", summary(report), "\n");
}

std::string breaches(const ContractReport& report) {
  std::string lines;
  for (const RuleResult& rule : report.rules)
    if (rule.outcome == RuleOutcome::failed) lines += text(rule.name, ": ", rule.finding, "\n");
  return lines;
}

}  // namespace iap
