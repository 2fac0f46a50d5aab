// Include after `module iap.envs.legged;` and its imports, with <array> and <vector>.
#pragma once

namespace iap {

// What the legs of a robot weigh.
class LegWeights {
 public:
  LegWeights(const LeggedRobot& robot, double gravity);
  // dU/dq (abduction, hip, knee; N m), U being the potential energy of what hangs on a leg's joints: the torques that hold the leg
  // itself where it is.
  geometry::Vector3 torques(const RobotWorld& world, int leg) const;

 private:
  struct Joint {
    int link;
    geometry::Vector3 axis;
  };
  struct Part {
    int link;
    geometry::Vector3 centre;
    double weight;  // N
    int carriers;   // how many of the leg's joints, from the abduction on, it hangs on
  };

  std::array<std::array<Joint, 3>, legged::leg_count> joints_{};
  std::array<std::vector<Part>, legged::leg_count> parts_;
};

// The joint rates with which a toe at `toe` stays where it is in the world while the base moves with `velocity` and
// `angular_velocity`: -J^-1 (v + w x toe), all in the base's axes; smaller where a leg is so straight that J is nearly singular,
// for its `size`: 1 for legs of .4 m and more, else in parts of that.
geometry::Vector3 standing_rates(const geometry::Matrix3& jacobian, const geometry::Vector3& toe, const geometry::Vector3& velocity,
                                 const geometry::Vector3& angular_velocity, double size);

}  // namespace iap
