#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "helpers.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

constexpr int inputs = 3;

std::vector<float> seen(std::uint64_t step) { return Frame(vector_spec(inputs), 10 + step).vector(); }

std::vector<float> act_on(Policy& policy, std::uint64_t step) { return act(policy, Frame(policy.observation(), 10 + step)); }

ObservationSpec timed(double dt) {
  ObservationSpec spec = vector_spec(inputs);
  spec.dt = dt;
  return spec;
}

}  // namespace

TEST_CASE("delta hands over its input and the scaled difference to the frame before, forgotten at a reset") {
  Policy policy(config("{'kind': 'delta', 'scale': 2.5}"), vector_spec(inputs), 2 * inputs);
  for (int episode = 0; episode < 2; ++episode) {
    policy.reset();
    for (std::uint64_t step = 0; step < 5; ++step) {
      const auto out = act_on(policy, step), now = seen(step), before = seen(step == 0 ? 0 : step - 1);
      for (int i = 0; i < inputs; ++i) {
        CHECK(out[i] == now[i]);
        CHECK(out[inputs + i] == 2.5F * (now[i] - before[i]));
      }
    }
  }
}

TEST_CASE("delta stays finite for any input") {
  Policy policy(config("{'kind': 'delta', 'scale': 4}"), vector_spec(1), 2);
  constexpr float most = std::numeric_limits<float>::max();
  const std::vector<float> low{-most}, high{most};
  policy.act({{}, low});
  CHECK(policy.act({{}, high})[1] == most);
  CHECK(policy.act({{}, low})[1] == -most);
}

TEST_CASE("stack hands over the last inputs, newest first; the first frame stands for those before the episode") {
  Policy policy(config("{'kind': 'stack', 'n': 3}"), vector_spec(inputs), 3 * inputs);
  for (int episode = 0; episode < 2; ++episode) {
    policy.reset();
    for (std::uint64_t step = 0; step < 6; ++step) {
      const auto out = act_on(policy, step);
      for (std::uint64_t age = 0; age < 3; ++age) {
        const auto expected = seen(step > age ? step - age : 0);
        for (int i = 0; i < inputs; ++i) CHECK(out[age * inputs + i] == expected[i]);
      }
    }
  }
}

TEST_CASE("clock turns with the time between decisions and its learned frequency, from zero at every reset") {
  const double dt = 0.04, frequency = 1.5, log_frequency = 0.3;
  Policy policy(config("{'kind': 'clock', 'frequency': 1.5, 'harmonics': 2}"), timed(dt), 4);
  CHECK(policy.size() == 1);
  const std::vector<float> parameters{static_cast<float>(log_frequency)};
  policy.set_parameters(parameters);
  for (int episode = 0; episode < 2; ++episode) {
    policy.reset();
    for (int step = 0; step < 500; ++step) {
      const auto out = act_on(policy, static_cast<std::uint64_t>(step));
      const double angle = 2 * std::numbers::pi * step * dt * frequency * std::exp(static_cast<double>(parameters[0]));
      CHECK_THAT(out[0], WithinAbs(std::sin(angle), 1e-5));
      CHECK_THAT(out[1], WithinAbs(std::cos(angle), 1e-5));
      CHECK_THAT(out[2], WithinAbs(std::sin(2 * angle), 1e-5));
      CHECK_THAT(out[3], WithinAbs(std::cos(2 * angle), 1e-5));
    }
  }
}

TEST_CASE("clock takes the environment's time, records it, and asks for it where nobody knows") {
  const Policy policy(config("{'kind': 'clock'}"), timed(0.02), 2);
  CHECK(policy.architecture().find("dt")->number().value() == 0.02);
  CHECK_THROWS_WITH(Policy(config("{'kind': 'clock'}"), vector_spec(inputs), 2), ContainsSubstring("option 'dt' is missing"));
  // What it was told goes before what the environment says: 0.1 s at 2 Hz are a fifth of a turn.
  for (const auto& spec : {vector_spec(inputs), timed(0.02)}) {
    Policy told(config("{'kind': 'clock', 'dt': 0.1}"), spec, 2);
    CHECK(told.architecture().find("dt")->number().value() == 0.1);
    act_on(told, 0);
    CHECK_THAT(act_on(told, 1)[0], WithinAbs(std::sin(2 * std::numbers::pi / 5), 1e-6));
  }
}

TEST_CASE("a clock that goes on elsewhere takes the time between decisions there, unless it was told its own") {
  for (const Fit fit : {Fit::resample, Fit::pool}) {
    const auto dt_at = [&](const std::string& clock, double now) {
      const Policy policy(config("{'kind': 'sequence', 'blocks': [" + clock + ", {'kind': 'linear'}]}"), timed(0.02), 2);
      const Policy moved = resized(policy, timed(now), fit);
      return moved.architecture().find("blocks")->list()->front().find("dt")->number().value();
    };
    CHECK(dt_at("{'kind': 'clock'}", 0.04) == 0.04);
    CHECK(dt_at("{'kind': 'clock', 'dt': 0.1}", 0.04) == 0.1);
    CHECK(dt_at("{'kind': 'clock'}", 0) == 0.02);
  }
}

TEST_CASE("clock stays finite for any parameter") {
  Policy policy(config("{'kind': 'clock', 'dt': 0.1}"), vector_spec(inputs), 2);
  for (const float extreme : {-3e38F, 3e38F}) {
    policy.set_parameters(std::vector<float>{extreme});
    policy.reset();
    for (std::uint64_t step = 0; step < 50; ++step)
      for (const float value : act_on(policy, step)) CHECK(std::isfinite(value));
  }
}

TEST_CASE("normalise divides small deviations by no less than the minimum") {
  for (const double minimum : {1e-4, 0.5}) {
    Policy policy(config(text("{'kind': 'normalise', 'minimum': ", minimum, "}")), vector_spec(1), 1);
    const std::vector<float> low{1}, high{1 + 0x1p-13F};
    policy.act({{}, low});
    // Of two values h apart the deviation is h / 2 = 6.1e-5, and the later one lies h / 2 above the mean.
    CHECK_THAT(policy.act({{}, high})[0], WithinRel(0x1p-14 / minimum, 1e-5));
  }
}

TEST_CASE("normalise takes off the mean since the reset and divides by the deviation") {
  Policy whole(config("{'kind': 'normalise', 'minimum': 1e-3, 'clip': 1.5}"), vector_spec(inputs), inputs);
  Policy mean_alone(config("{'kind': 'normalise', 'deviation': false}"), vector_spec(inputs), inputs);
  for (int episode = 0; episode < 2; ++episode) {
    whole.reset();
    mean_alone.reset();
    for (std::uint64_t step = 0; step < 8; ++step) {
      const auto divided = act_on(whole, step), shifted = act_on(mean_alone, step);
      for (int i = 0; i < inputs; ++i) {
        double sum = 0, squares = 0;
        for (std::uint64_t past = 0; past <= step; ++past) sum += seen(past)[i];
        const double mean = sum / static_cast<double>(step + 1);
        for (std::uint64_t past = 0; past <= step; ++past) squares += std::pow(seen(past)[i] - mean, 2);
        const double deviation = std::max(std::sqrt(squares / static_cast<double>(step + 1)), 1e-3);
        CHECK_THAT(shifted[i], WithinAbs(seen(step)[i] - mean, 1e-6));
        CHECK_THAT(divided[i], WithinAbs(std::clamp((seen(step)[i] - mean) / deviation, -1.5, 1.5), 1e-4));
      }
    }
  }
}
