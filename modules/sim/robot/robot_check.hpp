// Include after `module iap.sim;` and `import iap.geometry;`, with <string>.
#pragma once

namespace iap {

// Whether a symmetric matrix is positive definite.
bool is_positive(const geometry::Matrix3& matrix);

// Makes axes unit vectors. Throws Error naming `source` and the link or joint that no engine could simulate.
void check_robot(RobotDescription& robot, const std::string& source);

}  // namespace iap
