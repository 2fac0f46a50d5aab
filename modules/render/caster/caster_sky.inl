// The sky, and what fades into it.

// Where each pixel of a packet looks at the sky.
HWY_INLINE Spot sky_spot(const Packet& packet) {
  const Rays& rays = packet.frame.rays[direct];
  const auto turned = [](const V3& d) { return V3{d.x, d.z, hn::Neg(d.y)}; };
  return spot_on_cube(packet.frame.images[packet.frame.sky], turned(packet.directions(rays)), turned(set3(rays.right)),
                      turned(set3(rays.down)));
}

HWY_INLINE V3 sky_colour(const Packet& packet, const Spot& spot) {
  return trilinear<true>(packet.frame.images[packet.frame.sky], spot);
}

// The same where the picture of the sky alone is known, in whole steps of 1/255.
HWY_INLINE V3 known_sky(const Packet& packet) {
  const DI di;
  const hn::Rebind<std::uint8_t, D> bytes;
  const std::ptrdiff_t pixel = static_cast<std::ptrdiff_t>(packet.row) * packet.frame.width + packet.first;
  auto r = hn::Zero(bytes), g = r, b = r;
  hn::LoadInterleaved3(bytes, packet.frame.sky_rgb + 3 * pixel, r, g, b);
  const auto channel = [&](auto value) { return mul(hn::ConvertTo(D(), hn::PromoteTo(di, value)), set(1.0f / 255)); };
  return {channel(r), channel(g), channel(b)};
}

HWY_NOINLINE void blend_haze(const Packet& packet, const V3& ray, V t, V3& colour) {
  const Haze& haze = packet.frame.haze;
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
