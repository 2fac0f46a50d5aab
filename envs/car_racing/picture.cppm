module;
#include <array>
#include <cstdint>
#include <span>
#include <vector>
export module iap.envs.car_racing:picture;
import :canvas;
import :track;
import :world;

export namespace iap::car_racing {

constexpr int picture_size = 96;  ///< pixels, height and width

/// What AttentionAgent's modifications change about the scene.
struct Scenery {
  double road_shade = 0;   ///< added to the road's red, green and blue
  double grass_shade = 0;  ///< added to the grass's, not to the lighter squares'
  bool bars = false;       ///< black bars at both sides of the window
  bool blob = false;       ///< a red square that travels beside the car
};

/// The colours of unmodified grass: noise and video replace pixels that look like these in the green channel.
constexpr std::uint8_t grass_green = 204, lighter_grass_green = 230;

/// CarRacing-v0's picture: its window of 1000 x 800 units, sampled at the centres of 96 x 96 pixels.
class Painter {
 public:
  Painter();
  /// A new episode on `track`.
  void begin(const Track& track, const Scenery& scenery);
  /// Draws 96 x 96 x 3 bytes, rows top-down. `time` in seconds since the start decides the zoom; `score` is cut to an integer.
  void draw(const World& world, double time, double score, std::span<std::uint8_t> rgb);

 private:
  struct Mark {
    std::size_t tile;
    Quad corners;
    Rgb colour;
    bool is_border;
  };

  Canvas canvas_;
  Scenery scenery_;
  Rgb grass_, touched_;  ///< touched tiles lose the shade of their own
  std::vector<Mark> marks_;
};

}  // namespace iap::car_racing
