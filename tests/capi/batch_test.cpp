#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "objects.hpp"
import iap.core;
import iap.env;
import iap.envs;

// Batches against environments stepped one by one.

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Equals;

namespace {

constexpr const char* pole = R"({"name": "cartpole-swingup", "pixels": [6, 8], "time_limit": 3})";
constexpr std::size_t count = 5;
constexpr std::array<std::uint64_t, count> seeds{7, 1, 7, 1'000'000'000'000, 0};

struct Results {
  std::array<double, count> rewards{};
  std::array<std::uint8_t, count> terminated{}, truncated{}, unstable{};
};

iap_status step(iap_batch* batch, const std::vector<float>& actions, Results& results) {
  return iap_batch_step(batch, actions.data(), actions.size(), results.rewards.data(), results.terminated.data(),
                        results.truncated.data(), results.unstable.data());
}

std::string refused(iap_batch* batch, const std::vector<float>& actions, iap_status expected = IAP_BAD_ARGUMENT) {
  Results results;
  results.rewards.fill(77);
  CHECK(step(batch, actions, results) == expected);
  CHECK(results.rewards[0] == 77);
  return iap_batch_error(batch);
}

struct Seen {
  iap_image image{.size = sizeof(iap_image)};
  const float* vector = nullptr;
  explicit Seen(iap_batch* batch) { REQUIRE(iap_batch_observe(batch, &image, 1, &vector) == IAP_OK); }
};

}  // namespace

TEST_CASE(
    "a batch goes as its environments do one by one, for any number of threads, and begins the next episode in the next step") {
  for (const int threads : {1, 2, 7}) {
    const auto owned = make_batch(pole, count, threads);
    iap_batch* batch = owned.get();
    REQUIRE(iap_batch_count(batch) == count);
    std::vector<std::unique_ptr<iap::Env>> own;
    for (std::size_t i = 0; i < count; ++i) own.push_back(iap::make_env(iap::parse_json(pole, "test")));
    REQUIRE(iap_batch_reset(batch, seeds.data(), count) == IAP_OK);
    for (std::size_t i = 0; i < count; ++i) own[i]->reset(seeds[i]);
    const Seen first(batch);
    const auto& shape = own[0]->spec().observation.images[0].shape;
    const auto width = static_cast<std::size_t>(own[0]->spec().observation.vector);
    for (int time = 0; time < 9; ++time) {
      const Seen seen(batch);
      CHECK(seen.image.data == first.image.data);
      CHECK(seen.vector == first.vector);
      for (std::size_t i = 0; i < count; ++i) {
        const auto expected = own[i]->observe();
        CHECK(std::memcmp(static_cast<const char*>(seen.image.data) + i * shape.count(), expected.images[0].data, shape.count()) ==
              0);
        CHECK(std::equal(expected.vector.begin(), expected.vector.end(), seen.vector + i * width));
      }
      std::vector<float> actions(count);
      for (std::size_t i = 0; i < count; ++i) actions[i] = 0.2F * static_cast<float>(i) - 0.1F * static_cast<float>(time);
      Results results;
      REQUIRE(step(batch, actions, results) == IAP_OK);
      for (std::size_t i = 0; i < count; ++i) {
        const bool begins = time % 4 == 3;
        CHECK(results.truncated[i] == static_cast<int>(time % 4 == 2));
        CHECK(results.terminated[i] == 0);
        CHECK(results.unstable[i] == 0);
        if (begins) {
          own[i]->reset(iap::derive_seed(
              {.seed = seeds[i], .episode = static_cast<std::uint32_t>(time / 4 + 1), .purpose = iap::Purpose::environment}));
          CHECK(results.rewards[i] == 0);
        } else {
          CHECK(results.rewards[i] == own[i]->step({&actions[i], 1}).reward);
        }
      }
    }
  }
}

TEST_CASE("a batch describes one of its environments") {
  const auto batch = make_batch(pole, 2, 1);
  const auto env = make_env(pole);
  iap_env_spec spec{.size = sizeof(iap_env_spec)};
  REQUIRE(iap_batch_describe(batch.get(), &spec) == IAP_OK);
  CHECK_THAT(spec.config, Equals(spec_of(env.get()).config));
  iap_image_spec image{.size = sizeof(iap_image_spec)};
  REQUIRE(iap_batch_image(batch.get(), 0, &image) == IAP_OK);
  CHECK((image.height == 6 && image.width == 8));
  CHECK(iap_batch_image(batch.get(), 1, &image) == IAP_BAD_ARGUMENT);
  CHECK_THAT(iap_batch_error(batch.get()), Equals("iap_batch_image: 'index' is 1; each environment shows 1 image"));
}

TEST_CASE("an environment of a batch that fails is named, and the batch goes on after a reset") {
  const Folder folder;
  const auto owned = make_batch(folder.file("world.lua", lua_world(true)), count, 2);
  iap_batch* batch = owned.get();
  const std::vector<float> actions(count);
  Results results;
  REQUIRE(iap_batch_reset(batch, seeds.data(), count) == IAP_OK);
  REQUIRE(step(batch, actions, results) == IAP_OK);
  REQUIRE(step(batch, actions, results) == IAP_OK);
  CHECK_THAT(refused(batch, actions, IAP_FAILED),
             ContainsSubstring("environment 0 of the batch: ") && ContainsSubstring("no further"));
  CHECK_THAT(refused(batch, actions),
             Equals("iap_batch_step: the batch has not been reset, or one of its environments has failed; call iap_batch_reset"));
  const float* vector = nullptr;
  CHECK(iap_batch_observe(batch, nullptr, 0, &vector) == IAP_BAD_ARGUMENT);
  REQUIRE(iap_batch_reset(batch, seeds.data(), count) == IAP_OK);
  CHECK(step(batch, actions, results) == IAP_OK);
}

