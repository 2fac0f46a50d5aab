#include "lua/mentioned_options.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>

#include "lua/source_words.hpp"

namespace iap::lua {
namespace {

constexpr std::string_view blanks = " \t\r\n";

/// Calls `take` with the words that follow `marker` in a source. @throws Interrupted.
template <typename Take>
void each_word_after(std::string_view source, std::string_view marker, const Take& take) {
  constexpr std::size_t work_a_word = 256;
  Looks looks;
  for (auto at = source.find(marker); at != std::string_view::npos; at = source.find(marker, at)) {
    at += marker.size();
    const auto end = std::find_if_not(source.begin() + at, source.end(), is_word);
    take(std::string_view(source.begin() + at, end));
    if (looks.due(work_a_word)) check_interrupt();
  }
}

/// What a source calls the options: the first parameter of each function that it returns, of the first few.
std::set<std::string> names_of_options(std::string_view source) {
  constexpr std::string_view keyword = "function", before = "return";
  constexpr std::size_t most = 8;
  std::set<std::string> names;
  for (auto at = source.find(keyword); at != std::string_view::npos && names.size() < most; at = source.find(keyword, at + 1)) {
    const auto last = source.find_last_not_of(blanks, at == 0 ? 0 : at - 1);
    if (last == std::string_view::npos || !source.substr(0, last + 1).ends_with(before)) continue;
    auto from = source.find_first_not_of(blanks, at + keyword.size());
    if (from == std::string_view::npos || source[from] != '(') continue;
    from = source.find_first_not_of(blanks, from + 1);
    if (from == std::string_view::npos) continue;
    const auto end = std::find_if_not(source.begin() + from, source.end(), is_word);
    if (source.begin() + from != end) names.emplace(source.begin() + from, end);
  }
  return names;
}

}  // namespace

std::vector<std::string> with_mentioned(std::vector<std::string> names, const std::vector<std::string_view>& sources,
                                        const Config& given) {
  constexpr std::size_t most_offered = 1000;
  std::size_t offered = 0;
  std::set<std::string, std::less<>> known(names.begin(), names.end());
  const auto take = [&](std::string_view word) {
    if (known.contains(word)) return;
    if (!given.find(word) && ++offered > most_offered) return;
    known.emplace(word);
    names.emplace_back(word);
  };
  for (const auto source : sources) each_word_after(source, "options.", take);
  return names;
}

void tell_of_other_names(std::string_view source, const std::vector<std::string>& read, Options& options) {
  const auto* given = options.config().map();
  if (!given) return;
  const std::set<std::string_view> known(read.begin(), read.end());
  const std::string code = code_of(source);
  for (const auto& [name, value] : *given)
    if (!known.contains(name) && has_entry(code, name) && nearest_name(name, read).empty())
      options.goes_with(name, text("a file that reads it while function(options) runs, or later by the name options.", name,
                                   ", in these words; write local ", name, " = options.", name, " at its beginning"));
  for (const auto& called : names_of_options(source))
    each_word_after(source, called + ".", [&](std::string_view name) {
      if (given->contains(name) && !known.contains(name))
        options.goes_with(
            name, text("a file that reads it while function(options) runs, or later by the name options.", name, ", not as ",
                       called, '.', name, "; write local ", name, " = ", called, '.', name, " at its beginning"));
    });
}

}  // namespace iap::lua
