module;
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>
/// What ranks say to each other.
module iap.ranks:messages;
import iap.core;
import iap.policy;
import iap.rollout;
import :types;

namespace iap {

// From each rank to rank 0, first of all.
struct Hello {
  std::string host, build;
  std::string cores;  ///< those that the rank may run on; ranks of one host with the same ones share them
  std::int32_t threads = 1;
  std::int64_t instruction_sets = 0;
  RankTask task;
  std::uint32_t mathematics = 0;  ///< what the C library's functions come to, in a number
  std::string libraries;          ///< those that compute physics, with their versions
};

// Announcements of rank 0 to all others.

struct Welcome {
  std::int64_t instruction_sets = 0;
};
struct Refusal {
  std::string why;
};
/// What is played from now on as `pool`.
struct PoolOpened {
  std::uint64_t pool = 0;
  RolloutSetup setup;
  Safeguards safeguards;
  std::vector<std::int32_t> threads;         ///< of each rank
  std::map<std::string, std::string> files;  ///< FilesRead of rank 0's environment
};
struct PoolClosed {
  std::uint64_t pool = 0;
};
/// Tasks are going to be dealt. Ends whatever of an earlier round is still being played.
struct Round {
  std::uint64_t round = 0, pool = 0;
  std::vector<Moment> moments;
  std::optional<Derivation> derivation;  ///< where vectors are members
  std::uint64_t parameters = 0;          ///< of a vector
  std::vector<float> vector;             ///< vector 0, where all tasks have the same one
};
/// The round is over.
struct RoundEnded {
  std::uint64_t round = 0;
};
struct JobEnded {};

using Announcement = std::variant<Welcome, Refusal, PoolOpened, PoolClosed, Round, RoundEnded, JobEnded>;

// From rank 0 to another.

struct LeasedTask {
  std::uint64_t task = 0;
  std::uint32_t vector = 0;
  std::uint64_t seed = 0;
  ActionNoise noise;
  bool keep_actions = false;
};
/// Tasks to play, after the round's announcement.
struct Lease {
  std::uint64_t round = 0;
  std::vector<LeasedTask> tasks;
  /// Vectors that the rank does not have yet, one behind the other, and their numbers.
  std::vector<std::uint32_t> numbers;
  std::vector<float> vectors;
};

// From another rank to rank 0.

/// How a task ended; or, whatever the task, that the rank was told to end, during the newest round that it knows or after it.
struct Result {
  std::uint64_t round = 0, task = 0;
  double seconds = 0;
  std::optional<Episode> episode;  ///< nothing: it failed
  std::string error;
  bool interrupted = false;  ///< in place of an error
  std::int32_t signal = 0;   ///< by what, as interrupt_signal has it
};

std::string encode(const Hello& hello);
std::string encode(const Announcement& announcement);
std::string encode(const Lease& lease);
std::string encode(const Result& result);

/// @throws Error for bytes that `encode` did not write.
Hello decode_hello(std::string_view bytes);
Announcement decode_announcement(std::string_view bytes);
Lease decode_lease(std::string_view bytes);
Result decode_result(std::string_view bytes);

}  // namespace iap
