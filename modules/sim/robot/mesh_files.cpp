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

// ROS names meshes package://NAME/PATH: looked for below the folder with and without NAME.
std::vector<std::filesystem::path> places_of(std::string_view name, const std::filesystem::path& folder) {
  constexpr std::string_view package = "package://", file = "file://";
  if (name.starts_with(package)) {
    name.remove_prefix(package.size());
    const auto slash = name.find('/');
    if (slash == name.npos) return {folder / name};
    return {folder / name, folder / name.substr(slash + 1)};
  }
  if (name.starts_with(file)) name.remove_prefix(file.size());
  return {folder / name};
}

}  // namespace

FindMesh meshes_in(const std::filesystem::path& folder, const std::string& source) {
  return [folder, source](const std::string& name, const std::string& link) -> MeshFile {
    const auto places = places_of(name, folder);
    std::error_code ignored;
    for (const auto& place : places) {
      if (!std::filesystem::is_regular_file(place, ignored)) continue;
      check_file(place, largest_meshes);
      return {place.string(), read_file(place)};
    }
    throw Error(text(source, ": link '", link, "': there is no mesh file '", places.back().string(),
                     "'; put it there, or give the link a box, sphere or cylinder"));
  };
}

}  // namespace iap
