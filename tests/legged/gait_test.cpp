#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <limits>

import iap.legged;

using namespace iap::legged;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;

namespace {

constexpr PerLeg<bool> nothing{}, everything{true, true, true, true};

}  // namespace

TEST_CASE("a trot's timeline, by hand") {
  // Stance .3 s at a duty of .6: a cycle is .5 s. FR and RL stand for .3 s and swing for .2 s; FL and RR begin .25 s into theirs.
  Gait gait;
  struct Row {
    double time;
    LegState first, second;
    double first_phase, second_phase;
  };
  constexpr auto stance = LegState::stance, swing = LegState::swing;
  for (const auto& [time, first, second, first_phase, second_phase] : {
           Row{0.00, stance, stance, 0, 0.25 / 0.3},
           Row{0.04, stance, stance, 0.04 / 0.3, 0.29 / 0.3},
           Row{0.06, stance, swing, 0.2, 0.05},
           Row{0.24, stance, swing, 0.8, 0.95},
           Row{0.26, stance, stance, 0.26 / 0.3, 0.01 / 0.3},
           Row{0.35, swing, stance, 0.25, 1.0 / 3},
           Row{0.49, swing, stance, 0.95, 0.8},
           Row{0.51, stance, stance, 0.01 / 0.3, 0.26 / 0.3},
           Row{10.35, swing, stance, 0.25, 1.0 / 3},
       }) {
    INFO("time " << time);
    gait.update(time, everything);
    for (const int leg : {0, 3}) {
      CHECK(gait.desired()[leg] == first);
      CHECK_THAT(gait.phases()[leg], WithinAbs(first_phase, 1e-9));
    }
    for (const int leg : {1, 2}) {
      CHECK(gait.desired()[leg] == second);
      CHECK_THAT(gait.phases()[leg], WithinAbs(second_phase, 1e-9));
    }
  }
  CHECK_THAT(gait.stance_duration(0), WithinAbs(0.3, 1e-15));
  CHECK_THAT(gait.swing_duration(0), WithinAbs(0.2, 1e-15));
}

TEST_CASE("legs with times of their own stand and swing for as long as they should") {
  GaitOptions options;
  options.stance = {0.3, 0.2, 0.5, 0.12};
  options.duty = {0.6, 0.5, 0.8, 0.3};
  options.offsets = {0, 0.9, -0.3, 2.25};
  Gait gait(options);
  constexpr double dt = 1e-4;
  // 30 s hold a whole number of everyone's cycles: .5, .4, .625 and .4 s.
  PerLeg<double> stood{};
  PerLeg<int> lifts{};
  PerLeg<LegState> before = gait.desired();
  for (int step = 0; step < 300000; ++step) {
    gait.update((step + 0.5) * dt, everything);
    for (int leg = 0; leg < leg_count; ++leg) {
      stood[leg] += dt * (gait.desired()[leg] == LegState::stance);
      lifts[leg] += gait.desired()[leg] == LegState::swing && before[leg] == LegState::stance;
    }
    before = gait.desired();
  }
  const PerLeg<double> cycles{60, 75, 48, 75};
  for (int leg = 0; leg < leg_count; ++leg) {
    CHECK_THAT(stood[leg], WithinAbs(cycles[leg] * options.stance[leg], cycles[leg] * dt));
    CHECK(std::abs(lifts[leg] - cycles[leg]) <= 1);
  }
}

TEST_CASE("contacts change a leg's state in the later part of its swing or stance alone") {
  Gait gait;
  // FR swings from .3 to .5 s: phase .4 is at .38 s. It stands from .5 to .8 s: phase .4 is at .62 s.
  gait.update(0.37, everything);
  CHECK(gait.states()[0] == LegState::swing);
  CHECK_FALSE(gait.bears(0));
  gait.update(0.39, everything);
  CHECK(gait.states()[0] == LegState::early_contact);
  CHECK(gait.desired()[0] == LegState::swing);
  CHECK(gait.bears(0));
  CHECK(gait.feet()[0] == 0.5);
  gait.update(0.39, nothing);
  CHECK(gait.states()[0] == LegState::swing);
  CHECK(gait.feet()[0] == 0);
  gait.update(0.61, nothing);
  CHECK(gait.states()[0] == LegState::stance);
  CHECK(gait.feet()[0] == 1);
  gait.update(0.63, nothing);
  CHECK(gait.states()[0] == LegState::lost_contact);
  CHECK(gait.desired()[0] == LegState::stance);
  CHECK_FALSE(gait.bears(0));
  CHECK(gait.feet()[0] == -0.5);
  gait.update(0.63, {true, false, false, false});
  CHECK(gait.states()[0] == LegState::stance);
  gait.reset();
  for (int leg = 0; leg < leg_count; ++leg) CHECK(gait.states()[leg] == LegState::stance);
}

TEST_CASE("gaits that cannot be say why") {
  GaitOptions options;
  options.duty[1] = 1;
  CHECK_THROWS_WITH(Gait(options), ContainsSubstring("leg FL has a duty of 1"));
  options = {};
  options.stance[3] = 0;
  CHECK_THROWS_WITH(Gait(options), ContainsSubstring("leg RL stands for 0 s"));
  options = {};
  options.offsets[2] = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH(Gait(options), ContainsSubstring("leg RR has the offset inf"));
}
