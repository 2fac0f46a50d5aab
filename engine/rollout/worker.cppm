module;
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
/// A process that plays, and what the two sides say to each other: frames, each a length and so many bytes.
module iap.rollout:worker;
import iap.core;
import iap.policy;
import :messages;
import :player;
import :safeguards;
import :types;

namespace iap {

/// One end of a stream between two processes.
class Channel {
 public:
  /// Two ends of a stream, which no child has but by name. @throws Error.
  static std::array<Channel, 2> pair();
  explicit Channel(int descriptor) : descriptor_(descriptor) {}
  Channel(Channel&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Channel& operator=(Channel&&) = delete;
  ~Channel() { close(); }

  int descriptor() const { return descriptor_; }
  void close();
  /// Sends a frame, or takes one. Meanwhile `idle` is called some 50 times a second by the clock, however the bytes trickle and
  /// whatever wakes the wait: what it throws ends the call, and with it the use of the channel. False where the other end is gone.
  bool send(std::string_view bytes, const std::function<void()>& idle);
  bool receive(std::string& bytes, const std::function<void()>& idle);

 private:
  bool move(char* bytes, std::size_t size, bool out, const std::function<void()>& idle);

  int descriptor_;
  Clock::time_point idled_{};  ///< when `idle` was last called
};

/// What a worker that is not needed any more has to end in good order, before it is killed.
inline constexpr std::chrono::seconds time_to_go{1};

/// First of all, to a worker.
struct WorkerOrder {
  RolloutSetup setup;
  std::int64_t instruction_sets = 0;
  std::int32_t memory = 0;  ///< as Safeguards::worker_memory
};

/// A worker's answer: that it is ready (nothing), or an episode; or what went wrong.
struct WorkerAnswer {
  std::string error;
  Episode episode;
  std::string files;  ///< of a ready one: what its environment read that travels with nothing, in words
};

std::string encode(const WorkerOrder& order);
std::string encode(const RolloutTask& task);
std::string encode(const WorkerAnswer& answer);

/// What a task points to, kept.
struct KeptTask {
  std::vector<float> parameters;
  std::vector<Moment> moments;
  RolloutTask task;
};

/// @throws Error for bytes that `encode` did not write.
WorkerOrder decode_order(std::string_view bytes);
std::unique_ptr<KeptTask> decode_task(std::string_view bytes);
WorkerAnswer decode_answer(std::string_view bytes);

/// @throws Error with the remedy if no program was named (set_worker) that plays episodes.
void require_worker();
/// Starts a process (set_worker) that builds environment and policy, and lets it play. It ends with the object, or when this
/// process does, whatever it is doing. `files` gets what the environment read. @throws Error where it cannot be started or cannot
/// build them.
std::unique_ptr<Player> worker_player(const RolloutSetup& setup, const Safeguards& safeguards, std::string& files);

}  // namespace iap
