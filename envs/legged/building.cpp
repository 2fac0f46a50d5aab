module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "core/fork_mutex.hpp"
module iap.envs.legged;
import iap.core;
import iap.render;
import iap.sim;
#include "building.hpp"
#include "core/file_identity.hpp"
#include "core/files_read.hpp"
#include "core/there.hpp"

namespace iap {
namespace {

constexpr const char *mesh_file = "mesh_z_up.obj", *floors_file = "floors.txt";
constexpr double reach = 2;  // m above the floor, beyond which nothing is touched

// The heights in `floors.txt`: numbers between blanks.
std::vector<double> read_heights(const std::filesystem::path& file) {
  constexpr std::uintmax_t largest = std::uintmax_t{1} << 20;
  check_file(file, largest);
  const std::string content = read_file(file);
  std::vector<double> heights;
  for (std::string_view rest = content; !rest.empty();) {
    const std::string_view word = next_word(rest, " \t\r\n,");
    if (word.empty()) break;
    double height = 0;
    if (!read_cell(word, height) || !(std::abs(height) <= 1e4))
      throw Error(text(file.string(), ": '", word.substr(0, 40), "' is not the height of a storey in metres"));
    heights.push_back(height);
  }
  if (heights.empty())
    throw Error(text(file.string(), ": there is no height in it; write one for each storey, or delete the file"));
  return heights;
}

std::shared_ptr<const Building> load(const std::string& folder, int storey, double lift) {
  const std::filesystem::path path(folder), obj = path / mesh_file, floors = path / floors_file;
  check_file(path);  // for a NUL in the name, which would end messages
  if (!std::filesystem::is_directory(status_of(path)))
    throw Error(text("there is no folder '", folder, "'; a scene is a folder with mesh_z_up.obj, as in the Gibson data set"));
  if (!std::filesystem::is_regular_file(status_of(obj)))
    throw Error(text("the folder '", folder, "' holds no mesh_z_up.obj; a scene is a folder as in the Gibson data set"));
  Triangles triangles = read_obj(obj);
  std::vector<double> heights;
  if (is_there(floors)) {
    heights = read_heights(floors);
  } else {
    double lowest = 1e30;
    for (std::size_t i = 2; i < triangles.vertices.size(); i += 3) lowest = std::min<double>(lowest, triangles.vertices[i]);
    heights.push_back(lowest);
  }
  if (storey >= static_cast<int>(heights.size()))
    throw Error(text("'", folder, "' has no storey ", storey, "; it has ", heights.size(), ", counted from 0"));
  const double floor = heights[storey] + lift;
  for (std::size_t i = 2; i < triangles.vertices.size(); i += 3)
    triangles.vertices[i] = static_cast<float>(triangles.vertices[i] - floor);
  auto building = std::make_shared<Building>();
  building->folder = folder;
  try {
    building->mesh = std::make_shared<const Mesh>(std::move(triangles));
  } catch (const Error& error) {
    throw Error(text(obj.string(), ": ", error.what()));
  }
  const Triangles& all = building->mesh->triangles();
  std::vector<int> place(all.vertices.size() / 3, -1);
  TerrainMesh& touched = building->touched;
  constexpr std::size_t between_looks = 3 * 65'536;
  for (std::size_t i = 0; i < all.indices.size(); i += 3) {
    if (i % between_looks == 0) check_interrupt();
    const auto height = [&](std::size_t corner) { return all.vertices[std::size_t{3} * all.indices[i + corner] + 2]; };
    const auto [low, high] = std::minmax({height(0), height(1), height(2)});
    if (high <= 0 || low > reach) continue;
    for (std::size_t corner = 0; corner < 3; ++corner) {
      const std::uint32_t vertex = all.indices[i + corner];
      if (place[vertex] < 0) {
        place[vertex] = static_cast<int>(touched.vertices.size() / 3);
        for (int axis = 0; axis < 3; ++axis) touched.vertices.push_back(all.vertices[std::size_t{3} * vertex + axis]);
      }
      touched.indices.push_back(place[vertex]);
    }
  }
  return building;
}

}  // namespace

std::shared_ptr<const Building> read_building(const std::string& folder, int storey, double lift) {
  static ForkMutex mutex;
  static std::map<std::tuple<std::string, std::string, int, double>, std::weak_ptr<const Building>> known;
  const std::lock_guard lock(mutex);
  std::error_code ignored;
  const std::filesystem::path path(folder), floors = path / floors_file;
  std::vector files{path / mesh_file};
  std::string identities = file_identity(files.front());
  if (is_there(floors)) {
    files.push_back(floors);
    identities += text(", ", file_identity(floors));
  }
  std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
  auto& kept = known[{std::filesystem::absolute(folder, ignored).string(), identities, storey, lift}];
  auto building = kept.lock();
  if (!building) kept = building = load(folder, storey, lift);
  note_contents(folder, files);
  return building;
}

}  // namespace iap
