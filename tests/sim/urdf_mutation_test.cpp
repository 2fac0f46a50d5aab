// Damaged texts: each is loaded or is one error, and the libraries print nothing.
#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>
import iap.core;
import iap.envs.legged;
import iap.sim;

using namespace iap;

namespace {

// What is written to stdout and stderr goes into a file meanwhile.
class Captured {
 public:
  explicit Captured(const std::filesystem::path& file) : file_(file) {
    std::fflush(nullptr);
    out_ = dup(1), error_ = dup(2);
    const int to = open(file.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    dup2(to, 1), dup2(to, 2);
    close(to);
  }
  ~Captured() { end(); }
  std::string end() {
    if (out_ < 0) return {};
    std::fflush(nullptr);
    dup2(out_, 1), dup2(error_, 2);
    close(out_), close(error_);
    out_ = -1;
    return read_file(file_);
  }

 private:
  std::filesystem::path file_;
  int out_ = -1, error_ = -1;
};

// Cuts, copies and exchanges pieces, changes single characters, and puts numbers where none belong.
std::string mutated(std::string urdf, Random& random) {
  const auto position = [&] { return random.below(static_cast<std::uint32_t>(urdf.size())); };
  const int changes = 1 + static_cast<int>(random.below(4));
  for (int i = 0; i < changes && urdf.size() > 100; ++i) {
    const std::size_t at = position(), length = random.below(60);
    switch (random.below(6)) {
      case 0: urdf.erase(at, length); break;
      case 1: urdf.insert(at, urdf.substr(position(), length)); break;
      case 2: urdf[at] = static_cast<char>(random.below(256)); break;
      case 3: urdf.resize(at); break;
      case 4: urdf.insert(at, 1, "<>/\"= -.e9&"[random.below(11)]); break;
      default: {
        constexpr const char* numbers[]{"-1", "1e400", "nan", "", "1 2", "-1e300", "0", "FR_toe"};
        const auto quote = urdf.find("=\"", at);
        const auto end = quote == std::string::npos ? quote : urdf.find('"', quote + 2);
        if (end != std::string::npos) urdf.replace(quote + 2, end - quote - 2, numbers[random.below(8)]);
      }
    }
  }
  return urdf;
}

}  // namespace

TEST_CASE("damaged robots load or are one error, silently") {
  const auto file = std::filesystem::temp_directory_path() / text("iap_urdf_mutation_", getpid());
  int loaded = 0, refused = 0, impossible = 0;
  std::vector<std::string> messages;
  {
    Captured captured(file);
    for (int trial = 0; trial < 250; ++trial) {
      Random random({.seed = 5, .episode = static_cast<std::uint32_t>(trial)});
      const std::string urdf = mutated(std::string(legged_urdf(trial % 2 == 0 ? "a1" : "laikago")), random);
      RobotDescription robot;
      try {
        robot = parse_urdf(urdf, "damaged.urdf");
        ++loaded;
      } catch (const Error& error) {
        messages.emplace_back(error.what());
        ++refused;
        continue;
      }
      try {
        for (const auto& engine : robot_engines()) {
          RobotWorld world(robot, {.engine = engine});
          world.step(std::vector<double>(world.joints().size()), 3);
        }
      } catch (const Error& error) {
        messages.emplace_back(error.what());
        ++impossible;
      }
    }
    CHECK(captured.end().empty());
  }
  std::filesystem::remove(file);
  CAPTURE(loaded, refused, impossible);
  CHECK(loaded > 10);
  CHECK(refused > 100);
  for (const auto& message : messages) {
    CAPTURE(message);
    CHECK(message.size() > 20);
    CHECK(message.size() < 1000);
  }
}
