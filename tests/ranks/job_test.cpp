#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>
import iap.core;
import iap.env;
import iap.envs;
import iap.policy;
import iap.ranks;
import iap.rollout;

#include "in_process.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

const Config cartpole = Config::Map{{"name", "cartpole-balance"}, {"time_limit", 20}};

Policy policy_for(const Config& env) {
  const EnvSpec spec = make_env(env)->spec();
  return Policy(Config::Map{{"kind", "linear"}}, spec.observation, spec.action_size);
}

/// Policies with other weights, a population.
struct Population {
  std::vector<std::vector<float>> members;
  std::vector<RolloutTask> tasks;

  Population(std::size_t count, std::size_t parameters) {
    for (std::size_t k = 0; k < count; ++k) members.emplace_back(parameters, 0.1F * static_cast<float>(k) - 0.3F);
    for (std::size_t k = 0; k < count; ++k)
      tasks.push_back({std::span<const float>(members[k]), k % 3, {}, {}, static_cast<std::uint32_t>(k)});
  }
};

std::vector<double> totals(const std::vector<Episode>& episodes) {
  std::vector<double> all;
  for (const auto& episode : episodes) all.push_back(episode.total);
  return all;
}

std::unique_ptr<Rollouts> open(const Config& env, EnvFactory make, int threads = 1) {
  return open_rollouts(env, std::move(make), policy_for(cartpole), threads);
}

EnvFactory cartpoles() {
  return [] { return make_env(cartpole); };
}

/// What `act` throws; "" if nothing. Threads report to the test's own, which alone may check.
template <typename Expected = Error>
std::string thrown(const std::function<void()>& act) try {
  act();
  return "";
} catch (const Expected& error) {
  return error.what();
}

/// Announces nothing while something is wrong: 1 with MPI, 2 with memory.
class Ailing final : public RanksBetween {
 public:
  Ailing(std::unique_ptr<Ranks> others, const std::atomic<int>& wrong) : RanksBetween(std::move(others)), wrong_(wrong) {}
  void announce(const std::string& bytes) override {
    if (wrong_ == 1) throw Error("MPI: it is gone");
    if (wrong_ == 2) throw std::bad_alloc();
    RanksBetween::announce(bytes);
  }

 private:
  const std::atomic<int>& wrong_;
};

/// Knows whether rank 0 has announced the end of a round.
class Watching final : public RanksBetween {
 public:
  Watching(std::unique_ptr<Ranks> others, std::atomic<bool>& ended) : RanksBetween(std::move(others)), ended_(ended) {}
  void announce(const std::string& bytes) override {
    constexpr char round_ended = 5;
    if (bytes.front() == round_ended) ended_ = true;
    RanksBetween::announce(bytes);
  }

 private:
  std::atomic<bool>& ended_;
};

/// Hears messages to rank 0 before that does.
class Hearing final : public RanksBetween {
 public:
  explicit Hearing(std::unique_ptr<Ranks> others) : RanksBetween(std::move(others)) {}
  std::optional<Message> receive() override { return kept_ ? std::exchange(kept_, std::nullopt) : RanksBetween::receive(); }
  /// The next message, as soon as it comes.
  std::string hear() {
    while (!kept_) {
      kept_ = RanksBetween::receive();
      std::this_thread::yield();
    }
    return kept_->bytes;
  }

 private:
  std::optional<Message> kept_;
};

/// Waits until it is so, ten seconds at most; whether it is.
bool comes(const std::function<bool()>& so) {
  for (int i = 0; i < 10'000 && !so(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return so();
}

/// The first message of a rank.
std::string hello(const std::string& build, std::int64_t sets) {
  Writer writer;
  for (const auto& line : {std::string("elsewhere"), build, std::string("1")}) writer.put_string(line);
  writer.put(std::int32_t{1});
  writer.put(sets);
  writer.put(std::uint32_t{0});
  return writer.bytes();
}

/// The same of a rank that is as this process.
std::string own_hello() {
  auto ranks = thread_ranks(2);
  std::optional<Ranks::Message> message;
  const std::jthread other([&] { thrown<JobRefused>([&] { Job(std::move(ranks[1])); }); });
  while (!message) message = ranks[0]->receive();
  Writer refusal;
  refusal.put(std::uint8_t{1});
  refusal.put_string("this was all");
  ranks[0]->announce(refusal.bytes());
  return message->bytes;
}

constexpr char interrupted_result = 2;

/// What a rank says that was told to end in `round` or after it.
std::string interrupted_in(std::uint64_t round) {
  Writer writer;
  writer.put(round);
  writer.put(std::uint64_t{0});
  writer.put(0.0);
  writer.put(std::uint8_t{interrupted_result});
  writer.put(std::int32_t{SIGXCPU});
  return writer.bytes();
}

/// The latest round that has been announced to a rank since it was asked.
std::uint64_t latest_round(Ranks& rank) {
  constexpr int round_begins = 4;
  std::uint64_t latest = 0;
  while (const auto announcement = rank.announced()) {
    Reader reader(*announcement, "announcement");
    if (reader.get<std::uint8_t>() == round_begins) latest = reader.get<std::uint64_t>();
  }
  return latest;
}

}  // namespace

