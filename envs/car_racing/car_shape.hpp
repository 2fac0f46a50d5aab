#pragma once
#include <array>
#include <cstddef>

// CarRacing-v0's car in its own units of `car_size` world units; y points ahead.
namespace iap::car_racing {

constexpr double car_size = 0.02;
constexpr double wheel_radius = 27, wheel_half_width = 14;
constexpr std::array<std::array<double, 2>, 4> wheel_centres{{{-55, 80}, {55, 80}, {-55, -82}, {55, -82}}};

struct HullPart {
  std::array<std::array<double, 2>, 8> corners;
  std::size_t count;
};
constexpr std::array<HullPart, 4> hull_parts{{
    {{{{-60, 130}, {60, 130}, {60, 110}, {-60, 110}}}, 4},
    {{{{-15, 120}, {15, 120}, {20, 20}, {-20, 20}}}, 4},
    {{{{25, 20}, {50, -10}, {50, -40}, {20, -90}, {-20, -90}, {-50, -40}, {-50, -10}, {-25, 20}}}, 8},
    {{{{-50, -120}, {50, -120}, {50, -90}, {-50, -90}}}, 4},
}};

}  // namespace iap::car_racing
