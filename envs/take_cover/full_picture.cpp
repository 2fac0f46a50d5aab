module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>
module iap.envs;
import iap.core;

namespace iap::take_cover {
namespace {

constexpr int bar_width = 320, bar_height = 32, bar_top = 168, doom_height = 200;

std::size_t at(int row, int column) { return static_cast<std::size_t>(row) * screen_width + column; }

void paste(std::span<std::uint8_t> bar, const Sprite& picture, int x, int y) {
  for (int column = 0; column < picture.width; ++column)
    for (int row = 0; row < picture.height; ++row) {
      const int to_x = x - picture.left + column, to_y = y - picture.top + row;
      const auto texel = picture.at(column, row);
      if (texel == transparent || to_x < 0 || to_y < 0 || to_x >= bar_width || to_y >= bar_height) continue;
      bar[static_cast<std::size_t>(to_y) * bar_width + to_x] = static_cast<std::uint8_t>(texel);
    }
}

}  // namespace

Stage::Stage(Art used, Scenery looks, bool with_sign) : art(std::move(used)), scenery(looks) {
  if (with_sign) sign = draw_sign();
}

void draw_bar(const Art& art, Condition condition, std::span<std::uint8_t> indices) {
  constexpr int digits_end = 90, digits_top = 171, face_left = 143, full_health = 100;
  std::array<std::uint8_t, bar_width * bar_height> bar{};
  paste(bar, art.bar, 0, 0);
  int x = digits_end;
  for (int rest = condition.health; x == digits_end || rest > 0; rest /= 10) {
    const Sprite& digit = art.digit[static_cast<std::size_t>(rest % 10)];
    x -= art.digit[0].width;
    paste(bar, digit, x, digits_top - bar_top);
  }
  const int level = std::clamp((full_health - condition.health) * face_levels / (full_health + 1), 0, face_levels - 1);
  const auto& face = art.face[static_cast<std::size_t>(level)][static_cast<std::size_t>(condition.glance)];
  paste(bar, condition.hurt ? art.hurt_face[static_cast<std::size_t>(level)] : face, face_left, 0);
  for (int row = view_height; row < screen_height; ++row)
    for (int column = 0; column < screen_width; ++column) {
      const double down = (row + 0.5) * doom_height / screen_height - bar_top;
      const int from_row = std::clamp(static_cast<int>(down), 0, bar_height - 1);
      const int from_column = column * bar_width / screen_width;
      indices[at(row - view_height, column)] = bar[static_cast<std::size_t>(from_row) * bar_width + from_column];
    }
}

FullPainter::FullPainter(const Stage& stage)
    : stage_(&stage), view_(stage.art, stage.scenery), indices_(static_cast<std::size_t>(screen_height) * screen_width) {}

void FullPainter::draw(const World& world, Condition condition, std::span<std::uint8_t> rgb) {
  const Art& art = stage_->art;
  view_.look(world);
  for (int r = 0; r < view_height; ++r) {
    const Row& row = view_.rows()[static_cast<std::size_t>(r)];
    for (int c = 0; c < screen_width; ++c) {
      const Column& column = view_.columns()[static_cast<std::size_t>(c)];
      const bool side = c < row.left_end || c >= row.right_begin;
      const int along = static_cast<int>(std::floor(row.phase + c * row.step)) & (row.length - 1);
      const auto texel = side ? column.texels[view_.wall_row(r, column.depth)] : row.line[along];
      indices_[at(r, c)] = art.light[static_cast<std::size_t>(side ? column.light : row.light)][texel];
    }
  }
  for (const Billboard& board : view_.billboards()) {
    const auto& light = art.light[static_cast<std::size_t>(board.light)];
    for (int c = board.begin_column(); c < board.end_column(); ++c)
      for (int r = board.begin_row(); r < board.end_row(); ++r) {
        const auto texel = board.sprite->at(board.column_at(c), board.row_at(r));
        if (texel == transparent) continue;
        auto& index = indices_[at(r, c)];
        const auto colour = light[static_cast<std::size_t>(texel)];
        index = board.glowing ? add_glow(art, art.palette[index], art.palette[colour]) : colour;
      }
  }
  draw_bar(art, condition, std::span(indices_).subspan(at(view_height, 0)));
  for (std::size_t i = 0; i < indices_.size(); ++i) std::ranges::copy(art.palette[indices_[i]], &rgb[3 * i]);
  for (std::size_t i = 0; i < stage_->sign.size(); ++i) {
    const int row = sign_top + static_cast<int>(i) / sign_width, column = sign_left + static_cast<int>(i) % sign_width;
    std::ranges::copy(stage_->sign[i] ? sign_letters : sign_ground, &rgb[3 * at(row, column)]);
  }
}

}  // namespace iap::take_cover
