#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <numbers>
import iap.core;
import iap.geometry;

using namespace iap;
using namespace iap::geometry;

namespace {

double off(const Vector3& a, const Vector3& b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

// Turns a point about an axis by hand: the coordinates a, b of the plane across it, from a to b.
void turn(Vector3& p, int a, int b, double angle) {
  const double first = p[a], second = p[b];
  p[a] = std::cos(angle) * first - std::sin(angle) * second;
  p[b] = std::sin(angle) * first + std::cos(angle) * second;
}

// Yaw about z after pitch about y after roll about x.
Vector3 moved(const Vector3& rpy, Vector3 p) {
  turn(p, 1, 2, rpy[0]);
  turn(p, 2, 0, rpy[1]);
  turn(p, 0, 1, rpy[2]);
  return p;
}

Vector3 drawn(Random& random, double most) {
  return {random.uniform(-most, most), random.uniform(-most, most), random.uniform(-most, most)};
}

Vector3 drawn_angles(Random& random) { return {random.uniform(-3.1, 3.1), random.uniform(-1.5, 1.5), random.uniform(-3.1, 3.1)}; }

Matrix3 rotation(const Vector3& rpy) { return rotation_of(rpy[0], rpy[1], rpy[2]); }

}  // namespace

TEST_CASE("rotations survive the way through quaternions and angles") {
  Random random(3);
  for (int trial = 0; trial < 200; ++trial) {
    const Vector3 rpy = drawn_angles(random);
    const Matrix3 r = rotation(rpy), again = rotation_of(quaternion_of(r));
    for (int axis = 0; axis < 3; ++axis) {
      Vector3 unit{};
      unit[axis] = 1;
      const Vector3 image = moved(rpy, unit);
      for (int row = 0; row < 3; ++row) {
        CHECK(std::abs(r[3 * row + axis] - image[row]) < 1e-12);
        CHECK(std::abs(again[3 * row + axis] - image[row]) < 1e-12);
      }
    }
    CHECK(off(roll_pitch_yaw(r), rpy) < 1e-9);
  }
}

TEST_CASE("the pitch of a rotation that rounding took beyond 1 is a quarter turn") {
  for (const double side : {-1., 1.}) {
    Matrix3 r = rotation_of(0, side * std::numbers::pi / 2, 0);
    r[6] = -side * std::nextafter(1., 2.);
    CHECK(std::abs(roll_pitch_yaw(r)[1] - side * std::numbers::pi / 2) < 1e-9);
  }
}

TEST_CASE("a rotation turns points out of its frame, its transpose turns them back, and products turn twice") {
  Random random(4);
  for (int trial = 0; trial < 100; ++trial) {
    const Vector3 first = drawn_angles(random), second = drawn_angles(random), p = drawn(random, 2);
    CHECK(off(rotation(first) * p, moved(first, p)) < 1e-14);
    CHECK(off(transposed(rotation(first)) * moved(first, p), p) < 1e-14);
    CHECK(off(rotation(second) * rotation(first) * p, moved(second, moved(first, p))) < 1e-14);
  }
  CHECK(identity * Vector3{1, 2, 3} == Vector3{1, 2, 3});
}

TEST_CASE("frames in frames place points as their parts do one after the other") {
  Random random(5);
  for (int trial = 0; trial < 100; ++trial) {
    const Vector3 inner = drawn_angles(random), outer = drawn_angles(random), at = drawn(random, 2), from = drawn(random, 2),
                  p = drawn(random, 2);
    const Placement one{at, rotation(inner)}, two{from, rotation(outer)};
    Vector3 expected = moved(inner, p);
    for (int i = 0; i < 3; ++i) expected[i] += at[i];
    CHECK(off(one * p, expected) < 1e-14);
    expected = moved(outer, expected);
    for (int i = 0; i < 3; ++i) expected[i] += from[i];
    CHECK(off(two * one * p, expected) < 1e-14);
  }
  CHECK(Placement{} * Vector3{1, 2, 3} == Vector3{1, 2, 3});
}

TEST_CASE("products of vectors are those of a right-handed frame") {
  const Vector3 x{1, 0, 0}, y{0, 1, 0}, z{0, 0, 1};
  CHECK(cross(x, y) == z);
  CHECK(cross(y, z) == x);
  CHECK(cross(z, x) == y);
  const Vector3 a{1, -2, 3}, b{4, 5, -6};
  CHECK(dot(a, b) == 4 - 10 - 18);
  CHECK(dot(cross(a, b), a) == 0);
  CHECK(dot(cross(a, b), cross(a, b)) == dot(a, a) * dot(b, b) - dot(a, b) * dot(a, b));  // Lagrange's identity
  CHECK(a + 2 * b == Vector3{9, 8, -9});
  CHECK(a - b == Vector3{-3, -7, 9});
}
