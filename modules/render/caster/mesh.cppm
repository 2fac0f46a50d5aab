module;
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
export module iap.render:mesh;
import iap.core;

export namespace iap {

/// A surface of triangles as lists of numbers.
struct Triangles {
  std::vector<float> vertices;         ///< x, y, z of each, in metres
  std::vector<std::uint32_t> indices;  ///< three vertices of each triangle, counted from 0
  std::vector<float> colours = {};     ///< red, green and blue in [0, 1] of each vertex; empty: white
  std::vector<float> normals = {};     ///< of each vertex, of any length, to be blended between the corners; empty: flat triangles
  std::vector<float> texcoords = {};   ///< two of each vertex, where in an image it lies; empty: its x and y
};

/// Reads the vertices and faces of an OBJ text; `source` names it in messages. Faces with more than three corners become fans of
/// triangles; indices may be negative (back from the latest vertex); the six-number form of vertices has colours, which count if
/// all vertices have them. Textures, normals, materials, groups, lines and curves are passed over.
/// @throws Error naming the source, the line and what is wrong: a vertex without three numbers that float32 can hold, a face with
/// fewer than three corners or with a vertex that is not there, no face at all.
Triangles parse_obj(std::string_view obj, const std::string& source);
/// Reads an OBJ file of at most 1 GiB. @throws Error as `parse_obj` does, and if the file is larger or cannot be read.
Triangles read_obj(const std::filesystem::path& file);

/// The next word of `rest`, which is cut from it with the blanks before; "" at its end. The default is what is blank within a
/// line of a mesh's text, such as OBJ.
std::string_view next_word(std::string_view& rest, std::string_view blanks = " \t\r");

/// What `read_coordinates` found.
struct Coordinates {
  std::size_t count = 0;     ///< how many numbers were read
  std::string_view wrong{};  ///< the word behind them that is none; empty if the line ended there, or the room
};
/// Reads the words of `line` as numbers, as many as `values` has room for. A + may stand in front of one. What is too small for
/// these is 0, however it is spelled; what is too large, or not finite, is none.
Coordinates read_coordinates(std::string_view line, std::span<double> values);
Coordinates read_coordinates(std::string_view line, std::span<float> values);

/// Where a ray meets a mesh.
struct MeshHit {
  float t = 0;                    ///< the place is origin + t direction
  std::array<float, 3> normal{};  ///< of length 1; of flat triangles towards the ray's origin, else on that side of the surface
  std::array<float, 3> rgb{};     ///< interpolated between the triangle's corners
  std::uint32_t triangle = 0;     ///< which one it is
};

/// Triangles made ready for rays (the Embree door), seen from both sides. Immutable: scenes and threads share it. Which triangle is
/// nearest is Embree's answer; where on it the ray ends is computed in float64, so that a hit does not depend on the machine's SIMD
/// but at edges, where two triangles are equally near.
class Mesh {
 public:
  /// @throws Error for an empty list, sizes that do not fit, indices that name no vertex, coordinates that are not finite or beyond
  /// 1e6 m, colours outside of [0, 1], more than 100 million triangles, and what Embree refuses.
  explicit Mesh(Triangles triangles);
  ~Mesh();
  Mesh(Mesh&&) noexcept;
  Mesh& operator=(Mesh&&) noexcept;

  const Triangles& triangles() const;
  /// The least x, y, z and the largest.
  const std::array<std::array<float, 3>, 2>& bounds() const;
  /// The nearest hit with t in [from, to]. `direction` need not have length 1.
  std::optional<MeshHit> hit(const std::array<float, 3>& origin, const std::array<float, 3>& direction, float from, float to) const;
  /// Where in an image `point` lies, which is in the plane of `triangle`, inside or outside of it.
  std::array<float, 2> texture_place(std::uint32_t triangle, const std::array<float, 3>& point) const;
  /// Whether there is any.
  bool blocks(const std::array<float, 3>& origin, const std::array<float, 3>& direction, float from, float to) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace iap
