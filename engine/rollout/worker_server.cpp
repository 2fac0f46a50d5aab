module;
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <thread>
module iap.rollout;
import iap.core;
import iap.env;
import iap.policy;
import iap.process;
import :messages;
import :player;
import :types;
import :worker;

namespace iap {
namespace {

constexpr const char* source = "message to a worker";

/// Ends this process and what its environments started: the group that start_process made it lead. Without one it ends alone.
void end_group() {
  kill(-getpid(), SIGKILL);
  _exit(0);
}

/// Whatever an episode is doing: the process ends with the one that it plays for.
void end_with_other_side(int descriptor) {
  std::thread([descriptor] {
    pollfd news = {descriptor, POLLRDHUP, 0};
    while (poll(&news, 1, -1) < 0) {
    }
    end_group();
  }).detach();
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

/// What `work` gives, or why it does not.
template <typename Work>
WorkerAnswer answer_of(Work work) {
  try {
    return {.error = "", .episode = work()};
  } catch (const std::exception& error) {
    allow_last_words();
    const std::string what = error.what();
    return {.error = what.empty() ? "failed without a reason" : what, .episode = {}};
  }
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
  end_with_other_side(channel.descriptor());
  const WorkerOrder order = decode_order(bytes);
  limit_memory(order.memory);
  if (order.instruction_sets != instruction_sets()) use_instruction_sets(order.instruction_sets);
  std::unique_ptr<Player> player;
  bool there = channel.send(encode(answer_of([&] {
                              player =
                                  local_player(accepted(make_env(env_of(order.setup, source))), policy_of(order.setup, source));
                              return Episode();
                            })),
                            {});
  while (there && player && channel.receive(bytes, {})) {
    const auto kept = decode_task(bytes);
    limit_memory(order.memory);
    there = channel.send(encode(answer_of([&] { return player->play(kept->task, {}); })), {});
  }
  end_group();
}

}  // namespace iap
