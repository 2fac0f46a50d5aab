module;
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
module iap.rollout;
import iap.core;
import iap.env;
import iap.policy;
import iap.process;
import :messages;
import :player;
import :types;
import :worker;
#include "core/files_read.hpp"

namespace iap {
namespace {

constexpr const char* source = "message to a worker";

/// Ends this process and what its environments started: the group that start_process made it lead. Without one it ends alone.
void end_group() {
  kill(-getpid(), SIGKILL);
  _exit(0);
}

/// Whether an episode is being played, or its environment built, which may hang.
std::atomic<bool> at_work = false;

/// The process ends with the one that it plays for: whatever an episode is doing, and with a moment for its environment to go where
/// there is none.
void end_with_other_side(int descriptor) try {
  std::thread([descriptor] {
    pollfd news = {descriptor, POLLRDHUP, 0};
    while (poll(&news, 1, -1) < 0) {
    }
    if (!at_work) std::this_thread::sleep_for(time_to_go);
    end_group();
  }).detach();
} catch (const std::system_error& error) {
  throw Error(text("cannot start a thread: ", error.what()));
}

/// Keeps back what it takes to say that the memory has run out.
void limit_memory(std::int32_t mebibytes) {
  if (mebibytes == 0) return;
  constexpr rlim_t for_last_words = rlim_t{8} << 20;
  rlimit limit{};
  limit.rlim_cur = static_cast<rlim_t>(mebibytes) << 20;
  limit.rlim_max = limit.rlim_cur + for_last_words;
  setrlimit(RLIMIT_DATA, &limit);
}

void allow_last_words() {
  rlimit limit{};
  if (getrlimit(RLIMIT_DATA, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_DATA, &limit);
}

/// What `work` gives, or why it does not. What it wrote is out of its buffers then, as this process is killed in the end.
template <typename Work>
WorkerAnswer answer_of(Work work) {
  WorkerAnswer answer;
  at_work = true;
  try {
    answer.episode = work();
  } catch (const std::exception& error) {
    allow_last_words();
    answer.error = error.what();
    if (answer.error.empty()) answer.error = "failed without a reason";
  }
  std::fflush(nullptr);
  at_work = false;
  return answer;
}

std::string in_words(const FilesRead& files) {
  std::string words;
  for (const auto& [name, content] : files) words += text(words.empty() ? "" : "; ", "'", name, "': ", content);
  return words;
}

}  // namespace

void serve_episodes(const std::function<std::unique_ptr<Env>(const Config&)>& make_env) {
  // Whom it plays for decides when it ends, and no print into a pipe that nobody reads. Handlers rather than SIG_IGN, which the
  // programs that environments start would inherit.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGPIPE}) std::signal(signal, [](int) {});
  // Held by such a program, the channel would outlive this process, whose end would go unnoticed.
  fcntl(channel_descriptor, F_SETFD, FD_CLOEXEC);
  Channel channel(channel_descriptor);
  std::string bytes;
  if (!channel.receive(bytes, {})) return;
  const WorkerOrder order = decode_order(bytes);
  std::unique_ptr<Player> player;
  std::string files;
  WorkerAnswer ready = answer_of([&] {
    end_with_other_side(channel.descriptor());
    limit_memory(order.memory);
    if (order.instruction_sets != instruction_sets()) use_instruction_sets(order.instruction_sets);
    const FilesLog log;
    player = local_player(accepted(make_env(env_of(order.setup, source))), policy_of(order.setup, source));
    files = in_words(log.files);
    return Episode();
  });
  ready.files = std::move(files);
  bool there = channel.send(encode(ready), {});
  while (there && player && channel.receive(bytes, {})) {
    const auto kept = decode_task(bytes);
    limit_memory(order.memory);
    there = channel.send(encode(answer_of([&] { return player->play(kept->task, {}); })), {});
  }
  player.reset();
  std::fflush(nullptr);
  end_group();
}

}  // namespace iap
