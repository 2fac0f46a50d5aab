// Include after `module iap.envs.car_racing;`.
#pragma once

namespace iap::car_racing {

/// -1, 0 or 1.
inline double sign(double value) { return (value > 0) - (value < 0); }

}  // namespace iap::car_racing
