#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/pictures.hpp"
#include "host/texts.hpp"
#include "train/run_files.hpp"
import iap.core;
import iap.env;
import iap.envs;
import iap.policy;
import iap.rollout;
import iap.script;
import iap.train;

using namespace iap::host;

struct iap_rollouts {
  iap_rollouts(iap::Policy given, iap::Config env_config, iap::Config record, int threads)
      : policy(std::move(given)),
        metadata(std::move(record)),
        moments(policy.moments().begin(), policy.moments().end()),
        pool([config = placed(std::move(env_config))] { return iap::make_env(config); }, policy.clone(), threads) {}

  iap::Policy policy;
  iap::Config metadata;
  std::vector<iap::Moment> moments;
  iap::RolloutPool pool;
  std::string error;
};

namespace {

constexpr std::size_t most_together = 100'000'000;

struct Sources {
  const char* function;
  const char* env;
  const char* policy;
  iap::Trust trust;
};

/// The pool's environments are made of what the first one became, which holds its Lua texts: files may change before they are made.
/// @throws BadArgument where iap.train refuses the policy, as what its blocks keep of episodes would come into returns.
iap_rollouts* rollouts_of(const Sources& from, iap::Policy policy, const iap::EnvSpec& spec, iap::Config record, int threads) {
  const std::string kept = iap::kept_across_episodes(policy);
  require(kept.empty(), from.function, ": 'policy': ", kept);
  return new iap_rollouts(std::move(policy), spec.config, std::move(record), threads);
}

/// `env_record` of the environment that a policy file with `metadata` names: it was made again of all that it had become, and only
/// the file tells which of that somebody had given it.
iap::Config own_record(const iap::EnvSpec& spec, const iap::Config& metadata) {
  constexpr const char* given = "env_given";
  iap::Config record = iap::env_record(spec);
  record.map()->erase(given);
  if (const iap::Config* recorded = metadata.find(given)) record[given] = *recorded;
  return record;
}

/// A policy as a file brings it or as blocks on the environment of `env`, which a file may name.
iap_rollouts* from_file(const Sources& from, int threads) {
  iap::PolicyFile file = [&] {
    try {
      return iap::open_policy(from.policy, from.trust);
    } catch (const iap::Error& error) {
      throw BadFile(error.what());
    }
  }();
  const iap::Config* own = iap::recorded_env(file.metadata);
  require(from.env || own, from.function, ": 'env' is null, and the policy does not say which environment it is for");
  const auto env = make_named_env(from.function, "env", from.env ? env_text(from.function, "env", from.env) : *own);
  try {
    iap::check_fit(env->spec(), file.policy);
    // Clocks and what is saved follow the environment's time step, as those of a training that begins at this policy.
    if (const auto& seen = env->spec().observation; seen.dt != file.policy.observation().dt)
      file.policy = iap::resized(file.policy, seen);
  } catch (const iap::Error& error) {
    throw BadArgument(iap::text(from.function, ": 'policy': ", error.what()));
  }
  iap::Config record = from.env ? iap::env_record(env->spec()) : own_record(env->spec(), file.metadata);
  return rollouts_of(from, std::move(file.policy), env->spec(), std::move(record), threads);
}

iap_rollouts* from_blocks(const Sources& from, int threads) {
  const std::string source = iap::text(from.function, ": 'policy'");
  const auto env = make_named_env(from.function, "env", env_text(from.function, "env", from.env));
  try {
    iap::Policy policy(host_table(from.policy, source), env->spec().observation, env->spec().action_size);
    policy.initialise(0);
    return rollouts_of(from, std::move(policy), env->spec(), iap::env_record(env->spec()), threads);
  } catch (const iap::Error& error) {
    const std::string message = error.what();
    throw BadArgument(message.starts_with(source) ? message : iap::text(source, ": ", message));
  }
}

iap_status make(const Sources& from, std::int32_t threads, iap_rollouts** out, char* message, std::size_t size) noexcept {
  return making(message, size, [&] {
    require(out, from.function, ": 'rollouts' is null; it receives the rollouts");
    require(from.policy, from.function, ": 'policy' is null; give blocks as a table, or the path of a policy file");
    const int workers = checked_threads(from.function, threads);
    iap::register_lua();
    *out = is_table(from.policy) ? from_blocks(from, workers) : from_file(from, workers);
  });
}

/// Checks the two arguments that parameters come or go by.
void check_parameters(const char* function, const iap_rollouts& rollouts, const float* parameters, std::size_t count) {
  require(parameters, function, ": 'parameters' is null; the policy has ", counted(rollouts.policy.size(), "parameter"));
  require(count == rollouts.policy.size(), function, ": 'parameter_count' is ", count, "; the policy has ",
          counted(rollouts.policy.size(), "parameter"));
}

/// @throws BadArgument naming the first parameter that is not finite.
void check_finite(const char* function, std::span<const float> parameters, std::size_t size) {
  const std::size_t bad = iap::first_not_finite(parameters);
  if (bad == parameters.size()) return;
  const std::string member = parameters.size() > size ? iap::text(" of member ", bad / size) : "";
  throw BadArgument(
      iap::text(function, ": 'parameters' holds ", parameters[bad], " as value ", bad % size, member, "; give finite values"));
}

/// What the caller asks of one run, checked.
iap_rollout_options checked_options(const iap_rollout_options* given, std::size_t members) {
  constexpr const char* function = "iap_rollouts_run";
  check_struct(function, "'options'", "iap_rollout_options", given);
  const auto options = read_struct(given);
  require(options.episodes >= 1 && options.episodes <= std::uint32_t{iap::most_episodes}, function, ": 'options.episodes' is ",
          options.episodes, "; give 1 to ", iap::most_episodes);
  require(members <= most_together / options.episodes, function, ": 'options.episodes' is ", options.episodes, "; give all ",
          counted(members, "member"), " together at most ", most_together);
  require(options.seeds >= IAP_SEEDS_COMMON && options.seeds <= IAP_SEEDS_EVALUATION, function, ": 'options.seeds' is ",
          options.seeds, "; give IAP_SEEDS_COMMON, _PAIRS, _OWN or _EVALUATION");
  try {
    iap::check_memory(
        iap::text(function, ": 'options.episodes' (", options.episodes, " for each of ", counted(members, "member"), ")"),
        (sizeof(iap::RolloutTask) + sizeof(iap::Episode)) * static_cast<double>(members) * options.episodes);
  } catch (const iap::Error& error) {
    throw BadArgument(error.what());
  }
  return options;
}

std::uint64_t seed_of(const iap_rollout_options& options, std::size_t member, std::size_t episode) {
  if (options.seeds == IAP_SEEDS_EVALUATION) return iap::evaluation_seed(options.seed, episode);
  const auto shared = options.seeds == IAP_SEEDS_COMMON  ? iap::EpisodeSeeds::common
                      : options.seeds == IAP_SEEDS_PAIRS ? iap::EpisodeSeeds::pairs
                                                         : iap::EpisodeSeeds::own;
  return iap::training_seed(options.seed, options.iteration, shared, member, episode);
}

std::vector<iap::Episode> play(iap_rollouts& rollouts, std::span<const float> population, std::size_t members,
                               const iap_rollout_options& options) {
  const std::size_t size = rollouts.policy.size();
  std::vector<iap::RolloutTask> tasks;
  tasks.reserve(members * options.episodes);
  for (std::size_t member = 0; member < members; ++member)
    for (std::size_t episode = 0; episode < options.episodes; ++episode)
      tasks.push_back({population.subspan(member * size, size),
                       seed_of(options, member, episode),
                       std::span<const iap::Moment>(rollouts.moments),
                       {}});
  auto played = rollouts.pool.run(std::span<const iap::RolloutTask>(tasks));
  if (options.seeds == IAP_SEEDS_EVALUATION) return played;
  // In the order of the tasks, so that sums do not depend on the number of threads.
  auto moments = rollouts.moments;
  for (const auto& episode : played)
    for (std::size_t k = 0; k < moments.size(); ++k) moments[k].merge(episode.gathered[k]);
  rollouts.moments = std::move(moments);
  return played;
}

/// While it lives, a file that may not grow (ulimit -f) is an error to this thread's writes, as a full disk is, and ends no
/// process.
class GrowthFails {
 public:
  GrowthFails() {
    sigset_t pending;
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
  }
  ~GrowthFails() {
    const timespec at_once{};
    if (!was_pending_) sigtimedwait(&signal_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  GrowthFails(const GrowthFails&) = delete;
  GrowthFails& operator=(const GrowthFails&) = delete;

 private:
  sigset_t signal_, before_;
  bool was_pending_;
};

}  // namespace

extern "C" {

iap_status iap_rollouts_make(const char* env, const char* policy, int32_t threads, iap_rollouts** rollouts, char* message,
                             size_t message_size) {
  return make({"iap_rollouts_make", env, policy, iap::Trust::no}, threads, rollouts, message, message_size);
}

iap_status iap_rollouts_make_trusted(const char* env, const char* policy, int32_t threads, iap_rollouts** rollouts, char* message,
                                     size_t message_size) {
  return make({"iap_rollouts_make_trusted", env, policy, iap::Trust::yes}, threads, rollouts, message, message_size);
}

void iap_rollouts_free(iap_rollouts* rollouts) { destroy(rollouts); }
const char* iap_rollouts_error(const iap_rollouts* rollouts) {
  return rollouts ? rollouts->error.c_str() : "the rollouts are null";
}
size_t iap_rollouts_parameter_count(const iap_rollouts* rollouts) { return rollouts ? rollouts->policy.size() : 0; }

iap_status iap_rollouts_initial(iap_rollouts* rollouts, uint64_t seed, float* parameters, size_t parameter_count) {
  return on(rollouts, [&] {
    check_parameters("iap_rollouts_initial", *rollouts, parameters, parameter_count);
    iap::Policy drawn = rollouts->policy.clone();
    drawn.initialise(seed);
    std::ranges::copy(drawn.parameters(), parameters);
  });
}

iap_status iap_rollouts_parameters(iap_rollouts* rollouts, float* parameters, size_t parameter_count) {
  return on(rollouts, [&] {
    check_parameters("iap_rollouts_parameters", *rollouts, parameters, parameter_count);
    std::ranges::copy(rollouts->policy.parameters(), parameters);
  });
}

iap_status iap_rollouts_run(iap_rollouts* rollouts, const float* parameters, size_t members, size_t parameter_count,
                            const iap_rollout_options* options, double* returns, uint32_t* steps) {
  return on(rollouts, [&] {
    check_parameters("iap_rollouts_run", *rollouts, parameters, parameter_count);
    const auto asked = checked_options(options, members);
    require(members >= 1, "iap_rollouts_run: 'members' is 0; a population has at least 1");
    require(returns, "iap_rollouts_run: 'returns' is null; it receives ", members, " x ", asked.episodes, " values");
    const std::span<const float> population(parameters, members * parameter_count);
    check_finite("iap_rollouts_run", population, parameter_count);
    const auto played = play(*rollouts, population, members, asked);
    for (size_t i = 0; i < played.size(); ++i) {
      returns[i] = played[i].total;
      if (steps) steps[i] = static_cast<uint32_t>(played[i].steps);
    }
  });
}

iap_status iap_rollouts_save(iap_rollouts* rollouts, const char* path, const float* parameters, size_t parameter_count) {
  return on(rollouts, [&] {
    require(path, "iap_rollouts_save: 'path' is null");
    check_parameters("iap_rollouts_save", *rollouts, parameters, parameter_count);
    check_finite("iap_rollouts_save", {parameters, parameter_count}, parameter_count);
    iap::Policy saved = rollouts->policy.clone();
    saved.set_parameters({parameters, parameter_count});
    if (!rollouts->moments.empty()) saved.set_moments(std::span<const iap::Moment>(rollouts->moments));
    const GrowthFails limit;
    try {
      iap::refuse_run_file(path);
      iap::write_policy_file(path, saved, rollouts->metadata);
    } catch (const iap::Error& error) {
      throw BadFile(error.what());
    }
  });
}

}  // extern "C"
