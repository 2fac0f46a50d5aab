#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "helpers.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

constexpr double gib = 1 << 30;

/// A small machine, as long as it lives.
class SmallMachine {
 public:
  explicit SmallMachine(double bytes) { limit_usable_memory(bytes); }
  ~SmallMachine() { limit_usable_memory(std::numeric_limits<double>::infinity()); }
};

/// The most that the process ever held, MiB.
long most_held() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss >> 10;
}

// MiB; the address sanitizer keeps up to 256 of what was freed.
#if defined(__has_feature) && __has_feature(address_sanitizer)
constexpr long little = 512;
#else
constexpr long little = 64;
#endif

/// What `make` builds is refused with `part` in the message before memory is taken.
void refuses(const auto& make, const std::string& part, double machine = 4 * gib) {
  const SmallMachine small(machine);
  const long before = most_held();
  CHECK_THROWS_MATCHES(make(), Error, MessageMatches(ContainsSubstring(part)));
  CHECK(most_held() - before < little);
}

auto policy(const std::string& block, const ObservationSpec& spec, int actions = 1) {
  return [architecture = config(block), spec, actions] { Policy(architecture, spec, actions); };
}

std::string repeated(std::size_t count, const std::string& part) {
  std::string list;
  for (std::size_t i = 0; i < count; ++i) list += (i ? ", " : "") + part;
  return list;
}

std::string sequence(const std::string& blocks) { return "{'kind': 'sequence', 'blocks': [" + blocks + "]}"; }

std::string nested(int sequences, std::string block) {
  for (int i = 0; i < sequences; ++i) block = sequence(block);
  return block;
}

constexpr int longest = 1 << 24;

}  // namespace

TEST_CASE("layers of a cnn are weighed together") {
  const std::string layers = repeated(200, "{'channels': 1, 'kernel': 1}");
  refuses(policy("{'kind': 'cnn', 'layers': [" + layers + "]}", image_spec(4096, 4096, 1)),
          "policy: what its layers work in needs 25.1 GiB of memory, more than half of the ");
}

TEST_CASE("the zeros around a layer's input are weighed, too") {
  refuses(policy("{'kind': 'cnn', 'layers': [{'channels': 1, 'kernel': 256, 'stride': 256, 'padding': 'same'}]}",
                 image_spec(8190, 8190, 4), 1024),
          "policy: what its layers work in needs 2 GiB", 2.5 * gib);
}

TEST_CASE("heads of rank are weighed together, whatever they keep") {
  // A score of every patch; a square of d for orthogonal projections; what an encoding adds when weights are bound.
  refuses(policy("{'kind': 'rank', 'patch': 1, 'top': 1, 'heads': 64}", image_spec(16384, 16384, 1), 128),
          "policy: what its heads keep needs ");
  const std::string wide = "{'kind': 'rank', 'patch': 1, 'top': 1, 'heads': 64, 'd': 4096, 'kernel': 'exp', 'm': 1";
  refuses(policy(wide + "}", image_spec(8, 8, 1), 128), "policy: what its heads keep needs 8 GiB");
  CHECK_NOTHROW(policy(wide + ", 'ensemble': 'iid'}", image_spec(8, 8, 1), 128)());
  refuses(
      policy("{'kind': 'rank', 'patch': 1, 'top': 1, 'heads': 8, 'd': 512, 'encoding': 'sinusoidal'}", image_spec(512, 512, 1), 16),
      "policy: what its heads keep needs 8 GiB");
  refuses(policy("{'kind': 'rank', 'patch': 1, 'top': 1, 'heads': 64, 'kernel': 'hybrid', 'm': 2, 'r': 1024}",
                 image_spec(2048, 2048, 1), 128),
          "policy: what its heads keep needs ");
  refuses(policy("{'kind': 'rank', 'patch': 1, 'top': 1, 'heads': 64, 'kernel': 'exp', 'selection': 'sample'}",
                 image_spec(1024, 1024, 1), 128),
          "policy: what its heads keep needs ");
}

TEST_CASE("heads of trans are weighed together") {
  refuses(
      policy("{'kind': 'trans', 'patch': 1, 'tokens': 4, 'heads': 64, 'compression': 'average'}", image_spec(1024, 1024, 1), 2048),
      "policy: what its heads keep needs ");
  refuses(policy("{'kind': 'trans', 'patch': 1, 'tokens': 200, 'heads': 64, 'compression': 'average'}", image_spec(512, 512, 1),
                 102400),
          "policy: its compression needs 12.5 GiB");
}

