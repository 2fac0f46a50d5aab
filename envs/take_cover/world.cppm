module;
#include <cstdint>
#include <span>
#include <vector>
export module iap.envs.take_cover:world;
import iap.core;

export namespace iap::take_cover {

/// The room in Doom units: x grows to the east, y to the north; the floor is at 0.
constexpr double room_west = -448, room_east = 128, room_south = 0, room_north = 768;
constexpr double imp_x = 64;
constexpr int tics_a_second = 35;
constexpr int warm_up_tics = 14;  ///< of an episode pass before its first picture

struct Player {
  double x = -416, y = 384, vx = 0, vy = 0;  ///< units, units a tic; the player looks to the east
  double bob_speed = 0;                      ///< speed of its own making, units a tic: the eye bobs with it
  double eye = 41;                           ///< height of the eye above the floor
  int health = 100;
  int hurt_at = -1;  ///< time of the last hit, -1 if there was none
};

struct Imp {
  double y = 0;
  int frame = 0;      ///< 0..3 on the spot, 4..6 attacking: the letters of its sprites, from A
  double facing = 0;  ///< degrees, counterclockwise from the east

  int state = 0, tics = 0, move_count = 0, heading = 0, reaction = 0;
  bool just_attacked = false;
};

struct Fireball {
  double x = 0, y = 0, vx = 0, vy = 0;  ///< its foot stays 32 units above the floor
  int frame = 0;                        ///< 0, 1 in flight; 2..4 bursting
  int tics = 0;
  std::size_t owner = 0;  ///< index of the imp
  bool flying() const { return frame < 2; }
};

enum class Move { stay, left, right };

/// Doom's rules for this room, tic by tic: imps on the east side fire at a player who can only step aside. All positions are
/// doubles where Doom has 16 bits of fraction.
class World {
 public:
  /// Under `fast` rules (Doom's skill "nightmare") fireballs fly 20 units a tic instead of 10 and imps rest for no time.
  explicit World(bool fast) : fast_(fast), random_(0) {}

  /// Begins an episode that is a function of `seed` alone, `warm_up_tics` old.
  void reset(std::uint64_t seed);
  /// One tic.
  void step(Move move);

  const Player& player() const { return player_; }
  std::span<const Imp> imps() const { return imps_; }
  std::span<const Fireball> fireballs() const { return fireballs_; }
  int time() const { return time_; }  ///< tics since the start of the map

 private:
  int draw(int count) { return static_cast<int>(random_.below(static_cast<std::uint32_t>(count))); }
  void spawn_imp(double y);
  void move_player(Move move);
  void enter(Imp& imp, int state);
  void chase(Imp& imp);
  void choose_heading(Imp& imp);
  bool wants_to_fire(const Imp& imp);
  void face_player(Imp& imp) const;
  void fire(std::size_t imp);
  void fly(Fireball& fireball);
  bool blocked(const Fireball& fireball, double x, double y);
  void burst(Fireball& fireball);
  void hurt_player(double from_x, double from_y);

  bool fast_;
  Random random_;
  Player player_;
  std::vector<Imp> imps_;
  std::vector<Fireball> fireballs_;
  int time_ = 0;
};

}  // namespace iap::take_cover
