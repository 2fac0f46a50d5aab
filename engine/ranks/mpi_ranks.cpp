module;
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "ranks/mpi_table.hpp"
module iap.ranks;
import iap.core;
import iap.plugin;
import :types;

namespace iap {
namespace {

constexpr PluginKind open_mpi{"openmpi", iap_mpi_version,
                              "install Debian's package iap-openmpi on every host, or build with libopenmpi-dev"};
constexpr PluginKind mpich{"mpich", iap_mpi_version,
                           "install Debian's package iap-mpich on every host, or build with libmpich-dev"};

constexpr auto poll_interval = std::chrono::microseconds(100);
/// How long rank 0 waits for ranks that do not take their leave, such as for one whose environment hangs.
constexpr auto longest_farewell = std::chrono::minutes(1);

void check(const char* error) {
  if (error) throw Error(text("MPI: ", error));
}

/// Announcements are broadcasts of a length and then of as many bytes. No message but the last of each rank is empty.
class MpiRanks final : public Ranks {
 public:
  explicit MpiRanks(const iap_mpi_table& mpi) : mpi_(mpi) {
    check(mpi_.begin());
    rank_ = mpi_.rank();
    size_ = mpi_.size();
    if (rank_ != 0) await_length();
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void send(int to, std::string bytes) override {
    clear();
    ++traffic_.messages;
    traffic_.bytes_sent += bytes.size();
    Outgoing& out = outgoing_.emplace_back(std::move(bytes));
    check(mpi_.send(to, out.bytes.data(), out.bytes.size(), &out.ticket));
  }

  std::optional<Message> receive() override {
    clear();
    Message message;
    std::size_t size = 0;
    while (mpi_.waiting(&message.from, &size)) {
      message.bytes.resize(size);
      check(mpi_.take(message.bytes.data()));
      count_received(size);
      if (size > 0) return message;
      ++farewells_;  // it may come before the announcement that the job is over
    }
    return {};
  }

  void announce(const std::string& bytes) override {
    clear();
    const auto others = static_cast<std::uint64_t>(size_ - 1);
    traffic_.messages += others;
    traffic_.bytes_sent += others * bytes.size();
    const std::uint64_t length = bytes.size();
    std::string head(sizeof length, '\0');
    std::memcpy(head.data(), &length, sizeof length);
    for (const std::string& part : {head, bytes}) {
      Outgoing& out = outgoing_.emplace_back(part);
      check(mpi_.broadcast(out.bytes.data(), out.bytes.size(), &out.ticket));
    }
  }

  std::optional<std::string> announced() override {
    if (!mpi_.sent(ticket_)) return {};
    if (!content_) {
      content_.emplace(length_, '\0');
      check(mpi_.broadcast(content_->data(), content_->size(), &ticket_));
      if (!mpi_.sent(ticket_)) return {};
    }
    std::optional<std::string> announcement = std::exchange(content_, std::nullopt);
    count_received(announcement->size());
    await_length();
    return announcement;
  }

  Traffic traffic() const override { return traffic_; }

  /// A large message is sent only where it is received, and MPI ends only when all is sent. So each side takes what there is until
  /// the other one's last message, an empty one, says that this was all. Where a rank has died, its launcher ends the job.
  void leave() override {
    const int first = rank_ == 0 ? 1 : 0, end = rank_ == 0 ? size_ : 1;
    for (int other = first; other < end; ++other) send(other, "");
    const auto begin = Clock::now();
    while (farewells_ < end - first || !outgoing_.empty()) {
      if (receive()) continue;
      if (rank_ == 0 && Clock::now() - begin > longest_farewell) return;  // without good order: that ends the job
      std::this_thread::sleep_for(poll_interval);
    }
    // The others await a length: none ends that.
    if (rank_ == 0) await_length();
    while (!mpi_.sent(ticket_)) std::this_thread::sleep_for(poll_interval);
    check(mpi_.end());
  }

 private:
  struct Outgoing {
    std::string bytes;
    std::uint64_t ticket = 0;
  };

  void count_received(std::size_t bytes) {
    ++traffic_.messages;
    traffic_.bytes_received += bytes;
  }

  /// On rank 0, which sends it, the last one.
  void await_length() { check(mpi_.broadcast(&length_, sizeof length_, &ticket_)); }

  /// Forgets what has been sent, first come first served.
  void clear() {
    while (!outgoing_.empty() && mpi_.sent(outgoing_.front().ticket)) outgoing_.pop_front();
  }

  const iap_mpi_table& mpi_;
  int rank_ = 0, size_ = 1, farewells_ = 0;
  std::deque<Outgoing> outgoing_;  // elements stay where they are
  std::uint64_t length_ = 0, ticket_ = 0;
  std::optional<std::string> content_;  // of the announcement whose length is known
  Traffic traffic_;
};

const PluginKind& plugin_for(const Launch& launch) {
  if (launch.launcher == "MPICH") return mpich;
  // Under srun either can be right: what is installed decides.
  if (launch.launcher == "Slurm" && find_plugin(open_mpi.name).empty() && !find_plugin(mpich.name).empty()) return mpich;
  return open_mpi;
}

}  // namespace

std::unique_ptr<Ranks> mpi_ranks(const Launch& launch) {
  const PluginKind& plugin = plugin_for(launch);
  auto ranks = std::make_unique<MpiRanks>(plugin_table<iap_mpi_table>(plugin));
  if (ranks->size() != launch.size)
    throw Error(text("MPI: ", launch.launcher, " started ", launch.size, " processes, but MPI finds ", ranks->size(),
                     "; start them with the launcher of that MPI (", plugin.name,
                     "), or with srun --mpi=", &plugin == &mpich ? "pmi2" : "pmix"));
  return ranks;
}

}  // namespace iap
