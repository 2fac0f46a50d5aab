#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "objects.hpp"
import iap.core;
import iap.env;
import iap.envs;
import iap.policy;

// Environments over the C interface against the engine's own.

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Equals;

namespace {

constexpr const char* pole = R"({"name": "cartpole-swingup", "pixels": [24, 32], "time_limit": 6})";

iap_image empty_image() { return {.size = sizeof(iap_image)}; }

/// What a call that is refused says; it leaves the step as it was.
std::string refused_step(iap_env* env, const float* action, std::size_t size, iap_status expected = IAP_BAD_ARGUMENT) {
  iap_step step{.size = sizeof(iap_step), .reward = 77};
  CHECK(iap_env_step(env, action, size, &step) == expected);
  CHECK(step.reward == 77);
  return iap_env_error(env);
}

}  // namespace

TEST_CASE("an environment over the C interface goes as the engine's does, bit for bit, and shows it without a copy") {
  const auto env = make_env(pole);
  const auto own = iap::make_env(iap::parse_json(pole, "test"));
  const auto spec = spec_of(env.get());
  CHECK_THAT(spec.name, Equals("cartpole-swingup"));
  CHECK_THAT(spec.config, Equals(iap::to_json(own->spec().config)));
  CHECK(spec.action_size == 1);
  CHECK((spec.action_low == -1 && spec.action_high == 1));
  CHECK(spec.control_dt == own->spec().control_dt);
  CHECK(spec.max_steps == 6);
  CHECK(spec.vector_size == static_cast<std::size_t>(own->spec().observation.vector));
  REQUIRE(spec.image_count == 1);
  iap_image_spec shown{.size = sizeof(iap_image_spec)};
  REQUIRE(iap_env_image(env.get(), 0, &shown) == IAP_OK);
  CHECK_THAT(shown.name, Equals("pixels"));
  CHECK((shown.height == 24 && shown.width == 32 && shown.channels == 3 && shown.pixel == IAP_UINT8));

  for (const std::uint64_t seed : {5U, 9U}) {
    REQUIRE(iap_env_reset(env.get(), seed) == IAP_OK);
    own->reset(seed);
    iap_step step{.size = sizeof(iap_step)};
    for (int i = 0; i < 6; ++i) {
      const auto seen = own->observe();
      iap_image image = empty_image(), again = empty_image();
      const float* vector = nullptr;
      REQUIRE(iap_env_observe(env.get(), &image, 1, &vector) == IAP_OK);
      REQUIRE(iap_env_observe(env.get(), &again, 1, nullptr) == IAP_OK);
      CHECK((image.height == 24 && image.width == 32 && image.channels == 3 && image.order == IAP_RGB && image.row_stride == 0));
      CHECK(image.data == again.data);
      CHECK(std::memcmp(image.data, seen.images[0].data, seen.images[0].shape.count()) == 0);
      CHECK(std::equal(seen.vector.begin(), seen.vector.end(), vector));
      const float action = 0.3F * static_cast<float>(i) - 1;
      const auto result = own->step({&action, 1});
      REQUIRE(iap_env_step(env.get(), &action, 1, &step) == IAP_OK);
      CHECK(step.reward == result.reward);
      CHECK(step.terminated == static_cast<int>(result.terminated));
      CHECK(step.truncated == static_cast<int>(i == 5));
      CHECK(step.unstable == 0);
    }
    const float still = 0;
    CHECK_THAT(refused_step(env.get(), &still, 1), Equals("iap_env_step: the episode is over; call iap_env_reset"));
  }
}

