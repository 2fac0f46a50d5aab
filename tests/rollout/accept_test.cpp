#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>
import iap.core;
import iap.env;
import iap.policy;
import iap.rollout;

#include "../train/fake_env.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Equals;

// Environments of a C++ host that break their word.

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();

constexpr int never = 100;

/// Shows `shown` from the step `from` on.
class ShowingEnv : public FakeEnv {
 public:
  ShowingEnv(std::vector<float> shown, int from, bool unstable = false)
      : FakeEnv(12, [this](auto, int step, StepResult& result) { tell(step, result); }),
        shown_(std::move(shown)),
        from_(from),
        unstable_(unstable) {
    spec_.state_names = {"east", "north"};
  }
  void reset(std::uint64_t seed) override {
    FakeEnv::reset(seed);
    step_ = 0;
  }
  Observation observe() override { return step_ < from_ ? FakeEnv::observe() : Observation{{}, shown_}; }

 private:
  void tell(int step, StepResult& result) {
    step_ = step;
    result.unstable = unstable_ && step >= from_;
  }

  std::vector<float> shown_;
  int from_, step_ = 0;
  bool unstable_;
};

/// A picture of one float.
class FloatPicture : public FakeEnv {
 public:
  explicit FloatPicture(ImageView view) : view_(view) {
    spec_.observation = {.images = {{"depth", {1, 1, 1, PixelType::float32}}}};
  }
  Observation observe() override { return {{&view_, 1}, {}}; }

 private:
  ImageView view_;
};

Policy some_policy(const EnvSpec& spec) { return {fake_policy(), spec.observation, spec.action_size}; }

template <typename Work>
std::string message_of(Work work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// What a batch of two says, the second of which shows `shown`.
std::string batch_message(const std::vector<float>& shown, int from, bool unstable = false) {
  int made = 0;
  EnvBatch batch(
      [&]() -> std::unique_ptr<Env> {
        if (made++ == 0) return std::make_unique<ShowingEnv>(std::vector<float>(2), never);
        return std::make_unique<ShowingEnv>(shown, from, unstable);
      },
      2, 1);
  return message_of([&] {
    const std::array<std::uint64_t, 2> seeds{5, 6};
    const std::array<float, 4> actions{};
    batch.reset(seeds);
    for (int i = 0; i < 4; ++i) batch.step(actions);
  });
}

}  // namespace

TEST_CASE("an observation that is not finite is the environment's failure, by step, number, name and value") {
  Policy policy = some_policy(FakeEnv().spec());
  const auto played = [&](std::vector<float> shown, int from) {
    return message_of([&] {
      ShowingEnv env(std::move(shown), from);
      run_episode(env, policy, 77);
    });
  };
  CHECK_THAT(played({0, not_a_number}, 0), Equals("environment 'fake', seed 77, step 1: before it, value 2 ('north') of the "
                                                  "observed vector is nan"));
  CHECK_THAT(played({-infinity, 0}, 3), ContainsSubstring("step 4: before it, value 1 ('east') of the observed vector is -inf"));
  CHECK_THAT(played({0}, 3), ContainsSubstring("the observed vector has size 1, the spec says 2"));
  CHECK_THAT(played({0, 1}, 3), Equals("no error"));
  // Nobody decides on what the last step shows.
  CHECK_THAT(played({0, not_a_number}, 12), Equals("no error"));
}

TEST_CASE("pictures of floats are looked at as well, and pictures are as the spec says") {
  const float good = 0.5F;
  const auto played = [](ImageView view) {
    return message_of([&] {
      FloatPicture env(view);
      Policy policy(Config::Map{{"kind", "cnn"}, {"layers", Config::List{Config::Map{{"channels", 2}, {"kernel", 1}}}}},
                    env.spec().observation, 2);
      run_episode(env, policy, 1);
    });
  };
  CHECK_THAT(played({{1, 1, 1, PixelType::float32}, &infinity}), ContainsSubstring("value 1 of the observed image 'depth' is inf"));
  CHECK_THAT(played({{1, 1, 1, PixelType::float32}, nullptr}), ContainsSubstring("the observed image 'depth' has no pixels"));
  CHECK_THAT(played({{2, 1, 1, PixelType::float32}, &good}), ContainsSubstring("the observed image 'depth' is 2 x 1"));
}