TEST_CASE("any number of ranks plays the same episodes, in the order of the tasks") {
  const Policy policy = policy_for(cartpole);
  const Population population(17, policy.size());
  const auto alone = totals(RolloutPool(cartpoles(), policy.clone(), 1).run(population.tasks));
  for (const int size : {1, 2, 3, 5})
    for (const int threads : {1, 2}) {
      CAPTURE(size, threads);
      JobHere here(size);
      const auto rollouts = open(cartpole, cartpoles(), threads);
      CHECK(rollouts->threads() == size * threads);
      CHECK(totals(rollouts->run(population.tasks)) == alone);
      CHECK(totals(rollouts->run(population.tasks)) == alone);
      CHECK(rollouts->run({}).empty());
      // As an evaluation: the same parameters in all episodes.
      std::vector<RolloutTask> same(7, population.tasks[4]);
      for (std::size_t i = 0; i < same.size(); ++i) same[i].seed = i;
      for (auto& task : same) task.keep_actions = true;
      const auto evaluated = rollouts->run(same), expected = RolloutPool(cartpoles(), policy.clone(), 1).run(same);
      CHECK(totals(evaluated) == totals(expected));
      for (std::size_t i = 0; i < same.size(); ++i) CHECK(evaluated[i].actions == expected[i].actions);
      CHECK(evaluated[0].actions.size() == static_cast<std::size_t>(evaluated[0].steps));
      CHECK(here.job().ranks().size() == static_cast<std::size_t>(size));
      const Traffic traffic = here.job().traffic();
      CHECK((traffic.messages > 0) == (size > 1));
      CHECK((traffic.bytes_sent > 0) == (size > 1));
    }
  const auto local = open(cartpole, cartpoles(), 3);
  CHECK(local->threads() == 3);
}

TEST_CASE("messages and bytes count both ways, an announcement once for each rank that it reaches") {
  const auto ranks = thread_ranks(3);
  ranks[0]->announce("abc");
  ranks[0]->send(1, "de");
  CHECK(ranks[0]->traffic().messages == 3);
  CHECK(ranks[0]->traffic().bytes_sent == 8);
  CHECK(ranks[1]->announced() == "abc");
  CHECK_FALSE(ranks[1]->announced());
  CHECK(ranks[1]->receive()->bytes == "de");
  CHECK_FALSE(ranks[1]->receive());
  ranks[1]->send(0, "f");
  CHECK(ranks[1]->traffic().messages == 3);
  CHECK(ranks[1]->traffic().bytes_sent == 1);
  CHECK(ranks[1]->traffic().bytes_received == 5);
  CHECK(ranks[0]->receive()->from == 1);
  CHECK(ranks[0]->traffic().messages == 4);
  CHECK(ranks[0]->traffic().bytes_received == 1);
  CHECK(ranks[2]->traffic().messages == 0);
}

TEST_CASE("a policy without parameters is played by many ranks, too") {
  const EnvSpec spec = make_env(cartpole)->spec();
  const Policy policy(Config::Map{{"kind", "observation"}, {"numbers", Config::List{1}}}, spec.observation, spec.action_size);
  REQUIRE(policy.size() == 0);
  std::vector<RolloutTask> tasks(6);
  for (std::size_t i = 0; i < tasks.size(); ++i) tasks[i].seed = i;
  JobHere here(3);
  const auto rollouts = open_rollouts(cartpole, cartpoles(), policy.clone(), 1);
  CHECK(totals(rollouts->run(tasks)) == totals(RolloutPool(cartpoles(), policy.clone(), 1).run(tasks)));
}

TEST_CASE("an environment of the host's own stays in its process") {
  JobHere here(2);
  const auto rollouts = open({}, cartpoles(), 2);
  CHECK(rollouts->threads() == 2);
}

TEST_CASE("what a rank cannot build is told with its host, for the first task that failed") {
  JobHere here(3);
  const Population population(9, policy_for(cartpole).size());
  const Config missing = Config::Map{{"name", "take-cover"}, {"wad", "/nowhere/doom.wad"}};
  const auto rollouts = open(missing, cartpoles());
  CHECK_THROWS_WITH(rollouts->run(population.tasks), StartsWith("rank 1 on ") && ContainsSubstring("/nowhere/doom.wad"));
  // The ranks go on.
  CHECK(open(cartpole, cartpoles())->run(population.tasks).size() == 9);
}

