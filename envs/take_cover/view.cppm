module;
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>
export module iap.envs.take_cover:view;
import :art;
import :world;

export namespace iap::take_cover {

/// Doom's screen at its largest window with a status bar.
constexpr int screen_width = 640, screen_height = 480, view_height = 403;
/// Pixels of one unit at a distance of one unit: the field of view is 90 degrees wide, and pixels are taller than wide.
constexpr double focal_x = 320, focal_y = 384;

/// ZDoom's rule of the light, one of Art::light: the lower a sector's light (0..255) and the greater the distance, the darker.
int light_at(int sector, double depth);

/// AttentionAgent's modifications of the scene.
struct Scenery {
  bool high_walls = false;   ///< the ceiling 300 units higher
  bool other_floor = false;  ///< another texture on the floor
};

/// A row of the screen where it shows no side wall: all of it lies at one depth, so its texels lie on one line of a texture.
struct Row {
  double depth = 0;
  const std::uint8_t* line = nullptr;  ///< palette indices; periodic
  int length = 0;                      ///< of the period; a power of two
  int surface = 0, line_index = 0;     ///< which line of which of View::surfaces
  int light = 0;
  double phase = 0, step = 0;         ///< the centre of column c lies at phase + c * step on the line
  int left_end = 0, right_begin = 0;  ///< columns below the one and from the other on show a side wall
};

/// A column of the screen where it shows a side wall.
struct Column {
  double depth = 0;
  const std::uint8_t* texels = nullptr;  ///< of one column of the wall's texture
  int light = 0;
};

/// A sprite where it stands on the screen.
struct Billboard {
  const Sprite* sprite = nullptr;
  bool mirrored = false, glowing = false;  ///< what glows is added to what lies behind it
  double left = 0, top = 0;                ///< pixels
  double texel_width = 0, texel_height = 0;
  double depth = 0;
  int light = 0;

  int begin_column() const;
  int end_column() const;
  int begin_row() const;
  int end_row() const;
  /// The column of the sprite that stands at a column of the screen, and the row at a row.
  int column_at(int column) const;
  int row_at(int row) const;
};

/// The palette index of the glow `glow` over `under` (Doom's sum in 5 bits a channel).
std::uint8_t add_glow(const Art& art, Rgb888 under, Rgb888 glow);

/// What the player sees of the room: geometry and light, before any pixel is drawn.
class View {
 public:
  static constexpr int centre_row = view_height / 2;
  /// The light of floor, ceiling and what stands there; walls that run north to south look lighter, the others darker.
  static constexpr int floor_light = 210, far_light = floor_light + 16, side_light = floor_light - 16;

  View(const Art& art, Scenery scenery);
  void look(const World& world);

  std::span<const Row> rows() const { return rows_; }
  std::span<const Column> columns() const { return columns_; }
  std::span<const Billboard> billboards() const { return billboards_; }  ///< from far to near
  double above_eye() const { return ceiling_ - eye_; }                   ///< height of the ceiling above the eye
  /// Row of the wall's texture at `row` of a side wall at `depth`.
  int wall_row(int row, double depth) const;
  /// The surfaces that rows refer to: floor, ceiling, the wall in front; each with its lines one after the other.
  struct Surface {
    int lines = 0, length = 0;
    std::vector<std::uint8_t> texels;
    const std::uint8_t* line(int index) const { return &texels[static_cast<std::size_t>(index) * length]; }
  };
  const std::array<Surface, 3>& surfaces() const { return surfaces_; }

 private:
  void see_columns();
  void see_rows();
  void see_imps(const World& world);
  void see_fireballs(const World& world);
  void place(const Sprite& sprite, bool mirrored, bool glowing, double x, double y, double z, int light);

  const Art* art_;
  double ceiling_;
  double x_ = 0, y_ = 0, eye_ = 0;
  std::array<Surface, 3> surfaces_;
  std::vector<Row> rows_;
  std::vector<Column> columns_;
  std::vector<Billboard> billboards_;
};

}  // namespace iap::take_cover
