module;
#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.contract;
import iap.core;
import iap.env;
#include "contract/play.hpp"

namespace iap {
namespace {

using namespace contract;

const std::array rules{
    Rule{"spec", "sizes, ranges, control rate, time limit and names are sound", "correct the spec", check_spec},
    Rule{"runs", "episodes begin, go on and are looked at without an error", "mend the error", check_runs},
    Rule{"observation", "what is observed has the sizes and types of the spec and is finite",
         "make spec and observation agree; divide by nothing that may be 0", check_observations},
    Rule{"reward", "rewards are finite", "divide by nothing that may be 0, and bound what may grow", check_rewards},
    Rule{"stability", "random actions leave the simulation stable",
         "take a smaller timestep, look for negative damping and stiffness, begin inside the joints' ranges, or weaken the "
         "actuators; where MuJoCo has no room for all contacts or constraints, which is said when it happens, give it more by "
         "<size nconmax=\"...\" njmax=\"...\"/>",
         check_stability},
    Rule{"reset", "the same seed begins the same episode",
         "let the reset draw from its seed alone, and set there whatever the first observation shows", check_reset},
    Rule{"steps", "the same seed and actions give the same steps",
         "set in the reset whatever a step reads or counts; no clock, and no random numbers but those of the seed", check_steps},
    Rule{"fresh", "an episode after others is as in a fresh environment", "set in the reset whatever an earlier episode changed",
         check_fresh, true},
    Rule{"seeds", "other seeds give other episodes",
         "let the reset draw something from the seed; a policy that saw one beginning knows no other", check_seeds, true},
    Rule{"looking", "observe() changes nothing", "compute in the step whatever counts or moves; observe only reads", check_looking,
         true},
    Rule{"instances", "two environments side by side do not disturb each other",
         "keep everything that changes in the environment itself, not in what all of them share", check_instances, true},
    Rule{"threads", "several threads play what one plays",
         "keep everything that changes in the environment itself, not in what all of them or a thread share", check_threads, true},
    Rule{"refusal", "actions of a wrong size, NaN and infinity are refused",
         "begin the step with clip_action(spec(), action, clipped)", check_refusal},
    Rule{"clipping", "actions beyond the range count as its end", "begin the step with clip_action(spec(), action, clipped)",
         check_clipping, true},
    Rule{"time limit", "an episode is over after spec().max_steps steps",
         "count the steps from the reset on, and truncate at the limit", check_time_limit},
    Rule{"end", "after the end a step is an error and a reset begins anew",
         "remember that the episode is over, and throw in the step until the reset; set there whatever an episode changed, its end "
         "too",
         check_end},
    Rule{"unstable", "an unstable simulation ends its episode and pays nothing",
         "return reward 0 and terminated = true where unstable is", check_unstable},
};

/// What keeps `rule` from being checked, "" if nothing does.
std::string obstacle(const Rule& rule, const std::vector<RuleResult>& before) {
  for (const RuleResult& result : before) {
    if (result.outcome != RuleOutcome::failed) continue;
    if (result.name == "spec" || (rule.needs_repeatable && (result.name == "reset" || result.name == "steps")))
      return text("'", result.name, "' comes first");
  }
  return "";
}

RuleResult apply(const Rule& rule, Check& check) {
  RuleResult result{.name = rule.name, .promise = rule.promise};
  const auto fail = [&result](const char* finding, const std::string& remedy) {
    result.outcome = RuleOutcome::failed;
    result.finding = finding;
    result.remedy = remedy;
  };
  const std::string mend_first = "mend this error first: it ended the check of this rule";
  try {
    Verdict verdict = rule.run(check);
    result.outcome = verdict.outcome;
    result.finding = std::move(verdict.finding);
    if (result.outcome == RuleOutcome::warning) result.remedy = rule.remedy;
  } catch (const Interrupted&) {
    throw;
  } catch (const Breach& breach) {
    fail(breach.what(), rule.remedy);
  } catch (const std::exception& error) {
    fail(error.what(), mend_first);
  } catch (...) {
    fail("something was thrown that is no std::exception", mend_first);
  }
  // Images and values have the names that a file gave them, and errors its words: a line of them could pass for a rule that is
  // kept.
  result.finding = one_line(result.finding);
  return result;
}

std::unique_ptr<Env> first_env(const std::function<std::unique_ptr<Env>()>& make) {
  auto env = make();
  if (!env) throw Error("check_contract: the factory returned no environment");
  return env;
}

}  // namespace

bool ContractReport::kept() const {
  return std::ranges::none_of(rules, [](const RuleResult& rule) { return rule.outcome == RuleOutcome::failed; });
}

ContractReport check_contract(const std::function<std::unique_ptr<Env>()>& make, const ContractOptions& options) {
  if (options.episodes < 1 || options.steps < 1 || options.most_steps < 1)
    throw Error(text("check_contract: episodes, steps and most_steps must be at least 1, got ", options.episodes, ", ",
                     options.steps, " and ", options.most_steps));
  Check check{make, options, first_env(make)->spec()};
  ContractReport report{.environment = describe(check.spec), .options = options};
  report.shows_pictures = !check.spec.observation.images.empty();
  for (const Rule& rule : rules) {
    const std::string first = obstacle(rule, report.rules);
    report.rules.push_back(first.empty() ? apply(rule, check)
                                         : RuleResult{rule.name, rule.promise, RuleOutcome::skipped, first, ""});
    const RuleResult& result = report.rules.back();
    if (result.outcome == RuleOutcome::failed && (result.name == "reset" || result.name == "steps" || result.name == "fresh"))
      check.begins_anew = false;
  }
  if (options.measure_seconds > 0 && report.rules.front().outcome != RuleOutcome::failed) {
    report.steps_per_second = measure(check, false);
    report.looks_per_second = measure(check, true);
  }
  return report;
}

}  // namespace iap
