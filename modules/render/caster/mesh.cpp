module;
// Version 3 is that of Debian 12, version 4 of Debian 13.
#if __has_include(<embree4/rtcore.h>)
#include <embree4/rtcore.h>
#else
#include <embree3/rtcore.h>
#endif

#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/fork_mutex.hpp"
#include "frame.hpp"
module iap.render;
import iap.core;
#include "prepare.hpp"

namespace iap {
namespace {

constexpr float largest = 1e6f;
constexpr std::size_t most_triangles = 100'000'000;

void intersect(RTCScene scene, RTCRayHit& ray) {
#if RTC_VERSION_MAJOR >= 4
  rtcIntersect1(scene, &ray, nullptr);
#else
  RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  rtcIntersect1(scene, &context, &ray);
#endif
}

void occlude(RTCScene scene, RTCRay& ray) {
#if RTC_VERSION_MAJOR >= 4
  rtcOccluded1(scene, &ray, nullptr);
#else
  RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  rtcOccluded1(scene, &context, &ray);
#endif
}

RTCRay make_ray(const std::array<float, 3>& origin, const std::array<float, 3>& direction, float from, float to) {
  RTCRay ray{};
  ray.org_x = origin[0];
  ray.org_y = origin[1];
  ray.org_z = origin[2];
  ray.dir_x = direction[0];
  ray.dir_y = direction[1];
  ray.dir_z = direction[2];
  ray.tnear = from;
  ray.tfar = to;
  ray.mask = ~0u;
  return ray;
}

// Embree asserts that rays are finite and within 1.8e18, and ends the process.
bool is_sound(const RTCRay& ray) {
  constexpr float farthest = 1e18f;
  const auto within = [](float value) { return std::abs(value) <= farthest; };  // false for NaN
  return within(ray.org_x) && within(ray.org_y) && within(ray.org_z) && within(ray.dir_x) && within(ray.dir_y) &&
         within(ray.dir_z) && ray.tnear <= ray.tfar;
}

void check(const Triangles& triangles) {
  const auto& [vertices, indices, colours, normals, texcoords] = triangles;
  if (vertices.size() % 3 != 0 || indices.size() % 3 != 0 || indices.empty())
    throw Error(text("a mesh of ", vertices.size(), " coordinates and ", indices.size(),
                     " indices is none; vertices have three and so have triangles, of which there must be one"));
  if (indices.size() / 3 > most_triangles)
    throw Error(text("a mesh of ", indices.size() / 3, " triangles is too large; at most ", most_triangles, " are drawn"));
  if (!colours.empty() && colours.size() != vertices.size())
    throw Error(text("a mesh of ", vertices.size() / 3, " vertices cannot have ", colours.size(),
                     " parts of colours; give red, green and blue of each vertex, or none"));
  if (!normals.empty() && normals.size() != vertices.size())
    throw Error(text("a mesh of ", vertices.size() / 3, " vertices cannot have ", normals.size(),
                     " parts of normals; give x, y and z of each vertex, or none"));
  if (!texcoords.empty() && texcoords.size() / 2 * 3 != vertices.size())
    throw Error(text("a mesh of ", vertices.size() / 3, " vertices cannot have ", texcoords.size(),
                     " texture coordinates; give two of each vertex, or none"));
  for (const float value : texcoords)
    if (!std::isfinite(value)) throw Error(text("a mesh has the texture coordinate ", value, "; they must be finite"));
  for (const float value : normals)
    if (!std::isfinite(value)) throw Error(text("a mesh has a normal with ", value, "; its parts must be finite"));
  for (const float value : vertices)
    if (!(std::abs(value) <= largest))
      throw Error(text("a mesh has a vertex at ", value, "; coordinates must be finite and within ", largest));
  for (const float value : colours)
    if (!(value >= 0 && value <= 1)) throw Error(text("a mesh has the colour ", value, "; red, green and blue are from 0 to 1"));
  const std::size_t count = vertices.size() / 3;
  for (const std::uint32_t index : indices)
    if (index >= count) throw Error(text("a mesh has no vertex ", index, "; there are ", count, ", from 0 on"));
}

struct DeviceRelease {
  void operator()(RTCDevice device) const { rtcReleaseDevice(device); }
};
struct SceneRelease {
  void operator()(RTCScene scene) const { rtcReleaseScene(scene); }
};
struct GeometryRelease {
  void operator()(RTCGeometry geometry) const { rtcReleaseGeometry(geometry); }
};
using Device = std::unique_ptr<RTCDeviceTy, DeviceRelease>;
using RayScene = std::unique_ptr<RTCSceneTy, SceneRelease>;
using Geometry = std::unique_ptr<RTCGeometryTy, GeometryRelease>;

// Embree's name for what our own kernels use: rays meet triangles with the bits of one instruction set, too.
std::string embree_instructions() {
  const std::string ours = best_instruction_set(instruction_sets());
  if (ours == "SSE2" || ours == "SSSE3") return "sse2";
  if (ours == "SSE4") return "sse4.2";
  return ours == "AVX2" ? "avx2" : "avx512";
}

[[noreturn]] void refused(const std::string& why) {
  throw Error(text("Embree cannot take a mesh: ", why, "; use one with fewer triangles"));
}

}  // namespace

// Embree's option threads = 1 would hold all of the process's TBB to one thread, so that it is left out.
struct Mesh::Impl {
  Triangles triangles;
  std::array<std::array<float, 3>, 2> bounds{};
  // The first error that Embree told: kept without the heap, as nothing may be thrown through its frames.
  std::array<char, 120> message{};
  bool failed = false;
  Device device;
  RayScene scene;

