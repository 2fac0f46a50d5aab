module;
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
/// Where the bytes of a file in the making go.
module iap.core:part_place;
import :error;
import :interrupt;
import :text;

namespace iap {

/// Before the system is to `do_what` ("read") with `path`. @throws Error for a NUL, where the system takes the name to end.
inline void check_name(std::string_view do_what, const std::filesystem::path& path) {
  if (path.native().find('\0') == std::string::npos) return;
  std::string shown;
  for (const char c : path.native()) shown += c ? std::string(1, c) : "\\0";
  throw Error(text("cannot ", do_what, " '", shown, "': names of files hold no NUL; take it out"));
}

inline std::filesystem::path folder_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

/// The file that `path` leads to, itself or by symbolic links; it need not exist.
inline std::filesystem::path followed(std::filesystem::path path) {
  constexpr int most_links = 40;  // as the kernel follows
  std::error_code no_link;
  for (int links = 0; links < most_links; ++links) {
    const auto target = std::filesystem::read_symlink(path, no_link);
    if (no_link) break;
    path = folder_of(path) / target;
  }
  return path;
}

/// The open file that a path means as shells understand it: /dev/stdout, /dev/stderr, /dev/fd/N; -1 for all others.
inline int stream_number(const std::filesystem::path& path) {
  const std::string& name = path.native();
  if (name == "/dev/stdout") return STDOUT_FILENO;
  if (name == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    int number = -1;
    if (!name.starts_with(folder)) continue;
    const char *begin = name.data() + folder.size(), *end = name.data() + name.size();
    const auto [stop, failure] = std::from_chars(begin, end, number);
    if (failure == std::errc() && stop == end) return number;
  }
  return -1;
}

/// Opens what is no file of bytes: a pipe, a device. -1, with errno set, where the system refuses. @throws Interrupted while it
/// waits for the reader of a pipe.
inline int open_special(const std::filesystem::path& path) {
  constexpr int milliseconds = 20;
  for (;;) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (descriptor >= 0) {
      ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
      return descriptor;
    }
    std::error_code ignored;
    if (errno != ENXIO || !std::filesystem::is_fifo(path, ignored)) return -1;
    check_interrupt();
    ::poll(nullptr, 0, milliseconds);
  }
}

/// 0 where `descriptor`, held against others and open at `part`, is what that name means; ENOENT where the name means something
/// else or nothing; what the system says where it does not tell.
inline int why_not_own(int descriptor, const std::filesystem::path& part) {
  struct stat open{}, named{};
  if (::fstat(descriptor, &open) != 0 || ::lstat(part.c_str(), &named) != 0) return errno;
  return open.st_dev == named.st_dev && open.st_ino == named.st_ino && S_ISREG(named.st_mode) ? 0 : ENOENT;
}

/// Removes the part of a process that was killed: one that nobody holds.
inline void remove_leftover(const std::filesystem::path& part) {
  const int descriptor = ::open(part.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return;
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0 && why_not_own(descriptor, part) == 0) ::unlink(part.c_str());
  ::close(descriptor);
}

/// A file that will be replaced.
struct Replaced {
  const std::filesystem::path& path;
  const struct stat& status;
};

/// Gives `descriptor` the access control list of `file`, or none, and its permissions. Where it has a list, the group's bits of its
/// mode are what the list lets at most, not what the group may: without the list they would let the group in.
inline void take_permissions_after(int descriptor, const Replaced& file) {
  constexpr const char* list_name = "system.posix_acl_access";
  const mode_t mode = file.status.st_mode & 0777;
  const ssize_t size = ::getxattr(file.path.c_str(), list_name, nullptr, 0);
  if (size <= 0) {
    ::fremovexattr(descriptor, list_name);  // its folder may have given it one
    ::fchmod(descriptor, mode);
    return;
  }
  std::string list(static_cast<std::size_t>(size), '\0');
  if (::getxattr(file.path.c_str(), list_name, list.data(), list.size()) != size ||
      ::fsetxattr(descriptor, list_name, list.data(), list.size(), 0) != 0)
    ::fchmod(descriptor, mode & ~S_IRWXG);
}

/// Gives `descriptor` the owner, the group and the permissions of the file that it will replace, as far as the system lets; until
/// then nobody else may read it. New content does not run as the file's owner, where the old one did.
inline void take_after(int descriptor, const Replaced& file) {
  if (::fchown(descriptor, file.status.st_uid, file.status.st_gid) != 0)
    std::ignore = ::fchown(descriptor, static_cast<uid_t>(-1), file.status.st_gid);
  take_permissions_after(descriptor, file);
}

inline std::filesystem::path numbered_part(const std::filesystem::path& folder, int number) {
  return folder / text(".iap-", number, ".part");
}

/// Makes a file in `folder` under a name that no other file has, with the permissions of the one that it replaces (null: there is
/// none). It is held (flock) as long as it is open, so that others can tell it from what a killed process left; `part` becomes its
/// path. -1, with errno set, where the system refuses.
inline int make_part(const std::filesystem::path& folder, const Replaced* before, std::filesystem::path& part) {
  constexpr int most_at_a_time = 10000, most_leftovers = 16;
  // Where several wrote at a time and one was killed, its number may be beyond the first that is free.
  for (int number = 0; number < most_leftovers; ++number) {
    part = numbered_part(folder, number);
    if (::access(part.c_str(), F_OK) == 0) remove_leftover(part);
  }
  for (int number = 0; number < most_at_a_time; ++number) {
    part = numbered_part(folder, number);
    const int descriptor = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, before ? 0600 : 0666);
    if (descriptor < 0 && errno != EEXIST) return -1;
    if (descriptor < 0) {
      remove_leftover(part);
      continue;
    }
    const bool held = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;  // some file systems have no locks
    const int why = held ? why_not_own(descriptor, part) : ENOENT;
    if (why == 0) {
      if (before) take_after(descriptor, *before);
      return descriptor;
    }
    struct stat made{};
    const bool still_linked =
        ::fstat(descriptor, &made) == 0 && made.st_nlink > 0;  // as it was made, as nobody renames what others make
    if (why != ENOENT && still_linked) ::unlink(part.c_str());
    ::close(descriptor);
    errno = why;
    if (why != ENOENT) return -1;
    // Another process took it for a leftover, before it was held.
  }
  errno = EEXIST;
  return -1;
}

/// Waits until what was written is on disk, where there is one: pipes, devices and some folders have none, which is no failure.
inline bool synced(int descriptor) { return ::fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP; }

}  // namespace iap
