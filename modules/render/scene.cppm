module;
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>
export module iap.render:scene;
import iap.core;

export namespace iap {

using Vec3 = std::array<float, 3>;
using Mat3 = std::array<float, 9>;  ///< row-major; columns are the local axes in world coordinates
using Rgba = std::array<float, 4>;

/// An 8-bit RGB image that a material or the sky shows. `version` changes whenever the pixels do, so that caches can tell.
struct Texture {
  enum class Kind : std::uint8_t { flat, cube, sky };
  Kind kind = Kind::flat;
  int width = 0, height = 0;  ///< cube and sky: six square faces stacked, height = 6 width
  std::vector<std::uint8_t> rgb;
  std::uint64_t version = 0;
};

enum class Shape : std::uint8_t { plane, sphere, capsule, ellipsoid, cylinder, box, mesh };

/// One solid of the scene. Sizes as MuJoCo's geom sizes: half extents; radius and half length along local z.
struct Primitive {
  Shape shape = Shape::sphere;
  Vec3 size{};
  Vec3 position{};
  Mat3 rotation{};
  Rgba rgba{1, 1, 1, 1};
  float emission = 0, specular = 0.5f, shininess = 0.5f, reflectance = 0;
  int texture = -1;  ///< index into Scene::textures, -1 for none
  std::array<float, 2> texture_repeat{1, 1};
  bool texture_uniform = false;  ///< repeats count per metre instead of per primitive
};

struct Light {
  Vec3 position{}, direction{};
  Vec3 ambient{}, diffuse{}, specular{}, attenuation{1, 0, 0};
  float cutoff_degrees = 45, exponent = 10;
  bool directional = false, headlight = false, casts_shadow = false;
};

struct Camera {
  Vec3 position{};
  Vec3 forward{}, up{};
  float vertical_fov_degrees = 45;
  float near_plane = 0.01f, far_plane = 100;
};

/// All that a picture shows, in world coordinates. Textures are shared between frames and threads.
struct Scene {
  std::vector<Primitive> primitives;
  std::vector<Light> lights;
  std::vector<std::shared_ptr<const Texture>> textures;
  int sky = -1;  ///< index of the sky texture, -1 for none
  Camera camera;
  bool haze = false;
  float haze_fraction = 0.3f;
  Rgba haze_rgba{1, 1, 1, 1};
};

/// The options of a picture; part of an environment's spec, so that a policy file knows what it was trained on.
struct DrawOptions {
  enum class Path : std::uint8_t { cpu, gl };
  Path path = Path::cpu;
  bool shadows = true, reflection = true, sky = true;
  int samples = 1;  ///< samples a pixel
  bool operator==(const DrawOptions&) const = default;
};

/// Reads {path = "cpu"|"gl", shadows, reflection, sky, samples}. @throws Error naming the option.
DrawOptions read_draw_options(const Config& config, const std::string& owner);
Config to_config(const DrawOptions& options);

}  // namespace iap
