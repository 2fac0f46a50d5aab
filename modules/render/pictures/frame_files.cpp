module;
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>
module iap.render;
import iap.core;

namespace iap {
namespace {

namespace fs = std::filesystem;

bool is_digit(char c) { return '0' <= c && c <= '9'; }

// Takes the digits off the front of `rest`. -> them without leading zeros, however many they are
std::string_view take_number(std::string_view& rest) {
  const auto end = static_cast<std::size_t>(std::ranges::find_if_not(rest, is_digit) - rest.begin());
  std::string_view digits = rest.substr(0, end);
  rest.remove_prefix(end);
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

}  // namespace

bool numbered_before(const fs::path& a, const fs::path& b) {
  const std::string one = a.filename().string(), other = b.filename().string();
  std::string_view left = one, right = other;
  while (!left.empty() && !right.empty()) {
    if (is_digit(left.front()) && is_digit(right.front())) {
      const std::string_view number = take_number(left), other_number = take_number(right);
      if (number.size() != other_number.size()) return number.size() < other_number.size();
      if (number != other_number) return number < other_number;
    } else {
      if (left.front() != right.front()) break;
      left.remove_prefix(1);
      right.remove_prefix(1);
    }
  }
  // The same numbers with other zeros in front still have an order.
  return left == right ? one < other : left < right;
}

std::vector<fs::path> numbered_entries(const fs::path& folder, bool folders, std::error_code& failure) {
  std::vector<fs::path> found;
  std::error_code ignored;  // a link that leads nowhere is a file, which whoever reads it names
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure)) {
    check_interrupt();
    if (entry->is_directory(ignored) != folders || entry->path().filename().string().starts_with('.')) continue;
    if (found.size() == found.capacity())
      reserve_growing(found, 1, text("a list of what is in '", folder.string(), "'"), bytes_a_path);
    found.push_back(entry->path());
  }
  std::ranges::sort(found, [](const fs::path& a, const fs::path& b) {
    check_interrupt();
    return numbered_before(a, b);
  });
  return found;
}

bool ends_in(const fs::path& path, std::initializer_list<std::string_view> endings) {
  std::string ending = path.extension().string();
  std::ranges::transform(ending, ending.begin(),
                         [](char c) { return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return std::ranges::find(endings, ending) != endings.end();
}

}  // namespace iap
