#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "helpers.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;

namespace {

constexpr int inputs = 5, actions = 3;

Frame seen(std::uint64_t step) { return Frame(vector_spec(inputs), 100 + step); }

Policy two_levels(const std::string& options, const std::string& low = "{'kind': 'linear'}") {
  return Policy(
      config("{'kind': 'hierarchy', 'high': {'kind': 'linear', 'activation': 'tanh', 'scale': 1}, 'low': " + low + options + "}"),
      vector_spec(inputs), actions);
}

std::vector<double> high_choice(const Policy& policy, std::uint64_t step) {
  auto values = affine(slice(policy, "high.weight"), slice(policy, "high.bias"), widen(seen(step).vector()));
  for (double& value : values) value = std::tanh(value);
  return values;
}

}  // namespace

TEST_CASE("the high level chooses when its duration has run out, the low level acts at every step") {
  Policy policy = two_levels(", 'duration': [2, 9], 'latent': 2");
  CHECK(policy.size() == (inputs * 3 + 3) + ((inputs + 2) * actions + actions));
  randomise(policy, 7, 1);
  std::set<int> durations;
  for (int episode = 0; episode < 2; ++episode) {
    policy.reset();
    std::vector<double> chosen;
    std::uint64_t next = 0;
    for (std::uint64_t step = 0; step < 200; ++step) {
      if (step == next) {
        chosen = high_choice(policy, step);
        const auto steps = static_cast<std::uint64_t>(std::lround(2 + (chosen[0] + 1) / 2 * 7));
        durations.insert(static_cast<int>(steps));
        next += steps;
      }
      std::vector<double> told = widen(seen(step).vector());
      told.insert(told.end(), chosen.begin() + 1, chosen.end());
      const auto expected = affine(slice(policy, "low.weight"), slice(policy, "low.bias"), told);
      const auto action = act(policy, seen(step));
      for (int i = 0; i < actions; ++i) CHECK_THAT(action[i], WithinAbs(expected[i], 1e-5));
    }
    act(policy, seen(500));  // the next episode begins in the middle of a duration
  }
  CHECK(*durations.begin() == 2);
  CHECK(*durations.rbegin() == 9);
}

TEST_CASE("levels have rates of their own: a fixed one above, actions that are held below") {
  Policy policy = two_levels(", 'duration': 6, 'latent': 4, 'every': 4");
  CHECK(policy.size() == (inputs * 4 + 4) + ((inputs + 4) * actions + actions));
  randomise(policy, 3, 1);
  // The first episode ends in the middle of what either level chose.
  for (const std::uint64_t first : {0, 100}) {
    policy.reset();
    for (std::uint64_t step = 0; step < 38; ++step) {
      const std::uint64_t low_step = step / 4 * 4, high_step = low_step / 6 * 6;
      std::vector<double> told = widen(seen(first + low_step).vector());
      const auto latent = high_choice(policy, first + high_step);
      told.insert(told.end(), latent.begin(), latent.end());
      const auto expected = affine(slice(policy, "low.weight"), slice(policy, "low.bias"), told);
      const auto action = act(policy, seen(first + step));
      for (int i = 0; i < actions; ++i) CHECK_THAT(action[i], WithinAbs(expected[i], 1e-5));
    }
  }
  CHECK(policy.architecture().find("duration")->integer().value() == 6);
}

TEST_CASE("what a high level gives is moved into [-1, 1]") {
  // No tanh: with inputs of 0 the choices are the biases.
  Policy policy(
      config("{'kind': 'hierarchy', 'high': {'kind': 'linear'}, 'low': {'kind': 'linear', 'bias': false}, 'duration': [3, 5], "
             "'latent': 1}"),
      vector_spec(1), 1);
  // high.weight 2, high.bias 2, low.weight 2: the action is the latent.
  for (const auto& [raw, latent, steps] : {std::tuple{7.0F, 1.0F, 5}, std::tuple{-7.0F, -1.0F, 3}, std::tuple{0.0F, 0.0F, 4}}) {
    Frame frame(vector_spec(1), 1);
    frame.vector()[0] = 0;
    policy.set_parameters(std::vector<float>{0, 0, raw, raw, 0, 1});
    policy.reset();
    CHECK(act(policy, frame)[0] == latent);
    // New biases are seen when the high level is asked again, no sooner.
    policy.set_parameters(std::vector<float>{0, 0, raw, 0.5F, 0, 1});
    for (int step = 1; step < steps; ++step) CHECK(act(policy, frame)[0] == latent);
    CHECK(act(policy, frame)[0] == 0.5F);
  }
}

TEST_CASE("where a high level gives no number, the duration is the least and the latent -1") {
  Policy policy(config("{'kind': 'hierarchy', 'high': {'kind': 'mlp', 'hidden': [1], 'activation': 'none'}, "
                       "'low': {'kind': 'linear', 'bias': false}, 'duration': [3, 5], 'latent': 1}"),
                vector_spec(1), 1);
  // The hidden unit of an input of 10 is infinite, and no number times 0; the action is the latent.
  policy.set_parameters(std::vector<float>{3e38F, 0, 0, 0, 0, 0, 0, 1});
  Frame large(vector_spec(1), 1), none(vector_spec(1), 1);
  large.vector()[0] = 10;
  none.vector()[0] = 0;
  CHECK(act(policy, large)[0] == -1);
  for (int step = 1; step < 3; ++step) CHECK(act(policy, none)[0] == -1);
  CHECK(act(policy, none)[0] == 0);
}