TEST_CASE("codes of cross-attention and their directions are weighed") {
  refuses(policy("{'kind': 'cross', 'patch': 1, 'top': 1, 'kernel': 'exp', 'm': 1, 'ranking': 'hash', 'bits': 65536}",
                 image_spec(2048, 2048, 1), 2),
          "policy: what it keeps of its keys needs 32");
  refuses(policy("{'kind': 'cross', 'patch': 1, 'top': 1, 'd': 4, 'kernel': 'hybrid', 'm': 4096, 'r': 250, 'ranking': 'hash', "
                 "'bits': 65536}",
                 image_spec(8, 8, 1), 2),
          "policy: what it keeps of its keys needs 75");
}

TEST_CASE("images are weighed together: those that a file declares, and those that a mirror flips") {
  const std::string image = "{'name': 'a', 'height': 4096, 'width': 4096, 'channels': 4, 'type': 'uint8'}";
  const auto declared = [&](std::size_t count) {
    return [images = config("{'images': [" + repeated(count, image) + "], 'vector': 1}")] {
      observation_from_config(images, "x.iap");
    };
  };
  CHECK_NOTHROW(declared(1)());
  refuses(declared(64), "x.iap: observation: what its 64 images hold needs 32 GiB of memory");
  refuses(declared(1), "x.iap: observation: image 'a' needs 512 MiB of memory", gib / 2);
  const ImageSpec large{"a", {8192, 8192, 4, PixelType::uint8}};
  const ObservationSpec many{std::vector<ImageSpec>(64, large), 1};
  refuses(policy("{'kind': 'mirror', 'block': {'kind': 'linear'}}", many), "policy: what it sees in the mirror needs 16 GiB");
}

TEST_CASE("blocks of numbers are weighed by how many they read and hand on") {
  refuses(policy("{'kind': 'product'}", vector_spec(longest)), "policy: would hand over 140737496743936 values");
  refuses(policy("{'kind': 'normalise', 'over': 'training'}", vector_spec(longest), longest),
          "policy: what it keeps of its inputs needs 768 MiB", gib);
  refuses(policy(sequence(repeated(200, "{'kind': 'observation'}")), vector_spec(longest), longest),
          "block 'policy': what its blocks hand on needs 12.4 GiB");
  // One group has no pairs; nothing lists its inputs.
  const long before = most_held();
  CHECK_NOTHROW(policy("{'kind': 'product', 'groups': [16777216]}", vector_spec(longest), longest)());
  CHECK(most_held() - before < 4 * little);
}

TEST_CASE("a file's parameters are counted before there is room for those of its blocks") {
  const Config header = config(
      "{'architecture': {'kind': 'linear'}, 'observation': {'images': [], 'vector': 16777216}, 'action_size': 15, 'slices': "
      "[{'name': 'policy.weight', 'shape': [15, 16777216]}, {'name': 'policy.bias', 'shape': [15]}], 'metadata': {}}");
  const std::vector<float> three{1, 2, 3};
  Writer writer;
  writer.put_string(to_json(header));
  writer.put_all(std::span<const float>(three));
  const std::string file = seal("IAPPOLCY", 1, writer.bytes());
  refuses([&] { load_policy(file, "x.iap"); }, "x.iap: policy: got 3 parameters, it has 251658255");
}

TEST_CASE("a file is weighed with what reading it takes") {
  const auto path = std::filesystem::temp_directory_path() / text("iap_memory_test_", ::getpid(), ".iap");
  {
    std::ofstream(path) << "IAPPOLCY";
  }
  std::filesystem::resize_file(path, std::uintmax_t{100} << 20);
  refuses([&] { read_policy_file(path); }, "needs 200 MiB of memory, more than half of the 300 MiB", 300.0 * (1 << 20));
  std::filesystem::remove(path);
  // One that came through a pipe, say, and then the text that is longest as a table.
  Writer writer;
  writer.put_string(std::string(std::size_t{24} << 20, ' '));
  writer.put_all(std::span<const float>());
  const std::string file = seal("IAPPOLCY", 1, writer.bytes());
  refuses([&] { load_policy(file, "x.iap"); }, "x.iap: its content needs 24 MiB of memory", 40.0 * (1 << 20));
  refuses([&] { load_policy(file, "x.iap"); }, "x.iap: its header needs 1.5 GiB of memory", gib);
}

