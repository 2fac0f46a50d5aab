module;
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>
module iap.ranks;
import iap.core;
import iap.env;
import iap.envs;
import iap.policy;
import iap.rollout;
import :dealer;
import :messages;
import :players;
import :rank_rollouts;
import :types;
#include "core/files_read.hpp"

namespace iap {
namespace {

/// Asking MPI takes it some 25 us: seldom enough to leave the core to those who play, often enough beside an episode.
constexpr auto poll_interval = std::chrono::milliseconds(1);

std::uint64_t latest_number = 0;  // of pools and rounds
std::uint64_t rounds_played = 0;  // of all pools: their messages are counted together
std::uint64_t next_number() { return ++latest_number; }
/// From this round on other ranks' interrupts have not been answered yet. Those of earlier ones may still be on their way.
std::uint64_t first_unanswered = 0;

/// What cannot be built is told where it plays.
FilesRead files_of(const Config& env) {
  FilesLog log;
  try {
    make_env(env);
  } catch (const Error&) {
  }
  return log.files;
}

/// The parameter vectors of a round, by number: members of a population where they are derived, else every distinct vector once.
struct Vectors {
  std::vector<std::uint32_t> of_task;
  std::vector<std::span<const float>> vectors;

  Vectors(std::span<const RolloutTask> tasks, bool derived) {
    std::unordered_map<const float*, std::uint32_t> numbers;
    for (const auto& task : tasks) {
      if (derived) {
        of_task.push_back(task.member);
        continue;
      }
      const auto [found, fresh] = numbers.try_emplace(task.parameters.data(), static_cast<std::uint32_t>(vectors.size()));
      if (fresh) vectors.push_back(task.parameters);
      of_task.push_back(found->second);
    }
  }
};

class RankRollouts final : public Rollouts {
 public:
  RankRollouts(Ranks& ranks, const std::vector<RankInfo>& infos, const Config& env, EnvFactory make_env, Policy prototype,
               int threads, const Safeguards& safeguards)
      : ranks_(ranks),
        infos_(infos),
        pool_(next_number()),
        threads_(threads_of(infos, threads)),
        players_(std::move(make_env), prototype.clone(), threads_[0], safeguards, env) {
    ranks_.announce(
        encode(PoolOpened{pool_, setup_of(env, prototype), safeguards, {threads_.begin(), threads_.end()}, files_of(env)}));
    moments_.assign(prototype.moments().begin(), prototype.moments().end());
  }
  ~RankRollouts() override { tell(PoolClosed{pool_}); }

  std::vector<Episode> run(std::span<const RolloutTask> tasks) override { return play(tasks, {}); }
  std::vector<Episode> run_members(std::span<const RolloutTask> tasks, const std::function<Derivation()>& derive) override {
    return play(tasks, derive());
  }
  int threads() const override { return std::accumulate(threads_.begin(), threads_.end(), 0); }
  std::optional<Messages> messages() const override {
    const Traffic now = ranks_.traffic();
    return Messages{now.messages, now.bytes_sent + now.bytes_received};
  }
  std::string summary() const override {
    const Traffic now = ranks_.traffic();
    const auto per_round = [](std::uint64_t all) { return all / std::max<std::uint64_t>(rounds_played, 1); };
    return text("ranks: ", infos_.size(), "; since they began ", rounds_played, " rounds, in each of them ",
                per_round(now.messages), " messages both ways, ", per_round(now.bytes_sent), " bytes sent and ",
                per_round(now.bytes_received), " bytes received");
  }

 private:
  /// Announces an end, from a destructor, where what fails must not throw. The others do without: the next round ends this one, the
  /// job its pools, and whatever is wrong with the messages is thrown by the next that something depends on.
  void tell(const Announcement& ended) noexcept {
    try {
      ranks_.announce(encode(ended));
    } catch (const std::exception&) {
    }
  }

  static std::vector<int> threads_of(const std::vector<RankInfo>& infos, int asked) {
    if (asked < 0) throw Error(text("rollout: the number of threads must not be negative, got ", asked));
    std::vector<int> threads;
    for (const auto& info : infos) threads.push_back(asked > 0 ? asked : info.threads);
    return threads;
  }

  /// One round, from its announcement to its end, however it ends.
  class Deal {
   public:
    Deal(RankRollouts& owner, std::span<const RolloutTask> tasks, std::optional<Derivation> derivation)
        : owner_(owner),
          tasks_(tasks),
          derived_(derivation.has_value()),
          vectors_(tasks, derived_),
          dealer_(tasks.size(), owner.expected(tasks, single()), owner.threads_),
          sent_(owner.threads_.size(), std::vector<bool>(vectors_.vectors.size(), single())) {
      Round round{.round = round_, .pool = owner.pool_, .derivation = std::move(derivation)};
      const auto moments = tasks.front().moments;
      round.moments.assign(moments.begin(), moments.end());
      if (moments.empty()) round.moments = owner.moments_;
      round.parameters = tasks.front().parameters.size();
      if (single()) round.vector.assign(vectors_.vectors[0].begin(), vectors_.vectors[0].end());
      owner_.ranks_.announce(encode(Announcement(std::move(round))));
      owner_.players_.begin();
    }
    /// The others are told first: what is played here may take another step to end.
    ~Deal() {
      owner_.tell(RoundEnded{round_});
      owner_.players_.end();
    }
    Deal(const Deal&) = delete;
    Deal& operator=(const Deal&) = delete;

