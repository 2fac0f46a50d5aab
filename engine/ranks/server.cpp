module;
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>
module iap.ranks;
import iap.core;
import iap.env;
import iap.envs;
import iap.optim;
import iap.policy;
import iap.rollout;
import :messages;
import :players;
import :server;
import :types;
#include "core/files_read.hpp"

namespace iap {
namespace {

constexpr auto poll_interval = std::chrono::milliseconds(1);
/// Between rounds, such as while rank 0 waits for a person.
constexpr auto idle_interval = std::chrono::milliseconds(2);
constexpr auto idle_after = std::chrono::seconds(1);

constexpr const char* origin = "message of rank 0";

/// @throws Error where `env` reads other files here than `first`, those of rank 0.
void check_files(const FilesRead& first, const Config& env) {
  if (first.empty()) return;
  FilesLog log;
  make_env(env);
  for (const auto& [name, content] : first) {
    const std::string& own = log.files[name];
    if (own != content)
      throw Error(text("'", name, "' holds something else here (", own.empty() ? "nothing" : own, ") than on rank 0 (", content,
                       "); give all hosts the same files"));
  }
}

/// What a rank plays of one pool. What cannot be built here is told with each task.
struct Pool {
  std::optional<Players> players;
  std::string trouble;

  Pool(const PoolOpened& opened, int rank) {
    try {
      const Config env = env_of(opened.setup, origin);
      check_files(opened.files, env);
      players.emplace([env] { return make_env(env); }, policy_of(opened.setup, origin),
                      opened.threads.at(static_cast<std::size_t>(rank)), opened.safeguards, env);
    } catch (const std::exception& error) {
      trouble = error.what();
    }
  }
};

class Server {
 public:
  explicit Server(Ranks& ranks) : ranks_(ranks) {}

  void serve() {
    auto last = Clock::now();
    while (!over_) {
      bool busy = false;
      while (auto announcement = over_ ? std::nullopt : ranks_.announced()) {
        busy = true;
        Announcement content = decode_announcement(*announcement);
        std::visit([this](auto& told) { take(told); }, content);
      }
      while (const auto message = ranks_.receive()) {
        busy = true;
        leases_.push_back(decode_lease(message->bytes));
      }
      tell_interrupt();
      begin_leases();
      busy = send_results() || busy;
      if (busy)
        last = Clock::now();
      else
        rest(Clock::now() - last);
    }
  }

 private:
  void take(Welcome&) {}
  void take(Refusal&) {}
  void take(PoolOpened& opened) {
    forget_interrupt();
    pools_.emplace(opened.pool, std::make_unique<Pool>(opened, ranks_.rank()));
  }
  void take(PoolClosed& closed) {
    if (round_ && round_->pool == closed.pool) end_round();
    pools_.erase(closed.pool);
  }
  void take(JobEnded&) {
    end_round();
    over_ = true;
  }

  void take(Round& round) {
    end_round();
    forget_interrupt();
    pool_ = pools_.at(round.pool).get();
    vectors_.clear();
    optimizer_.reset();
    // A policy without parameters has a vector of none.
    if (!round.derivation && (!round.vector.empty() || round.parameters == 0))
      vectors_.emplace(0, std::make_shared<const std::vector<float>>(std::move(round.vector)));
    if (round.derivation) {
      const std::vector<float> initial(round.parameters);
      optimizer_ = make_optimizer(round.derivation->optimizer, initial, round.derivation->seed);
      Reader reader(round.derivation->state, origin);
      optimizer_->load(reader);
    }
    newest_ = round.round;
    round_ = std::move(round);
    if (pool_->players) pool_->players->begin();
  }

  void take(RoundEnded& ended) {
    if (round_ && round_->round == ended.round) end_round();
  }

  void end_round() {
    if (pool_ && pool_->players) pool_->players->end();
    pool_ = nullptr;
    round_.reset();
  }

  /// Whatever asks this rank to end, such as its limit of processor time, or that of a process of isolated episodes, is rank 0's to
  /// answer: it ends the run in good order.
  void tell_interrupt() {
    if (told_ || !interrupt_requested()) return;
    ranks_.send(0, encode(Result{.round = newest_, .interrupted = true, .signal = interrupt_signal()}));
    told_ = true;
  }

  /// Rank 0 has been told, and goes on: to what follows, or until it hears of it in the next round.
  void forget_interrupt() {
    if (std::exchange(told_, false)) clear_interrupt();
  }

  /// A lease may come before the announcement of its round, or after its end.
  void begin_leases() {
    while (!leases_.empty() && leases_.front().round <= newest_) {
      if (round_ && leases_.front().round == round_->round) begin(leases_.front());
      leases_.pop_front();
    }
  }

  void begin(const Lease& lease) {
    const std::size_t size = round_->parameters;
    for (std::size_t i = 0; i < lease.numbers.size(); ++i) {
      const auto values = std::span(lease.vectors).subspan(i * size, size);
      vectors_.emplace(lease.numbers[i], std::make_shared<const std::vector<float>>(values.begin(), values.end()));
    }
    for (const auto& leased : lease.tasks) {
      if (!pool_->players) {
        reply({.number = leased.task, .error = pool_->trouble});
        continue;
      }
      const auto vector = vector_of(leased.vector);
      const RolloutTask task{std::span(*vector), leased.seed,   std::span<const Moment>(round_->moments),
                             leased.noise,       leased.vector, leased.keep_actions};
      pool_->players->give({leased.task, task}, vector);
    }
  }

  std::shared_ptr<const std::vector<float>> vector_of(std::uint32_t number) {
    auto& kept = vectors_[number];
    if (!kept) {
      if (!optimizer_) throw Error(text(origin, ": deals vector ", number, " without its values"));
      std::vector<float> member(optimizer_->parameters());
      optimizer_->write_member(number, member);
      kept = std::make_shared<const std::vector<float>>(std::move(member));
    }
    return kept;
  }

  void reply(const Played& played) {
    ranks_.send(0, encode(Result{round_->round, played.number, played.seconds, played.episode, played.error, played.interrupted,
                                 interrupt_signal()}));
  }

  bool send_results() {
    if (!round_ || !pool_->players) return false;
    const auto ended = pool_->players->take();
    for (const auto& played : ended) reply(played);
    return !ended.empty();
  }

  void rest(Clock::duration idle) {
    if (round_ && pool_->players)
      pool_->players->wait(poll_interval);
    else if (idle > idle_after)
      std::this_thread::sleep_for(idle_interval);
    else
      std::this_thread::sleep_for(poll_interval);
  }

  Ranks& ranks_;
  bool over_ = false;
  bool told_ = false;  // rank 0, of an interrupt here
  std::map<std::uint64_t, std::unique_ptr<Pool>> pools_;
  std::uint64_t newest_ = 0;  // round that was announced
  std::optional<Round> round_;
  Pool* pool_ = nullptr;  // of the round
  std::unique_ptr<Optimizer> optimizer_;
  std::map<std::uint32_t, std::shared_ptr<const std::vector<float>>> vectors_;
  std::deque<Lease> leases_;
};

}  // namespace

void serve_rollouts(Ranks& ranks) { Server(ranks).serve(); }

}  // namespace iap
