#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>
import iap.core;
import iap.envs;
import iap.envs.car_racing;

using namespace iap;

namespace {

using Corner = std::array<double, 2>;
constexpr Rgb ink{1, 2, 3};

double cross(const Corner& a, const Corner& b, const Corner& c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

// Corners on a circle, in order: always convex.
std::vector<Corner> random_polygon(Random& random, std::size_t corners) {
  const double x = random.uniform(-10, 50), y = random.uniform(-10, 40), radius = random.uniform(1, 30);
  const double turn = random.uniform(0, 6);
  std::vector<Corner> polygon;
  for (std::size_t i = 0; i < corners; ++i) {
    const double angle = turn + 6.28 * (static_cast<double>(i) + random.uniform(0, 0.9)) / static_cast<double>(corners);
    polygon.push_back({x + radius * std::cos(angle), y + radius * std::sin(angle)});
  }
  return polygon;
}

bool inside(const std::vector<Corner>& polygon, const Corner& point) {
  for (std::size_t i = 0; i < polygon.size(); ++i)
    if (cross(polygon[i], polygon[(i + 1) % polygon.size()], point) < 0) return false;
  return true;
}

}  // namespace

TEST_CASE("a convex polygon fills exactly the pixels whose centres are inside") {
  Random random(1);
  for (int trial = 0; trial < 500; ++trial) {
    const auto polygon = random_polygon(random, 3 + trial % 6);
    Canvas canvas(30, 40), mirrored(30, 40);
    canvas.clear({});
    mirrored.clear({});
    canvas.fill(polygon, ink);
    mirrored.fill(std::vector<Corner>(polygon.rbegin(), polygon.rend()), ink);
    int wrong = 0;
    for (int row = 0; row < 30; ++row)
      for (int column = 0; column < 40; ++column) {
        const bool expected = inside(polygon, {column + 0.5, row + 0.5});
        wrong += (canvas.at(row, column) == ink) != expected;
        wrong += (mirrored.at(row, column) == ink) != expected;
      }
    CHECK(wrong == 0);
  }
}

TEST_CASE("polygons that share edges cover every pixel once, whatever way they lean and even through pixel centres") {
  Random random(2);
  for (const double slant : {0.0, 0.5, 1.0, 0.37}) {
    // A net of 8 x 8 quads over the canvas; with slant 0 and 1 its corners and edges lie on pixel centres.
    std::array<std::array<Corner, 9>, 9> net;
    for (int i = 0; i < 9; ++i)
      for (int j = 0; j < 9; ++j)
        net[i][j] = {4.0 * j + 0.5 + slant * i - 10, 3.0 * i + 0.5 + (slant == 0.37 ? random.uniform(-1, 1) : 0)};
    std::vector<int> covered(24 * 24);
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) {
        Canvas canvas(24, 24);
        canvas.clear({});
        canvas.fill(std::array{net[i][j], net[i][j + 1], net[i + 1][j + 1], net[i + 1][j]}, ink);
        for (int row = 0; row < 24; ++row)
          for (int column = 0; column < 24; ++column) covered[row * 24 + column] += canvas.at(row, column) == ink;
      }
    int wrong = 0;
    for (int row = 2; row < 22; ++row)
      for (int column = 0; column < 20; ++column) wrong += covered[row * 24 + column] != 1;
    CAPTURE(slant);
    CHECK(wrong == 0);
  }
}

TEST_CASE("a left or upper edge owns the centres on it, a right or lower edge does not") {
  Canvas canvas(4, 4);
  canvas.clear({});
  canvas.fill(std::array<Corner, 4>{{{1.5, 0.5}, {3.5, 0.5}, {3.5, 2.5}, {1.5, 2.5}}}, ink);
  for (int row = 0; row < 4; ++row)
    for (int column = 0; column < 4; ++column) CHECK((canvas.at(row, column) == ink) == (row < 2 && (column == 1 || column == 2)));
}

TEST_CASE("corners far away, infinite or not a number are harmless") {
  Canvas canvas(8, 8);
  canvas.clear({});
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  canvas.fill(std::array<Corner, 3>{{{nan, 1}, {5, 1}, {5, 6}}}, ink);
  canvas.fill(std::array<Corner, 3>{{{0, infinity}, {5, 1}, {5, 6}}}, ink);
  canvas.fill(std::array<Corner, 3>{{{-1e300, -1e300}, {-1e300, -2}, {-5, -2}}}, ink);
  CHECK(canvas.at(3, 4) == Rgb{});
  canvas.fill(std::array<Corner, 4>{{{-1e9, -1e9}, {1e9, -1e9}, {1e9, 1e9}, {-1e9, 1e9}}}, ink);
  std::vector<std::uint8_t> bytes(8 * 8 * 3);
  canvas.copy_to(bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) CHECK(bytes[i] == 1 + i % 3);
}

TEST_CASE("colours are the nearest of 256 levels") {
  CHECK(to_rgb(0.4, 0.8, 0.9) == Rgb{102, 204, 230});
  CHECK(to_rgb(-0.1, 0.41, 1.2) == Rgb{0, 105, 255});
}
