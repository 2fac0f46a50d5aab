module;
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>
module iap.envs.legged;
import iap.core;
import iap.sim;
#include "rooms.hpp"

namespace iap {
namespace {

using Colour = std::array<float, 4>;

constexpr double frame = .1;  // m, the least from a doorway to the corner of its room

Span read_span(Options& options, const std::string& name, double low, double least, double most) {
  Span span;
  span.least = options.number_in("least_" + name, low, 100, least);
  span.most = options.number_in("most_" + name, span.least, 100, std::max(most, span.least));
  return span;
}

// Boxes of one flat. Walls end at `height`.
class Builder {
 public:
  Builder(const RoomsOptions& options, Terrain& terrain) : options_(options), terrain_(terrain) {}

  void block(double x0, double x1, double y0, double y1, double z0, double z1, const Colour& rgba) {
    if (!(x1 > x0 && y1 > y0 && z1 > z0)) return;
    terrain_.boxes.push_back({.placement = {.position = {(x0 + x1) / 2, (y0 + y1) / 2, (z0 + z1) / 2}},
                              .half = {(x1 - x0) / 2, (y1 - y0) / 2, (z1 - z0) / 2},
                              .rgba = rgba});
  }

  // A wall across, from y0 to y1, with an opening that ends at its far side; `lintel` closes it above.
  void across(double y0, double y1, const Opening& opening, double height, double lintel, const Colour& rgba) {
    const double from = opening.x - options_.wall_thickness, left = opening.y + opening.width / 2,
                 right = opening.y - opening.width / 2;
    block(from, opening.x, y0, right, 0, height, rgba);
    block(from, opening.x, left, y1, 0, height, rgba);
    block(from, opening.x, right, left, lintel, height, rgba);
  }

 private:
  const RoomsOptions& options_;
  Terrain& terrain_;
};

}  // namespace

/// @lua options robots.rooms
/// Rooms one behind the other.
/// @option rooms integer 1..100 = 5 - each ends with a doorway; the last leads outside
/// @option least_length number 1..100 = 2.5 - of a room along x, metres, uniform between the two
/// @option most_length number least_length..100 = 4 - likewise
/// @option least_width number 1..100 = 2.5 - along y, metres; wider where its doorways need it
/// @option most_width number least_width..100 = 4.5 - likewise
/// @option least_door number 0.3..100 = 0.8 - width of a doorway, metres
/// @option most_door number least_door..100 = 1.1 - likewise
/// @option door_height number 0.6..100 = 2 - metres, where the wall goes on above
/// @option door_shift number 0..100 = 0.6 - most that a doorway lies to the side of the one before, metres
/// @option gates number 0..1 = 0.3 - probability of a barrier across the middle of a room, with an opening
/// @option least_gate number 0.3..100 = 0.6 - width of that opening, metres
/// @option most_gate number least_gate..100 = 0.8 - likewise
/// @option gate_height number 0.1..100 = 1 - of the barrier, metres
/// @option wall_height number 0.6..100 = 2.5 - metres
/// @option wall_thickness number 0.01..0.5 = 0.15 - metres
/// @option start number 0.5..100 = 1 - metres of the first room behind the robot
/// @option finish number 0.1..100 = 0.5 - metres behind the last doorway at which the flat is crossed
/// @option flats integer[] = {} - {first, last}: each episode is in one of the flats of these numbers; {}: in one of its own
/// @option ceiling boolean = true - in the camera's pictures alone
RoomsOptions read_rooms(Options& options) {
  RoomsOptions rooms;
  const auto length = [&options](const char* key, double low, double standard) {
    return options.number_in(key, low, 100, standard);
  };
  rooms.rooms = static_cast<int>(options.integer_in("rooms", 1, 100, 5));
  rooms.length = read_span(options, "length", 1, 2.5, 4);
  rooms.width = read_span(options, "width", 1, 2.5, 4.5);
  rooms.door = read_span(options, "door", .3, .8, 1.1);
  rooms.door_height = length("door_height", .6, 2);
  rooms.door_shift = length("door_shift", 0, .6);
  rooms.gates = options.number_in("gates", 0, 1, .3);
  rooms.gate = read_span(options, "gate", .3, .6, .8);
  rooms.gate_height = length("gate_height", .1, 1);
  rooms.wall_height = length("wall_height", .6, 2.5);
  rooms.wall_thickness = options.number_in("wall_thickness", .01, .5, .15);
  rooms.start = length("start", .5, 1);
  rooms.finish = length("finish", .1, .5);
  return rooms;
}

Rooms make_rooms(const RoomsOptions& options, double friction, std::uint64_t seed) {
  constexpr std::array<Colour, 3> tints{{{.83f, .8f, .72f, 1}, {.7f, .78f, .8f, 1}, {.8f, .72f, .74f, 1}}};
  constexpr Colour gate_tint{.72f, .3f, .2f, 1};
  Random random({.seed = seed, .member = 1, .purpose = Purpose::environment});
  const auto within = [&random](const Span& span) { return random.uniform(span.least, span.most); };
  Rooms result{.terrain = {.friction = friction}};
  Builder builder(options, result.terrain);
  const double thick = options.wall_thickness;
  double x = -options.start, y = 0, entry_width = options.door.least, before_low = 0, before_high = 0;
  for (int room = 0; room < options.rooms; ++room) {
    const Colour& tint = tints[room % tints.size()];
    const double length = within(options.length) + (room == 0 ? options.start : 0);
    const Opening door{x + length + thick, y + random.uniform(-options.door_shift, options.door_shift), within(options.door)};
    // Between the side walls, of which both doorways keep clear.
    const double low_most = std::min(y - entry_width / 2, door.y - door.width / 2) - frame;
    const double high_least = std::max(y + entry_width / 2, door.y + door.width / 2) + frame;
    const double width = std::max(within(options.width), high_least - low_most);
    const double low = random.uniform(high_least - width, low_most), high = low + width;
    // The wall behind reaches as far as the rooms on both its sides.
    if (room == 0)
      builder.block(x - thick, x, low - thick, high + thick, 0, options.wall_height, tint);
    else
      builder.across(std::min(low, before_low) - thick, std::max(high, before_high) + thick, result.openings.back(),
                     options.wall_height, options.door_height, tint);
    builder.block(x, x + length, low - thick, low, 0, options.wall_height, tint);
    builder.block(x, x + length, high, high + thick, 0, options.wall_height, tint);
    const bool gated = random.uniform() < options.gates;
    const double from = std::max(x, 0.), share = random.uniform(.4, .6), aside = random.uniform(-.5, .5) * options.door_shift;
    Opening gate{from + share * (door.x - from), 0, within(options.gate)};
    const double keep = std::min(gate.width / 2 + frame, width / 2);
    gate.y = std::clamp((y + door.y) / 2 + aside, low + keep, high - keep);
    if (gated && gate.x > from + thick && gate.x < x + length) {
      builder.across(low, high, gate, options.gate_height, options.gate_height, gate_tint);
      result.openings.push_back(gate);
    }
    result.openings.push_back(door);
    x += length + thick;
    y = door.y;
    entry_width = door.width;
    before_low = low;
    before_high = high;
  }
  builder.across(before_low - thick, before_high + thick, result.openings.back(), options.wall_height, options.door_height,
                 tints[options.rooms % tints.size()]);
  result.end = x + options.finish;
  return result;
}

}  // namespace iap