TEST_CASE("a policy is brought to another size in little memory") {
  // Between a wide and a tall image lies the square of both.
  const Policy wide(config(sequence("{'kind': 'trans', 'patch': 1, 'd': 1, 'tokens': 3, 'dv': 1, 'encoding': 'learned'}")),
                    image_spec(1, 4096, 1), 3);
  const long before = most_held();
  const Policy tall = resized(wide, image_spec(4096, 1, 1));
  CHECK(most_held() - before < little);
  CHECK(tall.size() == wide.size());
  const SmallMachine small(1 << 10);
  CHECK_THROWS_MATCHES(carried_parameters(wide, wide.parameters(), tall), Error,
                       MessageMatches(ContainsSubstring("policy: bringing it to another size needs ")));
}

TEST_CASE("a table is weighed before it is copied") {
  const Config large = Config::Map{{"kind", "linear"}, {"activation", std::string(std::size_t{48} << 20, 'x')}};
  refuses([&] { Policy(large, vector_spec(1), 1); }, "block 'policy' needs 304 MiB of memory", gib / 2);
}

TEST_CASE("at most sixteen blocks stand inside each other") {
  CHECK_NOTHROW(policy(nested(15, "{'kind': 'linear'}"), vector_spec(2))());
  refuses(policy(nested(16, "{'kind': 'linear'}"), vector_spec(2)),
          "1.linear: stands inside 16 other blocks, at most 15 are allowed; take some of them out");
  // Each of these would keep the list once more.
  const std::string mirror = "{'kind': 'mirror', 'block': {'kind': 'linear'}, 'odd': [" + repeated(100'000, "1") + "]}";
  refuses(policy(nested(90, mirror), vector_spec(2)), "stands inside 16 other blocks");
}

TEST_CASE("a policy has at most 4096 blocks, of short names") {
  const std::string block = "{'kind': 'normalise'}";
  refuses(policy(sequence(repeated(4097, block)), vector_spec(1)),
          "policy: option 'blocks' lists 4097 blocks, a policy may have 4096; take fewer");
  const std::string half = sequence(repeated(2100, block));
  refuses(policy(sequence(half + ", " + half), vector_spec(1)), "there are more than the 4096 blocks that a policy may have");
  refuses(policy(sequence("{'kind': 'linear', 'name': '" + std::string(101, 'x') + "'}"), vector_spec(1)),
          "a name is at most 100 letters");
  CHECK_NOTHROW(policy(sequence("{'kind': 'linear', 'name': '" + std::string(100, 'x') + "'}"), vector_spec(1))());
}

TEST_CASE("an interrupt ends the building of many blocks, and leaves few to be built") {
  const auto blocks = [](std::size_t count) { return policy(sequence(repeated(count, "{'kind': 'normalise'}")), vector_spec(1)); };
  request_interrupt();
  CHECK_NOTHROW(blocks(20)());
  CHECK_THROWS_AS(blocks(300)(), Interrupted);
  clear_interrupt();
  CHECK_NOTHROW(blocks(300)());
}

TEST_CASE("summaries give every array to its block, however many there are") {
  const Policy many(config(sequence(repeated(500, "{'kind': 'linear', 'units': 2}"))), vector_spec(2), 2);
  const std::string table = many.summary();
  CHECK_THAT(table, ContainsSubstring("500.linear"));
  std::size_t rows = 0;
  for (std::size_t at = table.find("  6\n"); at != table.npos; at = table.find("  6\n", at + 1)) ++rows;
  CHECK(rows == 500);
  // A row that is wider than a screen does not widen the others.
  const std::string hidden = repeated(4000, "1");
  const Policy wide(config("{'kind': 'sequence', 'blocks': [{'kind': 'mlp', 'units': 1, 'hidden': [" + hidden + "]}, " +
                           repeated(50, "{'kind': 'linear', 'units': 1}") + "]}"),
                    vector_spec(1), 1);
  CHECK(wide.summary().size() < 40'000);
}
