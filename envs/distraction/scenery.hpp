// What the painters of a scenery share. Include after `module iap.envs.distraction;` and `import iap.core;`, with <algorithm>,
// <array>, <cmath>, <cstdint>, <cstddef> and <vector> before it. Coordinates are pixels of a layer, y downwards; colours are linear
// shares of 255.
#pragma once

namespace iap::painting {

struct Tint {
  float r = 0, g = 0, b = 0;
};
inline Tint operator+(Tint a, Tint b) { return {a.r + b.r, a.g + b.g, a.b + b.b}; }
inline Tint operator*(Tint a, float s) { return {a.r * s, a.g * s, a.b * s}; }
inline Tint mix(Tint a, Tint b, float share) { return a * (1 - share) + b * share; }
inline float smooth(float low, float high, float x) {
  const float t = std::clamp((x - low) / (high - low), 0.0f, 1.0f);
  return t * t * (3 - 2 * t);
}

// A number in [0, 1) for each point of a lattice.
inline float lattice(int x, int y, std::uint32_t seed) {
  std::uint32_t h = static_cast<std::uint32_t>(x) * 0x9E3779B1u ^ static_cast<std::uint32_t>(y) * 0x85EBCA77u ^ seed * 0xC2B2AE3Du;
  h = (h ^ (h >> 15)) * 0x2C1B3C6Du;
  h = (h ^ (h >> 12)) * 0x297A2D39u;
  return static_cast<float>((h ^ (h >> 15)) >> 8) * 0x1.0p-24f;
}

// Smooth noise in [0, 1), one feature a unit.
inline float noise(float x, float y, std::uint32_t seed) {
  const float fx = std::floor(x), fy = std::floor(y);
  const int ix = static_cast<int>(fx), iy = static_cast<int>(fy);
  const float u = smooth(0, 1, x - fx), v = smooth(0, 1, y - fy);
  const float top = lattice(ix, iy, seed) * (1 - u) + lattice(ix + 1, iy, seed) * u;
  const float bottom = lattice(ix, iy + 1, seed) * (1 - u) + lattice(ix + 1, iy + 1, seed) * u;
  return top * (1 - v) + bottom * v;
}

// Noise of several scales, each half as large and half as strong as the one before; in [0, 1).
inline float fractal(float x, float y, int octaves, std::uint32_t seed) {
  float sum = 0, weight = 0.5f, total = 0;
  for (int i = 0; i < octaves; ++i, weight *= 0.5f, x *= 2.03f, y *= 2.03f) {
    sum += weight * noise(x, y, seed + static_cast<std::uint32_t>(i));
    total += weight;
  }
  return sum / total;
}

// Colours times opacity, and the opacity.
struct Layer {
  int width = 0, height = 0;
  std::vector<std::array<float, 4>> pixels;
  inline Layer() = default;
  inline Layer(int w, int h) : width(w), height(h), pixels(static_cast<std::size_t>(w) * h) {}

  inline void put(int x, int y, Tint colour, float opacity) {
    if (x < 0 || y < 0 || x >= width || y >= height) return;
    auto& p = pixels[static_cast<std::size_t>(y) * width + x];
    const float rest = 1 - opacity;
    p = {colour.r * opacity + p[0] * rest, colour.g * opacity + p[1] * rest, colour.b * opacity + p[2] * rest,
         opacity + p[3] * rest};
  }
};

// Calls shade(x, y) for every pixel of a box on the layer.
template <typename Shade>
void each_pixel(const Layer& layer, float left, float top, float right, float bottom, const Shade& shade) {
  const int x0 = std::max(0, static_cast<int>(std::floor(left))), x1 = std::min(layer.width, static_cast<int>(std::ceil(right)));
  const int y0 = std::max(0, static_cast<int>(std::floor(top))), y1 = std::min(layer.height, static_cast<int>(std::ceil(bottom)));
  for (int y = y0; y < y1; ++y)
    for (int x = x0; x < x1; ++x) shade(x, y);
}

// The mood that all painters of one scenery follow.
struct Palette {
  Tint sky_high, sky_low, sun, haze, leaf, grass, stone;
  float sun_side = -1;  // where the light comes from: -1 left, 1 right
  float brightness = 1;
  int horizon = 0;
  int ground = 0;  // 0 meadow, 1 road, 2 sand and water, 3 paving
};

// A ball squeezed to an ellipse, lit from the palette's side, its surface roughened by noise.
void ball(Layer& layer, float x, float y, float rx, float ry, Tint colour, const Palette& palette, float roughness,
          std::uint32_t seed);
// A rectangle with soft noise on it.
void slab(Layer& layer, float left, float top, float right, float bottom, Tint colour, float roughness, std::uint32_t seed);
// A line of the given width whose end may be thinner.
void stroke(Layer& layer, float x0, float y0, float x1, float y1, float width, float end_width, Tint colour);
// A soft shadow on the ground.
void shadow(Layer& layer, float x, float y, float rx, float ry, float strength);

void paint_sky(Layer& layer, const Palette& palette, Random& random);
void paint_ridge(Layer& layer, const Palette& palette, float top, float height, float distance, Random& random);
void paint_ground(Layer& layer, const Palette& palette, Random& random);
void paint_tree(Layer& layer, const Palette& palette, float x, float foot, float height, float distance, Random& random);
void paint_bush(Layer& layer, const Palette& palette, float x, float foot, float size, Random& random);
void paint_blades(Layer& layer, const Palette& palette, float x, float foot, float size, Random& random);
void paint_rock(Layer& layer, const Palette& palette, float x, float foot, float size, Random& random);
void paint_house(Layer& layer, const Palette& palette, float left, float right, float top, float foot, float distance,
                 Random& random);
void paint_street_things(Layer& layer, const Palette& palette, float foot, Random& random);
void paint_fence(Layer& layer, const Palette& palette, float foot, float size, Random& random);

// Something that moves, in a few poses, all of one size; its feet stand at the lower edge.
struct Mover {
  std::vector<Layer> poses;
  float start = 0, velocity = 0, foot = 0, bounce = 0;
};
Mover make_mover(const Palette& palette, float foot, float size, Random& random);

inline Tint random_colour(Random& random, float low, float high) {
  const auto one = [&] { return static_cast<float>(random.uniform(low, high)); };
  const float r = one(), g = one(), b = one();
  return {r, g, b};
}
inline float between(Random& random, double low, double high) { return static_cast<float>(random.uniform(low, high)); }

}  // namespace iap::painting
