// OpenGL's fixed-function lighting with a local viewer, for each pixel.

struct Surface {
  V3 point, normal, to_eye;
  M mask;  // lanes that matter
};

struct Paint {
  V3 diffuse;  // also the ambient colour
  float specular, shininess;
};

// Which of the `open` lanes lie behind a mesh, seen from the light: `toward` times `reach` is the way to where it ends.
HWY_NOINLINE M behind_mesh(const Frame& frame, const V3& point, const V3& toward, V reach, M open) {
  HWY_ALIGN float x[16], y[16], z[16], dx[16], dy[16], dz[16], far[16], dark[16];
  hn::Store(point.x, D(), x);
  hn::Store(point.y, D(), y);
  hn::Store(point.z, D(), z);
  hn::Store(toward.x, D(), dx);
  hn::Store(toward.y, D(), dy);
  hn::Store(toward.z, D(), dz);
  hn::Store(reach, D(), far);
  hn::Store(select(open, set(1), zero()), D(), dark);
  for (int i = 0; i < static_cast<int>(hn::Lanes(D())); ++i)
    if (dark[i] > 0) dark[i] = frame.blocked(frame.scene, {x[i], y[i], z[i]}, {dx[i], dy[i], dz[i]}, far[i]) ? 1.f : 0.f;
  return hn::Gt(hn::Load(D(), dark), zero());
}

// Which lanes of a surface the light's shadow map leaves lit.
HWY_INLINE M lit_lanes(const Frame& frame, const Light& light, const Surface& surface, int own) {
  const V3 from_light = sub3(surface.point, set3(light.position));
  const V depth = dot3(from_light, set3(light.direction));
  V x = dot3(from_light, set3(light.right)), y = dot3(from_light, set3(light.up));
  V reach = sub(depth, set(light.near_plane));
  M inside = surface.mask;
  if (!light.directional) {
    const V inverse = hn::Div(set(1), hn::Max(depth, set(1e-20f)));
    x = mul(x, inverse);
    y = mul(y, inverse);
    reach = mul(reach, inverse);
    inside = hn::And(inside, hn::Gt(depth, zero()));
  }
  inside = hn::And(inside, hn::Le(hn::Max(hn::Abs(x), hn::Abs(y)), set(light.half_width)));
  M dark = never();
  for (const Caster& caster : light.casters) {
    if (caster.solid == own) continue;
    const M candidate = hn::And(hn::And(hn::Ge(x, set(caster.left)), hn::Le(x, set(caster.right))),
                                hn::And(hn::Ge(y, set(caster.bottom)), hn::Le(y, set(caster.top))));
    const M open = hn::AndNot(dark, hn::And(inside, candidate));
    if (none(open)) continue;
    const Solid& solid = frame.solids[caster.solid];
    const V3 o = to_unit(solid, sub3(surface.point, set3(solid.position)));
    const V3 toward = light.directional ? set3(Vector{-light.direction.x, -light.direction.y, -light.direction.z})
                                        : sub3(set3(light.position), surface.point);
    const Entry entry = enter(solid, o, to_unit(solid, toward));
    const M between = hn::And(hn::Gt(entry.t, zero()), hn::Le(entry.t, reach));
    dark = hn::Or(dark, hn::And(open, hn::And(entry.hit, between)));
  }
  if (frame.meshes) {
    const V3 toward = light.directional ? set3(Vector{-light.direction.x, -light.direction.y, -light.direction.z})
                                        : sub3(set3(light.position), surface.point);
    const M open = hn::AndNot(dark, inside);
    if (!none(open)) dark = hn::Or(dark, behind_mesh(frame, surface.point, toward, reach, open));
  }
  return hn::AndNot(dark, surface.mask);
}

// What one light adds.
HWY_NOINLINE V3 shine(const Light& light, const Surface& surface, const Paint& paint) {
  V3 to_light;
  V strength = set(1);
  if (light.directional) {
    to_light = set3(Vector{-light.direction.x, -light.direction.y, -light.direction.z});
  } else {
    const V3 away = sub3(set3(light.position), surface.point);
    const V distance = hn::Sqrt(hn::Max(dot3(away, away), set(1e-30f)));
    to_light = scale3(away, hn::Div(set(1), distance));
    if (light.attenuated) {
      const auto& a = light.attenuation;
      strength = hn::Div(set(1), add(set(a[0]), mul(distance, add(set(a[1]), mul(distance, set(a[2]))))));
    }
    if (light.spot) {
      const V along = hn::Neg(dot3(to_light, set3(light.direction)));
      const V beam = light.exponent == 0 ? set(1) : power(along, light.exponent);
      strength = mul(strength, select(hn::Ge(along, set(light.cos_cutoff)), beam, zero()));
    }
  }
  const V incidence = dot3(surface.normal, to_light);
  V3 sum = mul3(paint.diffuse, add3(set3(light.ambient), scale3(set3(light.diffuse), hn::Max(incidence, zero()))));
  if (light.shines_specular && paint.specular > 0) {
    const V3 half = add3(to_light, surface.to_eye);
    const V length = hn::Sqrt(hn::Max(dot3(half, half), set(1e-30f)));
    const V gloss = power(hn::Div(dot3(surface.normal, half), length), paint.shininess);
    const V weight = mul(set(paint.specular), select(hn::Gt(incidence, zero()), gloss, zero()));
    sum = add3(sum, scale3(set3(light.specular), weight));
  }
  return scale3(sum, strength);
}

// Passes as MuJoCo draws them: one with all lights that cast no shadow, then one for each that does, each clamped.
HWY_NOINLINE V3 first_pass(const Frame& frame, const Surface& surface, const Paint& paint, float emission, bool shadows) {
  V3 sum = mul3(paint.diffuse, add3(set3(frame.global_ambient), {set(emission), set(emission), set(emission)}));
  for (const Light& light : frame.lights)
    if (!(shadows && light.shadows)) sum = add3(sum, shine(light, surface, paint));
  return clamp3(sum);
}

// `pass(k)` gives the colour of the k-th pass.
template <typename Pass>
HWY_INLINE V3 illuminate(const Frame& frame, const Surface& surface, int own, bool shadows, const Pass& pass) {
  V3 sum = pass(0, nullptr);
  if (!shadows) return sum;
  int k = 0;
  for (const Light& light : frame.lights) {
    if (!light.shadows) continue;
    const V3 added = pass(++k, &light);
    const M lit = lit_lanes(frame, light, surface, own);
    sum = add3(sum, select3(lit, added, {zero(), zero(), zero()}));
  }
  return sum;
}
