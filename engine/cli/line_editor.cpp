#include "cli/line_editor.hpp"

#include <editline/readline.h>
#include <histedit.h>
#include <langinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <new>
#include <system_error>
#include <utility>

#include "cli/interrupts.hpp"
import iap.core;

namespace iap::cli {
namespace {

constexpr int history_length = 1000;

/// libedit's hooks carry no context, so what they need stands here while an editor exists.
LineEditor::Complete completer;
std::vector<std::string> matches;
bool key_was_interrupt = false;

/// A byte that was read behind a character that it does not belong to; the next key begins with it.
int held_byte = EOF;

/// Waits where Ctrl-C can be told from a key. EOF where nothing comes.
int read_byte() {
  if (held_byte != EOF) return std::exchange(held_byte, EOF);
  if (!wait_for_key(STDIN_FILENO)) {
    key_was_interrupt = true;
    return EOF;
  }
  unsigned char byte = 0;
  return ::read(STDIN_FILENO, &byte, 1) == 1 ? byte : EOF;
}

/// Decodes UTF-8: libedit takes whole characters from this hook. What is none, as terminals of other encodings send it, is U+FFFD
/// and takes no key with it.
int read_key(FILE*) {
  constexpr int replacement = 0xfffd, least_of_length[] = {0, 0x80, 0x800, 0x10000}, most = 0x10ffff;
  const int first = read_byte();
  if (first < 0x80) return first;
  const int more = first >= 0xf8 || first < 0xc0 ? 0 : first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
  int character = first & (0x3f >> more);
  for (int i = 0; i < more; ++i) {
    const int byte = read_byte();
    if (byte == EOF) return EOF;
    if ((byte & 0xc0) != 0x80) {
      held_byte = byte;
      return replacement;
    }
    character = character << 6 | (byte & 0x3f);
  }
  const bool surrogate = character >= 0xd800 && character < 0xe000;
  return more == 0 || character < least_of_length[more] || surrogate || character > most ? replacement : character;
}

char* next_match(const char* prefix, int state) {
  if (state == 0) matches = completer(prefix);
  return static_cast<std::size_t>(state) < matches.size() ? strdup(matches[static_cast<std::size_t>(state)].c_str()) : nullptr;
}

char** complete_names(const char* prefix, int, int) {
  rl_attempted_completion_over = 1;
  rl_completion_append_character = '\0';
  return rl_completion_matches(prefix, next_match);
}

/// An input is one line of the file, however many it spans; the first line of the file says what it is.
bool holds_too_many(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return std::count(std::istreambuf_iterator<char>(stream), {}, '\n') > history_length + 1;
}

/// Whatever ends the program later, and whatever other prompts write there.
void append_input(const std::filesystem::path& file, const std::string& input) {
  std::error_code ignored;
  std::filesystem::create_directories(file.parent_path(), ignored);
  std::FILE* stream = std::fopen(file.c_str(), "a");
  if (!stream) return;
  // libedit's append_history writes the input before this one again.
  History* alone = history_init();
  HistEvent event;
  history(alone, &event, H_SETSIZE, 1);
  history(alone, &event, H_ENTER, input.c_str());
  history(alone, &event, H_SAVE_FP, stream);
  history_end(alone);
  std::fclose(stream);
}

}  // namespace

LineEditor::LineEditor(std::filesystem::path history, Complete complete)
    : history_(std::move(history)), terminal_(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {
  if (!terminal_) return;
  // Without a locale of its own a terminal is still most likely UTF-8, which the plain C locale would drop from what is typed.
  if (!std::setlocale(LC_CTYPE, "") || std::strcmp(nl_langinfo(CODESET), "ANSI_X3.4-1968") == 0)
    std::setlocale(LC_CTYPE, "C.UTF-8");
  completer = std::move(complete);
  rl_readline_name = const_cast<char*>("iap");
  rl_getc_function = read_key;
  rl_catch_signals = 0;
  rl_initialize();
  static char breaks[] = " \t\n\"\\'`@$><=;|&{(,[]})+-*/%#~^";
  rl_completer_word_break_characters = breaks;
  rl_attempted_completion_function = complete_names;
  stifle_history(history_length);
  if (history_.empty()) return;
  // What is no history would hide all that is added to it.
  if (read_history(history_.c_str()) != 0 || holds_too_many(history_)) write_history(history_.c_str());
}

LineEditor::~LineEditor() {
  if (terminal_) completer = nullptr;
}

LineEditor::Status LineEditor::read(const std::string& prompt, std::string& line) {
  if (!terminal_) {
    errno = 0;
    const bool got = static_cast<bool>(std::getline(std::cin, line));
    if (std::ferror(stdin)) throw Error(text("cannot read the standard input: ", std::strerror(errno)));
    if (std::cin.bad()) throw std::bad_alloc();
    // What came during the wait meant nothing that runs.
    clear_interrupt();
    return got ? Status::line : Status::end;
  }
  key_was_interrupt = false;
  held_byte = EOF;
  char* typed = readline(prompt.c_str());
  if (key_was_interrupt) {
    std::free(typed);
    std::cout << "^C\n";
    return Status::interrupted;
  }
  if (!typed) {
    std::cout << "\n";
    return Status::end;
  }
  line = typed;
  std::free(typed);
  return Status::line;
}

void LineEditor::remember(const std::string& input) {
  if (!terminal_ || input.empty()) return;
  add_history(input.c_str());
  if (!history_.empty()) append_input(history_, input);
}

std::filesystem::path history_path() {
  // The XDG Base Directory Specification takes no relative path: each folder that one stands in would get a history of its own.
  if (const char* state = std::getenv("XDG_STATE_HOME"); state && std::filesystem::path(state).is_absolute())
    return std::filesystem::path(state) / "iap" / "history";
  if (const char* home = std::getenv("HOME"); home && *home)
    return std::filesystem::path(home) / ".local" / "state" / "iap" / "history";
  return {};
}

std::string line_editor_version() { return std::to_string(LIBEDIT_MAJOR) + "." + std::to_string(LIBEDIT_MINOR); }

}  // namespace iap::cli
