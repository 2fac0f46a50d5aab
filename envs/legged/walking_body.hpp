// Include after `module iap.envs.legged;` and `import iap.legged;`.
#pragma once

namespace iap {

// The whole robot as one rigid body, as its world has it, with all joints as it stands. Resets the world.
legged::Body walking_body(const LeggedRobot& robot, RobotWorld& world);

}  // namespace iap
