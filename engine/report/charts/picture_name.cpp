module;
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <system_error>
module iap.report;
import iap.core;
import :figures;
#include "report/charts/file_endings.hpp"

namespace iap {
namespace {

/// Whether what is written there is no file of its own under that name.
bool is_stream(const std::filesystem::path& path) {
  const std::string& name = path.native();
  if (name == "/dev/stdout" || name == "/dev/stderr" || name.starts_with("/dev/fd/") || name.starts_with("/proc/self/fd/"))
    return true;
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) && !std::filesystem::is_directory(status);
}

}  // namespace

void check_ending(const std::filesystem::path& path, std::string_view thing, std::initializer_list<std::string_view> endings) {
  if (is_stream(path)) return;
  std::string ending = path.extension().string(), all;
  std::ranges::transform(ending, ending.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  if (std::ranges::find(endings, ending) != endings.end()) return;
  for (const auto wanted : endings) all += text(all.empty() ? "" : " or ", wanted);
  throw Error(text("cannot write '", path.string(), "': ", thing, "; its name must end in ", all));
}

void check_picture_name(const std::filesystem::path& path, std::string_view thing) {
  if (!path.empty()) check_ending(path, text(thing, " is a picture"), {".png"});
}

}  // namespace iap
