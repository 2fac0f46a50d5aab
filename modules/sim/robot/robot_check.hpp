// Include after `module iap.sim;`, with <string>.
#pragma once

namespace iap {

// Makes axes unit vectors. Throws Error naming `source` and the link or joint that no engine could simulate.
void check_robot(RobotDescription& robot, const std::string& source);

}  // namespace iap
