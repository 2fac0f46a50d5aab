module;
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
export module iap.envs.distraction:scenery;

export namespace iap {

/// A painted video: a landscape, town or shore with plants, houses and moving things, seen by a camera that pans and shakes.
/// Immutable once built; a function of the seed.
class PaintedVideo {
 public:
  static constexpr int edge = 480;  ///< pixels a side
  static constexpr int frames = 60;

  explicit PaintedVideo(std::uint64_t seed);
  ~PaintedVideo();
  PaintedVideo(PaintedVideo&&) noexcept;
  PaintedVideo& operator=(PaintedVideo&&) noexcept;
  /// Paints frame `index` of [0, frames) as edge x edge x 3, rows top-down.
  void paint(int index, std::span<std::uint8_t> rgb) const;
  /// How much memory it holds.
  std::size_t bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace iap