TEST_CASE("what an environment shows goes to a policy as it is") {
  const auto env = make_env(pole);
  const auto own = iap::make_env(iap::parse_json(pole, "test"));
  iap::Policy policy(
      iap::parse_json(R"({"kind": "sequence", "blocks": [{"kind": "rank", "patch": 4, "d": 4, "top": 3}, {"kind": "linear"}]})",
                      "test"),
      own->spec().observation, 1);
  policy.initialise(3);
  const std::string bytes = iap::save_policy(policy, iap::env_record(own->spec()));
  iap_policy* loaded = nullptr;
  REQUIRE(iap_policy_load_memory(bytes.data(), bytes.size(), &loaded, nullptr, 0) == IAP_OK);
  const OwnedPolicy owned(loaded);
  CHECK(iap_policy_control_dt(loaded) == own->spec().control_dt);
  // The environment that the file names is the one that it was made for.
  const auto named = make_env(iap_policy_env(loaded));
  CHECK_THAT(spec_of(named.get()).config, Equals(spec_of(env.get()).config));

  REQUIRE(iap_env_reset(named.get(), 4) == IAP_OK);
  own->reset(4);
  iap_image image = empty_image();
  const float* vector = nullptr;
  float action = 7;
  REQUIRE(iap_env_observe(named.get(), &image, 1, &vector) == IAP_OK);
  REQUIRE(iap_policy_act(loaded, &image, 1, vector, iap_policy_vector_size(loaded), &action, 1) == IAP_OK);
  CHECK(action == policy.act(own->observe())[0]);
}

TEST_CASE("a policy of a host's own environment names none, as files say that hold null in its place") {
  iap::EnvSpec own;
  CHECK(iap::env_record(own) == iap::Config(iap::Config::Map{}));
  own.config["time_limit"] = 5;  // of a wrapper
  CHECK(iap::env_record(own) == iap::Config(iap::Config::Map{}));
  const Folder folder;
  const std::string world = folder.file("world.lua", lua_world(false)), file = folder.file("policy.iap");
  const iap::Policy policy(iap::parse_json(R"({"kind": "linear"})", "test"), {.images = {}, .vector = 2}, 1);
  for (const iap::Config& metadata : {iap::env_record(own), iap::Config(iap::Config::Map{{"env", {}}})}) {
    iap::write_policy_file(file, policy, metadata);
    iap_policy* loaded = nullptr;
    REQUIRE(iap_policy_load(file.c_str(), &loaded, nullptr, 0) == IAP_OK);
    CHECK_THAT(iap_policy_env(OwnedPolicy(loaded).get()), Equals(""));
    iap_rollouts* rollouts = nullptr;
    Message message{};
    CHECK(iap_rollouts_make(nullptr, file.c_str(), 1, &rollouts, message.data(), message.size()) == IAP_BAD_ARGUMENT);
    CHECK_THAT(message.data(), ContainsSubstring("'env' is null, and the policy does not say which environment it is for"));
    CHECK(make_rollouts(world.c_str(), file, 1));
  }
}

TEST_CASE("an environment in Lua is made by its name, and what fails in it is the library's failure, not the caller's") {
  const Folder folder;
  const auto env = make_env(folder.file("world.lua", lua_world(true)));
  const auto spec = spec_of(env.get());
  REQUIRE(spec.state_names);
  CHECK_THAT(spec.state_names[1], Equals("age"));
  const float action = 0.5F;
  const float* seen = nullptr;
  iap_step step{.size = sizeof(iap_step)};
  REQUIRE(iap_env_reset(env.get(), 1) == IAP_OK);
  REQUIRE(iap_env_step(env.get(), &action, 1, &step) == IAP_OK);
  REQUIRE(iap_env_observe(env.get(), nullptr, 0, &seen) == IAP_OK);
  CHECK(static_cast<float>(step.reward) == seen[0]);
  REQUIRE(iap_env_step(env.get(), &action, 1, &step) == IAP_OK);
  CHECK_THAT(refused_step(env.get(), &action, 1, IAP_FAILED), ContainsSubstring("world.lua:") && ContainsSubstring("no further"));
  CHECK_THAT(refused_step(env.get(), &action, 1), Equals("iap_env_step: the episode has failed; call iap_env_reset"));
  CHECK(iap_env_observe(env.get(), nullptr, 0, &seen) == IAP_BAD_ARGUMENT);
  std::uint8_t byte = 0;
  CHECK(iap_env_draw(env.get(), 1, 1, &byte, 0) == IAP_BAD_ARGUMENT);
  CHECK_THAT(iap_env_error(env.get()), Equals("iap_env_draw: the episode has failed; call iap_env_reset"));
  CHECK(iap_env_reset(env.get(), 1) == IAP_OK);
  CHECK(iap_env_step(env.get(), &action, 1, &step) == IAP_OK);
}