  ~Impl() {
    const Unforked whole;
    scene.reset();
    device.reset();
  }

  // The TBB that a child of fork() inherits counts on threads that it has not: there the calling thread does all.
  void commit() const {
    if (!tbb_left_behind()) return rtcCommitScene(scene.get());
    oneapi::tbb::task_arena alone(1);
    alone.execute([this] { rtcCommitScene(scene.get()); });
  }

  void build() {
    const Unforked whole;  // Embree and the TBB below it lock what is one for the process
    note_tbb();
    device.reset(rtcNewDevice(("max_isa=" + embree_instructions()).c_str()));
    if (!device) refused(text("no device, error ", static_cast<int>(rtcGetDeviceError(nullptr))));
    rtcSetDeviceErrorFunction(
        device.get(),
        [](void* own, RTCError, const char* message) noexcept {
          auto& self = *static_cast<Impl*>(own);
          if (!self.failed && message) std::strncpy(self.message.data(), message, self.message.size() - 1);
          self.failed = true;
        },
        this);
    const Geometry geometry(rtcNewGeometry(device.get(), RTC_GEOMETRY_TYPE_TRIANGLE));
    if (!geometry) refused(message.data());
    const auto copy = [&](const auto& values, RTCBufferType type, RTCFormat format) {
      void* room = rtcSetNewGeometryBuffer(geometry.get(), type, 0, format, 3 * sizeof values[0],
                                           std::max<std::size_t>(values.size() / 3, 1));
      if (!room) refused(message.data());
      std::ranges::copy(values, static_cast<std::remove_cvref_t<decltype(values[0])>*>(room));
    };
    copy(triangles.vertices, RTC_BUFFER_TYPE_VERTEX, RTC_FORMAT_FLOAT3);
    copy(triangles.indices, RTC_BUFFER_TYPE_INDEX, RTC_FORMAT_UINT3);
    rtcCommitGeometry(geometry.get());
    scene.reset(rtcNewScene(device.get()));
    if (!scene) refused(message.data());
    rtcSetSceneFlags(scene.get(), RTC_SCENE_FLAG_ROBUST);
    rtcAttachGeometry(scene.get(), geometry.get());
    commit();
    if (failed) refused(message.data());
  }

  Double3 vertex(std::uint32_t triangle, int corner) const {
    const float* at = triangles.vertices.data() + std::size_t{3} * triangles.indices[std::size_t{3} * triangle + corner];
    return {at[0], at[1], at[2]};
  }

