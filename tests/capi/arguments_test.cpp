#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "iap.h"
import iap.core;
import iap.policy;

// What the C interface says to each argument that is null, zero, of a wrong size or not finite.

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Equals;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

/// A policy file over an image of 8 x 12 x 3 and a vector of 2 that gives 3 actions.
std::string policy_bytes(iap::PixelType type) {
  const iap::Config blocks = iap::parse_json(
      R"({"kind": "sequence", "blocks": [
           {"kind": "concat", "blocks": [{"kind": "rank", "patch": 4, "stride": 4, "d": 4, "top": 2}, {"kind": "observation"}]},
           {"kind": "lstm", "units": 4}, {"kind": "linear", "activation": "tanh"}]})",
      "test");
  iap::Policy policy(blocks, {.images = {{"pixels", {8, 12, 3, type}}}, .vector = 2}, 3);
  policy.initialise(1);
  return iap::save_policy(policy, iap::Config::Map{});
}

struct Free {
  void operator()(iap_policy* policy) const { iap_policy_free(policy); }
};
using Owned = std::unique_ptr<iap_policy, Free>;

Owned load(iap::PixelType type) {
  const std::string bytes = policy_bytes(type);
  iap_policy* policy = nullptr;
  std::array<char, 200> message{};
  const auto status = iap_policy_load_memory(bytes.data(), bytes.size(), &policy, message.data(), message.size());
  INFO(message.data());
  REQUIRE(status == IAP_OK);
  return Owned(policy);
}

/// The arguments of one act, all of them right, and its outcome.
struct Act {
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(8 * 12 * 3, 100);
  iap_image image{.size = sizeof(iap_image), .height = 8, .width = 12, .channels = 3, .pixel = IAP_UINT8, .data = bytes.data()};
  std::array<float, 2> values{0.5F, -1};
  const iap_image* images = &image;
  std::size_t image_count = 1;
  const float* vector = values.data();
  std::size_t vector_size = 2;
  std::array<float, 3> written{7, 7, 7};
  float* action = written.data();
  std::size_t action_size = 3;

  iap_status on(iap_policy* policy) {
    return iap_policy_act(policy, images, image_count, vector, vector_size, action, action_size);
  }
};

/// Changes one argument and tells what act says to it; the outputs stay and the next good call works as if nothing had been.
template <typename Change>
std::string refusal(Change change, iap_status expected = IAP_BAD_ARGUMENT) {
  const Owned tried = load(iap::PixelType::uint8), other = load(iap::PixelType::uint8);
  Act wrong;
  change(wrong);
  CHECK(wrong.on(tried.get()) == expected);
  CHECK(wrong.written == std::array<float, 3>{7, 7, 7});
  std::string message = iap_policy_error(tried.get());
  Act good, same;
  CHECK(good.on(tried.get()) == IAP_OK);
  CHECK(same.on(other.get()) == IAP_OK);
  CHECK(good.written == same.written);
  return message;
}

}  // namespace

TEST_CASE("loading names the argument that is null") {
  const std::string bytes = policy_bytes(iap::PixelType::uint8);
  std::array<char, 200> message{};
  iap_policy* policy = nullptr;
  CHECK(iap_policy_load(nullptr, &policy, message.data(), message.size()) == IAP_BAD_ARGUMENT);
  CHECK_THAT(message.data(), Equals("iap_policy_load: 'path' is null"));
  CHECK(iap_policy_load("policy.iap", nullptr, message.data(), message.size()) == IAP_BAD_ARGUMENT);
  CHECK_THAT(message.data(), Equals("iap_policy_load: 'policy' is null; it receives the policy"));
  CHECK(iap_policy_load_memory(nullptr, 10, &policy, message.data(), message.size()) == IAP_BAD_ARGUMENT);
  CHECK_THAT(message.data(), Equals("iap_policy_load_memory: 'bytes' is null"));
  CHECK(iap_policy_load_memory(bytes.data(), bytes.size(), nullptr, message.data(), message.size()) == IAP_BAD_ARGUMENT);
  CHECK_THAT(message.data(), Equals("iap_policy_load_memory: 'policy' is null; it receives the policy"));
  CHECK(iap_policy_load_memory(bytes.data(), 0, &policy, message.data(), message.size()) == IAP_BAD_FILE);
  CHECK_THAT(message.data(), ContainsSubstring("policy in memory"));
  CHECK(iap_policy_load("", &policy, message.data(), message.size()) == IAP_BAD_FILE);
  CHECK(std::strlen(message.data()) > 0);
  CHECK(iap_policy_load("/nowhere/policy.iap", &policy, message.data(), message.size()) == IAP_BAD_FILE);
  CHECK_THAT(message.data(), ContainsSubstring("/nowhere/policy.iap"));
  CHECK(policy == nullptr);
  // Nowhere to write the message, or too little room.
  CHECK(iap_policy_load(nullptr, &policy, nullptr, 0) == IAP_BAD_ARGUMENT);
  CHECK(iap_policy_load(nullptr, &policy, nullptr, 100) == IAP_BAD_ARGUMENT);
  CHECK(iap_policy_load(nullptr, &policy, message.data(), 5) == IAP_BAD_ARGUMENT);
  CHECK_THAT(message.data(), Equals("iap_"));
}