TEST_CASE("such an environment fails as others do: an episode counts failed_return, and without one the run ends") {
  Policy policy = some_policy(FakeEnv().spec());
  const auto make = [] { return std::make_unique<ShowingEnv>(std::vector<float>{infinity, 0}, 2); };
  const std::array<RolloutTask, 1> tasks{RolloutTask{.parameters = policy.parameters(), .seed = 4}};
  RolloutPool lenient(make, policy.clone(), 1, {.failed_return = -5});
  const auto episodes = lenient.run(tasks);
  CHECK(episodes[0].total == -5);
  CHECK((!episodes[0].terminated && !episodes[0].truncated && episodes[0].steps == 0));
  CHECK_THAT(episodes[0].failure, ContainsSubstring("value 1 ('east') of the observed vector is inf"));
  RolloutPool strict(make, policy.clone(), 1);
  CHECK_THAT(message_of([&] { strict.run(tasks); }), ContainsSubstring("seed 4, step 3: before it, value 1 ('east')"));
}

TEST_CASE("a batch looks at what its environments show") {
  CHECK_THAT(batch_message({0, infinity}, 0),
             Equals("environment 1 of the batch: 'fake', after the reset: value 2 ('north') of the observed vector is inf"));
  CHECK_THAT(batch_message({not_a_number, 0}, 3),
             ContainsSubstring("'fake', after step 3: value 1 ('east') of the observed vector is nan"));
  // What is larger would be written beyond the batch's memory.
  CHECK_THAT(batch_message(std::vector<float>(1000), 2), ContainsSubstring("the observed vector has size 1000, the spec says 2"));
  CHECK_THAT(batch_message({0, not_a_number}, 3, true), Equals("no error"));
}

TEST_CASE("an unstable step ends its environment's episode in a batch, whatever else it says") {
  EnvBatch batch([] { return std::make_unique<ShowingEnv>(std::vector<float>(2), 2, true); }, 2, 1);
  batch.reset(std::array<std::uint64_t, 2>{5, 6});
  const std::array<float, 4> actions{1, 1, 1, 1};
  for (const bool unstable : {false, true, false, false, true}) {
    const auto results = batch.step(actions);
    for (const auto& result : results) CHECK((result.unstable == unstable && result.terminated == unstable));
  }
}

TEST_CASE("a batch hands out no reward that is not finite, and names environment, step and value") {
  const auto paid = [](double reward, bool unstable) {
    EnvBatch batch(fake_envs([=](std::uint64_t seed, int step, StepResult& result) {
                     if (seed != 6 || step != 3) return;
                     result.reward = reward;
                     result.unstable = unstable;
                   }),
                   2, 2);
    const std::array<std::uint64_t, 2> seeds{5, 6}, others{7, 8};
    const std::array<float, 4> actions{};
    batch.reset(seeds);
    const std::string said = message_of([&] {
      for (int i = 0; i < 4; ++i) batch.step(actions);
    });
    // What failed stands still until it is reset, and then goes on.
    if (said != "no error") CHECK_THAT(message_of([&] { batch.step(actions); }), ContainsSubstring("has failed; reset it"));
    batch.reset(others);
    CHECK_THAT(message_of([&] { batch.step(actions); }), Equals("no error"));
    return said;
  };
  const std::string where = "environment 1 of the batch: 'fake', after step 3: the reward is ";
  CHECK_THAT(paid(not_a_number, false), Equals(where + "nan; rewards must be finite"));
  CHECK_THAT(paid(-infinity, true), Equals(where + "-inf; rewards must be finite"));
  CHECK_THAT(paid(1e308, false), Equals("no error"));
}