TEST_CASE("an episode goes on neither after a reset nor after a look that failed") {
  const Folder folder;
  const auto env = make_env(folder.file("world.lua", fails_at_times()));
  const float still = 0, blinding = 1;
  const float* seen = nullptr;
  iap_step step{.size = sizeof(iap_step)};
  REQUIRE(iap_env_reset(env.get(), 1) == IAP_OK);
  REQUIRE(iap_env_observe(env.get(), nullptr, 0, &seen) == IAP_OK);
  REQUIRE(iap_env_step(env.get(), &still, 1, &step) == IAP_OK);
  CHECK(iap_env_reset(env.get(), 1) == IAP_FAILED);
  CHECK_THAT(refused_step(env.get(), &still, 1), Equals("iap_env_step: the episode has failed; call iap_env_reset"));
  REQUIRE(iap_env_reset(env.get(), 1) == IAP_OK);
  REQUIRE(iap_env_step(env.get(), &blinding, 1, &step) == IAP_OK);
  CHECK(iap_env_observe(env.get(), nullptr, 0, &seen) == IAP_FAILED);
  CHECK_THAT(iap_env_error(env.get()), ContainsSubstring("nothing to see"));
  CHECK_THAT(refused_step(env.get(), &still, 1), Equals("iap_env_step: the episode has failed; call iap_env_reset"));
  CHECK(iap_env_observe(env.get(), nullptr, 0, &seen) == IAP_BAD_ARGUMENT);
  REQUIRE(iap_env_reset(env.get(), 1) == IAP_OK);
  CHECK(iap_env_step(env.get(), &still, 1, &step) == IAP_OK);
}

TEST_CASE("a simulation that becomes unstable ends its episode") {
  const Folder folder;
  const auto env = make_env(folder.file("unstable.lua", unstable_task()));
  const float still = 0;
  for (int episode = 0; episode < 2; ++episode) {
    iap_step step{.size = sizeof(iap_step)};
    REQUIRE(iap_env_reset(env.get(), 1) == IAP_OK);
    REQUIRE(iap_env_step(env.get(), &still, 1, &step) == IAP_OK);
    CHECK((step.unstable == 1 && step.terminated == 1 && step.truncated == 0 && step.reward == 0));
    CHECK_THAT(refused_step(env.get(), &still, 1), Equals("iap_env_step: the episode is over; call iap_env_reset"));
  }
}

