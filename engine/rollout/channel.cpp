module;
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
module iap.rollout;
import iap.core;
import :worker;

namespace iap {
namespace {

constexpr std::chrono::milliseconds idle_interval{20};
constexpr std::uint64_t longest_frame = std::uint64_t{1} << 32;

}  // namespace

std::array<Channel, 2> Channel::pair() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw Error(text("cannot make a channel to a worker process: ", std::generic_category().message(errno)));
  return {Channel(ends[0]), Channel(ends[1])};
}

void Channel::close() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

/// Moves all the bytes, in either direction.
bool Channel::move(char* bytes, std::size_t size, bool out, const std::function<void()>& idle) {
  while (size > 0) {
    const ssize_t moved =
        out ? ::send(descriptor_, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL) : recv(descriptor_, bytes, size, MSG_DONTWAIT);
    if (moved == 0 || (moved < 0 && errno != EAGAIN && errno != EINTR)) return false;
    if (moved > 0) {
      bytes += moved;
      size -= static_cast<std::size_t>(moved);
      if (size == 0) return true;
    }
    // Whatever this process slept through, what has come by now is taken before anybody asks whether it is too late.
    if (idle && Clock::now() - idled_ >= idle_interval) {
      idle();
      idled_ = Clock::now();
    }
    if (moved > 0) continue;
    pollfd news = {descriptor_, static_cast<short>(out ? POLLOUT : POLLIN), 0};
    poll(&news, 1, static_cast<int>(idle_interval.count()));
  }
  return true;
}

bool Channel::send(std::string_view bytes, const std::function<void()>& idle) {
  std::uint64_t size = bytes.size();
  return move(reinterpret_cast<char*>(&size), sizeof size, true, idle) && move(const_cast<char*>(bytes.data()), size, true, idle);
}

bool Channel::receive(std::string& bytes, const std::function<void()>& idle) {
  std::uint64_t size = 0;
  if (!move(reinterpret_cast<char*>(&size), sizeof size, false, idle)) return false;
  if (size > longest_frame) throw Error(text("a worker process sent a message of ", size, " bytes; its memory is damaged"));
  // As the bytes arrive: a size alone takes no memory.
  constexpr std::uint64_t piece = std::uint64_t{16} << 20;
  for (std::uint64_t done = 0; done < size;) {
    const std::uint64_t next = std::min(piece, size - done);
    bytes.resize(done + next);
    if (!move(bytes.data() + done, next, false, idle)) return false;
    done += next;
  }
  return true;
}

}  // namespace iap
