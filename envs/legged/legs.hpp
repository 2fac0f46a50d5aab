// Include after `module iap.envs.legged;`, with <array>.
#pragma once

namespace iap {

// The four legs of a robot, in the order FR, FL, RR, RL. Throws Error that names the leg that is none.
std::array<Leg, 4> find_legs(const RobotDescription& robot);

}  // namespace iap
