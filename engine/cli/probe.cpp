#include <filesystem>
#include <initializer_list>
#include <iostream>
#include <string>
#include <string_view>

#include "cli/commands.hpp"
#include "cli/interrupts.hpp"
#include "cli/policy_env.hpp"
#include "cli/values.hpp"
import iap.core;
import iap.policy;
import iap.report;
import iap.train;

namespace iap::cli {

int probe(const ProbeCommand& command) {
  catch_interrupts(nullptr);
  catch_termination();
  check_outputs({{"--csv", command.csv}, {"--png", command.png}}, {command.source.policy});
  if (command.csv) check_data_name(*command.csv, "a table");
  if (command.png) check_picture_name(*command.png, "a chart");
  OpenedPolicy opened = open_source(command.source);
  const std::string fitted = fit_policy(opened, command.fit);
  const ProbeResult result = iap::probe(opened.policy, opened.env, command.options);
  if (command.csv) write_file_atomic(*command.csv, probe_csv(result));
  if (command.png)
    write_probe_chart(*command.png, result,
                      text("What the blocks of ", opened.path.filename().string(), " know of the state of ", env_name(opened.env)));
  std::cout << "policy              " << policy_line(opened) << "\n"
            << "environment         " << env_line(opened) << "\n"
            << (opened.carried.empty() ? "" : "note                " + opened.carried + "\n")
            << (fitted.empty() ? "" : "note                " + fitted + "\n") << "episodes            " << result.fitted_episodes
            << " fitted, " << result.tested_episodes << " tested (seed " << command.options.seed << ")\n"
            << "decisions           " << result.fitted_rows << " fitted, " << result.tested_rows << " tested\n"
            << "actions             " << (command.options.random_actions ? "random, each held for 3 decisions" : "the policy's")
            << "\n"
            << "mean return         " << return_text(result.mean_return) << "\n"
            << "\nexplained variance (R^2 on the tested episodes)"
            << (command.options.per_episode ? ", each episode less its mean" : "") << "\n"
            << probe_table(result);
  return Exit::success;
}

}  // namespace iap::cli
