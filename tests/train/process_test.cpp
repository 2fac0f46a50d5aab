#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>
import iap.core;
import iap.env;
import iap.train;

#include "fake_env.hpp"
#include "run_files.hpp"

// Runs in processes of their own, which can be killed.

using namespace iap;
using Catch::Matchers::ContainsSubstring;

namespace {

/// `last`: the step about which the child kills itself; 0: never.
pid_t start_child(const std::filesystem::path& out, int last, const char* loud = "quiet",
                  const std::filesystem::path& errors = "/dev/null") {
  const std::string step = std::to_string(last);
  const pid_t child = ::fork();
  if (child == 0) {
    const int file = ::open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    ::dup2(file, STDERR_FILENO);
    ::execl(IAP_TRAIN_CHILD, IAP_TRAIN_CHILD, out.c_str(), step.c_str(), loud, static_cast<char*>(nullptr));
    ::_exit(127);
  }
  return child;
}

/// The exit status, or minus the signal that ended it.
int wait_for(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

// A kill comes from another thread, so that it hits training, evaluation and the writing of files alike.
TEST_CASE("a run killed at random moments resumes to the same end") {
  const Scratch scratch("kill");
  TrainOptions options = small_run(scratch / "whole");
  options.iterations = 20;
  train(options);
  const auto whole = run_content(options.out);
  constexpr std::uint32_t most_steps = 300;  // of some 2300 that the run takes
  Random random(31);
  for (int chain = 0; chain < 3; ++chain) {
    const auto out = scratch / std::to_string(chain);
    for (int attempt = 0; attempt < 5; ++attempt)
      CHECK(wait_for(start_child(out, static_cast<int>(1 + random.below(most_steps)))) == -SIGKILL);
    REQUIRE(wait_for(start_child(out, 0)) == 0);
    CHECK(differences(whole, run_content(out)) == "");
    CHECK(read_rows(out / "metrics.csv").size() == 22);
  }
}

TEST_CASE("progress in a pipe is a plain line for every evaluation; a quiet run prints nothing") {
  const Scratch scratch("progress");
  REQUIRE(wait_for(start_child(scratch / "run", 0, "loud", scratch / "errors")) == 0);
  const std::string lines = read_file(scratch / "errors");
  for (int iteration = 0; iteration <= 20; iteration += 2)
    CHECK_THAT(lines, ContainsSubstring("iteration " + std::to_string(iteration) + "/20  "));
  CHECK_THAT(lines, ContainsSubstring("return") && ContainsSubstring("eval") && ContainsSubstring("steps/s"));
  CHECK(lines.find('\r') == std::string::npos);
  CHECK(lines.find('\x1b') == std::string::npos);
  REQUIRE(wait_for(start_child(scratch / "quiet", 0, "quiet", scratch / "errors")) == 0);
  CHECK(read_file(scratch / "errors").empty());
}

namespace {

/// What a run in the folder `out`, which does not exist, shows on a terminal of `columns` that calls itself `kind`.
std::string shown_on_terminal(const std::filesystem::path& out, int columns, const char* kind = "xterm") {
  REQUIRE(::setenv("TERM", kind, 1) == 0);
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(terminal >= 0);
  REQUIRE(::grantpt(terminal) == 0);
  REQUIRE(::unlockpt(terminal) == 0);
  const std::string name = ::ptsname(terminal);
  // Held open here, so that what the child wrote can still be read after its end.
  const int other_end = ::open(name.c_str(), O_RDWR | O_NOCTTY);
  winsize size{.ws_row = 24, .ws_col = static_cast<unsigned short>(columns)};
  REQUIRE(::ioctl(terminal, TIOCSWINSZ, &size) == 0);
  const pid_t child = start_child(out, 0, "loud", name);
  std::string shown;
  char buffer[4096];
  REQUIRE(::fcntl(terminal, F_SETFL, O_NONBLOCK) == 0);
  int status = 0;
  bool ended = false;
  for (;;) {
    const ssize_t got = ::read(terminal, buffer, sizeof buffer);
    if (got > 0) {
      shown.append(buffer, static_cast<std::size_t>(got));
      continue;
    }
    if (ended) break;
    ended = ::waitpid(child, &status, WNOHANG) == child;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ::close(other_end);
  ::close(terminal);
  CHECK(WEXITSTATUS(status) == 0);
  return shown;
}

/// The parts of the lines that were drawn, by the count in them ("3/20"), the bar left out.
std::map<std::string, std::vector<std::string>> drawn_parts(const std::string& shown) {
  std::map<std::string, std::vector<std::string>> parts;
  for (std::size_t begin = shown.find('\r'); begin != std::string::npos;) {
    const std::size_t end = shown.find("\x1b[K", ++begin);
    std::string line = shown.substr(begin, end - begin);
    begin = shown.find('\r', begin);
    if (line.starts_with('[')) line.erase(0, line.find(']') + 2);
    if (line.empty() || line.find('\n') != std::string::npos) continue;
    const std::string count = line.substr(0, line.find("  "));
    for (std::size_t at = count.size(); at < line.size();) {
      const std::size_t next = std::min(line.find("  ", at + 2), line.size());
      parts[count].push_back(line.substr(at + 2, next - at - 2));
      at = next;
    }
  }
  return parts;
}

}  // namespace

TEST_CASE("a progress line leaves out whole figures where the terminal is narrow") {
  const Scratch scratch("narrow");
  const auto all = drawn_parts(shown_on_terminal(scratch / "wide", 200));
  REQUIRE(all.size() >= 20);
  std::size_t most = 1000;
  for (const int columns : {80, 50, 40, 30, 20, 9}) {
    INFO(columns);
    std::size_t shown = 0;
    for (const auto& [count, parts] : drawn_parts(shown_on_terminal(scratch / std::to_string(columns), columns))) {
      INFO(count);
      for (const auto& part : parts) {
        INFO(part);
        const bool moves = part.starts_with("ETA ") || part.ends_with(" steps/s");
        CHECK((moves || std::ranges::count(all.at(count), part) > 0));
      }
      shown += parts.size();
      const auto has = [&](const char* name) {
        return std::ranges::any_of(parts, [&](const std::string& part) { return part.starts_with(name); });
      };
      if (columns == 80 && count != "0/20" && count != "20/20") CHECK((has("return ") && has("best eval ") && has("ETA ")));
      if (columns == 40 && count != "0/20") CHECK((has("return ") && has("best eval ")));
    }
    CHECK(shown <= most);
    most = shown;
  }
}

TEST_CASE("progress on a terminal is one line that is drawn again, no wider than the terminal, between two that stay") {
  const Scratch scratch("terminal");
  const std::string shown = shown_on_terminal(scratch / "run", 60);
  CHECK_THAT(shown, ContainsSubstring("20/20") && ContainsSubstring("[##########] 20/20") && ContainsSubstring("\x1b[K"));
  // A line before it that says where the run goes, and one after it that says what came out.
  REQUIRE(std::ranges::count(shown, '\n') == 3);
  REQUIRE(shown.ends_with('\n'));
  const std::size_t first = shown.find('\n') + 1, last = shown.rfind('\n', shown.size() - 2);
  CHECK_THAT(shown.substr(0, first), ContainsSubstring("run: begins, 20 iterations"));
  CHECK_THAT(shown.substr(last), ContainsSubstring("run: ends at iteration 20 of 20; best evaluation"));
  for (std::size_t begin = first; begin < last;) {
    const std::size_t end = std::min(shown.find('\r', begin), last);
    CHECK(end - begin <= 59 + std::string("\x1b[K").size());
    begin = end + 1;
  }
}

TEST_CASE("progress on a terminal that cannot erase is plain lines") {
  const Scratch scratch("dumb");
  for (const char* kind : {"dumb", ""}) {
    INFO(kind);
    const std::string shown = shown_on_terminal(scratch / ("run" + std::string(kind)), 60, kind);
    CHECK_THAT(shown, ContainsSubstring("iteration 20/20  ") && !ContainsSubstring("\x1b") && !ContainsSubstring("[###"));
  }
}
