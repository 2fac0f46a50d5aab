#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "objects.hpp"

// Objects of their own on several threads, made and used at the same time.

namespace {

/// What a few steps pay, and the last picture's bytes summed; empty if something failed.
std::vector<double> play(const std::string& text) {
  std::vector<double> seen;
  iap_env* made = nullptr;
  if (iap_env_make(text.c_str(), &made, nullptr, 0) != IAP_OK) return {};
  const OwnedEnv env(made);
  iap_env_spec spec{.size = sizeof(iap_env_spec)};
  iap_step step{.size = sizeof(iap_step)};
  if (iap_env_describe(made, &spec) != IAP_OK || iap_env_reset(made, 3) != IAP_OK) return {};
  const std::vector<float> action(spec.action_size, 0.2F);
  for (int i = 0; i < 3; ++i) {
    if (iap_env_step(made, action.data(), action.size(), &step) != IAP_OK) return {};
    seen.push_back(step.reward);
  }
  std::vector<std::uint8_t> rgb(20 * 30 * 3);
  if (iap_env_draw(made, 20, 30, rgb.data(), 0) != IAP_OK) return {};
  double sum = 0;
  for (const std::uint8_t value : rgb) sum += value;
  seen.push_back(sum);
  return seen;
}

}  // namespace

TEST_CASE("threads make and use environments of all engines at the same time, as one after the other") {
  const std::vector<std::string> texts{"{ name = 'cheetah-run', pixels = { 8, 12 }, distraction = 'easy' }",
                                       "car-racing",
                                       "take-cover",
                                       "laikago-grid",
                                       "a1-indoor",
                                       "walker-walk"};
  std::vector<std::vector<double>> alone;
  for (const auto& text : texts) {
    alone.push_back(play(text));
    INFO(text);
    REQUIRE(alone.back().size() == 4);
  }
  constexpr std::size_t copies = 2;
  std::vector<std::vector<double>> together(copies * texts.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < together.size(); ++i) threads.emplace_back([&, i] { together[i] = play(texts[i % texts.size()]); });
  for (auto& thread : threads) thread.join();
  for (std::size_t i = 0; i < together.size(); ++i) {
    INFO(texts[i % texts.size()]);
    CHECK(together[i] == alone[i % texts.size()]);
  }
}
