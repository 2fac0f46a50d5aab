module;
#include <LinearMath/btScalar.h>
#include <mujoco/mujoco.h>
module iap.sim;
import iap.core;

namespace iap {

LibraryVersions sim_versions() {
  return {{"Bullet", version_text(BT_BULLET_VERSION / 100, BT_BULLET_VERSION % 100, 0)},
          {"MuJoCo", mj_versionString()},
          {"urdfdom", IAP_URDFDOM_VERSION}};
}

}  // namespace iap
