// Trilinear look-ups in mipmapped images.

HWY_INLINE V3 unpack(I texel) {
  const DI di;
  const I low = hn::Set(di, 255);
  return {hn::ConvertTo(D(), hn::And(texel, low)), hn::ConvertTo(D(), hn::And(hn::ShiftRight<8>(texel), low)),
          hn::ConvertTo(D(), hn::ShiftRight<16>(texel))};
}

HWY_INLINE V3 mix3(const V3& a, const V3& b, V w) { return {mix(a.x, b.x, w), mix(a.y, b.y, w), mix(a.z, b.z, w)}; }

// One mipmap level for each lane.
struct LevelSizes {
  I width, height, offset, face_size;
};

HWY_INLINE LevelSizes sizes_of(const Image& image, I level) {
  const DI di;
  const auto& all = image.levels;
  const std::int32_t first = hn::GetLane(level);
  // Neighbouring pixels mostly share a level, and gathering is slow.
  if (hn::AllTrue(di, hn::Eq(level, hn::Set(di, first))))
    return {hn::Set(di, all[0][first]), hn::Set(di, all[1][first]), hn::Set(di, all[2][first]), hn::Set(di, all[3][first])};
  const auto gather = [&](const auto& values) { return hn::GatherIndex(di, values.data(), level); };
  return {gather(all[0]), gather(all[1]), gather(all[2]), gather(all[3])};
}

// Two texels that lie side by side, from each index on.
struct TexelPair {
  I left, right;
};

// Scalar loads: gathers of processors that have them take longer.
HWY_INLINE TexelPair pairs_at(const std::uint32_t* texels, I index) {
  const DI di;
  constexpr std::size_t most_lanes = 16;
  HWY_ALIGN std::int32_t indices[most_lanes];
  HWY_ALIGN std::int32_t pairs[2 * most_lanes];
  hn::Store(index, di, indices);
#if defined(__clang__)
#pragma clang loop vectorize(disable) unroll(full)
#endif
  for (std::size_t i = 0; i < hn::Lanes(di); ++i) hwy::CopyBytes<8>(texels + indices[i], pairs + 2 * i);
  TexelPair result;
  hn::LoadInterleaved2(di, pairs, result.left, result.right);
  return result;
}

// A moving background is a texture that this frame sees first: asks memory for what the next rows of pixels will look at, which
// lies above or below, as the face is turned. Texels are at most two apart from pixel to pixel. Prefetching never faults.
HWY_INLINE void prefetch_rows(const std::uint32_t* texel, std::ptrdiff_t width) {
  constexpr std::ptrdiff_t cache_line = 16;  // texels
  for (const std::ptrdiff_t row : {-4, -3, 2, 3})
    for (std::ptrdiff_t line = 0; line < 3; ++line) __builtin_prefetch(texel + row * width + line * cache_line);
}

// Bilinear look-up at (u, v) in [0, 1] of one face and level, in 0 .. 255. Flat images repeat, faces end at their edges.
HWY_NOINLINE V3 bilinear(const Image& image, V u, V v, I face, I level) {
  const DI di;
  const LevelSizes size = sizes_of(image, level);
  const I one = hn::Set(di, 1), nil = hn::Zero(di);
  const I last_x = hn::Sub(size.width, one), last_y = hn::Sub(size.height, one);
  V x = sub(mul(u, hn::ConvertTo(D(), size.width)), set(0.5f));
  V y = sub(mul(v, hn::ConvertTo(D(), size.height)), set(0.5f));
  I base = size.offset;
  if (image.solid) {
    x = hn::Min(hn::Max(x, zero()), hn::ConvertTo(D(), last_x));
    y = hn::Min(hn::Max(y, zero()), hn::ConvertTo(D(), last_y));
    base = hn::Add(base, hn::Mul(face, size.face_size));
  }
  const V xf = hn::Floor(x), yf = hn::Floor(y);
  // Lanes that missed the surface hold anything, yet no look-up may leave the image.
  const auto limited = [&](I index, I last) { return hn::Min(hn::Max(index, nil), last); };
  const I x0 = hn::ConvertTo(di, xf), y0 = hn::ConvertTo(di, yf), y1 = hn::Add(y0, one);
  I left = limited(x0, last_x), above = limited(y0, last_y), below = limited(y1, last_y);
  if (!image.solid) {
    left = hn::IfThenElse(hn::Lt(x0, nil), last_x, left);
    above = hn::IfThenElse(hn::Lt(y0, nil), last_y, above);
    below = hn::IfThenElse(hn::Gt(y1, last_y), nil, below);
  }
  const I top = hn::Add(base, hn::Mul(above, size.width)), bottom = hn::Add(base, hn::Mul(below, size.width));
  TexelPair upper = pairs_at(image.texels, hn::Add(top, left)), lower = pairs_at(image.texels, hn::Add(bottom, left));
  if (image.solid) prefetch_rows(image.texels + hn::GetLane(hn::Add(bottom, left)), hn::GetLane(size.width));
  if (!image.solid) {  // on the right of the last column stands the first one again
    const auto at_end = hn::Eq(left, last_x);
    if (!hn::AllFalse(di, at_end)) {
      upper.right = hn::IfThenElse(at_end, pairs_at(image.texels, top).left, upper.right);
      lower.right = hn::IfThenElse(at_end, pairs_at(image.texels, bottom).left, lower.right);
    }
  }
  const V fx = sub(x, xf), fy = sub(y, yf);
  return mix3(mix3(unpack(upper.left), unpack(upper.right), fx), mix3(unpack(lower.left), unpack(lower.right), fx), fy);
}

