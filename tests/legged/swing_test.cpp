#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>

import iap.core;
import iap.legged;

using namespace iap;
using namespace iap::legged;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;

namespace {

struct Key {
  double phase;
  Vector3 at;
};

std::array<Key, 4> keys(const Vector3& lift, const Vector3& land, double clearance) {
  Vector3 peak{}, pressed = land;
  for (int i = 0; i < 3; ++i) peak[i] = 0.3 * lift[i] + 0.7 * land[i];
  peak[2] += clearance;
  pressed[2] -= 0.03;
  return {Key{0, lift}, Key{0.45, peak}, Key{0.9, land}, Key{1, pressed}};
}

}  // namespace

TEST_CASE("a swinging foot goes through its keyframes, smoothly, and never leaves what is between two of them") {
  Random random(1);
  const auto point = [&](double span) {
    return Vector3{span * (random.uniform() - 0.5), span * (random.uniform() - 0.5), span * (random.uniform() - 0.5)};
  };
  const SwingTrajectory swing;
  for (int run = 0; run < 50; ++run) {
    // Stairs, too: landing points far above and below.
    const Vector3 lift = point(0.4), land = point(0.8);
    const double clearance = 0.05 + 0.05 * random.uniform();
    const auto key = keys(lift, land, clearance);
    for (const auto& [phase, at] : key)
      for (int i = 0; i < 3; ++i) CHECK_THAT(swing.at(phase, lift, land, clearance).position[i], WithinAbs(at[i], 1e-12));
    for (std::size_t segment = 0; segment + 1 < key.size(); ++segment)
      for (int i = 0; i < 3; ++i) {
        const double low = std::min(key[segment].at[i], key[segment + 1].at[i]);
        const double high = std::max(key[segment].at[i], key[segment + 1].at[i]);
        for (int step = 0; step <= 100; ++step) {
          const double phase = key[segment].phase + (key[segment + 1].phase - key[segment].phase) * step / 100;
          const auto at = swing.at(phase, lift, land, clearance);
          CHECK(at.position[i] >= low - 1e-12);
          CHECK(at.position[i] <= high + 1e-12);
          // No way back between two keyframes.
          CHECK(at.velocity[i] * (key[segment + 1].at[i] - key[segment].at[i]) >= -1e-12);
        }
      }
    constexpr double h = 1e-6;
    for (double phase = 0.01; phase < 0.99; phase += 0.013) {
      const auto before = swing.at(phase - h, lift, land, clearance), after = swing.at(phase + h, lift, land, clearance);
      for (int i = 0; i < 3; ++i)
        CHECK_THAT(swing.at(phase, lift, land, clearance).velocity[i],
                   WithinAbs((after.position[i] - before.position[i]) / (2 * h), 1e-4));
    }
    for (const auto& [phase, at] : key) {  // on both sides of a keyframe the velocity is the same
      const auto before = swing.at(phase - 1e-9, lift, land, clearance), after = swing.at(phase + 1e-9, lift, land, clearance);
      for (int i = 0; i < 3; ++i) CHECK_THAT(before.velocity[i], WithinAbs(after.velocity[i], 1e-5));
    }
  }
}

TEST_CASE("a foot lifts and lands at rest, and waits where it pressed") {
  const SwingTrajectory swing;
  const Vector3 lift{0, 0.1, -0.4}, land{0.2, 0.1, -0.38};
  for (const double phase : {-1.0, 0.0, 0.9, 1.0, 3.0})
    for (const double speed : swing.at(phase, lift, land, 0.08).velocity) CHECK_THAT(speed, WithinAbs(0, 1e-12));
  CHECK_THAT(swing.at(3, lift, land, 0.08).position[2], WithinAbs(-0.41, 1e-12));
  CHECK_THAT(swing.at(0.45, lift, land, 0.08).velocity[0], WithinAbs(0.2 / 0.9, 1e-12));
  CHECK_THAT(SwingTrajectory({0.5, 1, 0.5, 0.1}).at(1, lift, land, 0.08).position[2], WithinAbs(-0.38, 1e-12));
}

TEST_CASE("keyframes out of order say so") {
  CHECK_THROWS_WITH(SwingTrajectory({0.9, 0.45}), ContainsSubstring("phases 0.9 and 0.45"));
  CHECK_THROWS_WITH(SwingTrajectory({0.45, 1.2}), ContainsSubstring("in this order"));
  CHECK_THROWS_WITH(SwingTrajectory({0.45, 0.9, 0.95}), ContainsSubstring("0.95 of the way"));
}