TEST_CASE("a null policy is an error to every function and ends none") {
  iap_image_spec spec{};
  iap_scores scores{};
  std::size_t count = 0;
  Act act;
  CHECK(iap_policy_scores(nullptr, 0, &scores) == IAP_BAD_ARGUMENT);
  CHECK(iap_policy_control_dt(nullptr) == 0);
  CHECK_THAT(iap_policy_env(nullptr), Equals(""));
  CHECK_THAT(iap_policy_error(nullptr), Equals("the policy is null"));
  CHECK_THAT(iap_policy_metadata(nullptr), Equals(""));
  CHECK(iap_policy_parameter_count(nullptr) == 0);
  CHECK(iap_policy_action_size(nullptr) == 0);
  CHECK(iap_policy_vector_size(nullptr) == 0);
  CHECK(iap_policy_image_count(nullptr) == 0);
  CHECK(iap_policy_image(nullptr, 0, &spec) == IAP_BAD_ARGUMENT);
  CHECK(iap_policy_reset(nullptr, 0) == IAP_BAD_ARGUMENT);
  CHECK(act.on(nullptr) == IAP_BAD_ARGUMENT);
  CHECK(iap_policy_patches(nullptr, nullptr, 0, &count) == IAP_BAD_ARGUMENT);
  iap_policy_free(nullptr);
}

