#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "objects.hpp"
import iap.core;
import iap.policy;

// Pictures as hosts have them: strides, BGR, other sizes; and the scores that a policy gives to its patches.

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Equals;

namespace {

constexpr int height = 8, width = 12;

/// Ranks patches of 4 x 4 by two heads; every pixel of the two best has a part in the action.
OwnedPolicy ranking(iap::PixelType type, int channels) {
  const iap::Config blocks = iap::parse_json(
      R"({"kind": "sequence", "blocks": [{"kind": "rank", "patch": 4, "stride": 2, "d": 4, "top": 3, "heads": 2,
           "values": "content"}, {"kind": "linear", "activation": "tanh"}]})",
      "test");
  iap::Policy policy(blocks, {.images = {{"pixels", {height, width, channels, type}}}, .dt = 0.04}, 2);
  policy.initialise(5);
  const std::string bytes = iap::save_policy(policy, iap::Config::Map{});
  iap_policy* loaded = nullptr;
  Message message{};
  const auto status = iap_policy_load_memory(bytes.data(), bytes.size(), &loaded, message.data(), message.size());
  INFO(message.data());
  REQUIRE(status == IAP_OK);
  return OwnedPolicy(loaded);
}

using Action = std::array<float, 2>;

Action act(iap_policy* policy, const iap_image& image) {
  Action action{};
  const auto status = iap_policy_act(policy, &image, 1, nullptr, 0, action.data(), action.size());
  INFO(iap_policy_error(policy));
  REQUIRE(status == IAP_OK);
  return action;
}

template <typename Value>
iap_image image_of(const std::vector<Value>& values, int channels) {
  return {.size = sizeof(iap_image),
          .height = height,
          .width = width,
          .channels = channels,
          .pixel = sizeof(Value) == 1 ? IAP_UINT8 : IAP_FLOAT32,
          .data = values.data()};
}

template <typename Value>
std::vector<Value> noise(std::size_t count) {
  iap::Random random(3);
  std::vector<Value> values(count);
  for (auto& value : values) value = static_cast<Value>(sizeof(Value) == 1 ? random.below(256) : random.uniform());
  return values;
}

/// A picture gives the same action however it lies in memory.
template <typename Value>
void check_layouts(int channels) {
  const auto policy = ranking(sizeof(Value) == 1 ? iap::PixelType::uint8 : iap::PixelType::float32, channels);
  const auto values = noise<Value>(static_cast<std::size_t>(height * width * channels));
  const Action expected = act(policy.get(), image_of(values, channels));
  const std::size_t row = static_cast<std::size_t>(width * channels), wide = row + 7;

  std::vector<Value> padded(wide * height, Value{99}), flipped(row * height), bgr = values;
  for (std::size_t y = 0; y < height; ++y) {
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(y * row), row, padded.begin() + static_cast<std::ptrdiff_t>(y * wide));
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(y * row), row,
                flipped.begin() + static_cast<std::ptrdiff_t>((height - 1 - y) * row));
  }
  iap_image image = image_of(padded, channels);
  image.row_stride = static_cast<std::int64_t>(wide * sizeof(Value));
  CHECK(act(policy.get(), image) == expected);
  image = image_of(flipped, channels);
  image.data = flipped.data() + (height - 1) * row;
  image.row_stride = -static_cast<std::int64_t>(row * sizeof(Value));
  CHECK(act(policy.get(), image) == expected);
  if (channels < 3) return;
  for (std::size_t at = 0; at < bgr.size(); at += static_cast<std::size_t>(channels)) std::swap(bgr[at], bgr[at + 2]);
  CHECK(act(policy.get(), image_of(bgr, channels)) != expected);
  image = image_of(bgr, channels);
  image.order = IAP_BGR;
  CHECK(act(policy.get(), image) == expected);
}

}  // namespace

TEST_CASE("rows may lie apart or upside down, and blue may come first") {
  check_layouts<std::uint8_t>(3);
  check_layouts<float>(3);
  check_layouts<float>(4);
  check_layouts<std::uint8_t>(1);
}

