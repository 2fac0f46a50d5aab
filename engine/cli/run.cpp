#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/commands.hpp"
#include "cli/interrupts.hpp"
#include "cli/line_editor.hpp"
#include "cli/processes.hpp"
#include "cli/values.hpp"
import iap.core;
import iap.script;
import iap.train;

namespace iap::cli {

void print_error(const std::exception& error, bool verbose) {
  std::fflush(stdout);
  const auto* script = dynamic_cast<const ScriptError*>(&error);
  // What a script of one's own says keeps its lines.
  std::cerr << (script ? error.what() : one_line(error.what())) << "\n";
  if (verbose && script && !script->traceback().empty()) std::cerr << script->traceback() << "\n";
}

void check_is_script(const std::filesystem::path& file) {
  std::error_code ignored;
  if (file.extension() == ".iap" || std::filesystem::exists(file / "config.json", ignored))
    throw Error(text("'", file.string(), "' is no script but a policy or a run; look at it with iap eval ",
                     shell_word(file.string()), " or iap play ", shell_word(file.string())));
}

int run(const std::filesystem::path& file, RunSettings settings, bool verbose, int sweep_process) {
  check_is_script(file);
  settings.single = sweep_process != 0;
  Script script(std::move(settings));
  catch_interrupts(&script);
  catch_termination();
  if (sweep_process != 0 && !end_with(sweep_process)) return Exit::interrupted;
  int status = Exit::success;
  try {
    script.run_file(file);
  } catch (const Interrupted& error) {
    print_error(error, verbose);
    if (const auto rest = script.continuation(); !rest.empty()) std::cerr << rest << "\n";
    status = Exit::interrupted;
  } catch (const FolderInUse& error) {  // which a sweep's run alone raises
    print_error(error, verbose);
    status = Exit::busy;
  } catch (const Error& error) {
    print_error(error, verbose);
    status = Exit::failure;
  }
  catch_interrupts(nullptr);
  return status;
}

namespace {

/// What never became whole, for Lua to say what is missing: "=expression" is none of its own forms.
std::string unfinished_chunk(const std::string& input) {
  const auto first = input.find_first_not_of(" \t\r\n");
  return first != std::string::npos && input[first] == '=' ? "return " + input.substr(first + 1) : input;
}

/// What a terminal is given at once: characters in UTF-8 stay whole.
std::size_t piece_of(std::string_view reply) {
  constexpr std::size_t most = 4096, longest_character = 4;
  std::size_t size = std::min(most, reply.size());
  while (size < reply.size() && size < most + longest_character && (reply[size] & 0xc0) == 0x80) ++size;
  return size;
}

/// @throws Interrupted where Ctrl-C came before all of it was printed.
void print_reply(std::string_view reply) {
  if (reply.empty()) return;
  while (!reply.empty() && !interrupt_requested()) {
    const auto piece = reply.substr(0, piece_of(reply));
    std::cout << piece << std::flush;
    reply.remove_prefix(piece.size());
  }
  std::cout << "\n";
  if (!reply.empty()) throw Interrupted();
}

}  // namespace

int repl(bool verbose) {
  Script script({.answers_interrupts = true});
  script.run_text("iap = require 'iap' help = iap.help", "=prompt");
  catch_interrupts(&script);
  LineEditor editor(history_path(), [&script](std::string_view prefix) { return script.complete(prefix); });
  if (editor.on_terminal())
    std::cout << "iap " << version() << " on Lua 5.4. help() explains, Tab completes, Ctrl-C stops, Ctrl-D leaves.\n";
  bool failed = false, terminated = false;
  std::string input, line;
  for (;;) {
    const auto status = editor.read(input.empty() ? "> " : ">> ", line);
    if (status == LineEditor::Status::interrupted) {
      input.clear();
      continue;
    }
    const bool at_end = status == LineEditor::Status::end;
    if (at_end && input.empty()) break;
    if (!at_end) input += input.empty() && line == "help" ? "help()" : line;
    // Between inputs there is nothing that could get lost.
    const CaughtTermination termination;
    const auto tell = [&](const std::exception& error) {
      std::cout << std::flush;
      print_error(error, verbose);
      failed = true;
    };
    try {
      const auto reply = at_end ? (script.run_text(unfinished_chunk(input), "=input"), Script::Reply{}) : script.evaluate(input);
      if (reply.incomplete) {
        check_interrupt();
        input += '\n';
        continue;
      }
      print_reply(reply.text);
    } catch (const Interrupted& error) {
      clear_interrupt();
      tell(error);
    } catch (const Error& error) {
      tell(error);
    } catch (const std::bad_alloc& error) {
      tell(error);
    }
    std::cout << std::flush;
    std::fflush(stdout);
    editor.remember(input);
    input.clear();
    terminated = termination.came();
    if (at_end || terminated) break;
  }
  catch_interrupts(nullptr);
  if (terminated) return Exit::interrupted;
  return failed && !editor.on_terminal() ? Exit::failure : Exit::success;
}

}  // namespace iap::cli
