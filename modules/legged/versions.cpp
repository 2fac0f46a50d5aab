module;
#include <Eigen/Core>
module iap.legged;
import iap.core;

namespace iap {

LibraryVersions legged_versions() {
  return {{"Eigen", version_text(EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION)}};
}

}  // namespace iap
