module;
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.sim;
import iap.core;
#include "mesh_files.hpp"
#include "sim/packed_file.hpp"

namespace iap {
namespace {

/// The content of the file `name` out of `files`.
std::string held_file(const Config& files, const std::string& name) {
  const Config* packed = files.find(name);
  if (!packed) {
    std::vector<std::string> held;
    if (const auto* entries = files.map())
      for (const auto& [key, value] : *entries) held.push_back(key);
    throw Error(text("the robot's files do not hold '", name, "'", did_you_mean(name, held)));
  }
  auto content = unpacked_file(*packed);
  if (!content) throw Error(text("the robot's file '", name, "' is damaged: it is neither a text nor {base64 = ...}"));
  return std::move(*content);
}

/// Gathers the files of a robot.
class Files {
 public:
  /// Once for each name.
  void keep(const std::string& name, std::string_view content) {
    if (kept_.contains(name)) return;
    bytes_ += content.size();
    if (bytes_ > RobotBundle::most_bytes)
      throw Error(text("the robot's files take more than ", RobotBundle::most_bytes >> 20, " MB (with '", name,
                       "'); they travel in every policy file, so make collision meshes smaller, or give the links boxes, spheres "
                       "or cylinders"));
    kept_.emplace(name, packed_file(content));
  }
  /// `find`, whose meshes are kept.
  FindMesh keeping(FindMesh find) {
    return [this, find = std::move(find)](const std::string& name, const std::string& link) {
      MeshFile mesh = find(name, link);
      keep(name, mesh.content);
      return mesh;
    };
  }
  Config config() && { return std::move(kept_); }

 private:
  Config::Map kept_;
  std::size_t bytes_ = 0;
};

RobotBundle bundle_of(const std::string& name, std::string_view urdf, FindMesh find) {
  Files files;
  files.keep(name, urdf);
  RobotDescription robot = parse_urdf(urdf, name, files.keeping(std::move(find)));
  return {std::move(robot), std::move(files).config()};
}

}  // namespace

RobotBundle RobotBundle::read(const std::filesystem::path& file) {
  check_file(file, largest_urdf);
  return bundle_of(file.string(), read_file(file), meshes_in(file.parent_path(), file.string()));
}

RobotBundle RobotBundle::unpack(const std::string& name, const Config& files) {
  const FindMesh find = [&files](const std::string& mesh, const std::string&) { return MeshFile{mesh, held_file(files, mesh)}; };
  return bundle_of(name, held_file(files, name), find);
}

}  // namespace iap
