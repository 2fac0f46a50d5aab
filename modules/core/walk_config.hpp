#pragma once
#include <cstddef>
#include <string>

// Include it after `import iap.core`.
namespace iap {
extern "C++" {

/// Calls `visit(place, name, value)` for `value` and then for what stands in it, however deep. Places are those of `entry_at`
/// ("env.pixels.1"), `name` is what the table around calls it, or nullptr in a list and for `value` itself. Where `visit` returns
/// false, what stands inside is left out.
template <class Visit>
void walk_config(const Config& value, Visit&& visit, const std::string& place = "", const std::string* name = nullptr) {
  if (!visit(place, name, value)) return;
  const std::string before = place.empty() ? "" : place + ".";
  if (const auto* items = value.list())
    for (std::size_t i = 0; i < items->size(); ++i) walk_config((*items)[i], visit, text(before, i + 1));
  if (const auto* entries = value.map())
    for (const auto& [key, item] : *entries) walk_config(item, visit, before + key, &key);
}
}
}  // namespace iap
