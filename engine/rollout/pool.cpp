module;
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>
module iap.rollout;
import iap.core;
import iap.env;
import iap.policy;
import :messages;
import :player;
import :safeguards;
import :types;
import :worker;

namespace iap {
namespace {

/// An environment that is another one than before: no attempt, and no return of a failed episode, makes up for that.
class OtherFiles : public Error {
 public:
  using Error::Error;
};

}  // namespace

struct RolloutPool::Impl {
  /// A process that plays what all others of this pool do. @throws OtherFiles where its environment read others than theirs.
  std::unique_ptr<Player> make_worker() {
    std::string read;
    auto made = worker_player(setup, safeguards, read);
    const std::lock_guard lock(building);
    if (!files) files = read;
    if (*files != read)
      throw OtherFiles(text("the environment would go on with other files (", read, ") than it began with (", *files,
                            "), as a process that plays was started since; put the first ones back and play again"));
    return made;
  }

  std::unique_ptr<Player> make_player() {
    if (safeguards.isolated()) return make_worker();
    // Factories may come from a host that never thought of threads, so they run one at a time.
    const std::lock_guard lock(building);
    try {
      return local_player(accepted(make_env()), prototype.clone());
    } catch (const std::exception&) {
      throw;
    } catch (...) {
      throw Error("the environment factory threw something that is no std::exception");
    }
  }

  Episode failed_episode(const std::string& why, int retries) const {
    Episode episode{.total = *safeguards.failed_return, .failure = why, .retries = retries};
    episode.gathered.resize(prototype.moments().size());
    return episode;
  }

  /// An episode in as many attempts as there may be. What cannot be built fails whatever a failed episode counts; once it was, a
  /// process that dies before it has built it again is one more attempt that failed.
  Episode play(RolloutTask task, std::unique_ptr<Player>& player, const Wanted& wanted = {}) {
    // A player keeps those of its last task.
    if (task.moments.empty()) task.moments = prototype.moments();
    std::string first_failure;
    bool built = false;
    for (int retries = 0;; ++retries) {
      try {
        if (!player) player = make_player();
        built = true;
        Episode episode = player->play(task, wanted);
        episode.retries = retries;
        episode.retried_for = std::move(first_failure);
        return episode;
      } catch (const Interrupted&) {
        player.reset();
        throw;
      } catch (const OtherFiles&) {
        throw;
      } catch (const std::exception& error) {
        // What broke in the middle of an episode is not to be trusted with the next one.
        player.reset();
        if (retries == 0) first_failure = error.what();
        if (retries + 1 < safeguards.attempts()) continue;
        if (!built || !safeguards.failed_return) throw Error(error.what());
        return failed_episode(error.what(), retries);
      }
    }
  }

  void serve(TaskFeed& feed, std::unique_ptr<Player>& player) {
    const Wanted wanted = [&feed] { return feed.wanted(); };
    while (const auto next = feed.next()) {
      try {
        feed.played(next->number, play(next->task, player, wanted));
      } catch (const std::exception&) {
        feed.failed(next->number);
      }
    }
  }

  EnvFactory make_env;
  Policy prototype;
  Safeguards safeguards;
  RolloutSetup setup;
  std::vector<std::unique_ptr<Player>> players;
  std::optional<std::string> files;  ///< what the first process read, guarded by `building`
  std::mutex building;
};

RolloutPool::RolloutPool(EnvFactory make_env, Policy prototype, int threads, const Safeguards& safeguards, const Config& env)
    : impl_(new Impl{.make_env = std::move(make_env), .prototype = std::move(prototype), .safeguards = safeguards}) {
  if (threads < 0) throw Error(text("rollout: the number of threads must not be negative, got ", threads));
  check_safeguards(safeguards, "rollout");
  if (safeguards.isolated()) {
    if (env.is_null())
      throw Error(
          "rollout: an environment that the host builds itself cannot be played in another process; leave out isolate, "
          "episode_timeout and worker_memory");
    require_worker();
    impl_->setup = setup_of(env, impl_->prototype);
  }
  impl_->players.resize(static_cast<std::size_t>(threads == 0 ? hardware_threads() : threads));
}

RolloutPool::~RolloutPool() {
  for (const auto& player : impl_->players)
    if (player) player->leave();
}

int RolloutPool::threads() const { return static_cast<int>(impl_->players.size()); }

std::vector<Episode> RolloutPool::run(std::span<const RolloutTask> tasks) {
  std::vector<Episode> episodes(tasks.size());
  parallel_for(tasks.size(), threads(), [&](std::size_t index, int number) {
    episodes[index] = impl_->play(tasks[index], impl_->players[static_cast<std::size_t>(number)]);
  });
  return episodes;
}

void RolloutPool::serve(TaskFeed& feed) {
  // As many indices as players: each stays with its own until the feed ends.
  parallel_for(impl_->players.size(), threads(),
               [&](std::size_t, int number) { impl_->serve(feed, impl_->players[static_cast<std::size_t>(number)]); });
}

std::vector<Episode> Rollouts::run_members(std::span<const RolloutTask> tasks, const std::function<Derivation()>&) {
  return run(tasks);
}

namespace {

RolloutsFactory& rollouts_factory() {
  static RolloutsFactory factory;
  return factory;
}

}  // namespace

void set_rollouts(RolloutsFactory factory) { rollouts_factory() = std::move(factory); }

std::unique_ptr<Rollouts> open_rollouts(const Config& env, EnvFactory make_env, Policy prototype, int threads,
                                        const Safeguards& safeguards) {
  if (!env.is_null() && rollouts_factory())
    return rollouts_factory()(env, std::move(make_env), std::move(prototype), threads, safeguards);
  return std::make_unique<RolloutPool>(std::move(make_env), std::move(prototype), threads, safeguards, env);
}

}  // namespace iap