TEST_CASE("episodes that fail and count all the same say where they did") {
  JobHere here(3);
  Population population(24, policy_for(cartpole).size());
  const auto fails = [](std::size_t k) { return k % 2 == 1; };
  for (std::size_t k = 0; k < population.members.size(); ++k)
    if (fails(k)) population.members[k].assign(population.members[k].size(), std::numeric_limits<float>::quiet_NaN());
  const auto rollouts = open_rollouts(cartpole, cartpoles(), policy_for(cartpole), 1, {.failed_return = -5});
  const auto episodes = rollouts->run(population.tasks);
  std::set<char> ranks;
  for (std::size_t k = 0; k < episodes.size(); ++k) {
    const std::string& why = episodes[k].failure;
    CHECK(why.empty() != fails(k));
    if (!fails(k)) continue;
    CHECK(episodes[k].total == -5);
    REQUIRE_THAT(why, StartsWith("rank ") && ContainsSubstring(" on ") && ContainsSubstring(": policy: parameter 1 "));
    ranks.insert(why[5]);
  }
  CHECK(ranks.size() > 1);
}

TEST_CASE("an interrupt ends a round that many ranks play, and the next one is played") {
  JobHere here(3);
  const Policy policy = policy_for(cartpole);
  Population population(30, policy.size());
  std::function<void()> meddle = [] { request_interrupt(); };
  const auto rollouts = open(cartpole, [&] {
    meddle();
    return make_env(cartpole);
  });
  CHECK_THROWS_AS(rollouts->run(population.tasks), Interrupted);
  clear_interrupt();
  meddle = [] {};
  CHECK(totals(rollouts->run(population.tasks)) == totals(RolloutPool(cartpoles(), policy.clone(), 1).run(population.tasks)));
}

TEST_CASE("the others hear of a round's end before what rank 0 plays itself has ended") {
  std::atomic<bool> ended = false;
  JobHere here(2, [&ended](auto ranks) { return std::make_unique<Watching>(std::move(ranks), ended); });
  const Population population(4, policy_for(cartpole).size());
  bool in_time = false;
  const auto rollouts = open(cartpole, [&] {
    request_interrupt();
    in_time = comes([&ended] { return ended.load(); });
    return make_env(cartpole);
  });
  CHECK_THROWS_AS(rollouts->run(population.tasks), Interrupted);
  clear_interrupt();
  CHECK(in_time);
}

TEST_CASE("another rank's interrupt ends the round that hears of it, and none after that") {
  auto ranks = thread_ranks(2);
  Ranks& other = *ranks[1];
  other.send(0, own_hello());
  Job job(std::move(ranks[0]));
  job.take_rollouts();
  // Of a single task, which rank 0 plays.
  const Population one(1, policy_for(cartpole).size());
  const auto rollouts = open(cartpole, cartpoles());
  const auto expected = totals(rollouts->run(one.tasks));
  const std::uint64_t round = latest_round(other);
  other.send(0, interrupted_in(round));
  CHECK_THROWS_AS(rollouts->run(one.tasks), Interrupted);
  CHECK(interrupt_requested());
  clear_interrupt();
  // More of the same, still under way.
  for (const std::uint64_t earlier : {round, latest_round(other)}) other.send(0, interrupted_in(earlier));
  CHECK(totals(rollouts->run(one.tasks)) == expected);
  CHECK_FALSE(interrupt_requested());
}

TEST_CASE("a rank that is told to end tells rank 0, and forgets it when that goes on") {
  Hearing* hearing = nullptr;
  JobHere here(2, [&hearing](auto ranks) {
    auto made = std::make_unique<Hearing>(std::move(ranks));
    hearing = made.get();
    return made;
  });
  const Population population(9, policy_for(cartpole).size());
  const auto first = open(cartpole, cartpoles());
  const auto expected = totals(first->run(population.tasks));
  // The process's interrupt is that of both ranks: rank 0 plays nothing yet.
  request_interrupt();
  CHECK(hearing->hear().at(3 * sizeof(std::uint64_t)) == interrupted_result);
  CHECK(interrupt_requested());
  const auto second = open(cartpole, cartpoles());
  CHECK(comes([] { return !interrupt_requested(); }));
  CHECK_THROWS_AS(second->run(population.tasks), Interrupted);
  clear_interrupt();
  CHECK(totals(second->run(population.tasks)) == expected);
}

