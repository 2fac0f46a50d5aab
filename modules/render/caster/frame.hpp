// What the caster's kernels read: a scene prepared for one picture. Plain data only, so that it can stand in a global module
// fragment. Rays are eye + t (corner + column * right + row * down) with t the depth along the optical axis.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace iap::frame {

enum class Shape : std::uint8_t { plane, sphere, capsule, ellipsoid, cylinder, box };

struct Vector {
  float x = 0, y = 0, z = 0;
};

struct Rays {
  Vector eye, corner, right, down;
};

// Pixels that a primitive may touch: columns [left, right), rows [top, bottom).
struct Bounds {
  int left = 0, right = 0, top = 0, bottom = 0;
};

struct Level {
  std::int32_t width, height, offset, face_size;
};

struct Image {
  const std::uint32_t* texels = nullptr;
  std::array<std::array<std::int32_t, 16>, 4> levels{};  // width, height, offset, face size of each level
  int level_count = 0;
  bool solid = false;  // a cube
};

// The scene as the camera sees it, and as its mirror image behind the reflecting surface sees it.
enum View { direct, mirrored };

// The corners at which a plane is lit, in its own metres: a row of cells of width `step`, and at both ends a narrower one that
// takes the rest. Colours are computed in blocks when a pixel first needs one of them.
struct GridAxis {
  float start = 0, margin = 0, step = 1;
  int cells = 0;
};

struct LightGrid {
  static constexpr int block = 16;
  std::array<GridAxis, 2> axes;
  int pitch = 0;   // corners in a row, a multiple of the block
  int passes = 0;  // of light: all lights without shadow, then each with one
  bool shadows = false;
  mutable std::vector<float> rgb;            // passes x 3 x rows x pitch
  mutable std::vector<std::uint8_t> filled;  // one for each block
  inline int plane_size() const { return (axes[1].cells + 1) * pitch; }
};

struct Solid {
  Shape shape;
  // Rows of the map from world to unit space, in which sphere, ellipsoid, cylinder and box have size 1, a capsule radius 1, and a
  // plane its own metres.
  std::array<Vector, 3> to_unit;
  Vector position;
  float half_length = 0;              // capsule, in unit space
  std::array<float, 2> half_width{};  // plane; infinity without end
  std::array<Rays, 2> rays;           // of both views, in unit space
  std::array<Bounds, 2> bounds;
  std::array<float, 3> rgb;
  float alpha, emission, specular, shininess;
  int image = -1;
  Vector image_scale;  // from unit space to texture coordinates: two for flat, three for cube
  bool mirror = false;
  std::array<int, 2> grid{-1, -1};  // the light grid of each view, -1 for light at each pixel
};

struct Caster {
  int solid;
  float left, right, bottom, top;  // what its shadow may touch on the light's own image plane
};

struct Light {
  Vector position, direction;  // unit direction
  std::array<float, 3> ambient, diffuse, specular, attenuation;
  float cos_cutoff, exponent;
  bool directional, spot, attenuated, shines_specular;
  bool shadows;
  // The light's image plane: for a spot coordinates are tangents, for a directional light metres.
  Vector right, up;
  float half_width, near_plane;
  std::vector<Caster> casters;
};

struct Haze {
  bool on = false;
  std::array<Vector, 3> axes;  // x, y, z of the plane
  float elevation = 0;         // of the eye above the plane, in units of the sky's radius
  float fraction = 0, peak = 0;
  std::array<float, 3> rgb{};
};

// What meshes show in a picture, pixel by pixel: planes of rows that are `pitch` floats long.
struct MeshLayer {
  // Depth is infinite where there is none; the owner is an index into Frame::mesh_paints.
  // The place is in [0, 1) of the owner's image, the footprint the squared width of a pixel in its texels.
  enum { depth, normal, colour = normal + 3, owner = colour + 3, place, footprint = place + 2, planes };
  int pitch = 0, height = 0;
  std::vector<float> values;
  inline const float* row(int plane, int row) const {
    return values.data() + (static_cast<std::ptrdiff_t>(plane) * height + row) * pitch;
  }
};

struct MeshPaint {
  float emission = 0, specular = 0, shininess = 0;
  int image = -1;
};

struct Frame {
  int height = 0, width = 0;
  std::array<Rays, 2> rays;
  float near_plane = 0, far_plane = 0;
  float sky_radius = 0;
  std::vector<Solid> solids;
  std::vector<int> opaque, transparent;  // indices of solids; transparent ones nearest first
  std::vector<Light> lights;
  std::vector<LightGrid> grids;
  int grid_count = 0;  // the others wait for a scene with more planes
  std::vector<Image> images;
  int sky = -1;
  // The picture of the sky alone where it is known, else none; some bytes may be read beyond its end.
  const std::uint8_t* sky_rgb = nullptr;
  int mirror = -1;  // the reflecting solid if reflection is drawn
  float reflectance = 0;
  std::array<float, 3> global_ambient{};
  Haze haze;
  const MeshLayer* meshes = nullptr;           // none: the scene has none
  const MeshLayer* mirrored_meshes = nullptr;  // what the mirror shows of them, if there is one
  std::vector<MeshPaint> mesh_paints;
  // Whether a mesh of `scene` lies on the way from a point, at most `reach` times `direction` far.
  bool (*blocked)(const void* scene, const Vector& from, const Vector& direction, float reach) = nullptr;
  const void* scene = nullptr;
};

}  // namespace iap::frame