TEST_CASE("specs that cannot be are refused before anything is played, whatever a failed episode counts") {
  class Made : public FakeEnv {
   public:
    explicit Made(const std::function<void(EnvSpec&)>& change) { change(spec_); }
  };
  const Policy policy = some_policy(FakeEnv().spec());
  const auto refused = [&](const std::function<void(EnvSpec&)>& change, const std::string& reason) {
    INFO(reason);
    const EnvFactory make = [&] { return std::make_unique<Made>(change); };
    CHECK_THAT(message_of([&] { accepted(make()); }), Equals("environment 'fake': " + reason));
    CHECK_THAT(message_of([&] { EnvBatch(make, 2, 1); }), Equals("environment 'fake': " + reason));
    RolloutPool pool(make, policy.clone(), 1, {.failed_return = 0});
    const std::array<RolloutTask, 1> tasks{RolloutTask{.parameters = policy.parameters()}};
    CHECK_THAT(message_of([&] { pool.run(tasks); }), Equals("environment 'fake': " + reason));
  };
  refused([](EnvSpec& spec) { spec.observation.vector = -3; }, "its observation's vector has size -3; give 0 to 16777216");
  refused([](EnvSpec& spec) { spec.observation.vector = 1 << 30; },
          "its observation's vector has size 1073741824; give 0 to 16777216");
  refused([](EnvSpec& spec) { spec.action_size = 0; }, "its action_size is 0; give 1 to 16777216");
  const std::string ends = "; both must be finite, and the first below the second";
  refused([](EnvSpec& spec) { std::tie(spec.action_low, spec.action_high) = std::pair(3.0F, -3.0F); },
          "its action_low is 3 and its action_high -3" + ends);
  refused([](EnvSpec& spec) { spec.action_high = spec.action_low; }, "its action_low is -1 and its action_high -1" + ends);
  refused([](EnvSpec& spec) { spec.action_high = infinity; }, "its action_low is -1 and its action_high inf" + ends);
  refused([](EnvSpec& spec) { spec.action_low = not_a_number; }, "its action_low is nan and its action_high 1" + ends);
  refused([](EnvSpec& spec) { spec.control_dt = -1; }, "its control_dt is -1; give seconds, or 0 if unknown");
  refused([](EnvSpec& spec) { spec.observation.dt = infinity; }, "its observation's dt is inf; give seconds, or 0 if unknown");
  refused([](EnvSpec& spec) { spec.max_steps = -1; }, "its max_steps is -1; give a number of steps, or 0 for no limit");
  refused([](EnvSpec& spec) { spec.state_names = {"east"}; }, "its state_names: 1 names for the 2 values of the vector");
  const auto refused_image = [&](const ImageSpec& image, const std::string& reason) {
    refused([&](EnvSpec& spec) { spec.observation.images = {image}; }, reason);
  };
  refused_image({"caf\xe9", {4, 4, 3, PixelType::uint8}},
                "the name of its image 'caf\xe9' is no UTF-8, as policy files hold it; give it another one");
  refused_image({"a", {0, 4, 3, PixelType::uint8}}, "its image 'a' is 0 x 4; either side is 1 to 16384");
  refused_image({"a", {4, 16385, 3, PixelType::uint8}}, "its image 'a' is 4 x 16385; either side is 1 to 16384");
  refused_image({"a", {4, 4, 2, PixelType::uint8}}, "its image 'a' has 2 channels; give 1, 3 or 4");
  refused_image({"", {4, 4, 3, PixelType::uint8}}, "an image of its observation has no name; give it one");
  CHECK_THAT(message_of([] { EnvBatch([] { return nullptr; }, 1, 1); }), ContainsSubstring("returned no environment"));
  // A host need not know how long a step lasts.
  CHECK_THAT(message_of([&] { accepted(std::make_unique<Made>([](EnvSpec& spec) { spec.control_dt = 0; })); }), Equals("no error"));
}
