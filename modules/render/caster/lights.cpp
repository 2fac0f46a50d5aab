module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "frame.hpp"
module iap.render;
import iap.core;
#include "prepare.hpp"

namespace iap {
namespace {

constexpr double degree = std::numbers::pi / 180;

bool any(const std::array<float, 3>& rgb) { return rgb[0] != 0 || rgb[1] != 0 || rgb[2] != 0; }

void prepare_shadow(const Scene& scene, const Light& light, frame::Light& result) {
  const Double3 position = to_double(light.position), direction = to_double(result.direction);
  const double tangent = std::tan(std::min(2.0 * light.cutoff_degrees * scene.shadow.cutoff_scale, 160.0) / 2 * degree);
  // Any orthonormal pair would do but for the map's square shape: this is MuJoCo's.
  Double3 up = cross(direction, {-1, 0, 0});
  if (dot(up, up) <= 0.01) up = cross(direction, {0, 1, 0});
  up = normalized(up);
  const Double3 right = cross(direction, up);
  result.right = to_float(right);
  result.up = to_float(up);
  result.half_width = static_cast<float>(light.directional ? scene.shadow.directional_half_width : tangent);
  result.near_plane = scene.camera.near_plane;
  const Projector view{position, direction, right, up, scene.camera.near_plane, light.directional};
  for (std::size_t i = 0; i < scene.primitives.size(); ++i) {
    const Primitive& primitive = scene.primitives[i];
    // The map holds surfaces that face away from the light.
    if (primitive.shape == Shape::plane) {
      const Double3 normal = axis(primitive.rotation, 2);
      if ((light.directional ? dot(direction, normal) <= 0 : dot(position - to_double(primitive.position), normal) >= 0)) continue;
    }
    if (primitive.rgba[3] == 0) continue;
    const Rectangle shadow = project(primitive, view);
    const double margin = 1e-4;
    result.casters.push_back({static_cast<int>(i), static_cast<float>(shadow.left - margin),
                              static_cast<float>(shadow.right + margin), static_cast<float>(shadow.bottom - margin),
                              static_cast<float>(shadow.top + margin)});
  }
}

}  // namespace

void prepare_lights(const Scene& scene, const DrawOptions& options, const Double3& eye, const Double3& forward,
                    frame::Frame& frame) {
  const float ambient = scene.lights.empty() ? 0.3f : 0.0f;
  frame.global_ambient = {ambient, ambient, ambient};
  frame.lights.resize(scene.lights.size());
  for (std::size_t i = 0; i < scene.lights.size(); ++i) {
    const Light& light = scene.lights[i];
    frame::Light& result = frame.lights[i];
    result.position = to_float(light.headlight ? eye : to_double(light.position));
    result.direction = to_float(normalized(light.headlight ? forward : to_double(light.direction)));
    result.ambient = light.ambient;
    result.diffuse = light.diffuse;
    result.specular = light.specular;
    result.shines_specular = any(light.specular);
    result.attenuation = light.attenuation;
    result.attenuated = !light.directional && light.attenuation != Vec3{1, 0, 0};
    result.directional = light.directional;
    result.spot = !light.directional && light.cutoff_degrees < 180;
    result.cos_cutoff = static_cast<float>(std::cos(light.cutoff_degrees * degree));
    result.exponent = light.exponent;
    result.shadows = options.shadows && light.casts_shadow;
    result.casters.clear();
    if (result.shadows) prepare_shadow(scene, light, result);
  }
}

}  // namespace iap
