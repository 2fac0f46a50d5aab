module;
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>
module iap.sim;
import iap.core;
#include "mesh_files.hpp"

namespace iap {
namespace {

// Where a mesh may be, in the order of the search.
struct Places {
  std::vector<std::filesystem::path> files;
  std::string told;  // in messages
};

// ROS names meshes package://NAME/PATH: looked for below the folder with and without NAME, then below the folders above that are
// called NAME, as a package is laid out: NAME/urdf/robot.urdf beside NAME/meshes.
Places places_of(std::string_view name, const std::filesystem::path& folder) {
  constexpr std::string_view scheme = "package://", file = "file://";
  constexpr int levels = 5;
  if (!name.starts_with(scheme)) {
    if (name.starts_with(file)) name.remove_prefix(file.size());
    return {{folder / name}, text("'", (folder / name).string(), "'")};
  }
  name.remove_prefix(scheme.size());
  const auto slash = name.find('/');
  if (slash == name.npos || slash == 0) return {{folder / name}, text("'", (folder / name).string(), "'")};
  const std::string_view package = name.substr(0, slash), path = name.substr(slash + 1);
  Places places{{folder / name, folder / path},
                text("'", (folder / path).string(), "', nor '", path, "' in a folder '", package, "' above it")};
  std::error_code ignored;
  auto above = std::filesystem::absolute(folder.empty() ? "." : folder, ignored).lexically_normal();
  if (!above.has_filename()) above = above.parent_path();
  for (int level = 0; level < levels && above.has_relative_path(); ++level, above = above.parent_path())
    if (above.filename() == package) places.files.push_back(above / path);
  return places;
}

// What names that are no paths are, and what to write in their place; "" for a path.
std::string why_no_path(std::string_view name) {
  constexpr std::string_view model = "model://";
  if (name.starts_with(model))
    return text("is a name of Gazebo's, which looks for it in folders of its own; write package://", name.substr(model.size()),
                ", or the path from the URDF's folder");
  if (name.find("$(") != name.npos)
    return "is for xacro or roslaunch, which put a folder there; expand the file first (xacro FILE > robot.urdf), or write "
           "package://NAME/PATH or the path from the URDF's folder";
  if (name.find("://") != name.npos && !name.starts_with("package://") && !name.starts_with("file://"))
    return "is no path; meshes are files of this machine: write package://NAME/PATH or the path from the URDF's folder";
  return "";
}

}  // namespace

FindMesh meshes_in(const std::filesystem::path& folder, const std::string& source) {
  return [folder, source](const std::string& name, const std::string& link) -> MeshFile {
    if (const auto why = why_no_path(name); !why.empty())
      throw Error(text(source, ": link '", link, "': the mesh '", name, "' ", why));
    const auto places = places_of(name, folder);
    std::error_code ignored;
    for (const auto& place : places.files) {
      if (!std::filesystem::is_regular_file(place, ignored)) continue;
      check_file(place, largest_meshes);
      return {place.string(), read_file(place)};
    }
    throw Error(text(source, ": link '", link, "': there is no mesh file ", places.told,
                     "; put it there, or give the link a box, sphere or cylinder"));
  };
}

}  // namespace iap
