#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

import iap.legged;

using namespace iap::legged;
using Catch::Matchers::WithinAbs;

TEST_CASE("a foot lands where Raibert's rule says, by hand") {
  const FootPlacement place;
  const Vector3 hip{0.2, -0.1, 7};
  // v = (.4, .1), wanted (.5, 0), T = .3: x = .2 + .06 - .003, y = -.1 + .015 + .003.
  Vector3 target = place(hip, {{0.4, 0.1}, 0}, {{0.5, 0}, 0}, 0.3, 0.45);
  CHECK_THAT(target[0], WithinAbs(0.257, 1e-15));
  CHECK_THAT(target[1], WithinAbs(-0.082, 1e-15));
  CHECK_THAT(target[2], WithinAbs(-0.45, 1e-15));
  // Turning at 2 rad/s moves this hip at (.2, .4): x = .2 + .03 + .006, y = -.1 + .06 + .012.
  target = place(hip, {{0, 0}, 2}, {}, 0.3, 0.4);
  CHECK_THAT(target[0], WithinAbs(0.236, 1e-15));
  CHECK_THAT(target[1], WithinAbs(-0.028, 1e-15));
  // As wanted, the foot is the middle of what the hip travels during stance; at rest it is under the hip.
  target = place(hip, {{0.6, 0}, 0}, {{0.6, 0}, 0}, 0.5, 0.4);
  CHECK_THAT(target[0], WithinAbs(0.2 + 0.6 * 0.25, 1e-15));
  target = FootPlacement(0.1)(hip, {}, {{1, 0}, 0}, 0.5, 0.4);
  CHECK_THAT(target[0], WithinAbs(0.1, 1e-15));
  CHECK_THAT(target[1], WithinAbs(-0.1, 1e-15));
}
