// Include after `module iap.envs.legged;` and its imports, with <array>, <cstdint>, <memory>, <string> and <vector>.
#pragma once

namespace iap {

/// One storey of a scanned building, moved so that its floor is at z = 0.
struct Building {
  std::string folder;
  std::shared_ptr<const Mesh> mesh;  ///< all of it
  TerrainMesh touched;               ///< what a robot on the floor can touch
};

/// Reads a folder in the layout of the Gibson data set: `mesh_z_up.obj` and, where it is there, `floors.txt` with the heights of
/// the storeys; without it the storey is at the mesh's lowest vertex. The floor is `lift` higher than its storey: scanned floors
/// are bumpy, and what is below it, or beyond a robot's reach above, is not touched. Kept while somebody uses it, so that all who
/// read the same storey of the same files share it; safe on several threads. @throws Error naming the file.
std::shared_ptr<const Building> read_building(const std::string& folder, int storey, double lift);

/// Where A1 is put down in its neutral pose.
struct StartPlace {
  double x = 0, y = 0, heading = 0;  ///< m, rad
  double floor = 0;                  ///< m, the highest of what is under its body and toes
};

/// `place` with its floor. @throws Error where the floor under body and toes has a step, or something stands where the robot would.
StartPlace stand_at(const Building& building, StartPlace place);

/// A place of the floor that `seed` draws, as even and as free as `stand_at` wants it, with `clearance` around it in all directions
/// and three times as much ahead. @throws Error if none is found.
StartPlace find_start(const Building& building, double clearance, std::uint64_t seed);

}  // namespace iap
