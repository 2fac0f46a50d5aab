module;
#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>
module iap.core;
#include "core/edit_distance.hpp"

namespace iap {

extern "C++" std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1), last = row, second_last = row;
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    second_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({substitution, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], second_last[j - 2] + 1);
    }
  }
  return row.back();
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  constexpr std::size_t longest_typo = 200;  // the distance takes time in proportion to both lengths
  constexpr std::size_t short_name = 4;      // where two letters are half of it
  if (name.size() > longest_typo) return "";
  std::string best;
  std::size_t best_distance = name.size() <= short_name ? 1 : std::max<std::size_t>(2, name.size() / 3);
  for (const auto& candidate : candidates) {
    // At least as many letters have to come or go.
    if (std::max(name.size(), candidate.size()) - std::min(name.size(), candidate.size()) > best_distance) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance || (distance == best_distance && best.empty())) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  if (const auto nearest = nearest_name(name, candidates); !nearest.empty()) return text("; did you mean '", nearest, "'?");
  if (candidates.empty()) return "";
  constexpr std::size_t longest = 4096;  // names may be a file's
  std::string list;
  for (const auto& candidate : candidates) {
    const bool fits = list.size() + candidate.size() <= longest;
    list += (list.empty() ? "" : ", ") + (fits ? candidate : "...");
    if (!fits) break;
  }
  return "; known: " + list;
}

}  // namespace iap
