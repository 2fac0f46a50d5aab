// What the Bullet sources of iap.sim share. Include after `module iap.sim;`, with the headers of Bullet, <memory> and <vector>.
#pragma once

#include "robot_engine.hpp"

namespace iap {

inline btVector3 to_bullet(const std::array<double, 3>& v) { return {v[0], v[1], v[2]}; }
inline btMatrix3x3 to_bullet(const std::array<double, 9>& m) { return {m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8]}; }
inline btTransform to_bullet(const Placement& p) { return btTransform(to_bullet(p.rotation), to_bullet(p.position)); }
inline std::array<double, 3> from_bullet(const btVector3& v) { return {v.x(), v.y(), v.z()}; }
inline std::array<double, 9> from_bullet(const btMatrix3x3& m) {
  return {m[0][0], m[0][1], m[0][2], m[1][0], m[1][1], m[1][2], m[2][0], m[2][1], m[2][2]};
}
inline Placement from_bullet(const btTransform& t) { return {from_bullet(t.getOrigin()), from_bullet(t.getBasis())}; }

// While any of these lives, Bullet has our callbacks and thresholds; what a host had there is its own again afterwards. To be
// around each call in which Bullet may ask for them.
class OwnGlobals {
 public:
  OwnGlobals();
  ~OwnGlobals();
  OwnGlobals(const OwnGlobals&) = delete;
  OwnGlobals& operator=(const OwnGlobals&) = delete;
};

// Bullet wants bodies in the frame of their centre and principal axes.
struct BulletFrame {
  btTransform com;    // that frame in the body's own
  btVector3 moments;  // of inertia
};
BulletFrame bullet_frame(const RobotBody& body);

// A collision shape and whatever it points to.
struct BulletShape {
  std::unique_ptr<btCollisionShape> shape;
  std::vector<std::unique_ptr<btCollisionShape>> children;
  std::unique_ptr<btTriangleIndexVertexArray> triangles;
};
// All collision shapes of a body as one compound in its frame of masses; child k belongs to link links[k]. No shape: none at all.
BulletShape body_shape(const RobotDescription& robot, const RobotModel& model, const RobotBody& body, const BulletFrame& frame,
                       std::vector<int>& links);
BulletShape box_shape(const TerrainBox& box);
// Points into `mesh`.
BulletShape mesh_shape(const TerrainMesh& mesh);

}  // namespace iap
