module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
module iap.sim;
import iap.core;
import iap.geometry;
import iap.render;
#include "mesh_files.hpp"

namespace iap {
namespace {

// An empty list with room for so many coordinates, and for the engines' search for the hull of their points.
std::vector<double> room_for(std::size_t coordinates, const std::string& file) {
  constexpr double bytes_while_searched = 192;
  check_memory(text(file, ": the mesh"), bytes_while_searched * static_cast<double>(coordinates));
  std::vector<double> points;
  points.reserve(coordinates);
  return points;
}

// Calls `use` with the number of each line that begins with the word `key`, and with what follows there.
template <typename Use>
void for_lines(std::string_view content, std::string_view key, const Use& use) {
  for (int number = 1; !content.empty(); ++number) {
    std::string_view line = content.substr(0, content.find('\n'));
    content.remove_prefix(std::min(line.size() + 1, content.size()));
    if (next_word(line) == key) use(number, line);
  }
}

// Lines that begin with `key` and three numbers: "v x y z" of OBJ, "vertex x y z" of STL as text.
std::vector<double> text_points(std::string_view content, std::string_view key, const std::string& file) {
  std::size_t count = 0;
  for_lines(content, key, [&](int, std::string_view) { ++count; });
  auto points = room_for(3 * count, file);
  for_lines(content, key, [&](int number, std::string_view line) {
    std::array<double, 3> point{};
    const Coordinates given = read_coordinates(line, std::span<double>(point));
    constexpr std::size_t most_shown = 40;
    if (!given.wrong.empty())
      throw Error(
          text(file, ", line ", number, ": '", given.wrong.substr(0, most_shown), "' is not a number that a vertex can have"));
    if (given.count < point.size())
      throw Error(text(file, ", line ", number, ": '", key, "' needs three numbers, not ", given.count));
    points.insert(points.end(), point.begin(), point.end());
  });
  return points;
}

// Binary STL: 80 bytes of anything, the number of triangles, then 50 bytes each: normal, three corners, two bytes more.
std::vector<double> binary_points(std::string_view content, const std::string& file) {
  constexpr std::size_t head = 84, triangle = 50;
  std::uint32_t count = 0;
  if (content.size() >= head) std::memcpy(&count, content.data() + 80, sizeof count);
  if (content.size() < head || (content.size() - head) / triangle < count)
    throw Error(text(file, ": ends too early for an STL file"));
  auto points = room_for(std::size_t{9} * count, file);
  for (std::uint32_t i = 0; i < count; ++i) {
    float corners[9];
    std::memcpy(corners, content.data() + head + i * triangle + 12, sizeof corners);
    for (const float value : corners) {
      if (!std::isfinite(value)) throw Error(text(file, ": triangle ", i, " has a corner that is not finite"));
      points.push_back(value);
    }
  }
  return points;
}

struct Farthest {
  geometry::Vector3 point{};
  double distance = -1;
};

// Of points by a measure.
template <typename Measure>
Farthest farthest(std::span<const double> points, const Measure& measure) {
  Farthest best;
  for (std::size_t i = 0; i + 2 < points.size(); i += 3) {
    const geometry::Vector3 point{points[i], points[i + 1], points[i + 2]};
    if (const double distance = measure(point); distance > best.distance) best = {point, distance};
  }
  return best;
}

}  // namespace

bool is_flat(std::span<const double> points) {
  using namespace geometry;
  // MuJoCo keeps coordinates in float32, and calls less than 1e-15 m^3 no volume.
  constexpr double thinnest = 1e-5, smallest = 1e-14;
  const auto norm = [](const Vector3& v) { return std::sqrt(dot(v, v)); };
  const Farthest first = farthest(points, norm);
  const Vector3 a = first.point;
  const Vector3 edge = farthest(points, [&](const Vector3& p) { return norm(p - a); }).point - a;
  const Farthest third = farthest(points, [&](const Vector3& p) { return norm(cross(edge, p - a)); });
  const Vector3 normal = cross(edge, third.point - a);
  const double volume = farthest(points, [&](const Vector3& p) { return std::abs(dot(normal, p - a)); }).distance;
  // Of a line the area is 0; what is not finite is not for this to tell.
  return volume <= thinnest * first.distance * third.distance || volume / 6 <= smallest;
}

std::vector<double> mesh_points(const MeshFile& mesh) {
  const auto& [name, content] = mesh;
  std::string ending = std::filesystem::path(name).extension().string();
  std::ranges::transform(ending, ending.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (ending != ".obj" && ending != ".stl")
    throw Error(text(name, ": collision meshes are read from .obj and .stl, not from '", ending, "'; convert it"));
  const bool words_inside = ending == ".obj" || (content.starts_with("solid") && content.find("vertex") != content.npos);
  auto points = words_inside ? text_points(content, ending == ".obj" ? "v" : "vertex", name) : binary_points(content, name);
  if (points.size() < 12) throw Error(text(name, ": a solid needs at least 4 vertices, not ", points.size() / 3));
  return points;
}

}  // namespace iap
