#pragma once
#include <filesystem>

// Include it after `import iap.core`.
namespace iap {
extern "C++" {

/// Whether a run is at work in `folder`, to whoever may read its log.txt: `taken` while one is, `held` while none is; `none` where
/// that cannot be told, as the file system gives no locks or keeps log.txt from this reader.
FileLock lock_of_run(const std::filesystem::path& folder);
}
}  // namespace iap
