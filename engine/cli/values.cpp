#include "cli/values.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "train/run_files.hpp"
import iap.core;
import iap.train;

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

std::filesystem::path folder_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

/// Why nothing can be written as `file`, or "".
std::string place_trouble(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) return "it is a folder";
  const auto folder = folder_of(file);
  if (std::filesystem::is_directory(folder, ignored)) return "";
  return std::filesystem::exists(folder, ignored) ? text("'", folder.string(), "' is no folder")
                                                  : text("there is no folder '", folder.string(), "'");
}

/// Whether two paths lead to one file, which need not exist yet. Pipes and devices take what several write.
bool same_file(const std::filesystem::path& one, const std::filesystem::path& other) {
  std::error_code ignored;
  if (std::filesystem::exists(one, ignored) && !std::filesystem::is_regular_file(one, ignored)) return false;
  // What does not exist yet is made absolute only from a path that is.
  const auto place = [&ignored](const std::filesystem::path& file) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(file, ignored), ignored);
  };
  return (!place(one).empty() && place(one) == place(other)) || std::filesystem::equivalent(one, other, ignored);
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

void check_outputs(const std::vector<Output>& outputs, const std::vector<std::filesystem::path>& read) {
  for (auto output = outputs.begin(); output != outputs.end(); ++output) {
    if (!output->file) continue;
    const auto& file = *output->file;
    const auto refuse = [&file](const std::string& why) { throw Error(text("cannot write '", file.string(), "': ", why)); };
    if (const auto reason = place_trouble(file); !reason.empty()) refuse(reason);
    if (const auto kept = kept_by_run(file); !kept.empty()) refuse(text(kept, " for ", output->option));
    for (const auto& source : read)
      if (same_file(file, source)) refuse(text("the command reads it; choose another place for ", output->option));
    for (auto other = outputs.begin(); other != output; ++other)
      if (other->file && same_file(file, *other->file))
        refuse(text(other->option, " and ", output->option, " would overwrite each other; give each a file of its own"));
  }
}

std::string return_text(double value) {
  constexpr double least = 0.01, most = 1e15;
  const double size = std::abs(value);
  if ((size > 0 && size < least) || size >= most) return general_text(value, 3);
  return fixed_text(size == 0 ? 0 : value, 2);
}

}  // namespace iap::cli
