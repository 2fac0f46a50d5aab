module;
#include <filesystem>
#include <string>
#include <string_view>
export module iap.core:file;

export namespace iap {

/// The whole content. @throws Error naming the path and the reason.
std::string read_file(const std::filesystem::path& path);
/// Replaces `path` atomically: writes a temporary file beside it, syncs it to disk, renames. After a failure the old content
/// stands.
/// @throws Error naming the path and the reason.
void write_file_atomic(const std::filesystem::path& path, std::string_view content);
/// Creates the folder and its parents and checks that files can be written into it. @throws Error naming the path and the reason.
void make_folder(const std::filesystem::path& path);

}  // namespace iap