TEST_CASE("act names each argument that is null, of a wrong size or unknown") {
  CHECK(refusal([](Act& act) { act.images = nullptr; }) == "iap_policy_act: 'images' is null; the policy sees 1 image");
  CHECK(refusal([](Act& act) { act.image_count = 0; }) == "iap_policy_act: 'image_count' is 0; the policy sees 1 image");
  CHECK(refusal([](Act& act) { act.image_count = 2; }) == "iap_policy_act: 'image_count' is 2; the policy sees 1 image");
  CHECK(refusal([](Act& act) { act.vector = nullptr; }) == "iap_policy_act: 'vector' is null; the policy sees 2 values");
  CHECK(refusal([](Act& act) { act.vector_size = 0; }) == "iap_policy_act: 'vector_size' is 0; the policy sees 2 values");
  CHECK(refusal([](Act& act) { act.action = nullptr; }) == "iap_policy_act: 'action' is null; it receives 3 values");
  CHECK(refusal([](Act& act) { act.action_size = 0; }) == "iap_policy_act: 'action_size' is 0; the policy writes 3 values");
  CHECK(refusal([](Act& act) { act.action_size = 4; }) == "iap_policy_act: 'action_size' is 4; the policy writes 3 values");
  CHECK(refusal([](Act& act) { act.image.data = nullptr; }) == "iap_policy_act: 'images[0].data' is null (the image 'pixels')");
  CHECK_THAT(refusal([](Act& act) { act.image.height = 0; }),
             ContainsSubstring("is 0 x 12 x 3 uint8; the policy sees 'pixels' as 8 x"));
  CHECK_THAT(refusal([](Act& act) { act.image.width = -12; }), ContainsSubstring("8 x -12 x 3"));
  CHECK_THAT(refusal([](Act& act) { act.image.pixel = IAP_FLOAT32; }), ContainsSubstring("8 x 12 x 3 float32"));
  CHECK_THAT(refusal([](Act& act) { act.image.pixel = 7; }), ContainsSubstring("'images[0].pixel' is 7"));
  CHECK_THAT(refusal([](Act& act) { act.image.order = 2; }), ContainsSubstring("'images[0].order' is 2; give IAP_RGB or IAP_BGR"));
  CHECK_THAT(refusal([](Act& act) { act.image.fit = -1; }), ContainsSubstring("'images[0].fit' is -1"));
  CHECK_THAT(refusal([](Act& act) { act.image.row_stride = 35; }),
             ContainsSubstring("'images[0].row_stride' is 35; a row has 36 bytes"));
  CHECK_THAT(refusal([](Act& act) { act.image.row_stride = -35; }), ContainsSubstring("'images[0].row_stride' is -35"));
  for (const std::int64_t stride : {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()})
    CHECK_THAT(refusal([stride](Act& act) { act.image.row_stride = stride; }),
               ContainsSubstring("no memory has 8 rows so far apart"));
  CHECK_THAT(refusal([](Act& act) { act.image.size = 0; }),
             Equals("iap_policy_act: the member size of 'images[0]' is 0; set it to sizeof(iap_image)"));
  CHECK_THAT(refusal([](Act& act) { act.image.size = 1 << 20; }), ContainsSubstring("is 1048576; set it to sizeof(iap_image)"));
  CHECK_THAT(refusal([](Act& act) { act.image.height = 9; }), ContainsSubstring("IAP_RESIZE as its 'fit' has it resized"));
  CHECK_THAT(refusal([](Act& act) {
               act.image.fit = IAP_RESIZE;
               act.image.width = 0;
             }),
             ContainsSubstring("is 8 x 0 x 3"));
  for (const bool high : {false, true})
    CHECK_THAT(refusal([high](Act& act) {
                 act.image.fit = IAP_RESIZE;
                 (high ? act.image.height : act.image.width) = (1 << 15) + 1;
               }),
               ContainsSubstring("; give a height and a width of 1 to 32768"));
  CHECK_THAT(refusal([](Act& act) {
               act.image.fit = IAP_RESIZE;
               act.image.channels = 1;
             }),
             ContainsSubstring("is 8 x 12 x 1 uint8; the policy sees 'pixels' as 8 x 12 x 3 uint8"));
}

TEST_CASE("act refuses what is not finite before it enters the policy's memory") {
  CHECK(refusal([](Act& act) { act.values[1] = not_a_number; }) ==
        "iap_policy_act: 'vector' holds nan as value 1; give finite values");
  CHECK_THAT(refusal([](Act& act) { act.values[0] = -infinity; }), ContainsSubstring("'vector' holds -inf as value 0"));

  const Owned policy = load(iap::PixelType::float32);
  std::vector<float> pixels(8 * 12 * 3, 0.25F);
  Act act;
  act.image.pixel = IAP_FLOAT32;
  act.image.data = pixels.data();
  CHECK(act.on(policy.get()) == IAP_OK);
  for (const std::size_t position : {std::size_t{0}, std::size_t{101}, pixels.size() - 1})
    for (const float value : {not_a_number, infinity}) {
      pixels[position] = value;
      CHECK(act.on(policy.get()) == IAP_BAD_ARGUMENT);
      CHECK_THAT(iap_policy_error(policy.get()),
                 ContainsSubstring("'images[0].data' holds") && ContainsSubstring("as value " + std::to_string(position)));
      pixels[position] = 0.25F;
    }
  // The place is the caller's, whichever colour comes first.
  act.image.order = IAP_BGR;
  for (const std::size_t position : {std::size_t{3}, std::size_t{4}, std::size_t{5}}) {
    pixels[position] = not_a_number;
    CHECK(act.on(policy.get()) == IAP_BAD_ARGUMENT);
    CHECK_THAT(iap_policy_error(policy.get()), ContainsSubstring("holds nan as value " + std::to_string(position) + ";"));
    pixels[position] = 0.25F;
  }
  act.image.order = IAP_RGB;
  pixels[3] = std::numeric_limits<float>::denorm_min();
  CHECK(act.on(policy.get()) == IAP_OK);
}

