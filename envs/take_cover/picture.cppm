module;
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>
export module iap.envs.take_cover:picture;
import :art;
import :view;
import :world;

export namespace iap::take_cover {

/// What the status bar shows.
struct Condition {
  int health = 100;
  int glance = 0;  ///< 0 straight ahead, 1 and 2 to the sides
  bool hurt = false;
  bool operator==(const Condition&) const = default;
};

struct SmallTables;

/// What every picture of a scene shares.
struct Stage {
  Stage(Art art, Scenery scenery, bool sign);
  Art art;
  Scenery scenery;
  std::vector<std::uint8_t> sign;  ///< empty without one
  /// By width, what its SmallPainters look up; theirs, under their lock.
  mutable std::map<int, std::weak_ptr<const SmallTables>> small_tables;
};

/// The stage with the art of `wad`, or with our own: one of a kind in the process, as long as somebody holds it. Threads may ask at
/// the same time. @throws Error as `wad_art`.
std::shared_ptr<const Stage> shared_stage(const std::optional<std::filesystem::path>& wad, Scenery scenery, bool sign);

/// Palette indices of the status bar: 640 columns of the rows below the view.
class StatusBar {
 public:
  explicit StatusBar(const Art& art);
  std::span<const std::uint8_t> draw(Condition condition);

 private:
  const Art* art_;
  Sprite bar_;
  std::vector<std::uint8_t> indices_;
};

/// Draws the screen as Doom would, pixel by pixel: 480 x 640 x 3 bytes.
class FullPainter {
 public:
  explicit FullPainter(const Stage& stage);
  void draw(const World& world, Condition condition, std::span<std::uint8_t> rgb);

 private:
  const Stage* stage_;
  View view_;
  StatusBar bar_;
  std::vector<std::uint8_t> indices_;
};

/// The screen of FullPainter shrunk to height x width by a triangle filter as wide as two pixels of the result (Pillow's
/// "bilinear"), drawn without going through all of its pixels: what is periodic in a row is filtered in tables beforehand.
class SmallPainter {
 public:
  /// Sizes in [1, 480] and [1, 640]. Those of one stage and width share their tables; threads may make them at the same time.
  SmallPainter(const Stage& stage, int height, int width);
  ~SmallPainter();
  SmallPainter(SmallPainter&&) noexcept;
  SmallPainter& operator=(SmallPainter&&) noexcept;
  void draw(const World& world, Condition condition, std::span<std::uint8_t> rgb);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// One axis of the triangle filter: every position of the source feeds at most two outputs, `output` and the one after it.
class Shrink {
 public:
  static constexpr int bits = 13;  ///< the weights of an output add up to 2^bits

  Shrink(int from, int to);
  struct Tap {
    int output = 0;  ///< -1 where only the first output is fed
    std::uint32_t weight = 0, next_weight = 0;
  };
  std::span<const Tap> taps() const { return taps_; }  ///< by position
  int outputs() const { return outputs_; }
  /// The positions that feed an output: [first, second).
  std::array<int, 2> range(int output) const { return ranges_[static_cast<std::size_t>(output)]; }

 private:
  int outputs_;
  std::vector<Tap> taps_;
  std::vector<std::array<int, 2>> ranges_;
};

}  // namespace iap::take_cover
