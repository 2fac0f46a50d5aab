#include "lua/source_words.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
import iap.core;

namespace iap::lua {
namespace {

constexpr std::size_t work_a_word = 64;

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

}  // namespace iap::lua
