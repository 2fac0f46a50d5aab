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
module iap.envs.take_cover;
import iap.core;

namespace iap::take_cover {
namespace {

std::size_t at(int row, int column) { return static_cast<std::size_t>(row) * screen_width + column; }

}  // namespace

FullPainter::FullPainter(const Stage& stage)
    : stage_(&stage),
      view_(stage.art, stage.scenery),
      bar_(stage.art),
      indices_(static_cast<std::size_t>(screen_height) * screen_width) {}

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
  std::ranges::copy(bar_.draw(condition), indices_.begin() + static_cast<std::ptrdiff_t>(at(view_height, 0)));
  for (std::size_t i = 0; i < indices_.size(); ++i) std::ranges::copy(art.palette[indices_[i]], &rgb[3 * i]);
  for (std::size_t i = 0; i < stage_->sign.size(); ++i) {
    const int row = sign_top + static_cast<int>(i) / sign_width, column = sign_left + static_cast<int>(i) % sign_width;
    std::ranges::copy(stage_->sign[i] ? sign_letters : sign_ground, &rgb[3 * at(row, column)]);
  }
}

}  // namespace iap::take_cover
