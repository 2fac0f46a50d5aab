module;
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
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

void note(const std::string& name, std::span<const std::filesystem::path> files, const auto& mark) {
  if (!files_log || files.empty()) return;
  std::string all;
  std::uintmax_t bytes = 0;
  for (const auto& file : files) {
    all += text(mark(file), "\n");
    bytes += size_of(file);
  }
  const std::string content =
      text(files.size(), files.size() == 1 ? " file" : " files", ", ", bytes, " bytes, checksum ", crc32(all));
  // Two environments of a run may show different parts of one folder.
  std::string& noted = (*files_log)[name];
  if (("; " + noted + "; ").find("; " + content + "; ") == std::string::npos) noted += (noted.empty() ? "" : "; ") + content;
}

}  // namespace

extern "C++" FilesRead* log_files(FilesRead* log) noexcept { return std::exchange(files_log, log); }

extern "C++" void note_files(const std::string& name, std::span<const std::filesystem::path> files) {
  note(name, files, [](const std::filesystem::path& file) {
    return text(file.parent_path().filename().string(), "/", file.filename().string(), " ", size_of(file));
  });
}

extern "C++" void note_contents(const std::string& name, std::span<const std::filesystem::path> files) {
  note(name, files, [](const std::filesystem::path& file) { return crc32(read_file(file)); });
}

}  // namespace iap
