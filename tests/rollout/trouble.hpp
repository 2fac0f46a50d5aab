#pragma once
// Included after `import iap.core; import iap.env;`.
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "../train/fake_env.hpp"
#include "core/files_read.hpp"

/// Answers in the place of the worker that it runs in, a byte each 5 ms, and for 20 s at most.
inline void trickle() {
  constexpr int channel = 3;  // channel_descriptor of iap.process
  const std::uint64_t size = 1'000'000;
  std::ignore = write(channel, &size, sizeof size);
  for (int i = 0; i < 4000; ++i) {
    std::ignore = write(channel, "x", 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::_Exit(3);
}

/// A FakeEnv as the table {name = "fake", trouble, seed, marker} describes it: in its third step of the episode of `seed` it is in
/// `trouble`, and where `marker` names a file only as long as that is missing, which it writes: so, once. The trouble "run COMMAND"
/// waits for a command of the shell. It reads the file that `reads` names.
inline std::unique_ptr<iap::Env> make_troubled(const iap::Config& config) {
  const auto string = [&config](const char* key) {
    const iap::Config* found = config.find(key);
    return found && found->string() ? *found->string() : std::string();
  };
  const std::string trouble = string("trouble"), marker = string("marker");
  if (const std::filesystem::path read = string("reads"); !read.empty()) iap::note_contents("art", {&read, 1});
  if (trouble == "unbuildable") throw iap::Error("this world cannot be built");
  const iap::Config* wanted = config.find("seed");
  const std::int64_t bad = wanted ? wanted->integer().value_or(-1) : -1;
  return std::make_unique<FakeEnv>(12, [=](std::uint64_t seed, int step, iap::StepResult& result) {
    if (step != 3 || static_cast<std::int64_t>(seed) != bad) return;
    if (!marker.empty()) {
      if (std::filesystem::exists(marker)) return;
      std::ofstream(marker) << "met";
    }
    if (trouble == "crash") std::abort();
    if (trouble == "exit") std::_Exit(3);
    if (trouble == "throw") throw std::runtime_error("a world of trouble");
    if (trouble == "unstable") result.unstable = true;
    if (trouble == "nan") result.reward = std::strtod("nan", nullptr);
    if (trouble == "hang") std::this_thread::sleep_for(std::chrono::hours(1));
    if (trouble == "trickle") trickle();
    if (trouble.starts_with("run ")) std::ignore = std::system(trouble.c_str() + 4);
    if (trouble == "leak") {
      std::vector<std::vector<char>> hoard;
      while (hoard.size() < 4096) hoard.emplace_back(std::size_t{16} << 20, '\1');
    }
    if (trouble == "fill") {  // and leaves nothing for whoever wants to tell
      for (std::size_t size = std::size_t{1} << 20; size > 8;)
        if (::operator new(size, std::nothrow) == nullptr) size /= 2;
      throw std::bad_alloc();
    }
  });
}
