module;
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
module iap.core;
#include "core/files_read.hpp"

namespace iap {
namespace {

thread_local FilesRead* files_log = nullptr;

std::uintmax_t size_of(const std::filesystem::path& file) {
  std::error_code ignored;
  return std::filesystem::file_size(file, ignored);
}

/// The beginning and the end of the file, as far as it can be read. What has no size may never end.
std::string ends_of(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return "";
  constexpr std::uintmax_t most = std::uintmax_t{64} << 10;
  const std::uintmax_t size = size_of(file), begin = std::min(size, most), end = std::min(size - begin, most);
  std::string bytes(begin + end, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(bytes.data(), static_cast<std::streamsize>(begin));
  stream.seekg(static_cast<std::streamoff>(size - end));
  stream.read(bytes.data() + begin, static_cast<std::streamsize>(end));
  return bytes;
}

constexpr std::string_view ends_mark = ", ends ";

void note(const std::string& name, std::span<const std::filesystem::path> files, const auto& mark, const std::string& ends = "") {
  if (!files_log || files.empty()) return;
  std::string all;
  std::uintmax_t bytes = 0;
  for (const auto& file : files) {
    all += text(mark(file), "\n");
    bytes += size_of(file);
  }
  const std::string content =
      text(files.size(), files.size() == 1 ? " file" : " files", ", ", bytes, " bytes, checksum ", crc32(all), ends);
  // Two environments of a run may show different parts of one folder.
  std::string& noted = (*files_log)[name];
  if (("; " + noted + "; ").find("; " + content + "; ") == std::string::npos) noted += (noted.empty() ? "" : "; ") + content;
}

}  // namespace

extern "C++" FilesRead* log_files(FilesRead* log) noexcept { return std::exchange(files_log, log); }

extern "C++" void note_files(const std::string& name, std::span<const std::filesystem::path> files) {
  if (!files_log) return;
  std::string ends;
  for (const auto& file : files) {
    check_interrupt();
    ends += text(crc32(ends_of(file)), "\n");
  }
  const auto mark = [](const std::filesystem::path& file) {
    return text(file.parent_path().filename().string(), "/", file.filename().string(), " ", size_of(file));
  };
  note(name, files, mark, text(ends_mark, crc32(ends)));
}

extern "C++" void note_contents(const std::string& name, std::span<const std::filesystem::path> files) {
  note(name, files, [](const std::filesystem::path& file) { return crc32(read_file(file)); });
}

extern "C++" std::string without_ends(std::string record) {
  for (auto at = record.find(ends_mark); at != std::string::npos; at = record.find(ends_mark, at))
    record.erase(at, record.find(';', at) - at);
  return record;
}

}  // namespace iap