// `footprint` is the squared width of a pixel in texels of the finest level.
HWY_NOINLINE V3 trilinear(const Image& image, V u, V v, I face, V footprint) {
  const DI di;
  const V coarsest = set(static_cast<float>(image.level_count - 1));
  const V lod = hn::Min(hn::Max(mul(set(0.5f), log2(hn::Min(hn::Max(footprint, set(1e-12f)), set(1e12f)))), zero()), coarsest);
  const V below = hn::Floor(lod), fraction = sub(lod, below);
  const I last = hn::Set(di, image.level_count - 1);
  const I level = hn::Min(hn::Max(hn::ConvertTo(di, below), hn::Zero(di)), last);
  V3 colour = bilinear(image, u, v, face, level);
  if (!none(hn::Gt(fraction, zero()))) {
    const I next = hn::Min(hn::Add(level, hn::Set(di, 1)), last);
    colour = mix3(colour, bilinear(image, u, v, face, next), fraction);
  }
  return scale3(colour, set(1.0f / 255));
}

HWY_INLINE V larger_square(V ax, V ay, V bx, V by) { return hn::Max(add(mul(ax, ax), mul(ay, ay)), add(mul(bx, bx), mul(by, by))); }

// p: texture coordinates; dx and dy: their change from one pixel to the next.
HWY_NOINLINE V3 look_up_flat(const Image& image, const V3& p, const V3& dx, const V3& dy) {
  const V w = set(static_cast<float>(image.levels[0][0])), h = set(static_cast<float>(image.levels[1][0]));
  const V footprint = larger_square(mul(dx.x, w), mul(dx.y, h), mul(dy.x, w), mul(dy.y, h));
  return trilinear(image, sub(p.x, hn::Floor(p.x)), sub(p.y, hn::Floor(p.y)), hn::Zero(DI()), footprint);
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

HWY_NOINLINE V3 look_up_cube(const Image& image, const V3& d, const V3& dx, const V3& dy) {
  const DI di;
  const V x = hn::Abs(d.x), y = hn::Abs(d.y), z = hn::Abs(d.z);
  Axis axis;
  axis.x = hn::And(hn::Ge(x, y), hn::Ge(x, z));
  axis.y = hn::AndNot(axis.x, hn::Ge(y, z));
  axis.negative = hn::Lt(select(axis.x, d.x, select(axis.y, d.y, d.z)), zero());
  const V3 p = on_face(axis, d), px = on_face(axis, dx), py = on_face(axis, dy);
  const V inverse = hn::Div(set(1), hn::Max(p.z, set(1e-30f)));
  const V s = mul(p.x, inverse), t = mul(p.y, inverse);
  const V half = mul(inverse, set(0.5f * static_cast<float>(image.levels[0][0])));
  const auto change = [&](V coordinate, V step, V major_step) { return mul(sub(step, mul(coordinate, major_step)), half); };
  const V footprint = larger_square(change(s, px.x, px.z), change(t, px.y, px.z), change(s, py.x, py.z), change(t, py.y, py.z));
  const V first = select(axis.x, zero(), select(axis.y, set(2), set(4)));
  const I face = hn::ConvertTo(di, add(first, select(axis.negative, set(1), zero())));
  const V half_one = set(0.5f);
  return trilinear(image, add(mul(s, half_one), half_one), add(mul(t, half_one), half_one), face, footprint);
}
