// One row of pixels, a vector of them at a time. Re-included for each SIMD target.
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

HWY_NOINLINE Hits trace(const Packet& packet, View view, V nearest, V farthest) {
  Hits hits{farthest, set(-1)};
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

HWY_NOINLINE V3 textured(const Packet& packet, const Solid& solid, View view, const V3& p, const V3& n, const V3& d, V t) {
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
  const Surface surface{add3(set3(frame.rays[view].eye), scale3(ray, t)), normal_to_world(solid, n),
                        unit3({hn::Neg(ray.x), hn::Neg(ray.y), hn::Neg(ray.z)}), mask};
  V3 colour;
  if (solid.grid[view] >= 0) {
    const LightGrid& grid = frame.grids[solid.grid[view]];
    const Cell cell = find_cell(frame, solid, view, brightness, grid, p.x, p.y, mask);
    colour = illuminate(frame, surface, index, shadows, [&](int pass, const Light*) { return interpolate(grid, cell, pass); });
  } else {
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
  const int count = static_cast<int>(frame.transparent.size());
  for (int k = 0; k < 2 * count; ++k) {
    const int index = frame.transparent[k < count ? k : 2 * count - 1 - k];
    const Solid& solid = frame.solids[index];
    if (!packet.may_touch(solid, view)) continue;
    const Entry entry = enter(solid, set3(solid.rays[view].eye), packet.directions(solid.rays[view]));
    const M seen = hn::And(hn::And(mask, entry.hit), hn::And(hn::Ge(entry.t, nearest), hn::Le(entry.t, t)));
    if (none(seen)) continue;
    const V3 own = clamp3(shade(packet, index, view, entry.t, seen, brightness, false));
    colour = select3(seen, mix3(colour, own, set(solid.alpha)), colour);
  }
}

// The colour of all opaque surfaces that were hit, black elsewhere.
HWY_NOINLINE V3 shade_hits(const Packet& packet, View view, const Hits& hits, M mask, float brightness, bool shadows) {
  V3 colour{zero(), zero(), zero()};
  for (const int index : packet.frame.opaque) {
    if (!packet.may_touch(packet.frame.solids[index], view)) continue;
    const M own = hn::And(mask, hn::Eq(hits.solid, set(static_cast<float>(index))));
    if (none(own)) continue;
    colour = select3(own, clamp3(shade(packet, index, view, hits.t, own, brightness, shadows)), colour);
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

HWY_NOINLINE V3 sky(const Packet& packet, const V3& ray) {
  const Rays& rays = packet.frame.rays[direct];
  const auto turned = [](const V3& d) { return V3{d.x, d.z, hn::Neg(d.y)}; };
  return look_up_cube(packet.frame.images[packet.frame.sky], turned(ray), turned(set3(rays.right)), turned(set3(rays.down)));
}

HWY_NOINLINE void blend_haze(const Packet& packet, const V3& ray, V t, V3& colour) {
  const Haze& haze = packet.frame.haze;
  if (!haze.on) return;
  const V x = dot3(ray, set3(haze.axes[0])), y = dot3(ray, set3(haze.axes[1])), z = dot3(ray, set3(haze.axes[2]));
  const V across = hn::Sqrt(hn::Max(add(mul(x, x), mul(y, y)), set(1e-30f)));
  const V slope = hn::Neg(hn::Div(z, across));
  const float e = haze.elevation, r = haze.fraction;
  const V height = hn::Div(sub(set(e), mul(slope, set(1 - r))), add(set(e), mul(slope, set(r))));
  const V radius = sub(set(1), mul(set(r), sub(set(1), height)));
  const V depth = hn::Div(mul(radius, set(packet.frame.sky_radius)), across);
  const M seen = hn::And(hn::And(hn::Ge(height, zero()), hn::Le(height, set(1))), hn::And(hn::Ge(slope, zero()), hn::Le(depth, t)));
  if (none(seen)) return;
  const V alpha = hn::Min(mul(height, set(1 / haze.peak)), mul(sub(set(1), height), set(1 / (1 - haze.peak))));
  colour = select3(seen, mix3(colour, set3(haze.rgb), clamp01(alpha)), colour);
}

// The sky is a closed cylinder, upright in the world, around the eye; nothing shows beyond it.
HWY_INLINE V sky_depth(const Packet& packet, const V3& ray) {
  const V across = hn::Sqrt(add(mul(ray.x, ray.x), mul(ray.y, ray.y)));
  return hn::Div(set(packet.frame.sky_radius), hn::Max(hn::Max(across, hn::Abs(ray.z)), set(1e-30f)));
}

HWY_NOINLINE void store(const V3& colour, std::uint8_t* rgb, int count) {
  const DI di;
  const hn::Rebind<std::uint8_t, D> bytes;
  const auto quantised = [&](V channel) {
    return hn::DemoteTo(bytes, hn::ConvertTo(di, hn::Floor(add(mul(clamp01(channel), set(255)), set(0.5f)))));
  };
  const auto r = quantised(colour.x), g = quantised(colour.y), b = quantised(colour.z);
  if (count == static_cast<int>(hn::Lanes(di))) return hn::StoreInterleaved3(r, g, b, bytes, rgb);
  HWY_ALIGN std::uint8_t all[3 * 16];
  hn::StoreInterleaved3(r, g, b, bytes, all);
  std::copy_n(all, 3 * count, rgb);
}

void draw_row(const Frame& frame, int row, std::uint8_t* rgb) {
  const int lanes = static_cast<int>(hn::Lanes(D()));
  const M all = hn::Eq(zero(), zero());
  const V nearest = set(frame.near_plane);
  for (int first = 0; first < frame.width; first += lanes) {
    const Packet packet{frame, row, first, hn::Iota(D(), static_cast<float>(first))};
    const V3 ray = packet.directions(frame.rays[direct]);
    V farthest = set(frame.far_plane);
    if (frame.sky >= 0) farthest = hn::Min(farthest, sky_depth(packet, ray));
    const Hits hits = trace(packet, direct, nearest, farthest);
    V3 colour = shade_hits(packet, direct, hits, all, 1, true);
    reflect(packet, hits, set(frame.far_plane), colour);
    if (frame.sky >= 0) {
      const M missed = hn::Lt(hits.solid, zero());
      if (!none(missed)) colour = select3(missed, sky(packet, ray), colour);
      blend_haze(packet, ray, hits.t, colour);
    }
    blend_transparent(packet, direct, nearest, hits.t, all, 1, colour);
    const int left = frame.width - first;
    store(colour, rgb + 3 * first, left < lanes ? left : lanes);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace iap::frame
HWY_AFTER_NAMESPACE();

#endif
