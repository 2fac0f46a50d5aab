module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>
module iap.envs.take_cover;
import iap.core;

namespace iap::take_cover {
namespace {

constexpr int centre_column = screen_width / 2;
constexpr double room_height = 104, higher = 300;
enum : int { floor_surface, ceiling_surface, far_surface };

double slope_of_column(double column) { return (column + 0.5 - centre_column) / focal_x; }

std::vector<std::uint8_t> by_rows(const Texture& texture) {
  std::vector<std::uint8_t> texels(texture.texels.size());
  for (int column = 0; column < texture.width; ++column)
    for (int row = 0; row < texture.height; ++row)
      texels[static_cast<std::size_t>(row) * texture.width + column] = texture.at(column, row);
  return texels;
}

int wrap(double at, int length) { return static_cast<int>(std::floor(at)) & (length - 1); }

}  // namespace

int light_at(int sector, double depth) {
  constexpr double visibility = 1280, most_visible = 24;
  const double shade = 2 * colormaps - (sector + 12) * colormaps / 128.0;
  return std::clamp(static_cast<int>(std::floor(shade - std::min(most_visible, visibility / depth))), 0, colormaps - 1);
}

int Billboard::begin_column() const { return std::max(0, static_cast<int>(std::ceil(left - 0.5))); }
int Billboard::end_column() const {
  return std::min(screen_width, static_cast<int>(std::ceil(left + sprite->width * texel_width - 0.5)));
}
int Billboard::begin_row() const { return std::max(0, static_cast<int>(std::ceil(top - 0.5))); }
int Billboard::end_row() const {
  return std::min(view_height, static_cast<int>(std::ceil(top + sprite->height * texel_height - 0.5)));
}
int Billboard::column_at(int column) const {
  const int at = std::clamp(static_cast<int>((column + 0.5 - left) / texel_width), 0, sprite->width - 1);
  return mirrored ? sprite->width - 1 - at : at;
}
int Billboard::row_at(int row) const {
  return std::clamp(static_cast<int>((row + 0.5 - top) / texel_height), 0, sprite->height - 1);
}

std::uint8_t add_glow(const Art& art, Rgb888 under, Rgb888 glow) {
  constexpr int most = 31;
  std::size_t key = 0;
  for (std::size_t c = 0; c < 3; ++c) key = key << 5 | static_cast<std::size_t>(std::min(most, (under[c] >> 3) + (glow[c] >> 3)));
  return art.nearest[key];
}

View::View(const Art& art, Scenery scenery)
    : art_(&art), ceiling_(room_height + (scenery.high_walls ? higher : 0)), rows_(view_height), columns_(screen_width) {
  // A flat's lines run from north to south, as its columns do; the wall's lines are its rows.
  const Texture& floor = scenery.other_floor ? art.other_floor : art.floor;
  surfaces_[floor_surface] = {floor.width, floor.height, floor.texels};
  surfaces_[ceiling_surface] = {art.floor.width, art.floor.height, art.floor.texels};
  surfaces_[far_surface] = {art.wall.height, art.wall.width, by_rows(art.wall)};
  constexpr std::size_t most_billboards = 512;
  billboards_.reserve(most_billboards);
}

int View::wall_row(int row, double depth) const {
  return wrap(ceiling_ - eye_ + (row + 0.5 - centre_row) * depth / focal_y, art_->wall.height);
}

void View::look(const World& world) {
  x_ = world.player().x;
  y_ = world.player().y;
  eye_ = world.player().eye;
  see_columns();
  see_rows();
  billboards_.clear();
  see_imps(world);
  see_fireballs(world);
  std::ranges::sort(
      billboards_, [](const Billboard& a, const Billboard& b) { return a.depth != b.depth ? a.depth > b.depth : a.left < b.left; });
}

// The walls of a side are two pieces whose textures begin anew where they meet, at x = 0.
void View::see_columns() {
  const double farthest = room_east - x_;
  for (int c = 0; c < screen_width; ++c) {
    const double slope = slope_of_column(c);
    Column& column = columns_[static_cast<std::size_t>(c)];
    column.depth = slope < 0 ? (room_north - y_) / -slope : (y_ - room_south) / slope;
    if (column.depth >= farthest) continue;  // the wall in front hides the side walls there
    const double x = x_ + column.depth;
    const double along = slope < 0 ? (x < 0 ? x - room_west : x) : (x < 0 ? -x : room_east - x);
    column.texels = &art_->wall.texels[static_cast<std::size_t>(wrap(along, art_->wall.width)) * art_->wall.height];
    column.light = light_at(side_light, column.depth);
  }
}

void View::see_rows() {
  const double farthest = room_east - x_;
  for (int r = 0; r < view_height; ++r) {
    Row& row = rows_[static_cast<std::size_t>(r)];
    const double down = r + 0.5 - centre_row, height = down > 0 ? eye_ : ceiling_ - eye_;
    row.depth = std::min(farthest, height * focal_y / std::abs(down));
    const bool far = row.depth == farthest;
    row.surface = far ? far_surface : down > 0 ? floor_surface : ceiling_surface;
    const Surface& surface = surfaces_[static_cast<std::size_t>(row.surface)];
    row.line_index = far ? wall_row(r, row.depth) : wrap(x_ + row.depth, surface.lines);
    row.line = surface.line(row.line_index);
    row.length = surface.length;
    row.light = light_at(far ? far_light : floor_light, row.depth);
    row.step = row.depth / focal_x;
    row.phase = room_north - y_ + slope_of_column(0) * row.depth;
    const auto covered = [&](double distance) {
      return static_cast<int>(std::clamp(centre_column - distance * focal_x / row.depth, 0.0, double{centre_column}));
    };
    // Rounding aside, this is where the side walls end; the columns themselves decide.
    row.left_end = covered(room_north - y_);
    row.right_begin = screen_width - covered(y_ - room_south);
    while (row.left_end > 0 && columns_[static_cast<std::size_t>(row.left_end) - 1].depth >= row.depth) --row.left_end;
    while (row.left_end < centre_column && columns_[static_cast<std::size_t>(row.left_end)].depth < row.depth) ++row.left_end;
    while (row.right_begin < screen_width && columns_[static_cast<std::size_t>(row.right_begin)].depth >= row.depth)
      ++row.right_begin;
    while (row.right_begin > centre_column && columns_[static_cast<std::size_t>(row.right_begin) - 1].depth < row.depth)
      --row.right_begin;
  }
}

void View::see_imps(const World& world) {
  constexpr double turn = 360, side = turn / sides;
  for (const Imp& imp : world.imps()) {
    const double direction = std::atan2(imp.y - y_, imp_x - x_) * 180 / std::numbers::pi;
    const double seen = direction + turn / 2 - imp.facing + side / 2;
    const int from = static_cast<int>(std::floor(seen / side)) & (sides - 1);
    const Side shown = art_->imp[static_cast<std::size_t>(imp.frame)][static_cast<std::size_t>(from)];
    place(art_->imps[shown.sprite], shown.mirrored, false, imp_x, imp.y, 0, light_at(floor_light, imp_x - x_));
  }
}

void View::see_fireballs(const World& world) {
  constexpr double height = 32;
  for (const Fireball& ball : world.fireballs())
    place(art_->fireball[static_cast<std::size_t>(ball.frame)], false, true, ball.x, ball.y, height, 0);
}

void View::place(const Sprite& sprite, bool mirrored, bool glowing, double x, double y, double z, int light) {
  constexpr double nearest = 4;
  const double depth = x - x_;
  if (depth < nearest || billboards_.size() == billboards_.capacity()) return;
  const double texel_width = focal_x / depth, texel_height = focal_y / depth;
  const int anchor = mirrored ? sprite.width - sprite.left - 1 : sprite.left;
  const Billboard board{.sprite = &sprite,
                        .mirrored = mirrored,
                        .glowing = glowing,
                        .left = centre_column + (y_ - y) * texel_width - anchor * texel_width,
                        .top = centre_row + (eye_ - z - sprite.top) * texel_height,
                        .texel_width = texel_width,
                        .texel_height = texel_height,
                        .depth = depth,
                        .light = light};
  if (board.begin_column() < board.end_column() && board.begin_row() < board.end_row()) billboards_.push_back(board);
}

}  // namespace iap::take_cover
