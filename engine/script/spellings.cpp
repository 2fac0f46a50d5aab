#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>
import iap.core;
import iap.script;
#include "script/spellings.hpp"

namespace iap {
namespace {

/// A value as --set reads it.
Config read_value(std::string_view value) {
  Config config = Config::Map{};
  set_path(config, "value", value);
  const Config* read = config.find("value");
  return read ? *read : Config();
}

/// What a value was of which `append_plain` made `plain`: "64_32" was a list of numbers, any other text a word or a number.
Config read_plain(std::string_view plain) {
  Config::List list;
  for (std::size_t begin = 0; begin <= plain.size();) {
    const auto end = std::min(plain.find('_', begin), plain.size());
    list.push_back(read_value(plain.substr(begin, end - begin)));
    if (!list.back().number()) return read_value(plain);
    begin = end + 1;
  }
  return list.size() > 1 ? Config(std::move(list)) : std::move(list.front());
}

/// With whole numbers written as such.
void make_whole(Config& value) {
  constexpr double most_exact = 9007199254740992;  // 2^53
  if (auto* list = value.list())
    for (Config& item : *list) make_whole(item);
  else if (auto* map = value.map())
    for (auto& [key, item] : *map) make_whole(item);
  else if (const auto number = value.number(); number && std::abs(*number) <= most_exact && *number == std::floor(*number))
    value = static_cast<std::int64_t>(*number);
}

std::string meaning_of(Config::List values, WholeNumbers numbers) {
  Config list = std::move(values);
  if (numbers == WholeNumbers::same_as_fractions) make_whole(list);
  return to_json(list);
}

}  // namespace

std::string meaning_of(const std::vector<std::string>& values, WholeNumbers numbers) {
  Config::List read;
  for (const auto& value : values) read.push_back(read_value(value));
  return meaning_of(std::move(read), numbers);
}

std::string meaning_in_name(std::string_view name, std::string_view begin, const std::vector<std::string>& labels,
                            WholeNumbers numbers) {
  if (!name.starts_with(begin)) return "";
  name.remove_prefix(begin.size());
  Config::List read;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (!name.starts_with(labels[i])) return "";
    name.remove_prefix(labels[i].size());
    const auto end = i + 1 < labels.size() ? name.find(labels[i + 1]) : name.size();
    if (end == std::string_view::npos) return "";
    read.push_back(read_plain(name.substr(0, end)));
    name.remove_prefix(end);
  }
  return name.empty() ? meaning_of(std::move(read), numbers) : "";
}

bool has_plain_name(const std::string& value) {
  std::string plain = "=";
  append_plain(plain, value);
  return value.find('=') == std::string::npos && read_plain(std::string_view(plain).substr(1)) == read_value(value);
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    names.push_back(entry->path().filename().string());
  std::ranges::sort(names);
  return names;
}

}  // namespace iap
