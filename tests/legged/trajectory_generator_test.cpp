#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>
#include <limits>
#include <numbers>

import iap.legged;

using namespace iap::legged;
using Catch::Matchers::WithinAbs;

namespace {

constexpr double pi = std::numbers::pi;

TrajectoryCommand command(double frequency, double intensity, double height, double ratio) {
  return {.frequency = frequency, .intensity = intensity, .height = height, .stance_swing_ratio = ratio};
}

/// At full intensity after ten calls without time.
void settle(TrajectoryGenerator& generator, TrajectoryCommand command) {
  command.frequency = 0;
  for (int i = 0; i < 20; ++i) generator.step(0.01, command);
}

}  // namespace

TEST_CASE("joint targets at phases worked out by hand") {
  // Ratio 3: a quarter of a cycle of 1 s at 1 Hz swings. Front left and rear right have offset 0, the others half a cycle.
  TrajectoryGenerator generator;
  const TrajectoryCommand wanted = command(1, 1, 0.2, 3);
  settle(generator, wanted);
  CHECK(generator.phase() == 0);
  const double hip = pi / 4, knee = -pi / 2;

  // .375 s: half of stance, psi = pi / 2: s = 0, e = .2 - .02. Half a cycle on, .875 s is the middle of the swing, psi = 3 pi / 2:
  // s = 0, e = .2 - .9.
  auto targets = generator.step(0.375, wanted);
  CHECK_THAT(generator.phase(), WithinAbs(pi / 2, 1e-12));
  for (const int leg : {1, 2}) {
    CHECK_THAT(targets[leg][0], WithinAbs(0, 1e-12));
    CHECK_THAT(targets[leg][1], WithinAbs(hip - 0.09, 1e-12));
    CHECK_THAT(targets[leg][2], WithinAbs(knee + 0.18, 1e-12));
  }
  for (const int leg : {0, 3}) {
    CHECK_THAT(generator.leg_phases()[leg], WithinAbs(3 * pi / 2, 1e-12));
    CHECK_THAT(targets[leg][1], WithinAbs(hip + 0.35, 1e-12));
    CHECK_THAT(targets[leg][2], WithinAbs(knee - 0.7, 1e-12));
  }
  CHECK_THAT(generator.state()[0], WithinAbs(0.5, 1e-12));
  CHECK_THAT(generator.state()[1], WithinAbs(1, 1e-12));

  // .75 s: stance is over, psi = pi: s = -.5, e = .2.
  targets = generator.step(0.375, wanted);
  CHECK_THAT(generator.phase(), WithinAbs(pi, 1e-12));
  CHECK_THAT(targets[1][1], WithinAbs(hip + 0.5 - 0.1, 1e-12));
  CHECK_THAT(targets[1][2], WithinAbs(knee + 0.2, 1e-12));
  // 1.25 s - a third of stance on, psi = pi / 3: s = .25, e = .2 - .02 sin(pi / 3).
  targets = generator.step(0.5, wanted);
  CHECK_THAT(generator.phase(), WithinAbs(pi / 3, 1e-9));
  const double extension = 0.2 - 0.02 * std::sqrt(3.0) / 2;
  CHECK_THAT(targets[2][1], WithinAbs(hip - 0.25 - extension / 2, 1e-9));
  CHECK_THAT(targets[2][2], WithinAbs(knee + extension, 1e-9));
  CHECK_THAT(generator.state()[0], WithinAbs(0.75, 1e-9));
}

TEST_CASE("phases advance at the rates of stance and swing, and no step falls between them") {
  // The rates themselves, integrated in steps of a millionth of a second, against few long steps.
  const double frequency = 1.7, ratio = 0.4;
  TrajectoryGenerator generator;
  double phase = 0, time = 0;
  constexpr double fine = 1e-6;
  for (int step = 1; step <= 40; ++step) {
    generator.step(0.0317, command(frequency, 0, 0, ratio));
    while (time + fine / 2 < 0.0317 * step) {
      const double rate = 2 * pi * frequency * (phase < pi ? (ratio + 1) / (2 * ratio) : (ratio + 1) / 2);
      phase = std::fmod(phase + rate * fine, 2 * pi);
      time += fine;
    }
    CHECK_THAT(std::remainder(generator.phase() - phase, 2 * pi), WithinAbs(0, 2e-3));
  }
}

