module;
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
export module iap.envs.car_racing:world;
import iap.core;
import :track;

export namespace iap::car_racing {

constexpr double time_step = 1.0 / 50;  ///< s

struct Controls {
  double steer = 0;  ///< [-1, 1], positive to the left
  double gas = 0;    ///< [0, 1]
  double brake = 0;  ///< [0, 1]; from 0.9 on the wheels lock
};

/// A body's place in the world; it looks along (-sin angle, cos angle).
struct Pose {
  double x = 0, y = 0, angle = 0;
};

struct Wheel {
  Pose pose;
  double steering = 0;  ///< angle to the hull, rad
  double omega = 0;     ///< rad/s
  double phase = 0;     ///< rad
};

struct Car {
  Pose hull;
  double vx = 0, vy = 0, yaw_rate = 0;
  std::array<Wheel, 4> wheels;  ///< front left, front right, rear left, rear right
};

/// Of Box2D.
LibraryVersions versions();

/// CarRacing-v0's physics in Box2D: a hull on four wheels that grip, slide and lock, and road tiles that notice them.
class World {
 public:
  /// The car stands at the first point of `track` and looks along it.
  explicit World(const Track& track);
  ~World();
  World(World&&) noexcept;
  World& operator=(World&&) noexcept;

  /// Advances by `time_step`; without controls the car keeps its last ones. Returns how many tiles a wheel touched for the first
  /// time.
  int step(const std::optional<Controls>& controls);
  const Car& car() const;
  /// Tiles that a wheel has touched.
  int visited() const;
  /// For every tile whether any part of the car has touched it, not 0 if so.
  std::span<const std::uint8_t> touched() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace iap::car_racing
