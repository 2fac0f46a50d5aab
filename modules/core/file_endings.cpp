module;
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <system_error>
module iap.core;
import :part_place;

namespace iap {
namespace {

/// Whether what is written there is no file of its own under that name.
bool is_stream(const std::filesystem::path& path) {
  if (stream_number(path) >= 0) return true;
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) && !std::filesystem::is_directory(status);
}

void check(const std::filesystem::path& path, std::string_view thing, std::initializer_list<std::string_view> endings,
           bool wanted) {
  if (is_stream(path)) return;
  std::string ending = path.extension().string(), all;
  std::ranges::transform(ending, ending.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  if ((std::ranges::find(endings, ending) != endings.end()) == wanted) return;
  for (const auto one : endings) all += text(all.empty() ? "" : " or ", one);
  throw Error(text("cannot write '", path.string(), "': ", thing, "; its name must ", wanted ? "end in " : "not end in ", all));
}

}  // namespace

void check_ending(const std::filesystem::path& path, std::string_view thing, std::initializer_list<std::string_view> endings) {
  check(path, thing, endings, true);
}

void check_foreign_ending(const std::filesystem::path& path, std::string_view thing,
                          std::initializer_list<std::string_view> endings) {
  check(path, thing, endings, false);
}

void check_data_name(const std::filesystem::path& path, std::string_view thing) {
  check_foreign_ending(path, text(thing, " is neither a script nor a policy"), {".lua", ".iap"});
}

}  // namespace iap
