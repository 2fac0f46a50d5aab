// Include <string_view> first.
#pragma once

namespace iap {

/// Whether `text`, which a host gives for an environment, begins as a table does rather than as a name.
inline bool opens_table(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF", spaces = " \t\r\n";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  const auto first = text.find_first_not_of(spaces);
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[' || text.substr(first, 2) == "--");
}

}  // namespace iap
