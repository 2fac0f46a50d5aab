module;
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>
module iap.ranks;
import iap.core;
import :types;

namespace iap {
namespace {

/// What is on its way to one rank.
struct Inbox {
  std::mutex mutex;
  std::deque<Ranks::Message> messages;
  std::deque<std::string> announcements;
};

template <typename T>
std::optional<T> first_of(std::mutex& mutex, std::deque<T>& queue) {
  const std::lock_guard lock(mutex);
  if (queue.empty()) return {};
  std::optional<T> first = std::move(queue.front());
  queue.pop_front();
  return first;
}

class ThreadRanks final : public Ranks {
 public:
  ThreadRanks(int rank, std::shared_ptr<std::vector<Inbox>> inboxes) : rank_(rank), inboxes_(std::move(inboxes)) {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(inboxes_->size()); }

  void send(int to, std::string bytes) override {
    count_sent(bytes);
    Inbox& inbox = inbox_of(to);
    const std::lock_guard lock(inbox.mutex);
    inbox.messages.push_back({rank_, std::move(bytes)});
  }

  std::optional<Message> receive() override {
    Inbox& inbox = inbox_of(rank_);
    auto message = first_of(inbox.mutex, inbox.messages);
    if (message) count_received(message->bytes);
    return message;
  }

  void announce(const std::string& bytes) override {
    for (int to = 0; to < size(); ++to) {
      if (to == rank_) continue;
      count_sent(bytes);
      Inbox& inbox = inbox_of(to);
      const std::lock_guard lock(inbox.mutex);
      inbox.announcements.push_back(bytes);
    }
  }

  std::optional<std::string> announced() override {
    Inbox& inbox = inbox_of(rank_);
    auto announcement = first_of(inbox.mutex, inbox.announcements);
    if (announcement) count_received(*announcement);
    return announcement;
  }

  Traffic traffic() const override { return traffic_; }
  void leave() override {}

 private:
  Inbox& inbox_of(int rank) { return inboxes_->at(static_cast<std::size_t>(rank)); }
  void count_sent(const std::string& bytes) {
    ++traffic_.messages;
    traffic_.bytes_sent += bytes.size();
  }
  void count_received(const std::string& bytes) {
    ++traffic_.messages;
    traffic_.bytes_received += bytes.size();
  }

  int rank_;
  std::shared_ptr<std::vector<Inbox>> inboxes_;
  Traffic traffic_;
};

}  // namespace

std::vector<std::unique_ptr<Ranks>> thread_ranks(int size) {
  if (size < 1) throw Error(text("there must be at least one rank, got ", size));
  const auto inboxes = std::make_shared<std::vector<Inbox>>(static_cast<std::size_t>(size));
  std::vector<std::unique_ptr<Ranks>> ranks;
  for (int rank = 0; rank < size; ++rank) ranks.push_back(std::make_unique<ThreadRanks>(rank, inboxes));
  return ranks;
}

}  // namespace iap
