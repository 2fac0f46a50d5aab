#include "lua/likely_slip.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <ranges>
#include <vector>
import iap.core;
#include "core/edit_distance.hpp"

namespace iap::lua {
namespace {

constexpr std::size_t most_edits = 2;
constexpr std::size_t short_name = 3;

/// Words that take each other's place, and that as few letters part as a slip does.
constexpr std::array<std::array<std::string_view, 3>, 5> families{
    {{"min", "max", "mean"}, {"near", "far"}, {"row", "col"}, {"push", "pull"}, {"on", "off"}}};

/// Letters that take each other's place at the begin or the end of a word: "xpos" and "ypos".
constexpr std::array<std::string_view, 3> axes{"xyzw", "lr", "ij"};

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::string lower_case(std::string_view name) {
  std::string lower;
  std::ranges::transform(name, std::back_inserter(lower), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

std::vector<std::string_view> parts_of(std::string_view name) {
  std::vector<std::string_view> parts;
  for (const auto part : std::views::split(name, '_')) parts.emplace_back(part.begin(), part.end());
  return parts;
}

/// "gain1" and "gain12".
bool differ_in_digits(std::string_view a, std::string_view b) {
  const auto rest = [](std::string_view name) {
    std::string letters;
    std::ranges::remove_copy_if(name, std::back_inserter(letters), is_digit);
    return letters;
  };
  return std::ranges::any_of(a, is_digit) && std::ranges::any_of(b, is_digit) && rest(a) == rest(b);
}

/// "kp_pos" and "kd_pos", but not "max_speed" and "mxa_speed".
bool differ_in_short_parts(std::string_view a, std::string_view b) {
  return std::ranges::equal(parts_of(a), parts_of(b), [](std::string_view one, std::string_view other) {
    return one == other || (one.size() == other.size() && one.size() <= short_name && !std::ranges::is_permutation(one, other));
  });
}

/// "damping" and "damping_y", or "y_damping".
bool extends(std::string_view longer, std::string_view shorter) {
  if (longer.size() < shorter.size() + 2) return false;
  return (longer.starts_with(shorter) && longer[shorter.size()] == '_') ||
         (longer.ends_with(shorter) && longer[longer.size() - shorter.size() - 1] == '_');
}

bool differ_in_axis(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  const auto at = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  if (a.substr(at + 1) != b.substr(at + 1)) return false;
  const bool at_edge = at == 0 || at + 1 == a.size() || a[at - 1] == '_' || a[at + 1] == '_';
  const auto has = [](std::string_view axis, char letter) { return axis.find(letter) != std::string_view::npos; };
  return at_edge && std::ranges::any_of(axes, [&](std::string_view axis) { return has(axis, a[at]) && has(axis, b[at]); });
}

/// Whether `a` with another word of a family in the place of `word` is `b`.
bool exchanges(std::string_view a, std::string_view b, std::string_view word, std::string_view other) {
  if (word.empty() || other.empty()) return false;
  for (auto at = a.find(word); at != std::string_view::npos; at = a.find(word, at + 1))
    if (text(a.substr(0, at), other, a.substr(at + word.size())) == b) return true;
  return false;
}

bool are_of_a_family(std::string_view a, std::string_view b) {
  return std::ranges::any_of(families, [&](const auto& family) {
    return std::ranges::any_of(family, [&](std::string_view word) {
      return std::ranges::any_of(family, [&](std::string_view other) { return exchanges(a, b, word, other); });
    });
  });
}

/// Of two names in lower case.
bool stand_apart(std::string_view a, std::string_view b) {
  if (a == b) return false;
  return std::max(a.size(), b.size()) <= short_name || differ_in_digits(a, b) || differ_in_short_parts(a, b) || extends(a, b) ||
         extends(b, a) || differ_in_axis(a, b) || are_of_a_family(a, b);
}

}  // namespace

std::string likely_meant(std::string_view given, std::span<const std::string> names) {
  constexpr std::size_t longest_name = 64;  // edits take time in proportion to both lengths
  constexpr std::size_t work_a_name = 1000;
  if (given.size() > longest_name) return "";
  Looks looks;
  const std::string written = lower_case(given);
  std::string meant;
  std::size_t least = most_edits + 1;
  for (const auto& name : names) {
    if (std::max(name.size(), given.size()) > std::min(name.size(), given.size()) + most_edits) continue;
    if (looks.due(work_a_name)) check_interrupt();
    const std::string wanted = lower_case(name);
    const auto edits = edit_distance(written, wanted);
    if (edits >= least || nearest_name(written, {wanted}).empty() || stand_apart(written, wanted)) continue;
    least = edits;
    meant = name;
  }
  return meant;
}

}  // namespace iap::lua
