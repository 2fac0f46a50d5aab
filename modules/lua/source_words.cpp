#include "lua/source_words.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
import iap.core;

namespace iap::lua {
namespace {

constexpr std::string_view blanks = " \t\r\n";
constexpr std::size_t work_a_word = 64;

/// Whether a text ends as "function block:" does, where a function of that table is defined.
bool defines(std::string_view before) {
  const auto path = std::find_if_not(before.rbegin(), before.rend(), [](char c) { return is_word(c) || c == '.' || c == ':'; });
  before = before.substr(0, static_cast<std::size_t>(before.rend() - path));
  const auto last = before.find_last_not_of(blanks);
  return last != std::string_view::npos && last + 1 < before.size() && before.substr(0, last + 1).ends_with("function");
}

/// Whether a text begins as behind "block.reset", where it is given a value: with one "=".
bool is_assigned(std::string_view behind) {
  const auto next = behind.find_first_not_of(blanks);
  return next != std::string_view::npos && behind[next] == '=' && !behind.substr(next).starts_with("==");
}

/// Where the long bracket ends that opens at `at`, or 0 where none does.
std::size_t end_of_long_bracket(std::string_view source, std::size_t at) {
  if (at >= source.size() || source[at] != '[') return 0;
  const auto second = std::min(source.find_first_not_of('=', at + 1), source.size());
  if (!source.substr(second).starts_with('[')) return 0;
  const std::string closing = "]" + std::string(source.substr(at + 1, second - at - 1)) + "]";
  const auto end = source.find(closing, second + 1);
  return end == std::string_view::npos ? source.size() : end + closing.size();
}

/// Where the quote closes that opens before `at`: at the end of the line at the latest, unless that is escaped.
std::size_t end_of_quote(std::string_view source, std::size_t at, char quote) {
  while (at < source.size() && source[at] != quote && source[at] != '\n') {
    const bool skips_blanks = source.substr(at).starts_with("\\z");
    at += source[at] == '\\' ? 2 : 1;
    if (skips_blanks) at = source.find_first_not_of(blanks, at);
  }
  return std::min(at, source.size());
}

/// Calls `take(begin, end, is_quoted)` for all of `source` that is no code: comments, long brackets, and what stands in quotes.
template <typename Take>
void each_remark(std::string_view source, const Take& take) {
  Looks looks;
  const auto line_from = [source](std::size_t at) { return std::min(source.find('\n', at), source.size()); };
  std::size_t at = 0;
  if (source.starts_with('#')) take(0, at = line_from(0), false);
  for (; at < source.size(); at = source.find_first_of("-\"'[", at)) {
    if (looks.due(work_a_word)) check_interrupt();
    const char first = source[at];
    const bool is_comment = source.substr(at).starts_with("--");
    if (first == '"' || first == '\'') {
      const auto end = end_of_quote(source, at + 1, first);
      take(at + 1, end, true);
      at = end + 1;
    } else if (const auto end = end_of_long_bracket(source, is_comment ? at + 2 : at); is_comment || end > 0) {
      take(at, end > 0 ? end : line_from(at), false);
      at = end > 0 ? end : line_from(at);
    } else {
      ++at;
    }
  }
}

/// Whether `name` stands in `code` as a word, for which `fits(before, behind)` holds.
template <typename Fits>
bool stands_in(std::string_view code, std::string_view name, const Fits& fits) {
  Looks looks;
  for (auto at = code.find(name); at != std::string_view::npos; at = code.find(name, at + 1)) {
    const auto before = code.substr(0, at), behind = code.substr(at + name.size());
    const bool whole = (before.empty() || !is_word(before.back())) && (behind.empty() || !is_word(behind.front()));
    if (whole && fits(before, behind)) return true;
    if (looks.due(work_a_word)) check_interrupt();
  }
  return false;
}

/// Whether a text ends as where an entry of a table is named: "block.", "block:", "[\"".
bool names_entry(std::string_view before) {
  return !before.empty() && std::string_view(".:\"'").find(before.back()) != std::string_view::npos;
}

}  // namespace

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::set<std::string_view> words_of(std::string_view source) {
  Looks looks;
  std::set<std::string_view> words;
  for (auto at = std::ranges::find_if(source, is_word); at != source.end(); at = std::find_if(at, source.end(), is_word)) {
    const auto end = std::find_if_not(at, source.end(), is_word);
    words.emplace(at, end);
    at = end;
    if (looks.due(work_a_word)) check_interrupt();
  }
  return words;
}

std::set<std::string_view> texts_of(std::string_view source) {
  std::set<std::string_view> texts;
  each_remark(source, [&](std::size_t begin, std::size_t end, bool is_quoted) {
    if (is_quoted) texts.insert(source.substr(begin, end - begin));
  });
  return texts;
}

std::string code_of(std::string_view source) {
  std::string code(source);
  each_remark(source, [&](std::size_t begin, std::size_t end, bool is_quoted) {
    const auto remark = source.substr(begin, end - begin);
    if (is_quoted && std::ranges::all_of(remark, is_word)) return;
    std::fill(code.begin() + static_cast<std::ptrdiff_t>(begin), code.begin() + static_cast<std::ptrdiff_t>(end), ' ');
  });
  return code;
}

bool uses(std::string_view code, std::string_view function) {
  return stands_in(code, function, [](std::string_view before, std::string_view behind) {
    const auto next = behind.find_first_not_of(blanks);
    const bool called = next != std::string_view::npos && behind[next] == '(';
    return (names_entry(before) || called) && !defines(before) && !is_assigned(behind);
  });
}

bool has_entry(std::string_view code, std::string_view name) {
  return stands_in(code, name, [](std::string_view before, std::string_view) { return names_entry(before); });
}

}  // namespace iap::lua
