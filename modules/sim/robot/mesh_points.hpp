// Include after `module iap.sim;`, with <filesystem> and <vector>.
#pragma once

namespace iap {

// The vertices of an OBJ or STL file: x, y, z of each; what a convex hull needs. Throws Error naming the file.
std::vector<double> read_mesh_points(const std::filesystem::path& file);

}  // namespace iap
