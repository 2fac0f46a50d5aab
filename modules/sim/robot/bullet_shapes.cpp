module;
#include <btBulletDynamicsCommon.h>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>
module iap.sim;
import iap.core;
#include "bullet_internal.hpp"

namespace iap {
namespace {

std::unique_ptr<btCollisionShape> solid(const RobotShape& shape) {
  switch (shape.kind) {
    case RobotShape::Kind::box: return std::make_unique<btBoxShape>(to_bullet(shape.size));
    case RobotShape::Kind::sphere: return std::make_unique<btSphereShape>(shape.size[0]);
    case RobotShape::Kind::cylinder:
      return std::make_unique<btCylinderShapeZ>(btVector3(shape.size[0], shape.size[0], shape.size[1]));
    default: break;
  }
  // The margin lies outside of a hull; a robot's parts are too small for Bullet's 4 cm.
  constexpr double margin = 1e-3;
  auto hull = std::make_unique<btConvexHullShape>();
  for (std::size_t i = 0; i + 2 < shape.points.size(); i += 3)
    hull->addPoint({shape.points[i], shape.points[i + 1], shape.points[i + 2]}, false);
  hull->optimizeConvexHull();
  hull->recalcLocalAabb();
  hull->setMargin(margin);
  return hull;
}

}  // namespace

BulletFrame bullet_frame(const RobotBody& body) {
  btMatrix3x3 inertia = to_bullet(body.inertia), axes;
  inertia.diagonalize(axes, 1e-14, 100);
  return {btTransform(axes, to_bullet(body.centre)), {inertia[0][0], inertia[1][1], inertia[2][2]}};
}

BulletShape body_shape(const RobotDescription& robot, const RobotModel& model, const RobotBody& body, const BulletFrame& frame,
                       std::vector<int>& links) {
  BulletShape result;
  auto compound = std::make_unique<btCompoundShape>();
  for (const int link : body.links)
    for (const auto& shape : robot.links[link].collisions) {
      result.children.push_back(solid(shape));
      const Placement place = model.link_place[link] * shape.placement;
      compound->addChildShape(frame.com.inverse() * to_bullet(place), result.children.back().get());
      links.push_back(link);
    }
  if (!links.empty()) result.shape = std::move(compound);
  return result;
}

BulletShape box_shape(const TerrainBox& box) {
  return {.shape = std::make_unique<btBoxShape>(to_bullet(box.half)), .children = {}, .triangles = {}};
}

BulletShape mesh_shape(const TerrainMesh& mesh) {
  BulletShape result;
  // Bullet only reads them.
  result.triangles = std::make_unique<btTriangleIndexVertexArray>(
      static_cast<int>(mesh.indices.size() / 3), const_cast<int*>(mesh.indices.data()), static_cast<int>(3 * sizeof(int)),
      static_cast<int>(mesh.vertices.size() / 3), const_cast<double*>(mesh.vertices.data()), static_cast<int>(3 * sizeof(double)));
  auto shape = std::make_unique<btBvhTriangleMeshShape>(result.triangles.get(), true);
  constexpr double margin = 1e-3;
  shape->setMargin(margin);
  result.shape = std::move(shape);
  return result;
}

}  // namespace iap
