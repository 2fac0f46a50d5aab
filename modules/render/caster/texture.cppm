module;
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>
export module iap.render:texture;

export namespace iap {

/// An 8-bit RGB image that a material or the sky shows, with its mipmaps. Immutable, so frames and threads share it.
class Texture {
 public:
  enum class Kind : std::uint8_t { flat, cube, sky };

  /// One mipmap level: `faces` images of width x height texels, one after another, rows in file order.
  struct Level {
    int width = 0, height = 0;
    int offset = 0;     ///< of the first face, in texels
    int face_size = 0;  ///< texels from one face to the next; 0 where all six show the same image
  };

  /// `rgb` holds width x height x 3 bytes. Cube and sky: six square faces stacked (height = 6 width; order +x, -x, +y, -y, +z, -z),
  /// or one square face for all six. @throws Error naming the sizes if they do not fit together.
  Texture(Kind kind, int width, int height, std::span<const std::uint8_t> rgb);

  Kind kind() const { return kind_; }
  /// Size of the finest level (of one face).
  int width() const { return levels_.front().width; }
  int height() const { return levels_.front().height; }
  /// Finest first; each level halves the one before by averaging, down to 1 x 1.
  std::span<const Level> levels() const { return levels_; }
  /// All levels; a texel is red + 256 green + 65536 blue.
  std::span<const std::uint32_t> texels() const { return std::span(texels_).first(texels_.size() - spare()); }
  /// Where `rgb` came from is not kept; this tells equal images apart from different ones.
  bool same_image(Kind kind, int width, int height, std::span<const std::uint8_t> rgb) const;

 private:
  std::size_t spare() const { return static_cast<std::size_t>(width()) + 1; }

  Kind kind_;
  std::vector<Level> levels_;
  std::vector<std::uint32_t> texels_;  // and a few more, which are never seen but may be read
};

}  // namespace iap
