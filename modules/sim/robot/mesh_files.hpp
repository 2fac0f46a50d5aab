// Include after `module iap.sim;`, with <cstddef>, <cstdint>, <filesystem>, <functional>, <span>, <string>, <string_view> and
// <vector>.
#pragma once

namespace iap {

// What a URDF text may have.
constexpr std::size_t largest_urdf = std::size_t{16} << 20;

// What all files of a robot's meshes may have.
constexpr std::uintmax_t largest_meshes = std::uintmax_t{256} << 20;

// What a coordinate of a mesh takes in the end: engines keep points, hulls and texts of them.
constexpr double bytes_a_coordinate = 64;

// A mesh and what messages call it.
struct MeshFile {
  std::string name, content;
};

// Gives the mesh that a URDF calls `name`, which `link` has. Throws Error.
using FindMesh = std::function<MeshFile(const std::string& name, const std::string& link)>;

// Looks for meshes in `folder`, for those of a package also in the folders above that have its name; `source` is the URDF in
// messages.
FindMesh meshes_in(const std::filesystem::path& folder, const std::string& source);

// The vertices of an OBJ or STL file: x, y, z of each; what a convex hull needs. Throws Error naming the file, also where they are
// more than the memory holds, before it is taken.
std::vector<double> mesh_points(const MeshFile& mesh);

// Whether the convex hull of points (x, y, z of each, in metres) is too thin or too small for the engines.
bool is_flat(std::span<const double> points);

// As the public function, with meshes from anywhere.
RobotDescription parse_urdf(std::string_view urdf, const std::string& source, const FindMesh& find_mesh);

}  // namespace iap
