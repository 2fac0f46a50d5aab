// A row of pixels, a few packets at a time.

HWY_INLINE void store(const V3& colour, std::uint8_t* rgb, int count) {
  const DI di;
  const hn::Repartition<std::uint8_t, D> bytes;
  constexpr int lanes = static_cast<int>(hn::MaxLanes(DI()));
  const auto quantised = [&](V channel) { return hn::ConvertTo(di, add(mul(clamp01(channel), set(255)), set(0.5f))); };
  const I pixels =
      hn::Or(hn::Or(quantised(colour.x), hn::ShiftLeft<8>(quantised(colour.y))), hn::ShiftLeft<16>(quantised(colour.z)));
  // Every fourth byte goes: within blocks of 16 bytes first, then between the blocks.
  HWY_ALIGN static constexpr std::uint8_t three_of_four[16] = {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 3, 7, 11, 15};
  HWY_ALIGN static constexpr std::int32_t of_sixteen[16] = {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 3, 7, 11, 15};
  HWY_ALIGN static constexpr std::int32_t of_eight[8] = {0, 1, 2, 4, 5, 6, 3, 7};
  I packed = hn::BitCast(di, hn::TableLookupBytes(hn::BitCast(bytes, pixels), hn::LoadDup128(bytes, three_of_four)));
  if (lanes > 4) packed = hn::TableLookupLanes(packed, hn::SetTableIndices(di, lanes == 8 ? of_eight : of_sixteen));
  HWY_ALIGN std::int32_t all[16];
  hn::Store(packed, di, all);
  if (count == lanes) return hwy::CopyBytes<3 * lanes>(all, rgb);
  std::memcpy(rgb, all, 3 * static_cast<std::size_t>(count));
}

// Columns that some solids may show in.
struct Columns {
  int left = std::numeric_limits<int>::max(), right = 0;
  HWY_INLINE bool touch(int first) const { return first < right && first + static_cast<int>(hn::Lanes(D())) > left; }
};

HWY_INLINE Columns columns_of(const Frame& frame, const std::vector<int>& solids, int row) {
  Columns columns;
  for (const int index : solids) {
    const Bounds& b = frame.solids[index].bounds[direct];
    if (row < b.top || row >= b.bottom) continue;
    columns.left = std::min(columns.left, b.left);
    columns.right = std::max(columns.right, b.right);
  }
  return columns;
}

// What a row shows beside the sky.
struct Row {
  int index;
  Columns opaque, transparent;
  bool haze;
  SkyRow sky;
};

constexpr int packets_together = 8;

// What a packet's steps hand on.
struct Progress {
  Hits hits;
  SkyLook sky;
  V3 colour{};
  bool hit = false, missed = true;
  bool veiled = false;  // by what shows the sky through
};

// A few neighbouring packets, step by step: each step is short and the same for all of them, so that the processor works on
// several at once instead of waiting for one.
HWY_INLINE void draw_packets(const Frame& frame, const Row& row, int begin, int count, std::uint8_t* rgb) {
  const int lanes = static_cast<int>(hn::Lanes(D()));
  const M all = hn::Eq(zero(), zero());
  const V nearest = set(frame.near_plane);
  const bool has_sky = frame.sky >= 0, known = frame.sky_rgb != nullptr;
  Progress steps[packets_together];
  const auto packet_at = [&](int k) {
    const int first = begin + k * lanes;
    return Packet{frame, row.index, first, hn::Iota(D(), static_cast<float>(first))};
  };
  const auto looks_up = [&](const Progress& p) { return has_sky && p.missed && (p.veiled || !known); };
  for (int k = 0; k < count; ++k) {
    Progress& p = steps[k];
    const Packet packet = packet_at(k);
    const bool touched = row.opaque.touch(packet.first);
    p.veiled = row.haze || row.transparent.touch(packet.first);
    if (!touched && !p.veiled) continue;
    V farthest = set(frame.far_plane);
    if (has_sky) farthest = hn::Min(farthest, sky_depth(packet, packet.directions(frame.rays[direct])));
    p.hits = touched ? trace(packet, direct, nearest, farthest) : Hits{farthest, set(-1)};
    const M beyond = hn::Lt(p.hits.solid, zero());
    p.hit = !hn::AllTrue(D(), beyond);
    p.missed = !none(beyond);
  }
  for (int k = 0; k < count; ++k)
    if (looks_up(steps[k])) steps[k].sky.spot = sky_spot(packet_at(k), row.sky);
  for (int k = 0; k < count; ++k)
    if (looks_up(steps[k])) aim_at_sky(frame.images[frame.sky], steps[k].sky);
  for (int k = 0; k < count; ++k) {
    Progress& p = steps[k];
    if (looks_up(p))
      p.colour = sky_colour(frame.images[frame.sky], p.sky);
    else if (known && p.missed && p.hit)
      p.colour = known_sky(packet_at(k));
    else
      p.colour = {zero(), zero(), zero()};
  }
  for (int k = 0; k < count; ++k) {
    Progress& p = steps[k];
    if (known && !p.hit && !p.veiled) continue;
    const Packet packet = packet_at(k);
    if (p.hit) {
      V3 colour = shade_hits(packet, direct, p.hits, all, 1, true);
      reflect(packet, p.hits, set(frame.far_plane), colour);
      p.colour = select3(hn::Lt(p.hits.solid, zero()), p.colour, colour);
    }
    if (row.haze) blend_haze(packet, packet.directions(frame.rays[direct]), p.hits.t, p.colour);
    if (row.transparent.touch(packet.first)) blend_transparent(packet, direct, nearest, p.hits.t, all, 1, p.colour);
    const int left = frame.width - packet.first;
    store(p.colour, rgb + 3 * packet.first, left < lanes ? left : lanes);
  }
}

HWY_NOINLINE void draw_columns(const Frame& frame, const Row& row, std::uint8_t* rgb) {
  const int lanes = static_cast<int>(hn::Lanes(D())), packets = (frame.width + lanes - 1) / lanes;
  for (int k = 0; k < packets; k += packets_together)
    draw_packets(frame, row, k * lanes, std::min(packets - k, packets_together), rgb);
}

// Meshes may show in all columns.
HWY_INLINE Columns opaque_columns(const Frame& frame, int row) {
  if (frame.meshes) return {0, frame.width};
  return columns_of(frame, frame.opaque, row);
}

void draw_row(const Frame& frame, int row, std::uint8_t* rgb) {
  if (frame.sky_rgb) std::copy_n(frame.sky_rgb + static_cast<std::ptrdiff_t>(3) * row * frame.width, 3 * frame.width, rgb);
  const Columns opaque = opaque_columns(frame, row), transparent = columns_of(frame, frame.transparent, row);
  const bool looks_up = frame.sky >= 0 && (!frame.sky_rgb || frame.haze.on || transparent.right > 0);
  draw_columns(frame, {row, opaque, transparent, frame.haze.on, looks_up ? sky_row(frame, row) : SkyRow{}}, rgb);
}

void draw_sky_row(const Frame& frame, int row, std::uint8_t* rgb) {
  draw_columns(frame, {row, {}, {}, false, sky_row(frame, row)}, rgb);
}
