#include "cli/usage.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
import iap.core;
import iap.script;

namespace iap::cli {
namespace {

/// Names an option's value, and leaves out what the description says in words.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    const bool has_value = option->get_type_size() != 0 && !option->get_positional();
    return has_value && !option->get_type_name().empty() ? " " + option->get_type_name() : "";
  }
  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = CLI::Formatter::make_usage(app, std::move(name));
    constexpr std::string_view hidden = " []";  // what is left there of an argument that no list shows
    if (const auto found = usage.find(hidden); found != std::string::npos) usage.erase(found, hidden.size());
    return usage;
  }
};

/// The innermost command that the command line named.
const CLI::App& innermost(const CLI::App& app) {
  const auto named = app.get_subcommands();
  return named.empty() ? app : innermost(*named.back());
}

/// "iap import attention-agent"
std::string full_name(const CLI::App& app) {
  return app.get_parent() ? full_name(*app.get_parent()) + " " + app.get_name() : app.get_name();
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* option : app.get_options())
    if (!option->get_group().empty())  // as those are that only other processes of this program give
      for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

bool holds(const std::vector<std::string>& names, std::string_view name) { return std::ranges::find(names, name) != names.end(); }

std::string unknown_option(const CLI::App& app, const CLI::App& command, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  auto known = option_names(command);
  if (&command != &app && holds(known, name)) return text(name, " stands before the command; write it after ", full_name(command));
  std::string owners;
  for (const auto* other : app.get_subcommands({}))
    if (holds(option_names(*other), name)) owners += text(owners.empty() ? "" : ", ", full_name(*other));
  if (!owners.empty()) return text(full_name(command), ": has no option ", name, "; these commands have it: ", owners);
  if (&command != &app)
    for (const auto& own : option_names(app))
      if (!holds(known, own)) known.push_back(own);
  const std::string script =
      command.get_name() == "run" ? text(" (to hand it to the script: iap run FILE -- ", shell_word(word), ")") : "";
  return text(full_name(command), ": unknown option '", name, "'", did_you_mean(name, known), script);
}

std::string unknown_command(const CLI::App& app, const std::string& word) {
  std::error_code ignored;
  const std::filesystem::path path = word;
  if (path.extension() == ".lua") return text("iap: '", word, "' is no command; to run a script: iap run ", shell_word(word));
  if (path.extension() == ".iap" || std::filesystem::is_directory(path, ignored))
    return text("iap: '", word, "' is no command; to look at a run or a policy: iap eval ", shell_word(word), ", iap play ",
                shell_word(word));
  return text(full_name(app), ": unknown command '", word, "'", did_you_mean(word, command_names(app)));
}

std::string unexpected(const CLI::App& app, const CLI::App& command, const std::string& word) {
  if (word.starts_with('-')) return unknown_option(app, command, word);
  if (!command_names(command).empty()) return unknown_command(command, word);
  return text(full_name(command), ": unexpected argument '", word, "'");
}

/// The option that the library's message begins with, up to `mark`; null if it is about something else.
const CLI::Option* named_option(const CLI::App& app, const CLI::App& command, std::string_view message, std::string_view mark) {
  const std::string name(message.substr(0, message.find(mark)));
  const auto* option = command.get_option_no_throw(name);
  return option ? option : app.get_option_no_throw(name);
}

std::string missing(const CLI::App& app, const CLI::App& command, std::string_view message) {
  if (const auto* option = named_option(app, command, message, " is required"))
    return text(full_name(command), ": ", option->get_name(), " is missing: ", option->get_description());
  return text(full_name(command), ": say what", did_you_mean("", command_names(command)));
}

std::string wrong_count(const CLI::App& app, const CLI::App& command, std::string_view message) {
  const auto* option = named_option(app, command, message, ":");
  if (!option) return text(full_name(command), ": ", message);
  const std::string name = option->get_name();
  if (option->count() > 1)
    return text(full_name(command), ": ", name, " was given ", option->count(), " times; it takes one value");
  return text(full_name(command), ": ", name, " needs a value: ", name, " ", option->get_type_name());
}

std::string with_hint(const CLI::App& command, const std::string& message) {
  return text(message, "\nSee: ", full_name(command), " --help");
}

}  // namespace

void style_help(CLI::App& app) {
  const auto formatter = std::make_shared<HelpFormatter>();
  formatter->label("Positionals", "Arguments");
  formatter->label("SUBCOMMAND", "COMMAND");
  app.formatter(formatter);
  app.set_help_flag("-h,--help", "print this help");
}

int describe_name(const CLI::App& app, const std::string& name) {
  try {
    std::cout << help_text(name) << "\n";
    return Exit::success;
  } catch (const Error& error) {
    const std::string command = nearest_name(name, command_names(app));
    std::cerr << "iap help: " << error.what() << (command.empty() ? "" : text("; or the command '", command, "'?")) << "\n";
    return Exit::usage;
  }
}

std::string unexpected_help(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  std::size_t known = 0;
  for (; known < words.size(); ++known) {
    const auto is_named = [&](const CLI::App* other) { return other->get_name() == words[known]; };
    const auto found = command->get_subcommands(is_named);
    if (found.empty()) break;
    command = found.front();
  }
  known = std::max<std::size_t>(known, 1);
  if (words.size() <= known) return "";
  std::string described = "iap help";
  for (std::size_t i = 0; i < known; ++i) described += " " + words[i];
  return with_hint(
      *command, text(described, ": unexpected argument '", words[known], "'; name one command, or one name of the Lua reference"));
}

std::string entry_as_option(const CLI::App& app, const std::vector<std::string>& words) {
  const auto is_entry = [](const std::string& word) {
    const bool is_number = word.size() < 2 || word[1] == '.' || (word[1] >= '0' && word[1] <= '9');
    std::error_code ignored;
    return word.starts_with('-') && !is_number && std::filesystem::exists(std::filesystem::symlink_status(word, ignored));
  };
  // One that a * stands for may be the value of an option, behind which more are read.
  const auto end = is_entry("--") ? words.end() : std::ranges::find(words, "--");
  const auto entry = std::find_if(words.begin(), end, is_entry);
  if (entry == end) return "";
  return one_line(
      text(full_name(innermost(app)), ": '", *entry,
           "' is an option, and an entry of this folder is called so, which a * may mean; rename that, or write ./* for "
           "what is in the folder"));
}

std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = innermost(app);
  // A word that is not known comes first: what else is missing is often its consequence.
  if (const auto words = app.remaining(true); !words.empty()) return with_hint(command, unexpected(app, command, words.front()));
  if (dynamic_cast<const CLI::RequiredError*>(&error)) return with_hint(command, missing(app, command, error.what()));
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error)) return with_hint(command, wrong_count(app, command, error.what()));
  return with_hint(command, text(full_name(command), ": ", error.what()));
}

std::string explain(const CLI::App& app, const Error& error) {
  const CLI::App& command = innermost(app);
  return with_hint(command, text(full_name(command), ": ", error.what()));
}

}  // namespace iap::cli
