module;
#include <array>
#include <cstdint>
#include <span>
#include <vector>
export module iap.envs.car_racing:canvas;

export namespace iap {

struct Rgb {
  std::uint8_t red = 0, green = 0, blue = 0;
  bool operator==(const Rgb&) const = default;
};

/// Components in [0, 1], clipped, as the nearest of 256 levels.
Rgb to_rgb(double red, double green, double blue);

/// A picture made of filled polygons without antialiasing: a pixel takes a polygon's colour if its centre is inside. Centres on an
/// edge belong to the polygon on whose left or upper edge they lie, so that polygons which share an edge leave no gap and no
/// overlap. Coordinates are in pixels, (column, row) with the origin at the upper left corner.
class Canvas {
 public:
  Canvas(int height, int width);
  void clear(Rgb colour);
  /// Fills a convex polygon of at least three corners; their order may go either way round. Infinite or NaN corners draw nothing.
  void fill(std::span<const std::array<double, 2>> convex, Rgb colour);
  void set(int row, int column, Rgb colour) { pixels_[index(row, column)] = pack(colour); }
  Rgb at(int row, int column) const;
  /// height x width x 3 bytes, rows top-down.
  void copy_to(std::span<std::uint8_t> rgb) const;

 private:
  static std::uint32_t pack(Rgb colour) {
    return colour.red | static_cast<std::uint32_t>(colour.green) << 8 | static_cast<std::uint32_t>(colour.blue) << 16;
  }
  std::size_t index(int row, int column) const { return static_cast<std::size_t>(row) * width_ + column; }

  int height_, width_;
  std::vector<std::uint32_t> pixels_;
};

}  // namespace iap
