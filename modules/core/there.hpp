#pragma once
#include <filesystem>

// Include it after `import iap.core`.
namespace iap {
extern "C++" {

/// What stands at `path`: nothing, too, where nothing can, such as below a file, under a name that is too long or behind links in a
/// circle. @throws Error naming the path and the reason where the system does not tell: a disk in trouble, a server that is away, a
/// folder that may not be looked into.
std::filesystem::file_status status_of(const std::filesystem::path& path);
/// Whether something stands there; a link is what it leads to. @throws Error as `status_of`.
bool is_there(const std::filesystem::path& path);
/// Whether a link stands there, wherever it leads. @throws Error as `status_of`.
bool is_link(const std::filesystem::path& path);
/// Whether it is not for this user to read what stands at `path`, nor perhaps to know whether anything does.
bool is_private(const std::filesystem::path& path) noexcept;
}
}  // namespace iap
