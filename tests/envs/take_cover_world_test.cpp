#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>
import iap.envs;
import iap.envs.take_cover;

using namespace iap::take_cover;

namespace {

World started(std::uint64_t seed, bool fast = false) {
  World world(fast);
  world.reset(seed);
  return world;
}

}  // namespace

TEST_CASE("the player strafes as Doom's thrust and friction say") {
  World world = started(1);
  // v <- (v + 0.75) * 0.90625 after each move, so that after n tics y has gone 0.75 * sum of the geometric series.
  double y = 384;
  for (int n = 1; n <= 30; ++n) {
    world.step(Move::right);
    double speed = 0;
    for (int i = 0; i < n; ++i) speed += 0.75 * std::pow(0.90625, i);
    y -= speed;
    CHECK(std::abs(world.player().y - y) < 1e-9);
  }
  for (int n = 0; n < 100; ++n) world.step(Move::right);
  CHECK(world.player().y == 16);
  const double before = world.player().y;
  world.step(Move::left);
  CHECK(world.player().y > before);
}

TEST_CASE("a player who lets go comes to rest, a moving eye bobs") {
  World world = started(2);
  double lowest = 100, highest = 0;
  for (int n = 0; n < 40; ++n) {
    world.step(Move::left);
    lowest = std::min(lowest, world.player().eye);
    highest = std::max(highest, world.player().eye);
  }
  // At full speed, 8 units a tic, the eye swings by half of min(16, 8 * 8 / 4).
  CHECK(highest > 41 + 6);
  CHECK(highest <= 41 + 8);
  CHECK(lowest < 41 - 6);
  CHECK(lowest >= 41 - 8);
  for (int n = 0; n < 60 && world.player().vy != 0; ++n) world.step(Move::stay);
  CHECK(world.player().vy == 0);
  world.step(Move::stay);
  CHECK(world.player().eye == 41);
}

TEST_CASE("three imps stand there at the start, others come where there is room") {
  World world = started(3);
  REQUIRE(world.imps().size() == 3);
  CHECK(world.imps()[0].y == 20);
  CHECK(world.imps()[1].y == 278);
  CHECK(world.imps()[2].y == 652);
  CHECK(world.time() == warm_up_tics);
  std::size_t most = 3;
  for (int n = warm_up_tics; n < 2100; ++n) {
    const auto before = world.imps().size();
    world.step(Move::stay);
    if (world.imps().size() != before) CHECK(n % 60 == 0);
    most = std::max(most, world.imps().size());
  }
  CHECK(most > 8);
  for (std::size_t i = 0; i < world.imps().size(); ++i)
    for (std::size_t j = 0; j < i; ++j) CHECK(std::abs(world.imps()[i].y - world.imps()[j].y) >= 40);
}

TEST_CASE("an imp fires after its reaction time and then every 139 tics on average, on the fast rules at once and every 36") {
  // Between two shots lie the attack (22 tics), the look that follows it, and chase looks 3 tics apart: a wait of 0 to 15 looks and
  // a roll that succeeds with 56 of 256, again and again. E(looks) = 8.5 / p. On the fast rules nobody waits: E(looks) = 1 / p.
  for (const bool fast : {false, true}) {
    const double expected = 22 + 3 * (fast ? 1 : 8.5) / (56.0 / 256);
    const int soonest = 10 + 3 * (fast ? 0 : 7) + 16;
    double total = 0;
    int intervals = 0, first = 3000;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      World world = started(seed, fast);
      std::map<std::size_t, int> last;
      while (world.time() < 3000) {
        world.step(Move::stay);
        for (std::size_t i = 0; i < world.imps().size(); ++i) {
          const Imp& imp = world.imps()[i];
          if (imp.frame != 6 || imp.tics != 6) continue;
          if (i < 3) first = std::min(first, world.time());
          if (last.contains(i)) {
            total += world.time() - last[i];
            ++intervals;
          }
          last[i] = world.time();
        }
      }
    }
    CAPTURE(fast);
    CHECK(first == soonest);
    REQUIRE(intervals > 5000);
    CHECK(std::abs(total / intervals - expected) < 0.04 * expected);
  }
}

TEST_CASE("fireballs fly straight at where the player stood, 10 units a tic, 20 on the fast rules") {
  for (const bool fast : {false, true}) {
    World world = started(4, fast);
    int seen = 0;
    for (int n = 0; n < 400; ++n) {
      world.step(n % 60 < 30 ? Move::left : Move::right);
      for (const Fireball& ball : world.fireballs()) {
        if (!ball.flying()) continue;
        CHECK(std::abs(std::hypot(ball.vx, ball.vy) - (fast ? 20 : 10)) < 1e-9);
        const double flown = (imp_x - ball.x) / -ball.vx;
        if (flown > 1.6) continue;  // new: half a tic at the start and this one
        ++seen;
        const double y = world.imps()[ball.owner].y;
        const double aim = y + (world.player().x - imp_x) * ball.vy / ball.vx;
        CHECK(std::abs(aim - world.player().y) < 1e-6);
      }
    }
    CHECK(seen > 5);
  }
}

TEST_CASE("a hit takes 21 to 168 and pushes; a neighbour's body stops fireballs") {
  std::set<int> damages;
  int bursts = 0;
  for (std::uint64_t seed = 1; seed <= 80; ++seed) {
    World world = started(seed);
    while (world.player().health == 100) {
      world.step(Move::stay);
      for (const Fireball& ball : world.fireballs()) bursts += !ball.flying() && ball.x > 0;
    }
    damages.insert(100 - world.player().health);
    CHECK(world.player().hurt_at == world.time() - 1);
    if (world.player().health > 0) CHECK(world.player().vx < 0);
    for (int n = 0; n < 60; ++n) world.step(Move::stay);
    CHECK(world.player().x >= room_west + 16);
  }
  CHECK(damages == std::set<int>{21, 42, 63, 84, 100});
  CHECK(bursts > 0);
}