  MeshHit look(std::uint32_t triangle, const Double3& origin, const Double3& direction, float found, float from, float to) const {
    const Double3 a = vertex(triangle, 0), ab = vertex(triangle, 1) - a, ac = vertex(triangle, 2) - a;
    const Double3 normal = cross(ab, ac);
    const double square = std::max(dot(normal, normal), 1e-300), facing = dot(normal, direction);
    double t = dot(normal, a - origin) / facing;
    if (!(std::abs(t - found) <= .01 * std::abs(found) + 1e-4)) t = found;  // seen along its edge
    const double side = (facing > 0 ? -1 : 1) / std::sqrt(square);
    MeshHit hit{std::clamp(static_cast<float>(t), from, to),
                {static_cast<float>(normal.x * side), static_cast<float>(normal.y * side), static_cast<float>(normal.z * side)},
                {1, 1, 1},
                triangle};
    if (triangles.colours.empty() && triangles.normals.empty()) return hit;
    const Double3 p = origin + direction * t - a;
    const double b = std::clamp(dot(cross(p, ac), normal) / square, 0., 1.);
    const double c = std::clamp(dot(cross(ab, p), normal) / square, 0., 1 - b);
    const std::array<double, 3> weights{1 - b - c, b, c};
    const auto blended = [&](const std::vector<float>& values, int channel) {
      double sum = 0;
      for (int corner = 0; corner < 3; ++corner)
        sum += weights[corner] * values[std::size_t{3} * triangles.indices[std::size_t{3} * triangle + corner] + channel];
      return sum;
    };
    if (!triangles.colours.empty())
      for (int channel = 0; channel < 3; ++channel) hit.rgb[channel] = static_cast<float>(blended(triangles.colours, channel));
    if (triangles.normals.empty()) return hit;
    const Double3 smooth{blended(triangles.normals, 0), blended(triangles.normals, 1), blended(triangles.normals, 2)};
    const double length = std::sqrt(dot(smooth, smooth));
    if (!(length > 1e-9)) return hit;
    const double turned = facing > 0 ? -1 / length : 1 / length;
    hit.normal = {static_cast<float>(smooth.x * turned), static_cast<float>(smooth.y * turned),
                  static_cast<float>(smooth.z * turned)};
    return hit;
  }
};

Mesh::Mesh(Triangles triangles) : impl_(std::make_unique<Impl>()) {
  check(triangles);
  impl_->triangles = std::move(triangles);
  auto& [low, high] = impl_->bounds;
  low.fill(std::numeric_limits<float>::max());
  high.fill(std::numeric_limits<float>::lowest());
  const auto& vertices = impl_->triangles.vertices;
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    low[i % 3] = std::min(low[i % 3], vertices[i]);
    high[i % 3] = std::max(high[i % 3], vertices[i]);
  }
  impl_->build();
}

Mesh::~Mesh() = default;
Mesh::Mesh(Mesh&&) noexcept = default;
Mesh& Mesh::operator=(Mesh&&) noexcept = default;

const Triangles& Mesh::triangles() const { return impl_->triangles; }
const std::array<std::array<float, 3>, 2>& Mesh::bounds() const { return impl_->bounds; }

std::optional<MeshHit> Mesh::hit(const std::array<float, 3>& origin, const std::array<float, 3>& direction, float from,
                                 float to) const {
  RTCRayHit ray{};
  ray.ray = make_ray(origin, direction, from, to);
  if (!is_sound(ray.ray)) return {};
  ray.hit.geomID = RTC_INVALID_GEOMETRY_ID;
  intersect(impl_->scene.get(), ray);
  if (ray.hit.geomID == RTC_INVALID_GEOMETRY_ID) return {};
  return impl_->look(ray.hit.primID, to_double(origin), to_double(direction), ray.ray.tfar, from, to);
}

std::array<float, 2> Mesh::texture_place(std::uint32_t triangle, const std::array<float, 3>& point) const {
  const Triangles& own = impl_->triangles;
  if (own.texcoords.empty()) return {point[0], point[1]};
  const Double3 a = impl_->vertex(triangle, 0), ab = impl_->vertex(triangle, 1) - a, ac = impl_->vertex(triangle, 2) - a;
  const Double3 normal = cross(ab, ac), p = Double3{point[0], point[1], point[2]} - a;
  const double square = std::max(dot(normal, normal), 1e-300);
  const double b = dot(cross(p, ac), normal) / square, c = dot(cross(ab, p), normal) / square;
  const std::array<double, 3> weights{1 - b - c, b, c};
  std::array<float, 2> place{};
  for (int i = 0; i < 2; ++i) {
    double sum = 0;
    for (int corner = 0; corner < 3; ++corner)
      sum += weights[corner] * own.texcoords[std::size_t{2} * own.indices[std::size_t{3} * triangle + corner] + i];
    place[i] = static_cast<float>(sum);
  }
  return place;
}

bool Mesh::blocks(const std::array<float, 3>& origin, const std::array<float, 3>& direction, float from, float to) const {
  RTCRay ray = make_ray(origin, direction, from, to);
  if (!is_sound(ray)) return false;
  occlude(impl_->scene.get(), ray);
  return ray.tfar < 0;
}

}  // namespace iap
