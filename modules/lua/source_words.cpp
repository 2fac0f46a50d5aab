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

bool uses(std::string_view source, std::string_view function) {
  Looks looks;
  for (auto at = source.find(function); at != std::string_view::npos; at = source.find(function, at + 1)) {
    const auto before = source.substr(0, at), behind = source.substr(at + function.size());
    const auto next = behind.find_first_not_of(blanks);
    const char last = before.empty() ? ' ' : before.back(), first = next == std::string_view::npos ? ' ' : behind[next];
    const bool whole = !is_word(last) && (behind.empty() || !is_word(behind.front()));
    const bool named = last == '.' || last == ':' || last == '"' || last == '\'';
    if (whole && (named || first == '(') && !defines(before) && !is_assigned(behind)) return true;
    if (looks.due(work_a_word)) check_interrupt();
  }
  return false;
}

}  // namespace iap::lua
