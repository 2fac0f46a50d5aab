module;
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>
/// Processes of a job and the messages between them.
export module iap.ranks:types;
import iap.core;

export namespace iap {

/// What a rank sent and received since it began.
struct Traffic {
  std::uint64_t messages = 0, bytes_sent = 0, bytes_received = 0;
};

/// Messages between the processes of a job. Only one thread of each process calls it. Messages between two ranks keep their order,
/// and so do announcements; a message may overtake an announcement.
class Ranks {
 public:
  struct Message {
    int from = 0;
    std::string bytes;
  };
  virtual ~Ranks() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Sends without waiting for the receiver.
  virtual void send(int to, std::string bytes) = 0;
  /// The next message, if there is one.
  virtual std::optional<Message> receive() = 0;
  /// Rank 0: sends to all others. All of a message's bytes count once for each of them.
  virtual void announce(const std::string& bytes) = 0;
  /// Others: the next announcement, if it has come.
  virtual std::optional<std::string> announced() = 0;
  virtual Traffic traffic() const = 0;
  /// Leaves in good order, which all ranks do together, when the last announcement has been made and taken. Messages that are still
  /// under way are lost. A rank that goes without it ends the job.
  virtual void leave() = 0;
};

/// Why ranks cannot work together. Every rank throws it; rank 0 is the one to tell.
class JobRefused : public Error {
 public:
  using Error::Error;
};

/// What a rank was started for.
struct RankTask {
  std::vector<std::string> words;  ///< of its command line, those that are the same for all ranks of a job
  std::string trouble;             ///< why it cannot do it; "" if it can
};

/// A rank as it introduces itself.
struct RankInfo {
  std::string host;
  int threads = 1;  ///< episodes at a time, if nobody asks for another number
  std::string instruction_set;
};

}  // namespace iap