TEST_CASE("messages that fail while a round, its pool or the job ends are told by what comes next, if anything does") {
  const Policy policy = policy_for(cartpole);
  const Population population(5, policy.size());
  for (const int kind : {1, 2}) {
    std::atomic<int> wrong = 0;
    JobHere here(1, [&wrong](auto ranks) { return std::make_unique<Ailing>(std::move(ranks), wrong); });
    const auto rollouts = open(cartpole, [&] {
      wrong = kind;  // the round has been announced
      return make_env(cartpole);
    });
    CHECK(totals(rollouts->run(population.tasks)) == totals(RolloutPool(cartpoles(), policy.clone(), 1).run(population.tasks)));
    if (kind == 1)
      CHECK_THROWS_WITH(rollouts->run(population.tasks), ContainsSubstring("MPI: it is gone"));
    else
      CHECK_THROWS_AS(rollouts->run(population.tasks), std::bad_alloc);
  }
}

TEST_CASE("a rank of another build is refused by all") {
  for (const std::string build : {"abc", ""}) {
    auto ranks = thread_ranks(3);
    std::string first, second;
    {
      const std::jthread other([&] { second = thrown<JobRefused>([&] { Job(std::move(ranks[1])); }); });
      ranks[2]->send(0, hello(build, instruction_sets()));
      first = thrown<JobRefused>([&] { Job(std::move(ranks[0])); });
    }
    CHECK_THAT(first, ContainsSubstring("rank 2 on elsewhere runs another build of iap"));
    CHECK(first == second);
  }
}

TEST_CASE("a rank whose C library computes other bits, or that has other libraries of physics, is refused by all") {
  std::string unlike = own_hello(), newer = own_hello();
  unlike.back() = static_cast<char>(unlike.back() ^ 1);
  constexpr std::string_view physics = "MuJoCo 2";
  newer.replace(newer.find(physics), physics.size(), "MuJoCo 9");
  const auto refusal = [](const std::string& introduced) {
    auto ranks = thread_ranks(3);
    std::string first, second;
    {
      const std::jthread other([&] { second = thrown<JobRefused>([&] { Job(std::move(ranks[1])); }); });
      ranks[2]->send(0, introduced);
      first = thrown<JobRefused>([&] { Job(std::move(ranks[0])); });
    }
    CHECK(first == second);
    return first;
  };
  CHECK_THAT(refusal(unlike), StartsWith("rank 2 on ") && ContainsSubstring(" with other last bits than rank 0 on ") &&
                                  ContainsSubstring("--portable"));
  CHECK_THAT(refusal(newer), StartsWith("rank 2 on ") && ContainsSubstring(" computes with ") && ContainsSubstring("MuJoCo 9") &&
                                 ContainsSubstring(", rank 0 on ") && ContainsSubstring("; install the same packages"));
}

TEST_CASE("a rank that was given another command, or cannot do it, is refused by all") {
  const RankTask task{{"run", "a.lua", "--seed", "1"}, ""};
  const auto told_where_one_is = [&task](const RankTask& unlike) {
    auto ranks = thread_ranks(3);
    std::vector<std::string> told(3);
    {
      std::vector<std::jthread> others;
      for (const std::size_t rank : {1, 2})
        others.emplace_back(
            [&, rank] { told[rank] = thrown<JobRefused>([&] { Job(std::move(ranks[rank]), rank == 2 ? unlike : task); }); });
      told[0] = thrown<JobRefused>([&] { Job(std::move(ranks[0]), task); });
    }
    CHECK(told[1] == told[0]);
    CHECK(told[2] == told[0]);
    return told[0];
  };
  CHECK_THAT(told_where_one_is({{"run", "a.lua", "--seed", "2"}, ""}),
             StartsWith("rank 2 on ") && ContainsSubstring("another command than rank 0 on ") &&
                 ContainsSubstring(": '2' where that has '1'; ") && ContainsSubstring("iap sweep"));
  CHECK_THAT(told_where_one_is({{"run", "a.lua"}, ""}), ContainsSubstring(": nothing where that has '--seed'; "));
  CHECK_THAT(told_where_one_is({{"run", "a.lua", "--seed", "1", "x"}, ""}), ContainsSubstring(": 'x' where that has nothing; "));
  CHECK_THAT(told_where_one_is({task.words, "there is no such thing"}),
             StartsWith("rank 2 on ") && ContainsSubstring(": there is no such thing"));
  CHECK(told_where_one_is({{"a"}, "there is no such thing"}) == told_where_one_is({task.words, "there is no such thing"}));
}

TEST_CASE("a rank says so when it is sent what it does not know") {
  for (const std::string& bytes : {std::string("\x09", 1), std::string(), std::string("\x03 and more")}) {
    auto ranks = thread_ranks(2);
    std::string told;
    {
      const std::jthread other([&] { told = thrown([&] { Job(std::move(ranks[1])).serve(); }); });
      Writer welcome;
      welcome.put(std::uint8_t{0});
      welcome.put(instruction_sets());
      ranks[0]->announce(welcome.bytes());
      ranks[0]->announce(bytes);
    }
    CHECK_THAT(told, ContainsSubstring("message of another rank"));
  }
}