TEST_CASE("each argument of an environment's functions that is wrong is named") {
  const auto owned = make_env(pole);
  iap_env* env = owned.get();
  const float action = 0, bad = std::numeric_limits<float>::quiet_NaN();
  CHECK_THAT(refused_step(env, &action, 1), Equals("iap_env_step: no episode has begun; call iap_env_reset first"));
  iap_image image = empty_image();
  CHECK(iap_env_observe(env, &image, 1, nullptr) == IAP_BAD_ARGUMENT);
  CHECK_THAT(iap_env_error(env), Equals("iap_env_observe: no episode has begun; call iap_env_reset first"));
  REQUIRE(iap_env_reset(env, 2) == IAP_OK);
  CHECK_THAT(refused_step(env, nullptr, 1), Equals("iap_env_step: 'action' is null; the environment takes 1 value"));
  CHECK_THAT(refused_step(env, &action, 2), Equals("iap_env_step: 'action_size' is 2; the environment takes 1 value"));
  CHECK_THAT(refused_step(env, &bad, 1), Equals("iap_env_step: 'action' holds nan as value 0; give finite values"));
  CHECK(iap_env_step(env, &action, 1, nullptr) == IAP_BAD_ARGUMENT);
  CHECK_THAT(iap_env_error(env), Equals("iap_env_step: 'step' is null; it must point to a struct iap_step"));
  iap_step unsized{};
  CHECK(iap_env_step(env, &action, 1, &unsized) == IAP_BAD_ARGUMENT);
  CHECK_THAT(iap_env_error(env), Equals("iap_env_step: the member size of 'step' is 0; set it to sizeof(iap_step)"));
  CHECK(iap_env_observe(env, &image, 2, nullptr) == IAP_BAD_ARGUMENT);
  CHECK_THAT(iap_env_error(env), Equals("iap_env_observe: 'image_count' is 2; there is 1 image"));
  CHECK(iap_env_observe(env, nullptr, 1, nullptr) == IAP_BAD_ARGUMENT);
  CHECK_THAT(iap_env_error(env), Equals("iap_env_observe: 'images' is null, but 'image_count' is 1"));
  iap_image_spec spec{.size = sizeof(iap_image_spec)};
  CHECK(iap_env_image(env, 1, &spec) == IAP_BAD_ARGUMENT);
  CHECK_THAT(iap_env_error(env), Equals("iap_env_image: 'index' is 1; the environment shows 1 image"));
  CHECK(iap_env_describe(env, nullptr) == IAP_BAD_ARGUMENT);
  // None of these moved anything.
  iap_step step{.size = sizeof(iap_step)};
  const auto own = iap::make_env(iap::parse_json(pole, "test"));
  own->reset(2);
  REQUIRE(iap_env_step(env, &action, 1, &step) == IAP_OK);
  CHECK(step.reward == own->step({&action, 1}).reward);
}

TEST_CASE("a null environment is an error to every function") {
  iap_step step{.size = sizeof(iap_step)};
  iap_env_spec spec{.size = sizeof(iap_env_spec)};
  iap_image_spec image{.size = sizeof(iap_image_spec)};
  std::uint8_t byte = 0;
  const float action = 0;
  CHECK_THAT(iap_env_error(nullptr), Equals("the environment is null"));
  CHECK(iap_env_describe(nullptr, &spec) == IAP_BAD_ARGUMENT);
  CHECK(iap_env_image(nullptr, 0, &image) == IAP_BAD_ARGUMENT);
  CHECK(iap_env_reset(nullptr, 0) == IAP_BAD_ARGUMENT);
  CHECK(iap_env_step(nullptr, &action, 1, &step) == IAP_BAD_ARGUMENT);
  CHECK(iap_env_observe(nullptr, nullptr, 0, nullptr) == IAP_BAD_ARGUMENT);
  CHECK(iap_env_draw(nullptr, 1, 1, &byte, 0) == IAP_BAD_ARGUMENT);
  iap_env_free(nullptr);
}

TEST_CASE("a struct of a later version is filled as far as this library knows it, the rest with zeros") {
  struct Later {
    iap_env_spec known;
    std::array<std::uint64_t, 4> unknown;
  };
  Later later{.known = {.size = sizeof(Later)}, .unknown = {1, 2, 3, 4}};
  const auto env = make_env(pole);
  REQUIRE(iap_env_describe(env.get(), &later.known) == IAP_OK);
  CHECK(later.known.size == sizeof(Later));
  CHECK(later.known.max_steps == 6);
  CHECK(later.unknown == std::array<std::uint64_t, 4>{});
}

TEST_CASE("the versions of header and library are the same") {
  CHECK_THAT(iap_version(), Equals(IAP_VERSION_STRING));
  CHECK_THAT(iap_version(), Equals(iap::text(IAP_VERSION_MAJOR, ".", IAP_VERSION_MINOR, ".", IAP_VERSION_PATCH)));
  CHECK(iap_abi_version() == IAP_ABI_VERSION);
}
