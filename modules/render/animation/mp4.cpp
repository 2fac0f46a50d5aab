module;
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.render;
import iap.core;
#include "animation_formats.hpp"

namespace iap {
namespace {

/// The program ffmpeg, which takes raw frames and writes an MP4. It is found on the PATH and started without a shell, in a process
/// group of its own, so that Ctrl-C reaches it through us alone.
class Ffmpeg {
 public:
  Ffmpeg() = default;
  ~Ffmpeg() {
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, nullptr, 0);
    }
    for (const int descriptor : {frames_, messages_})
      if (descriptor >= 0) ::close(descriptor);
  }
  Ffmpeg(const Ffmpeg&) = delete;
  Ffmpeg& operator=(const Ffmpeg&) = delete;

  bool running() const { return process_ > 0; }

  /// Returns 0, or the errno of what failed.
  int start(std::vector<std::string> arguments) {
    // A socket, because a write to one whose reader has died can be told not to raise a signal.
    std::array<int, 2> ends{-1, -1};
    messages_ = ::memfd_create("ffmpeg", MFD_CLOEXEC);
    if (messages_ < 0 || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return errno;
    frames_ = ends[0];
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, messages_, STDERR_FILENO);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    std::vector<char*> words;
    for (auto& argument : arguments) words.push_back(argument.data());
    words.push_back(nullptr);
    const int failure = ::posix_spawnp(&process_, words.front(), &actions, &attributes, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    ::close(ends[1]);
    if (failure != 0) process_ = -1;
    return failure;
  }

  /// False if it reads no more.
  bool feed(const std::uint8_t* data, std::size_t size) {
    while (size > 0) {
      const ssize_t sent = ::send(frames_, data, size, MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return false;
      data += sent;
      size -= static_cast<std::size_t>(sent);
    }
    return true;
  }

  /// Waits for its end; whether it is known to have succeeded.
  bool finish() {
    ::close(std::exchange(frames_, -1));
    int status = 0;
    pid_t ended = -1;
    do {
      ended = ::waitpid(process_, &status, 0);
    } while (ended < 0 && errno == EINTR);
    process_ = -1;
    known_ = ended > 0;
    return known_ && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  /// The last line it complained with, or why nobody knows how it ended.
  std::string complaint() const {
    if (!known_) return "how it ended is not told to a process that ignores SIGCHLD; set that to SIG_DFL";
    std::string said(4096, '\0');
    const off_t size = ::lseek(messages_, 0, SEEK_END);
    const off_t begin = size > 4096 ? size - 4096 : 0;
    const ssize_t count = ::pread(messages_, said.data(), said.size(), begin);
    said.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    while (!said.empty() && said.back() == '\n') said.pop_back();
    return said.empty() ? "it said nothing" : said.substr(said.rfind('\n') + 1);
  }

 private:
  pid_t process_ = -1;
  int frames_ = -1, messages_ = -1;
  bool known_ = true;  ///< whether the system told how it ended
};

class Mp4File final : public AnimationWriter {
 public:
  Mp4File(const std::filesystem::path& path, const AnimationOptions& options)
      : name_(path.string()), options_(options), file_(path) {
    Ffmpeg probe;
    if (const int failure = probe.start({"ffmpeg", "-version"}); failure != 0) refuse(failure);
    probe.finish();
  }

  void add(const ImageView& frame) override {
    check_animation_frame(name_, frame, shape_);
    if (!ffmpeg_.running()) start();
    if (ffmpeg_.feed(frame.bytes(), shape_.count())) return;
    ffmpeg_.finish();
    throw Error(text("cannot write '", name_, "': ffmpeg stopped: ", ffmpeg_.complaint()));
  }

  void finish() override {
    if (!ffmpeg_.running()) throw Error(text("cannot write '", name_, "': it has no frame"));
    if (!ffmpeg_.finish()) throw Error(text("cannot write '", name_, "': ffmpeg failed: ", ffmpeg_.complaint()));
    file_.commit();
  }

 private:
  [[noreturn]] void refuse(int failure) const {
    if (failure == ENOENT)
      throw Error(text("cannot write '", name_,
                       "': MP4 needs the program 'ffmpeg', which is not on the PATH; install it, or write a "
                       ".webp or .png, which need nothing"));
    throw Error(text("cannot write '", name_, "': cannot start ffmpeg: ", std::strerror(failure)));
  }

  void start() {
    // Players want the pixel format yuv420p, which needs even sizes. Of colours that name no matrix they take one by the picture's
    // size, which may be another one.
    const int failure = ffmpeg_.start({"ffmpeg",
                                       "-hide_banner",
                                       "-loglevel",
                                       "error",
                                       "-f",
                                       "rawvideo",
                                       "-pixel_format",
                                       "rgb24",
                                       "-video_size",
                                       text(shape_.width, "x", shape_.height),
                                       "-framerate",
                                       text(options_.fps),
                                       "-i",
                                       "pipe:0",
                                       "-vf",
                                       "pad=ceil(iw/2)*2:ceil(ih/2)*2,scale=out_color_matrix=bt709:out_range=tv",
                                       "-pix_fmt",
                                       "yuv420p",
                                       "-colorspace",
                                       "bt709",
                                       "-color_primaries",
                                       "bt709",
                                       "-color_trc",
                                       "bt709",
                                       "-color_range",
                                       "tv",
                                       "-movflags",
                                       "+faststart",
                                       "-f",
                                       "mp4",
                                       "-y",
                                       "file:" + file_.part().string()});
    if (failure != 0) refuse(failure);
  }

  std::string name_;
  AnimationOptions options_;
  // The file outlives the program that writes it.
  PartFile file_;
  Ffmpeg ffmpeg_;
  ImageShape shape_;
};

}  // namespace

std::unique_ptr<AnimationWriter> open_mp4(const std::filesystem::path& path, const AnimationOptions& options) {
  return std::make_unique<Mp4File>(path, options);
}

}  // namespace iap
