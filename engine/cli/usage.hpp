#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

import iap.core;

/// How the program describes itself: its help, and what it says to a command line that it does not understand.
namespace iap::cli {

/// Gives the program, and all commands that are added later, the form of their help.
void style_help(CLI::App& app);

/// `iap help NAME`: prints what the Lua reference says of a name, or the nearest names and commands. Returns the exit code.
int describe_name(const CLI::App& app, const std::string& name);

/// What is wrong with the words behind `iap help`, or "": they are a command with those inside it, or one name.
std::string unexpected_help(const CLI::App& app, const std::vector<std::string>& words);

/// What is wrong with an option that is also the name of an entry of the working folder, or "": whoever writes * has the shell put
/// such a name there, and a stranger's folder would choose the options. Behind "--" no word is one.
std::string entry_as_option(const CLI::App& app, const std::vector<std::string>& words);

/// What is wrong with a command line, how it was probably meant, and where to read more.
std::string explain(const CLI::App& app, const CLI::ParseError& error);
/// As above, for a value that an option refused.
std::string explain(const CLI::App& app, const Error& error);

}  // namespace iap::cli
