module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <numbers>
#include <vector>
module iap.envs.take_cover;
import iap.core;

namespace iap::take_cover {
namespace {

constexpr double player_radius = 16, imp_radius = 20, fireball_radius = 6;
constexpr double thrust = 0.75, friction = 0.90625, stop_speed = 1.0 / 16;
constexpr double eye_height = 41, bob_share = 0.25, most_bob = 16;
constexpr int bob_period = 20;
constexpr int first_spawn_low = 20, spawn_high = 652, spawn_every = 60;
constexpr double first_spawn_middle = 278;
constexpr int damage_factor = 7, least_damage = 3;
constexpr double slow_speed = 10, fast_speed = 20;
constexpr std::size_t most_actors = 256;

// Doom's state table of the imp: two states of looking, eight of the chase, three of the attack.
constexpr int first_chase = 2, first_attack = 10, last_attack = 12, states = 13;
struct State {
  int frame, tics, next;
};
constexpr std::array<State, states> imp_states{{{0, 10, 1},
                                                {1, 10, 0},
                                                {0, 3, 3},
                                                {0, 3, 4},
                                                {1, 3, 5},
                                                {1, 3, 6},
                                                {2, 3, 7},
                                                {2, 3, 8},
                                                {3, 3, 9},
                                                {3, 3, 2},
                                                {4, 8, 11},
                                                {5, 8, 12},
                                                {6, 6, 2}}};
constexpr std::array<int, 5> fireball_tics{4, 4, 6, 6, 6};

// Headings count eighths of a turn from the east.
constexpr int east = 0, north_west = 3, west = 4, south_west = 5;
constexpr double eighth = 45;

// Doom's quick distance.
double rough_distance(double dx, double dy) {
  dx = std::abs(dx);
  dy = std::abs(dy);
  return dx + dy - std::min(dx, dy) / 2;
}

}  // namespace

void World::reset(std::uint64_t seed) {
  random_ = Random({.seed = seed, .purpose = Purpose::environment});
  player_ = {};
  imps_.clear();
  fireballs_.clear();
  imps_.reserve(most_actors);
  fireballs_.reserve(most_actors);
  time_ = 0;
  for (const double y : {double{first_spawn_low}, first_spawn_middle, double{spawn_high}}) spawn_imp(y);
  for (int i = 0; i < warm_up_tics; ++i) step(Move::stay);
}

void World::step(Move move) {
  move_player(move);
  if (time_ > 0 && time_ % spawn_every == 0) spawn_imp(random_.uniform(first_spawn_low, spawn_high));
  for (std::size_t i = 0; i < imps_.size(); ++i) {
    if (--imps_[i].tics > 0) continue;
    enter(imps_[i], imp_states[static_cast<std::size_t>(imps_[i].state)].next);
    if (imps_[i].state == last_attack) fire(i);
  }
  for (auto& fireball : fireballs_) fly(fireball);
  std::erase_if(fireballs_, [](const Fireball& fireball) { return fireball.frame >= static_cast<int>(fireball_tics.size()); });
  ++time_;
}

// Doom finds no room for an imp that would stand in another.
void World::spawn_imp(double y) {
  const bool free = std::ranges::none_of(imps_, [&](const Imp& other) { return std::abs(other.y - y) < 2 * imp_radius; });
  if (!free) return;
  constexpr int reaction_time = 8;
  imps_.push_back(
      {.y = y, .facing = west * eighth, .tics = imp_states[0].tics, .heading = east, .reaction = fast_ ? 0 : reaction_time});
}

void World::move_player(Move move) {
  Player& player = player_;
  const double push = move == Move::left ? thrust : move == Move::right ? -thrust : 0;
  player.vy += push;
  player.bob_speed += push;
  const double bob = std::min(most_bob, bob_share * player.bob_speed * player.bob_speed);
  player.eye = eye_height + bob / 2 * std::sin(2 * std::numbers::pi * (time_ % bob_period) / bob_period);
  if (player.vx == 0 && player.vy == 0) return;
  const auto advance = [](double& at, double& speed, double low, double high) {
    at += speed;
    if (at >= low && at <= high) return false;
    at = std::clamp(at, low, high);
    speed = 0;
    return true;
  };
  advance(player.x, player.vx, room_west + player_radius, room_east - player_radius);
  if (advance(player.y, player.vy, room_south + player_radius, room_north - player_radius)) player.bob_speed = 0;
  if (push == 0 && std::abs(player.vx) < stop_speed && std::abs(player.vy) < stop_speed) {
    player.vx = player.vy = player.bob_speed = 0;
    return;
  }
  player.vx *= friction;
  player.vy *= friction;
  player.bob_speed *= friction;
}

void World::enter(Imp& imp, int state) {
  imp.state = state;
  const State& row = imp_states[static_cast<std::size_t>(state)];
  imp.frame = row.frame;
  imp.tics = row.tics;
  if (state < first_chase)
    enter(imp, first_chase);  // looking, it sees the player at once
  else if (state < first_attack)
    chase(imp);
  else
    face_player(imp);
}

void World::chase(Imp& imp) {
  if (imp.reaction > 0) --imp.reaction;
  imp.facing = eighth * std::floor(imp.facing / eighth);
  const double turn = std::remainder(imp.facing - eighth * imp.heading, 360.0);
  if (turn != 0) imp.facing += turn > 0 ? -eighth : eighth;
  imp.facing = std::fmod(imp.facing + 360, 360.0);
  if (imp.just_attacked) {
    imp.just_attacked = false;
    if (!fast_) choose_heading(imp);
    return;
  }
  if ((fast_ || imp.move_count == 0) && wants_to_fire(imp)) {
    imp.just_attacked = true;
    enter(imp, first_attack);
    return;
  }
  if (--imp.move_count < 0) choose_heading(imp);
}

// It has no speed, so every first choice succeeds; only a turn on the spot is not taken.
void World::choose_heading(Imp& imp) {
  constexpr double near_enough = 10;
  const double dy = player_.y - imp.y;
  const int wanted = dy > near_enough ? north_west : dy < -near_enough ? south_west : west;
  if (wanted != west || imp.heading != east) imp.heading = wanted;
  imp.move_count = draw(16);
}

bool World::wants_to_fire(const Imp& imp) {
  constexpr double melee_range = 64;
  constexpr int least_chance = 200;
  if (imp.reaction > 0) return false;
  const double distance = rough_distance(player_.x - imp_x, player_.y - imp.y) - melee_range;
  return draw(256) >= std::min(static_cast<int>(distance), least_chance);
}

void World::face_player(Imp& imp) const {
  const double degrees = std::atan2(player_.y - imp.y, player_.x - imp_x) * 180 / std::numbers::pi;
  imp.facing = std::fmod(degrees + 360, 360.0);
}

void World::fire(std::size_t index) {
  if (fireballs_.size() == most_actors) return;
  const double dx = player_.x - imp_x, dy = player_.y - imps_[index].y, distance = std::hypot(dx, dy);
  const double speed = fast_ ? fast_speed : slow_speed;
  Fireball fireball{.x = imp_x,
                    .y = imps_[index].y,
                    .vx = speed * dx / distance,
                    .vy = speed * dy / distance,
                    .tics = std::max(1, fireball_tics[0] - draw(4)),
                    .owner = index};
  fireball.x += fireball.vx / 2;
  fireball.y += fireball.vy / 2;
  if (blocked(fireball, fireball.x, fireball.y)) burst(fireball);
  fireballs_.push_back(fireball);
}

// Doom moves a missile in steps shorter than its radius, and looks where each would end.
void World::fly(Fireball& fireball) {
  if (fireball.flying()) {
    const double longest = std::max(std::abs(fireball.vx), std::abs(fireball.vy));
    const int steps = longest > fireball_radius - 1 ? 1 + static_cast<int>(longest / (fireball_radius - 1)) : 1;
    for (int i = 0; i < steps; ++i) {
      const double x = fireball.x + fireball.vx / steps, y = fireball.y + fireball.vy / steps;
      if (blocked(fireball, x, y)) {
        burst(fireball);
        break;
      }
      fireball.x = x;
      fireball.y = y;
    }
  }
  if (--fireball.tics > 0) return;
  fireball.frame = fireball.flying() ? 1 - fireball.frame : fireball.frame + 1;
  if (fireball.frame < static_cast<int>(fireball_tics.size()))
    fireball.tics = fireball_tics[static_cast<std::size_t>(fireball.frame)];
}

// What stands there is the player, who is hurt, another imp, who is not, or a wall.
bool World::blocked(const Fireball& fireball, double x, double y) {
  const auto touches = [&](double other_x, double other_y, double radius) {
    return std::abs(x - other_x) < radius + fireball_radius && std::abs(y - other_y) < radius + fireball_radius;
  };
  if (touches(player_.x, player_.y, player_radius)) {
    hurt_player(fireball.x, fireball.y);
    return true;
  }
  for (std::size_t i = 0; i < imps_.size(); ++i)
    if (i != fireball.owner && touches(imp_x, imps_[i].y, imp_radius)) return true;
  return x < room_west + fireball_radius || x > room_east - fireball_radius || y < room_south + fireball_radius ||
         y > room_north - fireball_radius;
}

void World::burst(Fireball& fireball) {
  fireball.frame = 2;
  fireball.tics = std::max(1, fireball_tics[2] - draw(4));
  fireball.vx = fireball.vy = 0;
}

void World::hurt_player(double from_x, double from_y) {
  constexpr double push_of_damage = 0.125, most_push = 32;
  const int damage = damage_factor * least_damage * (1 + draw(8));
  const double push = std::min(most_push, push_of_damage * damage);
  const double dx = player_.x - from_x, dy = player_.y - from_y, distance = std::hypot(dx, dy);
  if (distance > 0) {
    player_.vx += push * dx / distance;
    player_.vy += push * dy / distance;
  }
  player_.health = std::max(0, player_.health - damage);
  player_.hurt_at = time_;
}

}  // namespace iap::take_cover
