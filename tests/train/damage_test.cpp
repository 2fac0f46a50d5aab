#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
import iap.core;
import iap.env;
import iap.train;

#include "fake_env.hpp"
#include "run_files.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A run stopped after three of five iterations, and the bytes of its checkpoints.
struct Stopped {
  explicit Stopped(const std::filesystem::path& out, const Config& policy = fake_policy()) : options(small_run(out)) {
    options.policy = policy;
    options.on_iteration = [](const IterationReport& report) { return report.iteration < 3; };
    train(options);
    options.on_iteration = {};
    options.resume = true;
    newest = read_file(out / "checkpoint.iap");
    previous = read_file(out / "checkpoint.previous.iap");
  }
  std::string resume_error() const {
    try {
      train(options);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  TrainOptions options;
  std::string newest, previous;
};

/// A checkpoint of a run with moments, with `more` at its optimizer's end and `fewer` moments of its best policy.
std::string resealed(const std::string& checkpoint, const std::string& more, std::size_t fewer) {
  const std::string payload = unseal(checkpoint, "IAPCHECK", 2, "test");
  Reader reader(payload, "test");
  Writer writer;
  writer.put_string(reader.get_string());                        // what the run is
  writer.put(reader.get<std::uint32_t>());                       // iteration
  writer.put(reader.get<std::uint64_t>());                       // steps
  for (int i = 0; i < 3; ++i) writer.put(reader.get<double>());  // evaluations
  writer.put(reader.get<std::uint32_t>());                       // best iteration
  writer.put_all(std::span<const float>(reader.get_all<float>()));
  writer.put_string(reader.get_string() + more);
  writer.put_string(reader.get_string());  // what the run began at
  writer.put_all(std::span<const double>(reader.get_all<double>()));
  auto best = reader.get_all<double>();
  best.resize(best.size() - 3 * fewer);
  writer.put_all(std::span<const double>(best));
  return seal("IAPCHECK", 2, writer.bytes());
}

std::string flipped(std::string bytes, std::size_t position, int mask) {
  bytes[position] = static_cast<char>(bytes[position] ^ mask);
  return bytes;
}

}  // namespace

TEST_CASE("any flipped byte of the only checkpoint is an error that names the file") {
  const Scratch scratch("flip");
  const Stopped run(scratch / "run");
  std::filesystem::remove(scratch / "run/checkpoint.previous.iap");
  for (std::size_t position = 0; position < run.newest.size(); ++position) {
    INFO(position);
    write_text(scratch / "run/checkpoint.iap", flipped(run.newest, position, position % 2 ? 0x01 : 0xff));
    CHECK_THAT(run.resume_error(), ContainsSubstring("checkpoint.iap") && ContainsSubstring("cannot resume"));
  }
}

TEST_CASE("any shorter checkpoint is an error that names the file") {
  const Scratch scratch("short");
  const Stopped run(scratch / "run");
  std::filesystem::remove(scratch / "run/checkpoint.previous.iap");
  for (std::size_t size = 0; size < run.newest.size(); size += 3) {
    INFO(size);
    write_text(scratch / "run/checkpoint.iap", run.newest.substr(0, size));
    CHECK_THAT(run.resume_error(), ContainsSubstring("checkpoint.iap"));
  }
}

TEST_CASE("a damaged or missing newest checkpoint falls back to the previous one") {
  const Scratch scratch("fallback");
  TrainOptions plain = small_run(scratch / "whole");
  train(plain);
  const auto whole = run_content(plain.out);
  for (int kind = 0; kind < 4; ++kind) {
    INFO(kind);
    const auto out = scratch / std::to_string(kind);
    const Stopped run(out);
    const auto newest = out / "checkpoint.iap";
    if (kind == 0) std::filesystem::remove(newest);
    if (kind == 1) write_text(newest, flipped(run.newest, run.newest.size() / 2, 0x10));
    if (kind == 2) write_text(newest, "");
    if (kind == 3) write_text(newest, run.newest.substr(0, 100));
    // Interrupted at once, so that both files stand as the resumption left them: two good ones.
    TrainOptions interrupted = run.options;
    interrupted.make_env = fake_envs([](auto...) { request_interrupt(); });
    CHECK(train(interrupted).iterations == 2);
    clear_interrupt();
    CHECK(read_file(newest) == run.previous);
    CHECK(read_file(out / "checkpoint.previous.iap") == run.previous);
    CHECK_THAT(read_file(out / "log.txt"), ContainsSubstring("warning") && ContainsSubstring("checkpoint.iap"));
    CHECK(std::filesystem::exists(out / "checkpoint.damaged.iap") == (kind != 0));
    CHECK(run.resume_error() == "no error");
    CHECK(differences(whole, run_content(out)) == "");
  }
}

TEST_CASE("two damaged checkpoints are an error that names both, and nothing is touched") {
  const Scratch scratch("both");
  const Stopped run(scratch / "run");
  write_text(scratch / "run/checkpoint.iap", flipped(run.newest, 40, 1));
  write_text(scratch / "run/checkpoint.previous.iap", flipped(run.previous, 50, 1));
  const auto before = run_content(scratch / "run");
  CHECK_THAT(run.resume_error(), ContainsSubstring("checkpoint.iap") && ContainsSubstring("checkpoint.previous.iap"));
  CHECK(differences(before, run_content(scratch / "run")) == "");
}

TEST_CASE("a run without its checkpoints is not begun anew over its results") {
  const Scratch scratch("lost");
  const Stopped run(scratch / "run");
  std::filesystem::remove(scratch / "run/checkpoint.iap");
  std::filesystem::remove(scratch / "run/checkpoint.previous.iap");
  const auto before = run_content(scratch / "run");
  CHECK_THAT(run.resume_error(), ContainsSubstring("metrics.csv"));
  CHECK(differences(before, run_content(scratch / "run")) == "");
}

TEST_CASE("a checkpoint with more of an optimizer, or fewer moments of its best policy, does not fit") {
  const Scratch scratch("more");
  const Config normalised = Config::Map{{"kind", "normalise"}, {"over", "training"}};
  const Stopped run(scratch / "run", Config::Map{{"kind", "sequence"}, {"blocks", Config::List{normalised, fake_policy()}}});
  std::filesystem::remove(scratch / "run/checkpoint.previous.iap");
  CHECK(resealed(run.newest, "", 0) == run.newest);
  for (const auto& checkpoint : {resealed(run.newest, "8 bytes.", 0), resealed(run.newest, "", 1)}) {
    write_text(scratch / "run/checkpoint.iap", checkpoint);
    CHECK_THAT(run.resume_error(), ContainsSubstring("checkpoint.iap: does not fit this program's policy and optimizer"));
  }
  write_text(scratch / "run/checkpoint.iap", run.newest);
  CHECK(run.resume_error() == "no error");
}

TEST_CASE("a checkpoint whose optimizer does not fit is an error") {
  const Scratch scratch("fit");
  const Stopped run(scratch / "run");
  // A sealed file of the right kind whose payload ends early: the checksum is right, the content is not.
  const std::string payload = unseal(run.newest, "IAPCHECK", 1, "test");
  std::filesystem::remove(scratch / "run/checkpoint.previous.iap");
  for (std::size_t size = 0; size < payload.size(); size += 7) {
    write_text(scratch / "run/checkpoint.iap", seal("IAPCHECK", 1, std::string_view(payload).substr(0, size)));
    CHECK_THAT(run.resume_error(), ContainsSubstring("checkpoint.iap"));
  }
  write_text(scratch / "run/checkpoint.iap", seal("IAPCHECK", 4, payload));
  CHECK_THAT(run.resume_error(), ContainsSubstring("version 4"));
}
