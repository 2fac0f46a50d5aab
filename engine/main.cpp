#include <algorithm>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/clean_output.hpp"
#include "cli/commands.hpp"
#include "cli/ranks.hpp"
#include "cli/start.hpp"
#include "cli/usage.hpp"
import iap.core;
import iap.envs;
import iap.ranks;
import iap.rollout;
import iap.script;

namespace {

using namespace iap;

/// Makes this program, started anew, one that plays isolated episodes.
constexpr std::string_view serve_word = "--serve-episodes";

/// `iap help COMMAND` is `iap COMMAND --help`. Returns the words behind `iap help`, and nothing without that word.
std::optional<std::vector<std::string>> understand_help(std::vector<std::string>& words) {
  if (words.empty() || words.front() != "help") return {};
  words.erase(words.begin());
  std::erase_if(words, [](const std::string& word) { return word == "--help" || word == "-h"; });
  const auto named = words;
  words.emplace_back("--help");
  return named;
}

/// Tells what is wrong with the command line. Returns the exit code.
int refuse(const std::vector<std::string>& words, const std::string& why) {
  if (cli::speaks()) std::cerr << why << "\n";
  return cli::end_with_others(words, why, cli::Exit::usage);
}

/// Parses the command line; the usage errors end here.
int dispatch(std::string program, std::vector<std::string> words) {
  const auto helped = understand_help(words);
  cli::Arguments arguments;
  arguments.sweep.words = words;
  if (const auto& launch = launched()) {
    arguments.sweep.rank = launch->rank;
    arguments.sweep.ranks = launch->size;
    arguments.sweep.launch = launch->id;
  }
  std::ranges::reverse(words);  // as the library takes them
  CLI::App app("iap: vision policies through linear attention, trained by evolution strategies, composed in Lua", "iap");
  arguments.sweep.run.program = program;
  arguments.verified.run.program = program;
  arguments.run.program = std::move(program);
  cli::style_help(app);
  const cli::Commands commands = cli::describe_commands(app, arguments);
  if (helped)
    if (const auto why = cli::unexpected_help(app, *helped); !why.empty()) return refuse(arguments.sweep.words, why);
  const auto is_helped = [&helped](const CLI::App* command) { return command->get_name() == helped->front(); };
  if (helped && !helped->empty() && app.get_subcommands(is_helped).empty()) return cli::describe_name(app, helped->front());
  try {
    app.parse(words);
  } catch (const CLI::Success& printed) {
    if (!cli::speaks()) return cli::Exit::success;
    const int code = app.exit(printed);
    if (helped && helped->empty()) std::cout << "\n" << help_text("") << "\n";
    return code;
  } catch (const CLI::ParseError& error) {
    return refuse(arguments.sweep.words, cli::explain(app, error));
  } catch (const Error& error) {
    return refuse(arguments.sweep.words, cli::explain(app, error));
  }
  // What they are given is the user's own, and so are its options.
  if (!*commands.run && !*commands.sweep)
    if (const auto why = cli::entry_as_option(app, arguments.sweep.words); !why.empty()) return refuse(arguments.sweep.words, why);
  register_lua();
  const bool plays = app.get_subcommands().empty() || *commands.run || *commands.eval || *commands.doctor;
  // The runs of a sweep are shared by all ranks.
  if (!plays && !cli::speaks() && !*commands.sweep) return cli::Exit::success;
  bool joined = false;
  set_worker("/proc/self/exe", {arguments.run.program, std::string(serve_word)});
  try {
    arguments.run.instructions = arguments.sweep.run.instructions =
        cli::follow_instructions(arguments.instructions, arguments.run.program, arguments.sweep.words);
    arguments.run.answers_interrupts = arguments.sweep.run.answers_interrupts = true;
    if (!plays) start_others_alone();
    const auto job = plays ? cli::join_job(arguments.sweep.words) : cli::JoinedJob();
    joined = job != nullptr;
    if (job && !cli::speaks()) return cli::serve(*job);
    if (*commands.run && arguments.dry_run) return cli::dry_run(arguments.file, arguments.run);
    if (*commands.run) return cli::run(arguments.file, arguments.run, arguments.verbose, arguments.sweep_process);
    if (*commands.sweep) return cli::sweep(arguments.sweep);
    if (*commands.eval) return cli::eval(arguments.eval);
    if (*commands.play) return cli::play(arguments.play);
    if (*commands.report) return cli::report(arguments.report);
    if (*commands.watch) return cli::watch(arguments.watch);
    if (*commands.probe) return cli::probe(arguments.probe);
    if (*commands.check) return cli::check(arguments.check);
    if (*commands.created) return cli::make_new(arguments.created);
    if (*commands.verified) return cli::verify(arguments.verified, arguments.verbose);
    if (*commands.imported) return cli::import_agent(arguments.imported);
    if (*commands.exported) return cli::export_agent(arguments.policy, arguments.weights, arguments.trust);
    if (*commands.list) return cli::list(arguments.what);
    if (*commands.bench) return cli::bench(arguments.benchmark);
    if (*commands.doctor) return cli::doctor(job.get());
    return cli::repl(arguments.verbose);
  } catch (const Interrupted& error) {
    if (cli::speaks()) cli::print_error(error, arguments.verbose);
    return cli::Exit::interrupted;
  } catch (const JobRefused& error) {
    // A launcher ends all ranks when one fails: the one that speaks must come to it.
    if (!cli::speaks()) return cli::Exit::success;
    cli::print_error(error, arguments.verbose);
    return cli::Exit::failure;
  } catch (const Error& error) {
    // Ranks that share a sweep, or have yet to join their job, may all meet the same mistake, or one that is a host's own.
    const bool apart = *commands.sweep || (plays && !joined);
    if (cli::speaks() || !apart) cli::print_error(error, arguments.verbose);
    return apart ? cli::end_with_others(arguments.sweep.words, one_line(error.what()), cli::Exit::failure) : cli::Exit::failure;
  }
}

}  // namespace

int main(int count, char** words) {
  iap::cli::prepare_process();
  const iap::cli::CleanOutput out(std::cout), errors(std::cerr);
  try {
    if (count == 2 && words[1] == serve_word) {
      register_lua();
      serve_episodes([](const Config& env) { return make_env(env); });
      return iap::cli::Exit::success;
    }
    return iap::cli::end_process(dispatch(count > 0 ? words[0] : "iap", {words + std::min(count, 1), words + count}));
  } catch (const std::exception& error) {
    std::cerr << "iap: " << error.what() << "\n";
    return iap::cli::Exit::failure;
  }
}
