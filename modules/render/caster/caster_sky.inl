// The sky, and what fades into it.

// The sky's cube lies with its y axis upwards.
HWY_INLINE V3 turned(const V3& d) { return {d.x, d.z, hn::Neg(d.y)}; }

// A row of pixels that all look at one face of the sky's cube: there, coordinates change evenly from pixel to pixel.
struct SkyRow {
  int face = -1;              // -1 for a row that looks at several
  Vector start, right, down;  // as (s, t, major axis) of that face
};

// The face that a direction meets far from any edge, else -1.
HWY_INLINE int clear_face(const Vector& d) {
  constexpr float clear = 1.001f;
  const float x = std::abs(d.x), y = std::abs(d.y), z = std::abs(d.z);
  if (x > clear * std::max(y, z)) return d.x < 0 ? 1 : 0;
  if (y > clear * std::max(x, z)) return d.y < 0 ? 3 : 2;
  if (z > clear * std::max(x, y)) return d.z < 0 ? 5 : 4;
  return -1;
}

// What lies between two directions that meet one face meets it as well. Rows go on to the end of their last vector.
HWY_INLINE SkyRow sky_row(const Frame& frame, int row) {
  const auto turn = [](const Vector& d) { return Vector{d.x, d.z, -d.y}; };
  const Rays& rays = frame.rays[direct];
  const float y = static_cast<float>(row), last = static_cast<float>(frame.width) + static_cast<float>(hn::Lanes(D()));
  const Vector start = turn({rays.corner.x + y * rays.down.x, rays.corner.y + y * rays.down.y, rays.corner.z + y * rays.down.z});
  const Vector right = turn(rays.right);
  const int face = clear_face(start);
  if (face < 0 || face != clear_face({start.x + last * right.x, start.y + last * right.y, start.z + last * right.z})) return {};
  const float sign = face % 2 == 1 ? -1.0f : 1.0f;
  const auto on = [&](const Vector& d) -> Vector {
    if (face < 2) return {-d.z * sign, -d.y, d.x * sign};
    if (face < 4) return {d.x, d.z * sign, d.y * sign};
    return {d.x * sign, -d.y, d.z * sign};
  };
  return {face, on(start), on(right), on(turn(rays.down))};
}

// Where each pixel of a packet looks at the sky.
HWY_INLINE Spot sky_spot(const Packet& packet, const SkyRow& row) {
  const Image& image = packet.frame.images[packet.frame.sky];
  if (row.face >= 0) {
    const V3 p = add3(set3(row.start), scale3(set3(row.right), packet.column));
    return spot_on_face(image, p, set3(row.right), set3(row.down), hn::Set(DI(), row.face));
  }
  const Rays& rays = packet.frame.rays[direct];
  return spot_on_cube(image, turned(packet.directions(rays)), turned(set3(rays.right)), turned(set3(rays.down)));
}

// What a look-up reads, known before it begins: the aims of both levels where all lanes look at one face of one level.
struct SkyLook {
  Spot spot;
  Aim fine, coarse;
  bool together = false, between = false;  // levels
};

HWY_INLINE void aim_at_sky(const Image& image, SkyLook& look) {
  const DI di;
  const Spot& spot = look.spot;
  const int level = hn::GetLane(spot.level), face = hn::GetLane(spot.face), last = image.level_count - 1;
  look.together = hn::AllTrue(di, hn::And(hn::Eq(spot.level, hn::Set(di, level)), hn::Eq(spot.face, hn::Set(di, face))));
  look.between = !none(hn::Gt(spot.fraction, zero()));
  if (!look.together) return;
  look.fine = aim_at_face(image, spot.u, spot.v, face, level);
  prefetch(look.fine);
  if (!look.between) return;
  look.coarse = aim_at_face(image, spot.u, spot.v, face, std::min(level + 1, last));
  prefetch(look.coarse);
}

HWY_INLINE V3 sky_colour(const Image& image, const SkyLook& sky) {
  if (!sky.together) return trilinear<true>(image, sky.spot);
  V3 colour = look(sky.fine);
  if (sky.between) colour = mix3(colour, look(sky.coarse), sky.spot.fraction);
  return scale3(colour, set(1.0f / 255));
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
