// Trilinear look-ups in mipmapped images.

// Where in an image's pyramid of mipmap levels each lane looks.
struct Spot {
  V u, v;      // in [0, 1] of a face
  V fraction;  // of the next coarser level
  I level, face;
};

// `footprint` is the squared width of a pixel in texels of the finest level.
HWY_INLINE Spot spot_at(const Image& image, V u, V v, I face, V footprint) {
  const DI di;
  if (hn::AllTrue(D(), hn::Le(footprint, set(1)))) return {u, v, zero(), hn::Zero(di), face};
  const V coarsest = set(static_cast<float>(image.level_count - 1));
  const V lod = hn::Min(hn::Max(mul(set(0.5f), log2(hn::Min(hn::Max(footprint, set(1e-12f)), set(1e12f)))), zero()), coarsest);
  const V below = hn::Floor(lod);
  const I level = hn::Min(hn::Max(hn::ConvertTo(di, below), hn::Zero(di)), hn::Set(di, image.level_count - 1));
  return {u, v, sub(lod, below), level, face};
}

template <bool solid>
HWY_INLINE V3 trilinear(const Image& image, const Spot& spot) {
  const DI di;
  const int level = hn::GetLane(spot.level), face = hn::GetLane(spot.face);
  const bool together =
      hn::AllTrue(di, hn::Eq(spot.level, hn::Set(di, level))) && hn::AllTrue(di, hn::Eq(spot.face, hn::Set(di, face)));
  V3 colour;
  if (!together || !bilinear_together<solid>(image, spot.u, spot.v, face, level, colour))
    colour = bilinear(image, spot.u, spot.v, spot.face, spot.level);
  if (!none(hn::Gt(spot.fraction, zero()))) {
    V3 coarse;
    const int last = image.level_count - 1, next = level < last ? level + 1 : last;
    if (!together || !bilinear_together<solid>(image, spot.u, spot.v, face, next, coarse))
      coarse = bilinear(image, spot.u, spot.v, spot.face, hn::Min(hn::Add(spot.level, hn::Set(di, 1)), hn::Set(di, last)));
    colour = mix3(colour, coarse, spot.fraction);
  }
  return scale3(colour, set(1.0f / 255));
}

HWY_INLINE V larger_square(V ax, V ay, V bx, V by) { return hn::Max(add(mul(ax, ax), mul(ay, ay)), add(mul(bx, bx), mul(by, by))); }

// p: texture coordinates; dx and dy: their change from one pixel to the next.
HWY_INLINE V3 look_up_flat(const Image& image, const V3& p, const V3& dx, const V3& dy) {
  const V w = set(static_cast<float>(image.levels[0][0])), h = set(static_cast<float>(image.levels[1][0]));
  const V footprint = larger_square(mul(dx.x, w), mul(dx.y, h), mul(dy.x, w), mul(dy.y, h));
  return trilinear<false>(image, spot_at(image, sub(p.x, hn::Floor(p.x)), sub(p.y, hn::Floor(p.y)), hn::Zero(DI()), footprint));
}

// The coordinates (s, t, m) of a direction on a cube's face, as OpenGL numbers and turns its faces; `face` picks them.
struct Axis {
  M x, y, negative;
};
HWY_INLINE V3 on_face(const Axis& axis, const V3& d) {
  const auto flip = [](M mask, V a) { return select(mask, hn::Neg(a), a); };
  const V major = select(axis.x, d.x, select(axis.y, d.y, d.z));
  const V s = select(axis.x, flip(hn::Not(axis.negative), d.z), select(axis.y, d.x, flip(axis.negative, d.x)));
  const V t = select(axis.y, flip(axis.negative, d.z), hn::Neg(d.y));
  return {s, t, flip(axis.negative, major)};
}

// The same where all lanes look at one face.
HWY_INLINE V3 on_one_face(int face, const V3& d) {
  const V sign = set(face % 2 == 1 ? -1.0f : 1.0f);
  if (face < 2) return {hn::Neg(mul(d.z, sign)), hn::Neg(d.y), mul(d.x, sign)};
  if (face < 4) return {d.x, mul(d.z, sign), mul(d.y, sign)};
  return {mul(d.x, sign), hn::Neg(d.y), mul(d.z, sign)};
}

// p: a direction as `on_face` gives it, px and py: its change from one pixel to the next.
HWY_INLINE Spot spot_on_face(const Image& image, const V3& p, const V3& px, const V3& py, I face) {
  const V inverse = hn::Div(set(1), hn::Max(p.z, set(1e-30f)));
  const V s = mul(p.x, inverse), t = mul(p.y, inverse);
  const V half = mul(inverse, set(0.5f * static_cast<float>(image.levels[0][0])));
  const auto change = [&](V coordinate, V step, V major_step) { return mul(sub(step, mul(coordinate, major_step)), half); };
  const V footprint = larger_square(change(s, px.x, px.z), change(t, px.y, px.z), change(s, py.x, py.z), change(t, py.y, py.z));
  const V half_one = set(0.5f);
  return spot_at(image, add(mul(s, half_one), half_one), add(mul(t, half_one), half_one), face, footprint);
}

// d: direction, dx and dy: its change from one pixel to the next.
HWY_INLINE Spot spot_on_cube(const Image& image, const V3& d, const V3& dx, const V3& dy) {
  const DI di;
  const V x = hn::Abs(d.x), y = hn::Abs(d.y), z = hn::Abs(d.z);
  Axis axis;
  axis.x = hn::And(hn::Ge(x, y), hn::Ge(x, z));
  axis.y = hn::AndNot(axis.x, hn::Ge(y, z));
  axis.negative = hn::Lt(select(axis.x, d.x, select(axis.y, d.y, d.z)), zero());
  const V first = select(axis.x, zero(), select(axis.y, set(2), set(4)));
  const I face = hn::ConvertTo(di, add(first, select(axis.negative, set(1), zero())));
  const int one = hn::GetLane(face);
  V3 p, px, py;
  if (hn::AllTrue(di, hn::Eq(face, hn::Set(di, one)))) {
    p = on_one_face(one, d);
    px = on_one_face(one, dx);
    py = on_one_face(one, dy);
  } else {
    p = on_face(axis, d);
    px = on_face(axis, dx);
    py = on_face(axis, dy);
  }
  return spot_on_face(image, p, px, py, face);
}

HWY_NOINLINE V3 look_up_cube(const Image& image, const V3& d, const V3& dx, const V3& dy) {
  return trilinear<true>(image, spot_on_cube(image, d, dx, dy));
}
