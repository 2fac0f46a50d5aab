#pragma once
#include <filesystem>

// Include it after `import iap.core`.
namespace iap {
extern "C++" {

/// @throws Error where make_folder would; nothing is made.
void check_folder(const std::filesystem::path& path);
}
}  // namespace iap
