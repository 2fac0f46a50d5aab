#pragma once
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
import iap.core;

namespace iap {

inline std::string first_part(const std::string& path) { return path.substr(0, path.find('.')); }

/// The entry of a table or list, which counts from 1; null if it has none. `Tree` is Config or const Config.
template <typename Tree>
Tree* entry_of(Tree& tree, std::string_view key) {
  if (auto* entries = tree.map()) {
    const auto found = entries->find(key);
    return found == entries->end() ? nullptr : &found->second;
  }
  auto* items = tree.list();
  if (!items) return nullptr;
  std::size_t position = 0;
  const auto [end, failure] = std::from_chars(key.data(), key.data() + key.size(), position);
  const bool there = failure == std::errc() && end == key.data() + key.size() && position >= 1 && position <= items->size();
  return there ? &(*items)[position - 1] : nullptr;
}

/// What stands at `path`, such as "policy.blocks.2.units"; null if nothing does.
template <typename Tree>
Tree* entry_at(Tree& tree, std::string_view path) {
  Tree* found = &tree;
  while (found && !path.empty()) {
    const std::size_t end = std::min(path.find('.'), path.size());
    found = entry_of(*found, path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return found;
}

}  // namespace iap
