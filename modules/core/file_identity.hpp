#pragma once
#include <filesystem>
#include <string>

// Include it after `import iap.core`.
namespace iap {
extern "C++" {

/// What tells a file that was written or put in its place since from the one that was read, without reading it again: its device,
/// inode, size and when it last changed, which no program sets as it sets the time of the content. Of a link, those of what it
/// leads to; of no file, the same always. For keys of what is kept of files, together with their paths.
std::string file_identity(const std::filesystem::path& file);
}
}  // namespace iap