TEST_CASE("a hierarchy survives its file in the middle of nothing, and its clone plays the same") {
  Policy policy =
      two_levels(", 'duration': [2, 4]", "{'kind': 'sequence', 'blocks': [{'kind': 'lstm', 'units': 4}, {'kind': 'linear'}]}");
  randomise(policy, 5);
  auto loaded = load_policy(save_policy(policy, {}), "x.iap");
  Policy clone = policy.clone();
  CHECK(loaded.policy.architecture() == policy.architecture());
  for (std::uint64_t step = 0; step < 20; ++step) {
    const auto action = act(policy, seen(step));
    CHECK(act(loaded.policy, seen(step)) == action);
    CHECK(act(clone, seen(step)) == action);
  }
  CHECK_THAT(policy.summary(), ContainsSubstring("duration 2 ... 4, latent 2, every 1") && ContainsSubstring("low.1.lstm"));
}

TEST_CASE("paths call a level by its name, where it has one") {
  const Policy policy(config("{'kind': 'hierarchy', 'high': {'kind': 'linear', 'units': 3, 'name': 'brain'}, 'low': {'kind': "
                             "'hierarchy', 'name': 'legs', 'duration': 2, 'high': {'kind': 'linear', 'units': 2}, 'low': {'kind': "
                             "'sequence', 'name': 'step', 'blocks': [{'kind': 'linear'}]}}}"),
                      vector_spec(inputs), actions);
  for (const char* path : {"brain", "legs", "legs.high", "legs.step", "legs.step.1.linear"})
    CHECK(policy.block(path).path() == path);
  std::set<std::string> arrays;
  for (const auto& part : policy.layout().slices()) arrays.insert(part.name);
  CHECK(arrays == std::set<std::string>{"brain.bias", "brain.weight", "legs.high.bias", "legs.high.weight",
                                        "legs.step.1.linear.bias", "legs.step.1.linear.weight"});
  CHECK_THROWS_WITH(two_levels("", "{'kind': 'linear', 'name': 'high'}"), ContainsSubstring("'high.weight' is declared twice"));
  CHECK_THROWS_WITH(two_levels("", "{'kind': 'linear', 'name': 'l w'}"), ContainsSubstring("block 2 has the name"));
}

TEST_CASE("levels that do not fit say what is wrong") {
  CHECK_THROWS_WITH(two_levels(", 'duration': [5, 2]"), ContainsSubstring("option 'duration' must be {least, most} or one number"));
  CHECK_THROWS_WITH(two_levels(", 'duration': [0, 2]"), ContainsSubstring("'duration'"));
  CHECK_THROWS_WITH(two_levels(", 'duration': 0"), ContainsSubstring("'duration'"));
  CHECK_THROWS_WITH(two_levels(", 'latent': 0"), ContainsSubstring("'latent'"));
  CHECK_THROWS_WITH(two_levels("", "3"), ContainsSubstring("option 'low' must be a block, got 3"));
  CHECK_THROWS_WITH(Policy(config("{'kind': 'hierarchy', 'low': {'kind': 'linear'}}"), vector_spec(2), 1),
                    ContainsSubstring("option 'high' must be a block, got nothing"));
  CHECK_THROWS_WITH(
      Policy(config("{'kind': 'hierarchy', 'high': {'kind': 'linear', 'units': 4}, 'low': {'kind': 'linear'}}"), vector_spec(2), 1),
      ContainsSubstring("the high level gives 4 values, but chooses 3: a duration and a latent of 2"));
  CHECK_THROWS_WITH(two_levels("", "{'kind': 'linear', 'units': 2}"),
                    ContainsSubstring("its last block 'low' gives 2 values, but the environment takes 3"));
}

TEST_CASE("what a level attended to when it was asked last belongs to the frame of that time") {
  // Inside a low level that is asked every third step there is another hierarchy, whose high level is asked every other time.
  const ObservationSpec spec = image_spec(8, 8);
  const std::string rank = "{'kind': 'rank', 'patch': 4, 'top': 1}", line = "{'kind': 'linear'}";
  const auto levels = [&](const std::string& high, const std::string& low, const std::string& options) {
    return "{'kind': 'hierarchy', 'latent': 2, 'high': {'kind': 'sequence', 'blocks': [" + high + ", " + line +
           "]}, 'low': " + low + options + "}";
  };
  Policy policy(config(levels(rank, levels(rank, line, ", 'duration': 2"), ", 'duration': 4, 'every': 3")), spec, 1);
  randomise(policy, 5, 1);
  std::vector<Frame> frames;
  for (std::uint64_t step = 0; step < 26; ++step) frames.emplace_back(spec, 100 + step);
  for (const std::size_t begun : {0, 13}) {
    policy.reset();
    for (std::size_t step = 0; step < 13; ++step) {
      act(policy, frames[begun + step]);
      const auto views = policy.views();
      REQUIRE(views.size() == 2);
      const std::size_t high = step / 4 * 4, inner = step / 6 * 6;
      for (const auto& [view, looked] : {std::pair(&views[0], high), std::pair(&views[1], inner)}) {
        CAPTURE(step, view->block, looked);
        CHECK(view->looked == (looked == step));
        REQUIRE((view->frame.data == nullptr) == (looked == step));
        if (view->frame.data)
          CHECK(std::ranges::equal(std::span(view->frame.bytes(), view->frame.shape.count()),
                                   frames[begun + looked].image().bytes()));
      }
    }
  }
}