TEST_CASE("an action that is not finite is the policy's failure and stays out of the host's memory") {
  iap::Policy large(iap::parse_json(R"({"kind": "linear"})", "test"), {.images = {}, .vector = 2}, 3);
  large.set_parameters(std::vector<float>(large.size(), 3e38F));
  const std::string bytes = iap::save_policy(large, iap::Config::Map{});
  iap_policy* loaded = nullptr;
  REQUIRE(iap_policy_load_memory(bytes.data(), bytes.size(), &loaded, nullptr, 0) == IAP_OK);
  const Owned policy(loaded);
  Act act;
  act.image_count = 0;
  act.values = {10, 10};
  CHECK(act.on(loaded) == IAP_FAILED);
  CHECK_THAT(iap_policy_error(loaded), Equals("iap_policy_act: the policy gave inf as action 0"));
  CHECK(act.written == std::array<float, 3>{7, 7, 7});
  act.values = {0, 0};
  CHECK(act.on(loaded) == IAP_OK);
  CHECK(act.written == std::array<float, 3>{3e38F, 3e38F, 3e38F});
}

TEST_CASE("the other functions name their arguments") {
  const Owned policy = load(iap::PixelType::uint8);
  iap_image_spec spec{.size = sizeof(iap_image_spec), .name = "untouched"};
  CHECK(iap_policy_image(policy.get(), 0, nullptr) == IAP_BAD_ARGUMENT);
  CHECK_THAT(iap_policy_error(policy.get()), Equals("iap_policy_image: 'spec' is null; it must point to a struct iap_image_spec"));
  CHECK(iap_policy_image(policy.get(), 1, &spec) == IAP_BAD_ARGUMENT);
  CHECK_THAT(iap_policy_error(policy.get()), Equals("iap_policy_image: 'index' is 1; the policy sees 1 image"));
  CHECK_THAT(spec.name, Equals("untouched"));

  spec.size = 3;
  CHECK(iap_policy_image(policy.get(), 0, &spec) == IAP_BAD_ARGUMENT);
  CHECK_THAT(iap_policy_error(policy.get()),
             Equals("iap_policy_image: the member size of 'spec' is 3; set it to sizeof(iap_image_spec)"));

  iap_scores scores{.size = sizeof(iap_scores), .rows = 77};
  CHECK(iap_policy_scores(policy.get(), 0, nullptr) == IAP_BAD_ARGUMENT);
  CHECK_THAT(iap_policy_error(policy.get()), Equals("iap_policy_scores: 'scores' is null; it must point to a struct iap_scores"));
  CHECK(iap_policy_scores(policy.get(), 1, &scores) == IAP_BAD_ARGUMENT);
  CHECK_THAT(iap_policy_error(policy.get()), Equals("iap_policy_scores: 'index' is 1; the last act gave 0 views of scores"));
  CHECK(scores.rows == 77);

  std::size_t count = 99;
  iap_patch patch{};
  CHECK(iap_policy_patches(policy.get(), &patch, 1, nullptr) == IAP_BAD_ARGUMENT);
  CHECK_THAT(iap_policy_error(policy.get()), Equals("iap_policy_patches: 'count' is null; it receives the number of patches"));
  CHECK(iap_policy_patches(policy.get(), nullptr, 1, &count) == IAP_BAD_ARGUMENT);
  CHECK_THAT(iap_policy_error(policy.get()), Equals("iap_policy_patches: 'patches' is null, but 'capacity' is 1"));
  CHECK(count == 99);
  Act act;
  CHECK(act.on(policy.get()) == IAP_OK);
  CHECK(iap_policy_patches(policy.get(), nullptr, 0, &count) == IAP_OK);
  CHECK(count == 2);
}

TEST_CASE("a message that is cut is cut between characters") {
  for (std::size_t size = 1; size < 60; ++size) {
    std::vector<char> message(size, 'x');
    iap_policy* policy = nullptr;
    CHECK(iap_policy_load("\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4.iap", &policy, message.data(), size) != IAP_OK);
    const std::string shown = message.data();
    CHECK(shown.size() + 2 >= size);
    CHECK(iap::printable(shown) == shown);
  }
}
