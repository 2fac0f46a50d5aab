// Ctrl-C is heard within one forward, however much a file makes of it.
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "helpers.hpp"

using namespace iap;

namespace {

/// Asks for an interrupt after a moment, and takes it back at the end.
class Interrupt {
 public:
  Interrupt() : asks_([] { std::this_thread::sleep_for(std::chrono::milliseconds(200)), request_interrupt(); }) {}
  ~Interrupt() {
    asks_.join();
    clear_interrupt();
  }
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

 private:
  std::thread asks_;
};

/// Each takes many seconds of the processor, most of them minutes.
const std::vector<std::string> slow{
    // A layer's weights, one after the other over the whole image.
    "{'kind': 'cnn', 'padding': 'same', 'layers': [{'channels': 16, 'kernel': 256}]}",
    "{'kind': 'cnn', 'layers': [{'channels': 16, 'kernel': 1, 'pool': 256, 'pool_stride': 1}]}",
    // What a patch shows, of many patches.
    "{'kind': 'trans', 'patch': 1, 'd': 1, 'tokens': 1, 'compression': 'average', 'values': 'convolution', 'convolution_size': "
    "255}",
    "{'kind': 'trans', 'patch': 512, 'stride': 1, 'd': 1, 'tokens': 1, 'compression': 'average', 'values': 'histogram'}",
    "{'kind': 'look', 'patch': 512, 'stride': 1, 'd': 1}",
    // Queries and keys of large patches that overlap, and many features of them.
    "{'kind': 'rank', 'patch': 512, 'stride': 1, 'd': 16, 'top': 1}",
    "{'kind': 'rank', 'patch': 1, 'd': 1, 'kernel': 'hybrid', 'm': 512, 'r': 256, 'ensemble': 'iid', 'top': 1}",
    "{'kind': 'cross', 'patch': 8, 'd': 256, 'kernel': 'relu', 'ranking': 'hash', 'bits': 65536, 'top': 1}",
};

std::string chain(const std::string& block) { return "{'kind': 'sequence', 'blocks': [{'kind': 'observation'}, " + block + "]}"; }

/// The policy of that block alone, whatever it hands over.
Policy policy_of(const std::string& block, const ObservationSpec& spec) {
  ParameterLayout layout;
  const int outputs = make_block(config(chain(block)), {&spec, 1, spec.vector, true, "policy"}, layout)->outputs();
  Policy made(config(chain(block)), spec, outputs);
  made.initialise(1);
  return made;
}

}  // namespace

TEST_CASE("an interrupt is heard within a forward") {
  const ObservationSpec spec = image_spec(1024, 1024, 1, 1);
  const Frame frame(spec, 1);
  for (const std::string& block : slow) {
    CAPTURE(block);
    Policy policy = policy_of(block, spec);
    policy.reset();
    const std::clock_t begin = std::clock();  // of the processor: the machine may be busy with other things
    const Interrupt interrupt;
    CHECK_THROWS_AS(act(policy, frame), Interrupted);
    CHECK(std::clock() - begin < 10 * CLOCKS_PER_SEC);
  }
}

TEST_CASE("after an interrupt the next episode is as it would have been") {
  for (const auto& entry : block_catalog()) {
    CAPTURE(entry.name);
    if (entry.name == "script") continue;  // built by the script layer
    Config architecture = parse_json(entry.example, "example");
    architecture["kind"] = entry.name;
    const Config chain = Config::Map{{"kind", "sequence"}, {"blocks", Config::List{architecture, Config::Map{{"kind", "linear"}}}}};
    const ObservationSpec spec = image_spec(24, 32, 3, 3);
    Policy policy(chain, spec, 2);
    policy.initialise(3);
    Policy other = policy.clone();
    const Frame first(spec, 1), second(spec, 2);
    other.reset();
    policy.reset();
    CHECK(act(policy, first) == act(other, first));
    request_interrupt();
    CHECK_THROWS_AS(act(policy, second), Interrupted);
    clear_interrupt();
    policy.reset();
    other.reset();
    CHECK(act(policy, first) == act(other, first));
    CHECK(act(policy, second) == act(other, second));
  }
}

TEST_CASE("what an interrupt keeps from taking new parameters takes them before it acts") {
  const ObservationSpec spec = image_spec(512, 512, 1, 1);
  const Frame frame(spec, 1);
  Policy policy = policy_of("{'kind': 'rank', 'patch': 4, 'stride': 1, 'd': 16, 'top': 4, 'encoding': 'sinusoidal'}", spec);
  Policy other = policy.clone();
  other.initialise(2);
  policy.reset();
  other.reset();
  REQUIRE(act(policy, frame) != act(other, frame));
  request_interrupt();
  CHECK_THROWS_AS(policy.set_parameters(other.parameters()), Interrupted);
  clear_interrupt();
  policy.reset();
  other.reset();
  CHECK(act(policy, frame) == act(other, frame));
}
