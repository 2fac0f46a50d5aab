module;
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string_view>
/// The one loop over POSIX write.
module iap.core:write_all;

namespace iap {

/// Writes all of `content`. False, with errno set, where the system refuses.
inline bool write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written == 0) errno = ENOSPC;
    if (written <= 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace iap
