#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>
import iap.core;
import iap.env;
import iap.policy;
import iap.rollout;

#include "trouble.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

constexpr std::int64_t bad_seed = 5;

Config troubled(const std::string& trouble) { return Config::Map{{"name", "fake"}, {"trouble", trouble}, {"seed", bad_seed}}; }

/// With moments, so that what episodes gather crosses over too.
Policy policy() {
  const Config blocks = Config::List{Config::Map{{"kind", "normalise"}, {"over", "training"}},
                                     Config(Config::Map{{"kind", "linear"}, {"activation", "tanh"}})};
  Policy made(Config::Map{{"kind", "sequence"}, {"blocks", blocks}}, FakeEnv().spec().observation, 2);
  made.initialise(3);
  return made;
}

std::unique_ptr<Rollouts> pool(const Config& env, int threads, const Safeguards& safeguards) {
  set_worker(IAP_ROLLOUT_WORKER, {"worker"});
  return open_rollouts(env, [env] { return make_troubled(env); }, policy(), threads, safeguards);
}

std::vector<Episode> play(Rollouts& rollouts, std::size_t count = 12, std::span<const Moment> moments = {}) {
  const Policy played = policy();
  std::vector<RolloutTask> tasks;
  for (std::size_t i = 0; i < count; ++i)
    tasks.push_back({.parameters = played.parameters(),
                     .seed = i,
                     .moments = moments,
                     .noise = {.deviation = 0.1, .seed = i + 100},
                     .keep_actions = true});
  return rollouts.run(tasks);
}

bool same(const std::vector<Episode>& a, const std::vector<Episode>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].total != b[i].total || a[i].steps != b[i].steps || a[i].truncated != b[i].truncated ||
        a[i].gathered != b[i].gathered || a[i].actions != b[i].actions)
      return false;
  return true;
}

