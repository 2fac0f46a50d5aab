#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdlib>
#include <new>

import iap.legged;

namespace {
std::atomic<long> allocations = 0;
}

// Eigen allocates through malloc, the standard library through operator new: glibc's own functions lie under both.
extern "C" {
void* __libc_malloc(std::size_t size);
[[gnu::visibility("default")]] void* malloc(std::size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
}

using namespace iap::legged;

TEST_CASE("the counter sees both kinds of allocation") {
  const long before = allocations;
  void* volatile plain = std::malloc(100);
  CHECK(allocations > before);
  std::free(plain);
  const long between = allocations;
  void* volatile made = ::operator new(100);
  CHECK(allocations > between);
  ::operator delete(made);
}

TEST_CASE("what runs at every control step allocates nothing") {
  const Robot& robot = find_robot("laikago");
  StanceMpc mpc(standing_body(robot));
  TrajectoryGenerator generator;
  Gait gait;
  const SwingTrajectory swing;
  const LegKinematics leg(robot.legs[0]);
  const FootPlacement place;
  BodyState state;
  state.position[2] = 0.42;
  state.velocity = {0.8, 0.5, -0.3};
  state.angular_velocity = {1, -1, 0.5};
  PerLeg<Vector3> feet{Vector3{0.2, -0.1, -0.42}, {0.2, 0.1, -0.42}, {-0.2, -0.1, -0.42}, {-0.2, 0.1, -0.42}};
  const long before = allocations;
  int steps = 0;
  for (int count = 0; count <= leg_count; ++count) {
    PerLeg<bool> standing{};
    for (int i = 0; i < count; ++i) standing[i] = true;
    steps += mpc.solve(state, {.height = 0.45}, feet, standing).steps;
  }
  generator.step(0.01, {.frequency = 2, .intensity = 0.5});
  gait.update(0.3, {true, false, true, false});
  const auto point = swing.at(0.3, feet[0], feet[1], 0.05);
  const auto joints = leg.inverse(place(point.position, {}, {}, 0.3, 0.4)).joints;
  const auto torques = stance_torques(leg.jacobian(joints), feet[0], robot.damping, joints);
  const long after = allocations;
  CHECK(after == before);
  CHECK(steps > 5);
  CHECK(torques[0] != 0);
}
