// Boxes that courses of footholds are made of. Include after `module iap.envs.legged;` and its imports, with <array>.
#pragma once

namespace iap {

namespace course_colours {
constexpr std::array<float, 4> below{.25f, .27f, .3f, 1}, ends{.55f, .6f, .65f, 1}, light{.72f, .68f, .6f, 1},
    dark{.6f, .56f, .5f, 1};
}  // namespace course_colours

/// Level, from `from` to `to` along x and as far to the left as to the right, its top at `top`.
inline TerrainBox slab(double from, double to, double width, double top, double thick, const std::array<float, 4>& rgba) {
  return {.placement = {.position = {(from + to) / 2, 0, top - thick / 2}},
          .half = {(to - from) / 2, width / 2, thick / 2},
          .rgba = rgba};
}

constexpr double floor_margin = 2;  // m

/// The floor `depth` below a course of this length and width; it reaches `floor_margin` further on all sides.
inline TerrainBox floor_below(double from, double to, double width, double depth) {
  constexpr double thickness = .1;
  return slab(from - floor_margin, to + floor_margin, width + 2 * floor_margin, -depth, thickness, course_colours::below);
}

}  // namespace iap