TEST_CASE("a cycle takes 1 / f and its ratio's part of it is stance, for every leg; legs follow by their offsets") {
  for (const auto& offsets : {walk_offsets, trot_offsets})
    for (const double ratio : {0.5, 1.0, 3.0}) {
      TrajectoryOptions options;
      options.offsets = offsets;
      TrajectoryGenerator generator(options);
      constexpr int per_cycle = 1200;
      const double frequency = 2.5, dt = 1 / (frequency * per_cycle);
      PerLeg<int> standing{}, landings{};
      PerLeg<double> landed{};
      PerLeg<bool> before = generator.stance();
      constexpr int cycles = 5;
      for (int step = 1; step <= cycles * per_cycle; ++step) {
        generator.step(dt, command(frequency, 1, 0, ratio));
        const auto now = generator.stance();
        for (int leg = 0; leg < leg_count; ++leg) {
          standing[leg] += now[leg];
          if (now[leg] && !before[leg]) {
            ++landings[leg];
            landed[leg] = static_cast<double>(step) / per_cycle;
          }
        }
        before = now;
      }
      for (int leg = 0; leg < leg_count; ++leg) {
        CHECK(landings[leg] >= cycles - 1);
        CHECK(landings[leg] <= cycles + 1);
        CHECK_THAT(standing[leg] / double(cycles * per_cycle), WithinAbs(ratio / (ratio + 1), 2.0 / per_cycle));
        // A leg ahead by its offset lands that much of a cycle earlier.
        CHECK_THAT(std::remainder(landed[leg] + offsets[leg], 1.0), WithinAbs(0, 2.0 / per_cycle));
      }
    }
}

TEST_CASE("trot moves diagonal legs together and walk one leg after the other") {
  CHECK(trot_offsets[0] == trot_offsets[3]);
  CHECK(trot_offsets[1] == trot_offsets[2]);
  TrajectoryOptions options;
  options.offsets = walk_offsets;
  TrajectoryGenerator generator(options);
  for (int step = 0; step < 1000; ++step) {
    generator.step(0.0013, command(1, 1, 0, 3.2));
    int swinging = 0;
    for (const bool stands : generator.stance()) swinging += !stands;
    CHECK(swinging <= 1);
  }
}

TEST_CASE("the intensity rises by at most a tenth a call and falls at once") {
  TrajectoryGenerator generator;
  for (int call = 1; call <= 15; ++call) {
    generator.step(0.01, command(1, 1.2, 0, 1));
    CHECK_THAT(generator.intensity(), WithinAbs(std::min(0.1 * call, 1.2), 1e-12));
  }
  generator.step(0.01, command(1, 0.3, 0, 1));
  CHECK(generator.intensity() == 0.3);
  generator.reset();
  CHECK(generator.intensity() == 0);
  CHECK(generator.phase() == 0);
}

TEST_CASE("a generator that was reset is as a fresh one") {
  TrajectoryGenerator used, fresh;
  used.step(0.1, command(1, 1, 0, 4));
  used.reset();
  CHECK(used.leg_phases() == fresh.leg_phases());
  CHECK(used.stance() == fresh.stance());
  CHECK(used.step(0.1, command(1, 1, 0, 2)) == fresh.step(0.1, command(1, 1, 0, 2)));
}

TEST_CASE("commands outside their ranges are moved to the edge, and residuals are added") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), huge = 1e300;
  const auto last = [](TrajectoryCommand wanted) {
    TrajectoryGenerator generator;
    settle(generator, wanted);
    return generator.step(0.123, wanted);
  };
  const auto compare = [&](const TrajectoryCommand& a, const TrajectoryCommand& b) {
    const auto one = last(a), other = last(b);
    for (int leg = 0; leg < leg_count; ++leg)
      for (int joint = 0; joint < 3; ++joint) CHECK(one[leg][joint] == other[leg][joint]);
  };
  compare(command(9, huge, 7, 99), command(3, 1.5, 1, 5));
  compare(command(-1, -huge, -7, 0), command(0, 0, -0.5, 0.2));
  compare(command(nan, nan, nan, nan), command(0, 0, -0.5, 0.2));

  TrajectoryCommand pushed = command(1, 1, 0, 1);
  pushed.residuals[0] = {0.1, -0.15, 5};
  pushed.residuals[3] = {nan, -huge, 0};
  const auto plain = last(command(1, 1, 0, 1)), moved = last(pushed);
  const PerLeg<Vector3> expected{Vector3{0.1, -0.15, 0.15}, Vector3{}, Vector3{}, Vector3{0, -0.15, 0}};
  for (int leg = 0; leg < leg_count; ++leg)
    for (int joint = 0; joint < 3; ++joint)
      CHECK_THAT(moved[leg][joint] - plain[leg][joint], WithinAbs(expected[leg][joint], 1e-12));
}
