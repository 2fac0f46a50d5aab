module;
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>
module iap.ranks;
import iap.core;
import iap.envs;
import iap.rollout;
import iap.sim;
import :build_id;
import :messages;
import :rank_rollouts;
import :server;
import :types;
#include "core/mathematics.hpp"

namespace iap {
namespace {

constexpr auto poll_interval = std::chrono::milliseconds(1);

std::string own_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return "";
  std::string cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) cores += CPU_ISSET(core, &set) ? '1' : '0';
  return cores.substr(0, cores.find_last_of('1') + 1);
}

/// Those behind the doors to physics, which may be others with the same build of iap.
std::string libraries() {
  std::string all;
  for (const auto& own : {envs_versions(), sim_versions()})
    for (const auto& [name, version] : own) all += text(all.empty() ? "" : ", ", name, " ", version);
  return all;
}

Hello own_hello(RankTask task) {
  return {host_name(),        build_id(),      own_cores(),   hardware_threads(),
          instruction_sets(), std::move(task), mathematics(), libraries()};
}

/// What `take` gives as soon as it gives something.
template <typename Take>
auto wait_for(Take take) {
  for (;;) {
    if (auto got = take()) return *std::move(got);
    check_interrupt();
    std::this_thread::sleep_for(poll_interval);
  }
}

std::vector<Hello> hellos(Ranks& ranks, RankTask task) {
  std::vector<Hello> all(static_cast<std::size_t>(ranks.size()));
  all[0] = own_hello(std::move(task));
  for (int left = ranks.size() - 1; left > 0; --left) {
    const auto message = wait_for([&] { return ranks.receive(); });
    all[static_cast<std::size_t>(message.from)] = decode_hello(message.bytes);
  }
  return all;
}

/// Where two lists of words differ: the first word there, of each.
std::string difference(const RankTask& first, const RankTask& other) {
  const auto [in_first, in_other] = std::ranges::mismatch(first.words, other.words);
  const auto shown = [](const RankTask& task, auto word) { return word == task.words.end() ? "nothing" : "'" + *word + "'"; };
  return text(shown(other, in_other), " where that has ", shown(first, in_first));
}

/// Why these ranks cannot work together; "" if they can.
std::string objection(const std::vector<Hello>& all) {
  std::int64_t common = ~std::int64_t{0};
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const Hello &first = all[0], &other = all[rank];
    if (other.build != first.build)
      return text("rank ", rank, " on ", other.host, " runs another build of iap (", other.build, ") than rank 0 on ", first.host,
                  " (", first.build, "); install the same package on all hosts");
    if (!other.task.trouble.empty()) return text("rank ", rank, " on ", other.host, ": ", other.task.trouble);
    if (other.task.words != first.task.words)
      return text(
          "rank ", rank, " on ", other.host, " was given another command than rank 0 on ", first.host, ": ",
          difference(first.task, other.task),
          "; all ranks of a job work on one command. For several runs use iap sweep (--seeds N), or start each of them alone, "
          "without mpirun or srun");
    if (other.mathematics != first.mathematics)
      return text("rank ", rank, " on ", other.host, " computes exp, sin or cos with other last bits than rank 0 on ", first.host,
                  chosen_instructions() == portable_instructions
                      ? "; give all ranks --portable and install the same release of the C library on all hosts"
                      : ": one of them was given other instructions (IAP_INSTRUCTIONS, GLIBC_TUNABLES), or its processor fuses no "
                        "multiplications with additions; start all ranks with --portable");
    if (other.libraries != first.libraries)
      return text("rank ", rank, " on ", other.host, " computes with ", other.libraries, ", rank 0 on ", first.host, " with ",
                  first.libraries, "; install the same packages on all hosts");
    common &= other.instruction_sets;
    if (common == 0)
      return text("rank ", rank, " on ", other.host, " has no instruction set in common with the others; leave that host out");
  }
  return "";
}

std::int64_t common_sets(const std::vector<Hello>& all) {
  std::int64_t common = ~std::int64_t{0};
  for (const auto& hello : all) common &= hello.instruction_sets;
  return common;
}

void agree_on(std::int64_t sets) {
  if (sets != instruction_sets()) use_instruction_sets(sets);
}

std::vector<RankInfo> infos(const std::vector<Hello>& all) {
  std::vector<RankInfo> ranks;
  for (const auto& hello : all) {
    const auto sharing =
        std::ranges::count_if(all, [&](const Hello& other) { return other.host == hello.host && other.cores == hello.cores; });
    ranks.push_back(
        {hello.host, std::max(1, hello.threads / static_cast<int>(sharing)), best_instruction_set(hello.instruction_sets)});
  }
  return ranks;
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

Computation own_computation() { return {build_id(), chosen_instructions(), mathematics()}; }

struct Job::Impl {
  std::unique_ptr<Ranks> ranks;
  std::vector<RankInfo> infos;
  bool takes_rollouts = false;
};

Job::Job(std::unique_ptr<Ranks> ranks, RankTask task) : impl_(new Impl{std::move(ranks), {}, false}) {
  Ranks& all = *impl_->ranks;
  if (all.rank() != 0) {
    all.send(0, encode(own_hello(std::move(task))));
    const auto answer = decode_announcement(wait_for([&] { return all.announced(); }));
    if (const auto* refusal = std::get_if<Refusal>(&answer)) {
      all.leave();
      throw JobRefused(refusal->why);
    }
    agree_on(std::get<Welcome>(answer).instruction_sets);
    return;
  }
  const auto introduced = hellos(all, std::move(task));
  if (const auto why = objection(introduced); !why.empty()) {
    all.announce(encode(Refusal{why}));
    all.leave();
    throw JobRefused(why);
  }
  impl_->infos = infos(introduced);
  all.announce(encode(Welcome{common_sets(introduced)}));
  agree_on(common_sets(introduced));
}

Job::~Job() {
  if (impl_->ranks->rank() != 0) return;
  if (impl_->takes_rollouts) set_rollouts(nullptr);
  try {
    impl_->ranks->announce(encode(JobEnded{}));
    impl_->ranks->leave();
  } catch (const std::exception&) {
    // The run is over; whoever started the ranks ends those that are left.
  }
}

int Job::rank() const { return impl_->ranks->rank(); }
const std::vector<RankInfo>& Job::ranks() const { return impl_->infos; }
Traffic Job::traffic() const { return impl_->ranks->traffic(); }

void Job::take_rollouts() {
  impl_->takes_rollouts = true;
  set_rollouts([this](const Config& env, EnvFactory make_env, Policy prototype, int threads, const Safeguards& safeguards) {
    return make_rank_rollouts(*impl_->ranks, impl_->infos, env, std::move(make_env), std::move(prototype), threads, safeguards);
  });
}

void Job::serve() {
  serve_rollouts(*impl_->ranks);
  impl_->ranks->leave();
}

}  // namespace iap
