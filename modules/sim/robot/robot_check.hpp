// Include after `module iap.sim;`, with <array> and <string>.
#pragma once

namespace iap {

// Makes axes unit vectors. Throws Error naming `source` and the link or joint that no engine could simulate.
void check_robot(RobotDescription& robot, const std::string& source);

// An inertia that is given along the axes of a frame `rotation`, along the axes that the frame is given in.
std::array<double, 9> turned(const std::array<double, 9>& inertia, const std::array<double, 9>& rotation);

}  // namespace iap
