// A vector of neighbouring pixels. Re-included for each SIMD target.
#if defined(IAP_CASTER_KERNEL) == defined(HWY_TARGET_TOGGLE)
#ifdef IAP_CASTER_KERNEL
#undef IAP_CASTER_KERNEL
#else
#define IAP_CASTER_KERNEL
#endif
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace iap::frame {
namespace HWY_NAMESPACE {

// Each stands on those before it.
#include "caster_math.inl"

#include "caster_shapes.inl"

#include "caster_texels.inl"

#include "caster_texture.inl"

#include "caster_light.inl"

#include "caster_grid.inl"

// A vector of neighbouring pixels and their rays.
struct Packet {
  const Frame& frame;
  int row, first;
  V column;

  HWY_INLINE bool may_touch(const Solid& solid, View view) const {
    const Bounds& b = solid.bounds[view];
    return row >= b.top && row < b.bottom && first < b.right && first + static_cast<int>(hn::Lanes(D())) > b.left;
  }
  HWY_INLINE V3 directions(const Rays& rays) const {
    const float y = static_cast<float>(row);
    const Vector start{rays.corner.x + y * rays.down.x, rays.corner.y + y * rays.down.y, rays.corner.z + y * rays.down.z};
    return add3(set3(start), scale3(set3(rays.right), column));
  }
};

struct Hits {
  V t, solid;  // -1 for none
};
constexpr float mesh_hit = 16777216;  // in place of a solid's index

HWY_INLINE const MeshLayer* meshes_of(const Frame& frame, View view) {
  return view == direct ? frame.meshes : frame.mirrored_meshes;
}

HWY_INLINE Hits trace(const Packet& packet, View view, V nearest, V farthest) {
  Hits hits{farthest, set(-1)};
  if (const MeshLayer* meshes = meshes_of(packet.frame, view)) {
    const V t = hn::LoadU(D(), meshes->row(MeshLayer::depth, packet.row) + packet.first);
    const M closer = hn::Lt(t, farthest);
    hits = {select(closer, t, farthest), select(closer, set(mesh_hit), set(-1))};
  }
  for (const int index : packet.frame.opaque) {
    const Solid& solid = packet.frame.solids[index];
    if (!packet.may_touch(solid, view) || (view == mirrored && solid.mirror)) continue;
    const Entry entry = enter(solid, set3(solid.rays[view].eye), packet.directions(solid.rays[view]));
    const M closer = hn::And(hn::And(entry.hit, hn::Ge(entry.t, nearest)), hn::Lt(entry.t, hits.t));
    hits.t = select(closer, entry.t, hits.t);
    hits.solid = select(closer, set(static_cast<float>(index)), hits.solid);
  }
  return hits;
}

HWY_INLINE V3 textured(const Packet& packet, const Solid& solid, View view, const V3& p, const V3& n, const V3& d, V t) {
  const Image& image = packet.frame.images[solid.image];
  const V facing = hn::Div(t, dot3(n, d));
  const auto change = [&](const Vector& step) {
    const V3 s = set3(step);
    return sub3(scale3(s, t), scale3(d, mul(facing, dot3(n, s))));
  };
  const V3 dx = change(solid.rays[view].right), dy = change(solid.rays[view].down);
  const V3 scale = set3(solid.image_scale);
  if (!image.solid) {
    const V3 at{sub(mul(p.x, scale.x), set(0.5f)), sub(hn::Neg(mul(p.y, scale.y)), set(0.5f)), zero()};
    return look_up_flat(image, at, mul3(dx, scale), {hn::Neg(mul(dy.x, scale.x)), mul(dy.y, scale.y), zero()});
  }
  V3 at = p;
  if (solid.shape == Shape::capsule) {
    const V h = set(solid.half_length), z = hn::Abs(p.z);
    at.z = hn::CopySign(select(hn::Le(z, h), hn::Div(z, hn::Max(h, set(1e-9f))), sub(z, sub(h, set(1)))), p.z);
  }
  return look_up_cube(image, mul3(at, scale), mul3(dx, scale), mul3(dy, scale));
}

HWY_NOINLINE V3 shade(const Packet& packet, int index, View view, V t, M mask, float brightness, bool shadows) {
  const Frame& frame = packet.frame;
  const Solid& solid = frame.solids[index];
  const V3 d = packet.directions(solid.rays[view]);
  const V3 p = add3(set3(solid.rays[view].eye), scale3(d, t));
  const V3 n = normal_at(solid, p);
  const V3 ray = packet.directions(frame.rays[view]);
  Surface surface{add3(set3(frame.rays[view].eye), scale3(ray, t)), n, n, mask};
  V3 colour;
  if (solid.grid[view] >= 0) {
    const LightGrid& grid = frame.grids[solid.grid[view]];
    const Cell cell = find_cell(frame, solid, view, brightness, grid, p.x, p.y, mask);
    colour = illuminate(frame, surface, index, shadows, [&](int pass, const Light*) { return interpolate(grid, cell, pass); });
  } else {
    surface.normal = normal_to_world(solid, n);
    surface.to_eye = unit3({hn::Neg(ray.x), hn::Neg(ray.y), hn::Neg(ray.z)});
    const Paint paint{scale3(set3(solid.rgb), set(brightness)), solid.specular, solid.shininess};
    colour = illuminate(frame, surface, index, shadows, [&](int, const Light* light) {
      return light ? clamp3(shine(*light, surface, paint)) : first_pass(frame, surface, paint, solid.emission, shadows);
    });
  }
  return solid.image < 0 ? colour : mul3(colour, textured(packet, solid, view, p, n, d, t));
}

// Nearest first, then back again, as MuJoCo blends twice; what lies beyond `t` is hidden.
HWY_NOINLINE void blend_transparent(const Packet& packet, View view, V nearest, V t, M mask, float brightness, V3& colour) {
  const Frame& frame = packet.frame;
  struct Veil {
    M seen;
    V3 colour;
  };
  constexpr int most_kept = 4;
  Veil kept[most_kept];
  const int count = static_cast<int>(frame.transparent.size());
  const auto veil_of = [&](int index) -> Veil {
    const Solid& solid = frame.solids[index];
    if (!packet.may_touch(solid, view)) return {never(), colour};
    const Entry entry = enter(solid, set3(solid.rays[view].eye), packet.directions(solid.rays[view]));
    const M seen = hn::And(hn::And(mask, entry.hit), hn::And(hn::Ge(entry.t, nearest), hn::Le(entry.t, t)));
    if (none(seen)) return {seen, colour};
    return {seen, clamp3(shade(packet, index, view, entry.t, seen, brightness, false))};
  };
  for (int k = 0; k < 2 * count; ++k) {
    const int place = k < count ? k : 2 * count - 1 - k, index = frame.transparent[place];
    const Veil veil = k >= count && place < most_kept ? kept[place] : veil_of(index);
    if (place < most_kept) kept[place] = veil;
    if (none(veil.seen)) continue;
    colour = select3(veil.seen, mix3(colour, veil.colour, set(frame.solids[index].alpha)), colour);
  }
}

// What a mesh shows.
HWY_NOINLINE V3 shade_mesh(const Packet& packet, View view, const MeshPaint& own, V t, M mask, float brightness, bool shadows) {
  const Frame& frame = packet.frame;
  const MeshLayer& meshes = *meshes_of(frame, view);
  const auto load = [&](int plane) { return hn::LoadU(D(), meshes.row(plane, packet.row) + packet.first); };
  const auto load3 = [&](int plane) { return V3{load(plane), load(plane + 1), load(plane + 2)}; };
  const V3 ray = packet.directions(frame.rays[view]);
  Surface surface{add3(set3(frame.rays[view].eye), scale3(ray, t)), load3(MeshLayer::normal),
                  unit3({hn::Neg(ray.x), hn::Neg(ray.y), hn::Neg(ray.z)}), mask};
  const Paint paint{scale3(load3(MeshLayer::colour), set(brightness)), own.specular, own.shininess};
  const V3 lit = illuminate(frame, surface, -1, shadows, [&](int, const Light* light) {
    return light ? clamp3(shine(*light, surface, paint)) : first_pass(frame, surface, paint, own.emission, shadows);
  });
  if (own.image < 0) return lit;
  const Image& image = frame.images[own.image];
  const V u = load(MeshLayer::place), v = load(MeshLayer::place + 1);
  return mul3(lit, trilinear<false>(image, spot_at(image, u, v, hn::Zero(DI()), load(MeshLayer::footprint))));
}

// The colour of all opaque surfaces that were hit, black elsewhere.
HWY_INLINE V3 shade_hits(const Packet& packet, View view, const Hits& hits, M mask, float brightness, bool shadows) {
  V3 colour{zero(), zero(), zero()};
  for (const int index : packet.frame.opaque) {
    if (!packet.may_touch(packet.frame.solids[index], view)) continue;
    const M own = hn::And(mask, hn::Eq(hits.solid, set(static_cast<float>(index))));
    if (none(own)) continue;
    colour = select3(own, clamp3(shade(packet, index, view, hits.t, own, brightness, shadows)), colour);
  }
  const MeshLayer* meshes = meshes_of(packet.frame, view);
  const M met = meshes ? hn::And(mask, hn::Eq(hits.solid, set(mesh_hit))) : never();
  if (none(met)) return colour;
  const V owner = hn::LoadU(D(), meshes->row(MeshLayer::owner, packet.row) + packet.first);
  for (std::size_t i = 0; i < packet.frame.mesh_paints.size(); ++i) {
    const M own = hn::And(met, hn::Eq(owner, set(static_cast<float>(i))));
    if (none(own)) continue;
    const V3 shown = shade_mesh(packet, view, packet.frame.mesh_paints[i], hits.t, own, brightness, shadows);
    colour = select3(own, clamp3(shown), colour);
  }
  return colour;
}

// What the mirror adds to its own colour.
HWY_NOINLINE void reflect(const Packet& packet, const Hits& hits, V farthest, V3& colour) {
  const Frame& frame = packet.frame;
  if (frame.mirror < 0) return;
  M on_mirror = hn::Eq(hits.solid, set(static_cast<float>(frame.mirror)));
  if (none(on_mirror)) return;
  const Solid& solid = frame.solids[frame.mirror];
  if (solid.shape == Shape::box) {
    const V3 d = packet.directions(solid.rays[direct]);
    const V3 n = normal_at(solid, add3(set3(solid.rays[direct].eye), scale3(d, hits.t)));
    on_mirror = hn::And(on_mirror, hn::Gt(n.z, zero()));
    if (none(on_mirror)) return;
  }
  const Hits image = trace(packet, mirrored, hits.t, farthest);
  V3 added = shade_hits(packet, mirrored, image, on_mirror, frame.reflectance, false);
  blend_transparent(packet, mirrored, hits.t, image.t, on_mirror, frame.reflectance, added);
  colour = select3(on_mirror, clamp3(add3(colour, added)), colour);
}

#include "caster_sky.inl"

#include "caster_row.inl"

#include "caster_depth.inl"

}  // namespace HWY_NAMESPACE
}  // namespace iap::frame
HWY_AFTER_NAMESPACE();

#endif
