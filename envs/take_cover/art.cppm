module;
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>
export module iap.envs.take_cover:art;

export namespace iap::take_cover {

constexpr int colormaps = 32;    ///< from full light (0) to darkness
constexpr int transparent = -1;  ///< in a sprite: nothing there

using Rgb888 = std::array<std::uint8_t, 3>;

/// Palette indices, stored column by column: walls are drawn in columns.
struct Texture {
  int width = 0, height = 0;
  std::vector<std::uint8_t> texels;
  inline std::uint8_t at(int column, int row) const { return texels[static_cast<std::size_t>(column) * height + row]; }
};

/// A picture with holes. `left` and `top` say where its anchor lies: a sprite's foot, or the corner of the screen it is offset
/// from.
struct Sprite {
  int width = 0, height = 0, left = 0, top = 0;
  std::vector<std::int16_t> texels;  ///< column by column, palette indices or `transparent`
  inline std::int16_t at(int column, int row) const { return texels[static_cast<std::size_t>(column) * height + row]; }
};

/// A sprite seen from one side, possibly a mirrored one.
struct Side {
  std::size_t sprite = 0;
  bool mirrored = false;
};

constexpr int bar_width = 320, bar_height = 32;
constexpr int imp_frames = 7, sides = 8, fireball_frames = 5, face_levels = 5, glances = 3;

/// Everything that is drawn, in one palette of 256 colours.
struct Art {
  std::array<Rgb888, 256> palette{};
  std::array<std::array<std::uint8_t, 256>, colormaps> light{};  ///< the palette index of a colour in less light
  Texture wall, floor, other_floor;                              ///< the ceiling has the floor's; `other_floor` is the modified one
  std::vector<Sprite> imps;
  std::array<std::array<Side, sides>, imp_frames> imp{};
  std::array<Sprite, fireball_frames> fireball;
  Sprite bar;                                                 ///< 320 x 32: the status bar with all that never changes
  std::array<Sprite, 10> digit;                               ///< of the health
  std::array<std::array<Sprite, glances>, face_levels> face;  ///< by loss of health, then straight, right, left as stored
  std::array<Sprite, face_levels> hurt_face;
  std::vector<std::uint8_t> nearest;  ///< the palette index nearest to a colour of 5 bits a channel, red in the highest
};

/// Freedoom's art, or that of any other WAD with Doom's names. @throws Error naming the file and what is wrong.
Art wad_art(const std::filesystem::path& file);
/// Art of our own making, for machines without such a file.
Art procedural_art();
/// Where a package has put Freedoom, if one has: in the folder that DOOMWADDIR names, or in those that distributions use.
std::optional<std::filesystem::path> find_wad();

/// Puts `picture` into `onto` with its anchor at (x, y); what does not fit is cut off.
void paste(Sprite& onto, const Sprite& picture, int x, int y);
/// Fills `nearest` from `palette`.
void finish_art(Art& art);

}  // namespace iap::take_cover
