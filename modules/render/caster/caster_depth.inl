// A row of distances along the optical axis.
void draw_depth_row(const Frame& frame, int row, float* metres) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const V nearest = set(frame.near_plane), farthest = set(frame.far_plane);
  const Columns columns = opaque_columns(frame, row);
  for (int first = 0; first < frame.width; first += lanes) {
    V t = farthest;
    if (columns.touch(first))
      t = trace(Packet{frame, row, first, hn::Iota(d, static_cast<float>(first))}, direct, nearest, farthest).t;
    if (frame.width - first >= lanes) {
      hn::StoreU(t, d, metres + first);
    } else {
      HWY_ALIGN float all[16];
      hn::Store(t, d, all);
      std::copy_n(all, frame.width - first, metres + first);
    }
  }
}
