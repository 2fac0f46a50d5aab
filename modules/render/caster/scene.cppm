module;
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>
export module iap.render:scene;
import iap.core;
import :mesh;
import :texture;

export namespace iap {

using Vec3 = std::array<float, 3>;
using Mat3 = std::array<float, 9>;  ///< row-major; columns are the local axes in world coordinates
using Rgba = std::array<float, 4>;

enum class Shape : std::uint8_t { plane, sphere, capsule, ellipsoid, cylinder, box, mesh };

/// One solid of the scene. Sizes as MuJoCo's geom sizes: half extents; radius and half length along local z for capsule (without
/// its caps) and cylinder; a plane spans x and y, and a size of 0 means without end.
struct Primitive {
  Shape shape = Shape::sphere;
  Vec3 size{};  ///< one value per axis: sphere (r, r, r), capsule and cylinder (r, r, half length)
  Vec3 position{};
  Mat3 rotation{1, 0, 0, 0, 1, 0, 0, 0, 1};
  Rgba rgba{1, 1, 1, 1};
  float emission = 0, specular = 0.5f, shininess = 0.5f;
  float reflectance = 0;  ///< planes and the +z side of boxes mirror the scene; only the first opaque reflecting primitive does
  int texture = -1;       ///< index into Scene::textures, -1 for none
  std::array<float, 2> texture_repeat{1, 1};
  bool texture_uniform = false;  ///< repeats count per metre instead of per primitive
  /// Planes: half the width in metres, along x and y, of the cells at whose corners light is computed, to be interpolated over the
  /// cell's two triangles, as MuJoCo's OpenGL does; 0 in either for light at each pixel. An endless plane's cells lie around its
  /// origin; a bounded one's are at most 200 along each side, an even number between two margins that take what remains.
  std::array<float, 2> light_cell{};
};

/// A mesh at a place. Its surface is opaque; it casts shadows and takes them.
struct MeshInstance {
  std::shared_ptr<const Mesh> mesh;
  Vec3 position{};
  Mat3 rotation{1, 0, 0, 0, 1, 0, 0, 0, 1};
  Vec3 rgb{1, 1, 1};  ///< times the colours of the vertices
  float emission = 0, specular = 0, shininess = 0;
  int texture = -1;  ///< index into Scene::textures, a flat one; -1 for none
  /// What the mesh's own places in an image are multiplied by, and what is added then: one image is 1 wide and 1 high, from its
  /// first row.
  std::array<float, 2> texture_scale{1, 1}, texture_shift{};
};

struct Light {
  Vec3 position{}, direction{0, 0, -1};
  Vec3 ambient{}, diffuse{}, specular{}, attenuation{1, 0, 0};
  float cutoff_degrees = 45, exponent = 10;
  bool directional = false, casts_shadow = false;
  bool headlight = false;  ///< sits at the camera and shines along its gaze; position and direction are ignored
};

/// A pinhole camera. `up` need not be exactly orthogonal to `forward`; neither needs unit length.
struct Camera {
  Vec3 position{};
  Vec3 forward{0, 1, 0}, up{0, 0, 1};
  float vertical_fov_degrees = 45;
  float near_plane = 0.01f, far_plane = 100;
};

/// What a light's shadow map covers, as MuJoCo bounds it: the fraction of twice the cutoff angle that is the map's field of view,
/// and the half width in metres for a directional light. Outside of the map nothing lies in shadow.
struct ShadowRange {
  float cutoff_scale = 0.6f;
  float directional_half_width = 1;
};

/// All that a picture shows, in world coordinates. Textures and meshes are shared between frames and threads.
struct Scene {
  std::vector<Primitive> primitives;
  std::vector<MeshInstance> meshes;
  std::vector<Light> lights;
  std::vector<std::shared_ptr<const Texture>> textures;
  int sky = -1;  ///< index of the sky texture, -1 for none: black
  Camera camera;
  ShadowRange shadow;
  bool haze = false;  ///< fades the far end of the first endless plane into the sky
  float haze_fraction = 0.3f;
  Rgba haze_rgba{1, 1, 1, 1};
};

/// The options of a picture; part of an environment's spec, so that a policy file knows what it was trained on.
struct DrawOptions {
  enum class Path : std::uint8_t { cpu, gl };
  Path path = Path::cpu;
  bool shadows = true, reflection = true, sky = true;
  int samples = 1;  ///< samples per pixel: 1, 2, 4 or 8
  bool operator==(const DrawOptions&) const = default;
};

/// Reads {path = "cpu"|"gl", shadows, reflection, sky, samples}; `owner` names the table in messages.
/// @throws Error naming the option.
DrawOptions read_draw_options(const Config& config, const std::string& owner);
/// All options by name; `read_draw_options` of it gives the same options.
Config to_config(const DrawOptions& options);

}  // namespace iap
