#pragma once
#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>

#include "cli/commands.hpp"
import iap.policy;
import iap.script;

/// The command line: its commands, their options and what they hold once it is read.
namespace iap::cli {

/// What the command line says.
struct Arguments {
  bool verbose = false;
  std::filesystem::path file;
  RunSettings run;
  int sweep_process = 0;
  bool dry_run = false;
  SweepCommand sweep;
  EvalOptions eval;
  PlayOptions play;
  ReportCommand report;
  WatchCommand watch;
  ProbeCommand probe;
  CheckCommand check;
  NewCommand created;
  VerifyCommand verified;
  ImportOptions imported;
  std::filesystem::path policy, weights;
  Trust trust = Trust::no;
  std::string what = "all", benchmark;
  std::string instructions;  ///< "" for the machine's best ones
};

/// The commands, of which at most one was given.
struct Commands {
  CLI::App *run, *sweep, *eval, *play, *report, *watch, *probe, *check, *created, *verified, *imported, *exported, *list, *bench,
      *doctor;
};

/// Adds all commands with their options, which write into `arguments`; that must stay where it is.
Commands describe_commands(CLI::App& app, Arguments& arguments);

}  // namespace iap::cli