std::string failure_of(const std::string& trouble, const Safeguards& safeguards) {
  const auto rollouts = pool(troubled(trouble), 2, safeguards);
  try {
    play(*rollouts);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

double seconds_of(auto work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

struct Marker {
  Marker() { std::filesystem::remove(path); }
  ~Marker() { std::filesystem::remove(path); }
  std::string path = (std::filesystem::temp_directory_path() / ("iap-isolation-" + std::to_string(getpid()))).string();
};

/// Hears what a program says that an environment started, until the program is gone.
class Ear {
 public:
  Ear() {
    mkfifo(marker_.path.c_str(), 0600);
    descriptor_ = open(marker_.path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  }
  ~Ear() { close(descriptor_); }
  Ear(const Ear&) = delete;
  Ear& operator=(const Ear&) = delete;

  /// The trouble of a program that says "begun" and then does as `commands` say.
  std::string program(const std::string& commands) const { return "run exec >'" + marker_.path + "'; echo begun; " + commands; }
  /// Waits for words, half a minute at most. Whether there may be more.
  bool hear() {
    pollfd news = {descriptor_, POLLIN, 0};
    if (poll(&news, 1, 30'000) != 1) {
      words_ += "and is still there";
      return false;
    }
    std::array<char, 64> bytes{};
    const ssize_t size = read(descriptor_, bytes.data(), bytes.size());
    if (size > 0) words_.append(bytes.data(), static_cast<std::size_t>(size));
    return size > 0;
  }
  std::string all() {
    while (hear()) {
    }
    return words_;
  }

 private:
  Marker marker_;
  int descriptor_;
  std::string words_;
};

/// While it lives, a signal comes every 5 ms, as a profiler's does.
class Ticking {
 public:
  Ticking() {
    struct sigaction heard = {};
    heard.sa_handler = [](int) {};
    sigaction(SIGALRM, &heard, &before_);
    tick(5000);
  }
  ~Ticking() {
    tick(0);
    sigaction(SIGALRM, &before_, nullptr);
  }
  Ticking(const Ticking&) = delete;
  Ticking& operator=(const Ticking&) = delete;

 private:
  static void tick(int microseconds) {
    const itimerval interval = {{0, microseconds}, {0, microseconds}};
    setitimer(ITIMER_REAL, &interval, nullptr);
  }

  struct sigaction before_ = {};
};

constexpr const char* orphan_test = "plays until it is killed";
constexpr const char* orphan_trouble = "IAP_ISOLATION_TROUBLE";

}  // namespace

TEST_CASE("a task without moments works with those of the prototype, whatever was played before") {
  Policy prototype = policy();
  const std::vector<Moment> own(prototype.moments().size(), Moment{100, 3, 5000}), others(own.size(), Moment{50, -1, 90});
  prototype.set_moments(own);
  const Config env = troubled("");
  std::vector<Episode> plain;
  for (const bool isolate : {false, true}) {
    set_worker(IAP_ROLLOUT_WORKER, {"worker"});
    const auto rollouts =
        open_rollouts(env, [env] { return make_troubled(env); }, prototype.clone(), 1, Safeguards{.isolate = isolate});
    const auto told = play(*rollouts, 4, own), before = play(*rollouts, 4);
    CHECK(same(before, told));
    CHECK_FALSE(same(play(*rollouts, 4, others), told));
    CHECK(same(play(*rollouts, 4), told));
    if (isolate) CHECK(same(told, plain));
    plain = told;
  }
}

TEST_CASE("isolated episodes are those of threads, bit for bit") {
  const auto reference = play(*pool(troubled(""), 1, {}));
  for (const int threads : {1, 3}) {
    const auto rollouts = pool(troubled(""), threads, {.isolate = true});
    CHECK(same(play(*rollouts), reference));
    CHECK(same(play(*rollouts), reference));
  }
}

TEST_CASE("what fails once is played again and changes no bit") {
  const auto reference = play(*pool(troubled(""), 1, {}));
  for (const std::string trouble : {"crash", "exit", "throw", "nan"}) {
    CAPTURE(trouble);
    const Marker marker;
    Config env = troubled(trouble);
    env["marker"] = marker.path;
    CHECK(same(play(*pool(env, 2, {.isolate = true})), reference));
    CHECK(std::filesystem::exists(marker.path));
  }
  // In this process what throws can be played again as well.
  const Marker marker;
  Config env = troubled("throw");
  env["marker"] = marker.path;
  CHECK(same(play(*pool(env, 2, {.retries = 1})), reference));
}

TEST_CASE("what fails every time is told with environment and seed") {
  CHECK_THAT(failure_of("crash", {.isolate = true}),
             ContainsSubstring("environment 'fake', seed 5: the process that played it was killed by signal 6"));
  CHECK_THAT(failure_of("exit", {.isolate = true}), ContainsSubstring("seed 5: the process that played it ended with exit code 3"));
  CHECK_THAT(failure_of("throw", {.isolate = true}), ContainsSubstring("'fake', seed 5, step 3: a world of trouble"));
  CHECK_THAT(failure_of("throw", {.retries = 2}), ContainsSubstring("'fake', seed 5, step 3: a world of trouble"));
  CHECK_THAT(failure_of("unbuildable", {.isolate = true, .failed_return = 0}), ContainsSubstring("this world cannot be built"));
  CHECK_THAT(failure_of("hang", {.episode_timeout = 0.5, .retries = 0}),
             ContainsSubstring("seed 5: took longer than 0.5 s and was cut off (episode_timeout)"));
}

#if !defined(__has_feature) || (!__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer))
TEST_CASE("an environment that leaks fails within its memory") {
  CHECK_THAT(failure_of("leak", {.worker_memory = 512, .retries = 0}),
             ContainsSubstring("seed 5, step 3: out of memory (it needed more than worker_memory = 512 MiB)"));
  const std::string filled = failure_of("fill", {.worker_memory = 512, .retries = 0});
  CHECK_THAT(filled, StartsWith("environment 'fake', seed 5") && ContainsSubstring("worker_memory = 512 MiB"));
}
#endif

TEST_CASE("what fails every time may count as configured") {
  const auto reference = play(*pool(troubled(""), 1, {}));
  for (const std::string trouble : {"crash", "hang", "nan"}) {
    CAPTURE(trouble);
    const auto rollouts =
        pool(troubled(trouble), 2, {.isolate = true, .episode_timeout = 0.5, .retries = 0, .failed_return = -7.5});
    const auto episodes = play(*rollouts);
    for (std::size_t i = 0; i < episodes.size(); ++i) {
      const bool bad = i == static_cast<std::size_t>(bad_seed);
      CHECK(episodes[i].total == (bad ? -7.5 : reference[i].total));
      CHECK(episodes[i].failure.empty() != bad);
      CHECK(episodes[i].gathered.size() == reference[i].gathered.size());
      CHECK(episodes[i].actions == (bad ? std::vector<float>() : reference[i].actions));
    }
    CHECK(episodes[5].gathered[0].count == 0);
  }
  const auto rollouts = pool(troubled("throw"), 2, {.retries = 2, .failed_return = -7.5});
  const auto episodes = play(*rollouts);
  for (std::size_t i = 0; i < episodes.size(); ++i) CHECK(episodes[i].retries == (i == static_cast<std::size_t>(bad_seed) ? 2 : 0));
}

TEST_CASE("an episode that becomes unstable in a process of its own says so") {
  const auto episodes = play(*pool(troubled("unstable"), 2, {.isolate = true}));
  for (std::size_t i = 0; i < episodes.size(); ++i) {
    CHECK(episodes[i].unstable == (i == static_cast<std::size_t>(bad_seed)));
    CHECK(episodes[i].terminated == episodes[i].unstable);
  }
}

TEST_CASE("an environment may take longer to build than an episode may last") {
  const auto rollouts = pool(troubled(""), 1, {.episode_timeout = 1, .retries = 0});
  set_worker("/bin/sh", {"sh", "-c", "sleep 1.5; exec '" IAP_ROLLOUT_WORKER "'"});
  CHECK_NOTHROW(play(*rollouts));
}

TEST_CASE("an interrupt ends what hangs") {
  const auto rollouts = pool(troubled("hang"), 2, {.isolate = true});
  const double seconds = seconds_of([&] {
    const std::jthread asks([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      request_interrupt();
    });
    CHECK_THROWS_AS(play(*rollouts), Interrupted);
  });
  clear_interrupt();
  CHECK(seconds < 30);
}

TEST_CASE("an episode's time is over however its worker's answer trickles") {
  const double seconds = seconds_of([] {
    CHECK_THAT(failure_of("trickle", {.episode_timeout = 0.5, .retries = 0}),
               ContainsSubstring("seed 5: took longer than 0.5 s and was cut off (episode_timeout)"));
  });
  CHECK(seconds < 15);
}

TEST_CASE("signals that come all the time postpone neither the end of an episode's time nor an interrupt") {
  const double seconds = seconds_of([] {
    const Ticking ticking;
    // On this thread, which the signals go to.
    CHECK_THROWS_WITH(play(*pool(troubled("hang"), 1, {.episode_timeout = 0.5, .retries = 0})),
                      ContainsSubstring("took longer than 0.5 s"));
    const auto rollouts = pool(troubled("hang"), 1, {.isolate = true});
    const std::jthread asks([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      request_interrupt();
    });
    CHECK_THROWS_AS(play(*rollouts), Interrupted);
  });
  clear_interrupt();
  CHECK(seconds < 15);
}

TEST_CASE("what an environment started ends with the process that played it") {
  Ear ear;
  const auto rollouts = pool(troubled(ear.program("exec sleep 60")), 1, {.isolate = true});
  {
    const std::jthread asks([&ear] {
      ear.hear();
      request_interrupt();
    });
    CHECK_THROWS_AS(play(*rollouts), Interrupted);
  }
  clear_interrupt();
  CHECK(ear.all() == "begun\n");
}

TEST_CASE("what an environment started is waited for by a process that is given it") {
  REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);  // as process 1 is
  CHECK_THAT(failure_of("run sleep 300 & sleep 300 & sleep 300", {.isolate = true, .episode_timeout = 0.3, .retries = 0}),
             ContainsSubstring("seed 5"));
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST_CASE("what an environment started does not hide that its process died") {
  Ear ear;
  const double seconds = seconds_of([&] {
    CHECK_THAT(failure_of(ear.program("sleep 60 & kill -KILL $PPID"), {.isolate = true, .retries = 0}),
               ContainsSubstring("seed 5: the process that played it was killed by signal 9"));
  });
  CHECK(seconds < 30);
  CHECK(ear.all() == "begun\n");
}

TEST_CASE("what an environment starts gets the signals that its process does not end by") {
  Ear ear;
  const auto episodes = play(*pool(troubled(ear.program("kill -TERM $$; echo deaf")), 1, {.isolate = true}));
  CHECK(same(episodes, play(*pool(troubled(""), 1, {}))));
  CHECK(ear.all() == "begun\n");
}

TEST_CASE("a process that takes another one's place plays in the files that this one read, or the run ends") {
  Marker art;
  art.path += "-art";
  for (const bool changed : {false, true})
    for (const std::optional<double> failed_return : {std::optional<double>(), std::optional<double>(7)}) {
      std::ofstream(art.path) << "old";
      const Marker once;
      Config env = troubled(text("run ", changed ? "echo newer >'" + art.path + "'; " : "", "kill -KILL $PPID"));
      env["reads"] = art.path;
      env["marker"] = once.path;
      const auto rollouts = pool(env, 1, {.isolate = true, .failed_return = failed_return});
      if (changed)
        CHECK_THROWS_WITH(play(*rollouts), ContainsSubstring("other files ('art': 1 file, 6 bytes") &&
                                               ContainsSubstring("than it began with ('art': 1 file, 3 bytes"));
      else
        CHECK(same(play(*rollouts), play(*pool(troubled(""), 1, {}))));
    }
}

TEST_CASE(orphan_test, "[.orphan]") { play(*pool(troubled(std::getenv(orphan_trouble)), 1, {.isolate = true})); }

TEST_CASE("what an environment started ends with the process that it is played for") {
  Ear ear;
  setenv(orphan_trouble, ear.program("exec sleep 60").c_str(), 1);
  const pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", "test_rollout", orphan_test, nullptr);
    _exit(127);
  }
  ear.hear();
  kill(child, SIGKILL);
  CHECK(waitpid(child, nullptr, 0) == child);
  CHECK(ear.all() == "begun\n");
}

TEST_CASE("what cannot be isolated is refused") {
  const auto fake = [] { return std::make_unique<FakeEnv>(); };
  CHECK_THROWS_WITH(open_rollouts({}, fake, policy(), 1, {.isolate = true}), ContainsSubstring("the host builds itself"));
  CHECK_THROWS_WITH(open_rollouts(troubled(""), fake, policy(), 1, {.worker_memory = 3}), ContainsSubstring("'worker_memory'"));
  set_worker("/nowhere/worker", {"worker"});
  const auto rollouts = open_rollouts(troubled(""), fake, policy(), 1, {.isolate = true});
  CHECK_THROWS_WITH(play(*rollouts), ContainsSubstring("cannot start /nowhere/worker: No such file"));
}
