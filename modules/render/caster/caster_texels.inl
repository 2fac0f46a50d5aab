// Bilinear look-ups in one mipmap level of an image.

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

// Four texels that touch, of each lane.
struct TexelSquare {
  TexelPair upper, lower;
};

// Below each texel lies the one that is `width` texels further on.
HWY_INLINE TexelSquare squares_at(const std::uint32_t* texels, std::ptrdiff_t width, I index) {
  const DI di;
  constexpr std::size_t most_lanes = 16;
  HWY_ALIGN std::int32_t indices[most_lanes];
  HWY_ALIGN std::int32_t upper[2 * most_lanes];
  HWY_ALIGN std::int32_t lower[2 * most_lanes];
  const std::uint32_t* below = texels + width;
  hn::Store(index, di, indices);
#if defined(__clang__)
#pragma clang loop vectorize(disable) unroll(full)
#endif
  for (std::size_t i = 0; i < hn::Lanes(di); ++i) {
    const auto at = static_cast<std::uint32_t>(indices[i]);
    hwy::CopyBytes<8>(texels + at, upper + 2 * i);
    hwy::CopyBytes<8>(below + at, lower + 2 * i);
  }
  TexelSquare result;
  hn::LoadInterleaved2(di, upper, result.upper.left, result.upper.right);
  hn::LoadInterleaved2(di, lower, result.lower.left, result.lower.right);
  return result;
}

HWY_INLINE V3 blend(const TexelSquare& square, V fx, V fy) {
  return mix3(mix3(unpack(square.upper.left), unpack(square.upper.right), fx),
              mix3(unpack(square.lower.left), unpack(square.lower.right), fx), fy);
}

// Bilinear look-up at (u, v) in [0, 1] of one face and level, in 0 .. 255, for any lanes. Flat images repeat, faces end at their
// edges.
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
  return blend({upper, lower}, sub(x, xf), sub(y, yf));
}

// Where all lanes look at one mipmap level of one face: the upper left texel of each lane's four, and where between them it looks.
struct Aim {
  const std::uint32_t* texels = nullptr;
  std::ptrdiff_t width = 0;
  I at;
  V fx, fy;
};

HWY_INLINE Aim aim_at(const Image& image, V x, V y, V xf, V yf, int face, int level) {
  const DI di;
  const std::int32_t width = image.levels[0][level], height = image.levels[1][level];
  const I at = hn::Add(hn::Mul(hn::ConvertTo(di, yf), hn::Set(di, width)), hn::ConvertTo(di, xf));
  return {image.texels + image.levels[2][level] + face * image.levels[3][level], width,
          hn::Min(hn::Max(at, hn::Zero(di)), hn::Set(di, width * height - 1)), sub(x, xf), sub(y, yf)};
}

// Of a cube's face, which ends at its edges.
HWY_INLINE Aim aim_at_face(const Image& image, V u, V v, int face, int level) {
  const float width = static_cast<float>(image.levels[0][level]), height = static_cast<float>(image.levels[1][level]);
  const V x = hn::Min(hn::Max(sub(mul(u, set(width)), set(0.5f)), zero()), set(width - 1));
  const V y = hn::Min(hn::Max(sub(mul(v, set(height)), set(0.5f)), zero()), set(height - 1));
  return aim_at(image, x, y, hn::Floor(x), hn::Floor(y), face, level);
}

HWY_INLINE V3 look(const Aim& aim) { return blend(squares_at(aim.texels, aim.width, aim.at), aim.fx, aim.fy); }

HWY_INLINE void prefetch(const Aim& aim) { prefetch_rows(aim.texels + hn::GetLane(aim.at) + aim.width, aim.width); }

// `bilinear` where all lanes look at one face of one level, which is how it is nearly always. False where an image repeats between
// the texels of a lane: its last column and row lie beside the first ones.
template <bool solid>
HWY_INLINE bool bilinear_together(const Image& image, V u, V v, int face, int level, V3& colour) {
  if (solid) {
    const Aim aim = aim_at_face(image, u, v, face, level);
    prefetch(aim);
    colour = look(aim);
    return true;
  }
  const float width = static_cast<float>(image.levels[0][level]), height = static_cast<float>(image.levels[1][level]);
  const V x = sub(mul(u, set(width)), set(0.5f)), y = sub(mul(v, set(height)), set(0.5f));
  const V xf = hn::Floor(x), yf = hn::Floor(y);
  const M inside =
      hn::And(hn::And(hn::Ge(xf, zero()), hn::Lt(xf, set(width - 1))), hn::And(hn::Ge(yf, zero()), hn::Lt(yf, set(height - 1))));
  if (!hn::AllTrue(D(), inside)) return false;
  colour = look(aim_at(image, x, y, xf, yf, face, level));
  return true;
}