    std::vector<Episode> play() {
      while (!dealer_.done()) {
        check_interrupt();
        give();
        if (!collect()) owner_.players_.wait(poll_interval);
      }
      if (failure_) throw Error(*failure_);
      return std::move(episodes_);
    }

   private:
    /// All tasks have the same parameters, as in an evaluation.
    bool single() const { return !derived_ && vectors_.vectors.size() == 1; }

    void give() {
      std::vector<Lease> leases(owner_.threads_.size());
      for (const auto& [rank, task] : dealer_.deal()) {
        if (rank == 0)
          owner_.players_.give({task, tasks_[task]});
        else
          lease(leases[static_cast<std::size_t>(rank)], sent_[static_cast<std::size_t>(rank)], task);
      }
      for (std::size_t rank = 1; rank < leases.size(); ++rank)
        if (!leases[rank].tasks.empty()) {
          leases[rank].round = round_;
          owner_.ranks_.send(static_cast<int>(rank), encode(leases[rank]));
        }
    }

    void lease(Lease& lease, std::vector<bool>& sent, std::size_t task) const {
      const std::uint32_t vector = vectors_.of_task[task];
      lease.tasks.push_back({task, vector, tasks_[task].seed, tasks_[task].noise, tasks_[task].keep_actions});
      if (derived_ || sent[vector]) return;
      sent[vector] = true;
      lease.numbers.push_back(vector);
      lease.vectors.insert(lease.vectors.end(), vectors_.vectors[vector].begin(), vectors_.vectors[vector].end());
    }

    /// Takes what has ended; whether anything has.
    bool collect() {
      const auto own = owner_.players_.take();
      for (const auto& played : own) {
        if (played.interrupted) interrupt(interrupt_signal());
        keep(0, played.number, played.seconds, played.episode, played.error);
      }
      bool any = !own.empty();
      while (const auto message = owner_.ranks_.receive()) {
        any = true;
        const Result result = decode_result(message->bytes);
        if (result.interrupted && result.round >= first_unanswered) interrupt(result.signal);
        // What was not wanted any more is still on its way for a while.
        if (result.round == round_) keep(message->from, result.task, result.seconds, result.episode, result.error);
      }
      return any;
    }

    /// Ends this process's work in good order: one of the job's has to end.
    [[noreturn]] static void interrupt(int signal) {
      request_interrupt(signal);
      throw Interrupted();
    }

    void keep(int rank, std::size_t task, double seconds, const std::optional<Episode>& episode, const std::string& error) {
      check_interrupt();
      dealer_.back(rank, task);
      const auto place = [&] { return text("rank ", rank, " on ", owner_.infos_[static_cast<std::size_t>(rank)].host, ": "); };
      if (episode) {
        episodes_[task] = *episode;
        for (auto reason : {&Episode::failure, &Episode::retried_for})
          if (std::string& why = episodes_[task].*reason; !why.empty()) why.insert(0, place());
        if (single()) owner_.seconds_[tasks_[task].seed] = seconds;
        return;
      }
      dealer_.failed(task);
      if (failure_ && failed_ < task) return;
      failed_ = task;
      failure_ = place() + error;
    }

    RankRollouts& owner_;
    std::span<const RolloutTask> tasks_;
    std::uint64_t round_ = next_number();
    bool derived_;
    Vectors vectors_;
    Dealer dealer_;
    std::vector<std::vector<bool>> sent_;  // to each rank: which vectors
    std::vector<Episode> episodes_ = std::vector<Episode>(tasks_.size());
    std::optional<std::string> failure_;
    std::size_t failed_ = 0;
  };

  std::vector<Episode> play(std::span<const RolloutTask> tasks, std::optional<Derivation> derivation) {
    if (tasks.empty()) return {};
    ++rounds_played;
    try {
      return Deal(*this, tasks, std::move(derivation)).play();
    } catch (const Interrupted&) {
      first_unanswered = latest_number + 1;
      throw;
    }
  }

  /// How long each task took when its episode was played before. Only evaluations play the same ones again.
  std::vector<double> expected(std::span<const RolloutTask> tasks, bool again) const {
    std::vector<double> seconds;
    if (!again || seconds_.empty()) return seconds;
    for (const auto& task : tasks) {
      const auto found = seconds_.find(task.seed);
      seconds.push_back(found == seconds_.end() ? 0 : found->second);
    }
    return seconds;
  }

  Ranks& ranks_;
  const std::vector<RankInfo>& infos_;
  std::uint64_t pool_;
  std::vector<int> threads_;
  Players players_;
  std::vector<Moment> moments_;
  std::unordered_map<std::uint64_t, double> seconds_;
};

}  // namespace

std::unique_ptr<Rollouts> make_rank_rollouts(Ranks& ranks, const std::vector<RankInfo>& infos, const Config& env,
                                             EnvFactory make_env, Policy prototype, int threads, const Safeguards& safeguards) {
  return std::make_unique<RankRollouts>(ranks, infos, env, std::move(make_env), std::move(prototype), threads, safeguards);
}

}  // namespace iap
