// Where rays enter shapes of unit size: the only surfaces that show, since back faces are culled.

struct Entry {
  V t;
  M hit;
};

// The points where a line enters and leaves a circle or sphere around the origin come from the point closest to it, which loses
// far less precision than the textbook's quadratic formula.
HWY_INLINE V signed_root(V squared_chord) { return hn::Sqrt(hn::Max(squared_chord, zero())); }

HWY_INLINE Entry enter_sphere(const V3& o, const V3& d) {
  const V a = hn::Max(dot3(d, d), set(1e-30f));
  const V closest = hn::Neg(hn::Div(dot3(o, d), a));
  const V3 p = add3(o, scale3(d, closest));
  const V rest = sub(set(1), dot3(p, p));
  return {sub(closest, signed_root(hn::Div(rest, a))), hn::Ge(rest, zero())};
}

struct Span {
  V enter, leave;
  M hit;
};

HWY_INLINE Span cross_circle(const V3& o, const V3& d) {
  const V a = hn::Max(add(mul(d.x, d.x), mul(d.y, d.y)), set(1e-12f));
  const V closest = hn::Neg(hn::Div(add(mul(o.x, d.x), mul(o.y, d.y)), a));
  const V x = add(o.x, mul(d.x, closest)), y = add(o.y, mul(d.y, closest));
  const V rest = sub(set(1), add(mul(x, x), mul(y, y)));
  const V half = signed_root(hn::Div(rest, a));
  return {sub(closest, half), add(closest, half), hn::Ge(rest, zero())};
}

HWY_INLINE Entry enter_capsule(const V3& o, const V3& d, V half_length) {
  const Span side = cross_circle(o, d);
  if (none(side.hit)) return {side.enter, side.hit};
  const V z = add(o.z, mul(d.z, side.enter));
  const M on_side = hn::Le(hn::Abs(z), half_length);
  if (none(hn::AndNot(on_side, side.hit))) return {side.enter, side.hit};
  const Entry cap = enter_sphere({o.x, o.y, sub(o.z, hn::CopySign(half_length, z))}, d);
  return {select(on_side, side.enter, cap.t), hn::And(side.hit, hn::Or(on_side, cap.hit))};
}

HWY_INLINE void cut_slab(V o, V d, V& enter, V& leave) {
  const V safe = select(hn::Lt(hn::Abs(d), set(1e-12f)), set(1e-12f), d);
  const V inverse = hn::Div(set(1), safe);
  const V a = mul(sub(set(-1), o), inverse), b = mul(sub(set(1), o), inverse);
  enter = hn::Max(enter, hn::Min(a, b));
  leave = hn::Min(leave, hn::Max(a, b));
}

HWY_INLINE Entry enter_cylinder(const V3& o, const V3& d) {
  const Span side = cross_circle(o, d);
  V enter = side.enter, leave = side.leave;
  cut_slab(o.z, d.z, enter, leave);
  return {enter, hn::And(side.hit, hn::Le(enter, leave))};
}

HWY_INLINE Entry enter_box(const V3& o, const V3& d) {
  V enter = set(-1e30f), leave = set(1e30f);
  cut_slab(o.x, d.x, enter, leave);
  cut_slab(o.y, d.y, enter, leave);
  cut_slab(o.z, d.z, enter, leave);
  return {enter, hn::Le(enter, leave)};
}

HWY_INLINE Entry cross_plane(const Solid& solid, const V3& o, const V3& d) {
  const V t = hn::Neg(hn::Div(o.z, d.z));
  const V x = add(o.x, mul(d.x, t)), y = add(o.y, mul(d.y, t));
  return {t, hn::And(hn::Le(hn::Abs(x), set(solid.half_width[0])), hn::Le(hn::Abs(y), set(solid.half_width[1])))};
}

HWY_INLINE Entry enter(const Solid& solid, const V3& o, const V3& d) {
  switch (solid.shape) {
    case Shape::plane: return cross_plane(solid, o, d);
    case Shape::capsule: return enter_capsule(o, d, set(solid.half_length));
    case Shape::cylinder: return enter_cylinder(o, d);
    case Shape::box: return enter_box(o, d);
    default: return enter_sphere(o, d);
  }
}

// The outward normal in unit space at a point of the surface, not of unit length.
HWY_INLINE V3 normal_at(const Solid& solid, const V3& p) {
  switch (solid.shape) {
    case Shape::plane: return {zero(), zero(), set(1)};
    case Shape::capsule: {
      const V h = set(solid.half_length);
      return {p.x, p.y, sub(p.z, hn::Min(hn::Max(p.z, hn::Neg(h)), h))};
    }
    case Shape::cylinder: {
      const M cap = hn::Ge(hn::Abs(p.z), add(mul(p.x, p.x), mul(p.y, p.y)));
      return {select(cap, zero(), p.x), select(cap, zero(), p.y), select(cap, p.z, zero())};
    }
    case Shape::box: {
      const V x = hn::Abs(p.x), y = hn::Abs(p.y), z = hn::Abs(p.z);
      const M on_z = hn::And(hn::Ge(z, x), hn::Ge(z, y));
      const M on_x = hn::AndNot(on_z, hn::Ge(x, y));
      const M on_y = hn::Not(hn::Or(on_z, on_x));
      return {select(on_x, p.x, zero()), select(on_y, p.y, zero()), select(on_z, p.z, zero())};
    }
    default: return p;
  }
}

HWY_INLINE V3 to_unit(const Solid& solid, const V3& v) {
  const auto& m = solid.to_unit;
  return {dot3(set3(m[0]), v), dot3(set3(m[1]), v), dot3(set3(m[2]), v)};
}

// Normals go back through the transpose of the map.
HWY_INLINE V3 normal_to_world(const Solid& solid, const V3& n) {
  const auto& m = solid.to_unit;
  return unit3(add3(add3(scale3(set3(m[0]), n.x), scale3(set3(m[1]), n.y)), scale3(set3(m[2]), n.z)));
}