TEST_CASE("a batch whose reset failed goes on in no episode of before") {
  const Folder folder;
  const auto owned = make_batch(folder.file("world.lua", fails_at_times()), 1, 1);
  iap_batch* batch = owned.get();
  const std::vector<float> actions(1);
  Results results;
  REQUIRE(iap_batch_reset(batch, seeds.data(), 1) == IAP_OK);
  REQUIRE(step(batch, actions, results) == IAP_OK);
  CHECK(iap_batch_reset(batch, seeds.data(), 1) == IAP_FAILED);
  CHECK_THAT(iap_batch_error(batch), ContainsSubstring("no second episode"));
  CHECK_THAT(refused(batch, actions), ContainsSubstring("has not been reset, or one of its environments has failed"));
  REQUIRE(iap_batch_reset(batch, seeds.data(), 1) == IAP_OK);
  CHECK(step(batch, actions, results) == IAP_OK);
}

TEST_CASE("where a simulation became unstable the next step begins the next episode") {
  const Folder folder;
  const auto owned = make_batch(folder.file("unstable.lua", unstable_task()), count, 2);
  const std::vector<float> actions(count);
  REQUIRE(iap_batch_reset(owned.get(), seeds.data(), count) == IAP_OK);
  for (int time = 0; time < 4; ++time) {
    Results results;
    REQUIRE(step(owned.get(), actions, results) == IAP_OK);
    for (std::size_t i = 0; i < count; ++i) {
      CHECK(results.unstable[i] == static_cast<int>(time % 2 == 0));
      CHECK(results.terminated[i] == static_cast<int>(time % 2 == 0));
      CHECK((results.truncated[i] == 0 && results.rewards[i] == 0));
    }
  }
}

TEST_CASE("each argument of a batch's functions that is wrong is named") {
  iap_batch* none = nullptr;
  Message message{};
  const auto refuse = [&](const char* text, std::size_t environments, int threads) {
    CHECK(iap_batch_make(text, environments, threads, &none, message.data(), message.size()) == IAP_BAD_ARGUMENT);
    CHECK(none == nullptr);
    return std::string(message.data());
  };
  CHECK_THAT(refuse(nullptr, 1, 1), Equals("iap_batch_make: 'text' is null; give the environment as a table or its name"));
  CHECK_THAT(refuse(pole, 0, 1), Equals("iap_batch_make: 'count' is 0; give 1 to 65536"));
  CHECK_THAT(refuse(pole, 1, -1), Equals("iap_batch_make: 'threads' is -1; give 0 (all) to 4096"));
  CHECK_THAT(refuse("nothing", 1, 1),
             ContainsSubstring("iap_batch_make: 'text': ") && ContainsSubstring("no environment 'nothing'"));
  CHECK(iap_batch_make(pole, 1, 1, nullptr, nullptr, 0) == IAP_BAD_ARGUMENT);

  const auto owned = make_batch(pole, count, 1);
  iap_batch* batch = owned.get();
  const std::vector<float> actions(count);
  CHECK_THAT(refused(batch, actions), ContainsSubstring("the batch has not been reset"));
  CHECK(iap_batch_reset(batch, nullptr, count) == IAP_BAD_ARGUMENT);
  CHECK_THAT(iap_batch_error(batch), Equals("iap_batch_reset: 'seeds' is null; the batch takes 5 seeds"));
  CHECK(iap_batch_reset(batch, seeds.data(), 4) == IAP_BAD_ARGUMENT);
  CHECK_THAT(iap_batch_error(batch), Equals("iap_batch_reset: 'count' is 4; the batch takes 5 seeds"));
  REQUIRE(iap_batch_reset(batch, seeds.data(), count) == IAP_OK);
  CHECK_THAT(refused(batch, std::vector<float>(4)), Equals("iap_batch_step: 'action_count' is 4; the batch takes 5 x 1 value"));
  std::vector<float> bad(count);
  bad[3] = std::numeric_limits<float>::infinity();
  CHECK_THAT(refused(batch, bad), Equals("iap_batch_step: 'actions' holds inf as value 0 of environment 3; give finite values"));
  Results results;
  CHECK(iap_batch_step(batch, nullptr, count, results.rewards.data(), results.terminated.data(), results.truncated.data(),
                       nullptr) == IAP_BAD_ARGUMENT);
  CHECK(iap_batch_step(batch, actions.data(), count, nullptr, results.terminated.data(), results.truncated.data(), nullptr) ==
        IAP_BAD_ARGUMENT);
  CHECK_THAT(iap_batch_error(batch), Equals("iap_batch_step: 'rewards' is null; it receives 5 values"));
  CHECK(iap_batch_step(batch, actions.data(), count, results.rewards.data(), nullptr, results.truncated.data(), nullptr) ==
        IAP_BAD_ARGUMENT);
  CHECK(iap_batch_step(batch, actions.data(), count, results.rewards.data(), results.terminated.data(), nullptr, nullptr) ==
        IAP_BAD_ARGUMENT);
  // None of these moved anything, and `unstable` may be null.
  CHECK(iap_batch_step(batch, actions.data(), count, results.rewards.data(), results.terminated.data(), results.truncated.data(),
                       nullptr) == IAP_OK);
  const auto own = iap::make_env(iap::parse_json(pole, "test"));
  own->reset(seeds[0]);
  CHECK(results.rewards[0] == own->step({actions.data(), 1}).reward);
  CHECK_THAT(iap_batch_error(nullptr), Equals("the batch is null"));
  CHECK(iap_batch_count(nullptr) == 0);
  CHECK(iap_batch_reset(nullptr, seeds.data(), count) == IAP_BAD_ARGUMENT);
  iap_batch_free(nullptr);
}
