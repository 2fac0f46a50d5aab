// Light of planes, computed at the corners of a grid and interpolated, as OpenGL does between vertices.

HWY_INLINE float corner_at(const GridAxis& axis, int index) {
  if (index <= 0) return axis.start;
  const float inner = axis.start + axis.margin + static_cast<float>(index - 1) * axis.step;
  return index >= axis.cells ? -axis.start : inner;
}

// All passes at the corners of one block.
HWY_NOINLINE void fill_block(const Frame& frame, const Solid& solid, View view, float brightness, const LightGrid& grid,
                             int block) {
  const int first = block * LightGrid::block, row = first / grid.pitch, column = first % grid.pitch;
  const int lanes = static_cast<int>(hn::Lanes(D()));
  HWY_ALIGN float xs[LightGrid::block];
  for (int i = 0; i < LightGrid::block; ++i) xs[i] = corner_at(grid.axes[0], column + i);
  const auto& m = solid.to_unit;
  const V y = set(corner_at(grid.axes[1], row));
  const Paint paint{scale3(set3(solid.rgb), set(brightness)), solid.specular, solid.shininess};
  for (int i = 0; i < LightGrid::block; i += lanes) {
    const V x = hn::Load(D(), xs + i);
    // The map of a plane is a rotation: its transpose leads back.
    const V3 offset = add3(scale3(set3(m[0]), x), scale3(set3(m[1]), y));
    const V3 point = add3(set3(solid.position), offset);
    const V3 eye = set3(frame.rays[view].eye);
    const Surface surface{point, set3(m[2]), unit3(sub3(eye, point)), hn::Not(never())};
    const auto store = [&](int pass, const V3& rgb) {
      float* at = grid.rgb.data() + static_cast<std::ptrdiff_t>(3) * pass * grid.plane_size() + first + i;
      hn::StoreU(rgb.x, D(), at);
      hn::StoreU(rgb.y, D(), at + grid.plane_size());
      hn::StoreU(rgb.z, D(), at + 2 * grid.plane_size());
    };
    store(0, first_pass(frame, surface, paint, solid.emission, grid.shadows));
    int pass = 0;
    if (grid.shadows)
      for (const Light& light : frame.lights)
        if (light.shadows) store(++pass, clamp3(shine(light, surface, paint)));
  }
  grid.filled[block] = 1;
}

// Where in the grid a vector of points lies. A cell is two triangles: one around its corner of least x and y, one around the
// opposite corner.
struct Cell {
  V along_x, along_y;  // from the triangle's own corner, in widths of the cell
  M near_low;          // in the first triangle
  I low;               // index of the corner of least x and y
  int shared;          // that index where it is the same for all points, -1 elsewhere
  int first;           // the least of them where all are less than a vector of lanes apart, -1 elsewhere
};

struct Place {
  I index;
  V fraction;
};

HWY_INLINE Place place_on(const GridAxis& axis, V x) {
  const DI di;
  const V inner = set(axis.start + axis.margin);
  const V position = hn::Floor(hn::Div(sub(x, inner), set(axis.step)));
  const V last = set(static_cast<float>(axis.cells - 1));
  const V index = hn::Min(hn::Max(add(position, set(1)), zero()), last);
  const V left = add(inner, mul(sub(index, set(1)), set(axis.step)));
  const M at_start = hn::Eq(index, zero()), at_end = hn::Eq(index, last);
  const V width = select(hn::Or(at_start, at_end), set(axis.margin > 1e-6f ? axis.margin : 1e-6f), set(axis.step));
  const V fraction = hn::Div(sub(x, select(at_start, set(axis.start), left)), width);
  return {hn::ConvertTo(di, index), clamp01(fraction)};
}

HWY_INLINE int lowest(M mask, I values) {
  const DI di;
  return hn::GetLane(hn::MinOfLanes(di, hn::IfThenElse(hn::RebindMask(di, mask), values, hn::Set(di, 1 << 20))));
}
HWY_INLINE int highest(M mask, I values) {
  const DI di;
  return hn::GetLane(hn::MaxOfLanes(di, hn::IfThenElse(hn::RebindMask(di, mask), values, hn::Set(di, -1))));
}

// The cell of each point, with the colours at its corners computed.
HWY_INLINE Cell find_cell(const Frame& frame, const Solid& solid, View view, float brightness, const LightGrid& grid, V x, V y,
                          M mask) {
  const DI di;
  const Place column = place_on(grid.axes[0], x), row = place_on(grid.axes[1], y);
  const I low = hn::Add(hn::Mul(row.index, hn::Set(di, grid.pitch)), column.index);
  // Mostly all points are in one cell, and to look for the outermost takes long.
  const int some = hn::GetLane(low);
  const bool one = none(hn::AndNot(mask_of(hn::Eq(low, hn::Set(di, some))), mask));
  const int left = one ? some % grid.pitch : lowest(mask, column.index);
  const int right = one ? left + 1 : highest(mask, column.index) + 1;
  const int top = one ? some / grid.pitch : lowest(mask, row.index);
  const int bottom = one ? top + 1 : highest(mask, row.index) + 1;
  const int blocks = grid.pitch / LightGrid::block;
  for (int j = top; j <= bottom; ++j)
    for (int i = left / LightGrid::block; i <= right / LightGrid::block; ++i)
      if (!grid.filled[j * blocks + i]) fill_block(frame, solid, view, brightness, grid, j * blocks + i);
  const M near_low = hn::Le(add(column.fraction, row.fraction), set(1));
  const bool near_each_other = bottom == top + 1 && right - left <= static_cast<int>(hn::Lanes(di));
  return {select(near_low, column.fraction, sub(set(1), column.fraction)),
          select(near_low, row.fraction, sub(set(1), row.fraction)),
          near_low,
          low,
          one ? some : -1,
          near_each_other ? top * grid.pitch + left : -1};
}

HWY_INLINE V3 interpolate(const LightGrid& grid, const Cell& cell, int pass) {
  const DI di;
  const float* plane = grid.rgb.data() + static_cast<std::ptrdiff_t>(3) * pass * grid.plane_size();
  const I last = hn::Set(di, static_cast<std::int32_t>(hn::Lanes(di)) - 1);
  const auto places = hn::IndicesFromVec(D(), hn::Min(hn::Max(hn::Sub(cell.low, hn::Set(di, cell.first)), hn::Zero(di)), last));
  V channels[3];
  for (V& channel : channels) {
    const auto corner_colour = [&](int offset) {
      if (cell.shared >= 0) return set(plane[cell.shared + offset]);
      if (cell.first >= 0) return hn::TableLookupLanes(hn::LoadU(D(), plane + cell.first + offset), places);
      return hn::GatherIndex(D(), plane, hn::Add(cell.low, hn::Set(di, offset)));
    };
    const V low = corner_colour(0), right = corner_colour(1), upper = corner_colour(grid.pitch);
    const V high = corner_colour(grid.pitch + 1);
    const V corner = select(cell.near_low, low, high);
    const V end_x = select(cell.near_low, right, upper), end_y = select(cell.near_low, upper, right);
    channel = add(corner, add(mul(sub(end_x, corner), cell.along_x), mul(sub(end_y, corner), cell.along_y)));
    plane += grid.plane_size();
  }
  return {channels[0], channels[1], channels[2]};
}
