#include "cli/values.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>
import iap.core;

namespace iap::cli {
namespace {

/// `kind` says what the option takes: "an integer", "a number".
template <typename Number>
Number read(const std::string& option, std::string_view value, Number low, Number high, std::string_view kind) {
  Number number{};
  const auto* end = value.data() + value.size();
  const auto [stop, failure] = std::from_chars(value.data(), end, number);
  // Written so that a NaN is refused as well.
  if (failure != std::errc() || stop != end || !(number >= low && number <= high))
    throw Error(text(option, ": expected ", kind, " from ", low, " to ", high, ", got '", value, "'"));
  return number;
}

}  // namespace

std::int64_t read_integer(const std::string& option, const std::string& value, std::int64_t low, std::int64_t high) {
  return read<std::int64_t>(option, value, low, high, "an integer");
}

std::uint64_t read_seed(const std::string& option, const std::string& value) {
  return read<std::uint64_t>(option, value, 0, std::numeric_limits<std::uint64_t>::max(), "an integer");
}

double read_number(const std::string& option, const std::string& value, double low, double high) {
  return read<double>(option, value, low, high, "a number");
}

std::string read_choice(const std::string& option, const std::string& value, const std::vector<std::string>& names) {
  if (std::ranges::find(names, value) != names.end()) return value;
  throw Error(text(option, option.empty() ? "" : ": ", "there is no '", value, "'", did_you_mean(value, names)));
}

void check_place(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) throw Error(text("cannot write '", file.string(), "': it is a folder"));
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  if (!std::filesystem::is_directory(folder, ignored))
    throw Error(text("cannot write '", file.string(), "': there is no folder '", folder.string(), "'"));
}

}  // namespace iap::cli