TEST_CASE("floats that are not aligned are read all the same") {
  const auto policy = ranking(iap::PixelType::float32, 1);
  const auto values = noise<float>(height * width);
  std::vector<char> shifted(values.size() * sizeof(float) + 1);
  std::memcpy(shifted.data() + 1, values.data(), values.size() * sizeof(float));
  iap_image image = image_of(values, 1);
  const Action expected = act(policy.get(), image);
  image.data = shifted.data() + 1;
  CHECK(act(policy.get(), image) == expected);
}

TEST_CASE("a picture of another size is averaged over areas, if asked") {
  const auto policy = ranking(iap::PixelType::uint8, 3);
  const auto small = noise<std::uint8_t>(height * width * 3);
  // Each pixel four times: its average is the pixel.
  std::vector<std::uint8_t> large(small.size() * 4);
  for (std::size_t y = 0; y < 2 * height; ++y)
    for (std::size_t x = 0; x < 2 * width; ++x)
      for (std::size_t c = 0; c < 3; ++c) large[(y * 2 * width + x) * 3 + c] = small[(y / 2 * width + x / 2) * 3 + c];
  const Action expected = act(policy.get(), image_of(small, 3));
  iap_image image = image_of(large, 3);
  image.height = 2 * height;
  image.width = 2 * width;
  Action action{};
  CHECK(iap_policy_act(policy.get(), &image, 1, nullptr, 0, action.data(), action.size()) == IAP_BAD_ARGUMENT);
  CHECK_THAT(iap_policy_error(policy.get()),
             Equals("iap_policy_act: 'images[0]' is 16 x 24 x 3 uint8; the policy sees 'pixels' as 8 x 12 x 3 uint8; "
                    "IAP_RESIZE as its 'fit' has it resized"));
  image.fit = IAP_RESIZE;
  CHECK(act(policy.get(), image) == expected);
  // Another size, then the first again, BGR, and the other one so.
  iap_image half = image_of(small, 3);
  half.height = height / 2;
  half.width = width / 2;
  half.fit = IAP_RESIZE;
  const Action of_half = act(policy.get(), half);
  for (std::size_t at = 0; at < large.size(); at += 3) std::swap(large[at], large[at + 2]);
  image.order = IAP_BGR;
  CHECK(act(policy.get(), image) == expected);
  auto swapped = small;
  for (std::size_t at = 0; at < swapped.size(); at += 3) std::swap(swapped[at], swapped[at + 2]);
  half.data = swapped.data();
  half.order = IAP_BGR;
  CHECK(act(policy.get(), half) == of_half);
}

TEST_CASE("scores of all patches: the attended patches are the best of them") {
  const auto policy = ranking(iap::PixelType::uint8, 3);
  CHECK(iap_policy_control_dt(policy.get()) == 0.04);
  iap_scores scores{.size = sizeof(iap_scores)};
  CHECK(iap_policy_view_count(policy.get()) == 0);
  const auto values = noise<std::uint8_t>(height * width * 3);
  act(policy.get(), image_of(values, 3));
  std::array<iap_patch, 6> patches{};
  std::size_t count = 0;
  REQUIRE(iap_policy_patches(policy.get(), patches.data(), patches.size(), &count) == IAP_OK);
  REQUIRE(count == 6);
  CHECK(iap_policy_view_count(policy.get()) == 2);
  for (std::size_t view = 0; view < 2; ++view) {
    REQUIRE(iap_policy_scores(policy.get(), view, &scores) == IAP_OK);
    CHECK_THAT(scores.block, ContainsSubstring("rank"));
    CHECK_THAT(scores.image, Equals("pixels"));
    CHECK((scores.rows == 3 && scores.columns == 5 && scores.patch == 4 && scores.stride == 2));
    std::vector<float> sorted(scores.values, scores.values + 15);
    std::ranges::sort(sorted, std::greater<>());
    for (std::size_t i = 0; i < 3; ++i) {
      const auto& patch = patches[3 * view + i];
      CHECK(patch.view == static_cast<int>(view));
      CHECK(patch.size == 4);
      CHECK(patch.score == sorted[i]);
      CHECK(patch.score == scores.values[patch.top / 2 * 5 + patch.left / 2]);
    }
  }
  CHECK(iap_policy_scores(policy.get(), 2, &scores) == IAP_BAD_ARGUMENT);
  CHECK_THAT(iap_policy_error(policy.get()), Equals("iap_policy_scores: 'index' is 2; the last act gave 2 views of scores"));
}
