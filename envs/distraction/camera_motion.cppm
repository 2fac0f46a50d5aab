module;
#include <array>
export module iap.envs.distraction:camera_motion;
import iap.core;

export namespace iap {

/// How far and how fast the distracted camera moves. Angles in radians, lengths in metres, velocities a control step.
struct CameraRange {
  double horizontal_delta = 0, vertical_delta = 0, roll_delta = 0;  ///< to either side of the camera's own place
  double max_vel = 0, vel_std = 0;                                  ///< for a camera 4 m away; nearer ones move in proportion
  double max_roll_vel = 0, roll_std = 0;
  double zoom_in = 0, zoom_out = 0;  ///< the most that the distance shrinks and grows, as a share of it
  /// Stay above the ground and on its own side of the plane y = 0: vertical angle in [0, pi/2], horizontal in [-pi, 0] or, for a
  /// camera that begins beyond that plane, [0, pi]. Where it begins is never left out.
  bool upper_quadrant = true;
};

/// Where a camera stands (3) and how it is turned (row-major 3 x 3; it looks along its own -z, y is up).
struct CameraPose {
  std::array<double, 3> position{};
  std::array<double, 9> rotation{};
};

/// The camera of the Distracting Control Suite (Stone et al. 2021, "camera"): a random place on a shell around the agent, and a
/// random walk of its velocity from there. It knows nothing of the physics: `pose` adds the agent's present place.
class CameraMotion {
 public:
  explicit CameraMotion(const CameraRange& range) : range_(range) {}

  /// Begins an episode from the camera's own pose `own`. A camera that `follows` moves with the agent's centre of mass `agent`;
  /// another one stays in the world and keeps looking at the point that it looked at in the beginning.
  void reset(const CameraPose& own, const std::array<double, 3>& agent, bool follows, Random& random);
  /// Moves by one control step.
  void step(Random& random);
  /// The pose in the world, where `own` is the pose that the simulation gives the camera now.
  CameraPose pose(const CameraPose& own, const std::array<double, 3>& agent) const;

  double radius() const { return place_[0]; }
  double horizontal() const { return place_[1]; }
  double vertical() const { return place_[2]; }
  double roll() const { return roll_; }

 private:
  CameraRange range_;
  std::array<double, 3> place_{}, lowest_{}, highest_{};  // radius, horizontal angle, angle from the vertical
  std::array<double, 3> velocity_{}, look_at_{};
  double roll_ = 0, roll_velocity_ = 0, scale_ = 1;
  double heading_ = 0;  // the horizontal angle of the camera's own place
  bool follows_ = false;
  bool steep_ = false;  // whether the model's camera begins by looking up or down, nearly along the vertical
};

}  // namespace iap
