module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>
module iap.envs.take_cover;

namespace iap::take_cover {
namespace {

constexpr int bar_rows = screen_height - view_height;

}  // namespace

StatusBar::StatusBar(const Art& art) : art_(&art), bar_(art.bar), indices_(static_cast<std::size_t>(screen_width) * bar_rows) {}

std::span<const std::uint8_t> StatusBar::draw(Condition condition) {
  // Places on Doom's screen of 320 x 200.
  constexpr int doom_height = 200, bar_top = 168, digits_end = 90, digits_top = 171, face_left = 143, full_health = 100;
  bar_ = art_->bar;
  int x = digits_end;
  for (int rest = condition.health; x == digits_end || rest > 0; rest /= 10) {
    x -= art_->digit[0].width;
    paste(bar_, art_->digit[static_cast<std::size_t>(rest % 10)], x, digits_top - bar_top);
  }
  const int lost = (full_health - condition.health) * face_levels / (full_health + 1);
  const auto level = static_cast<std::size_t>(std::clamp(lost, 0, face_levels - 1));
  const auto& face = art_->face[level][static_cast<std::size_t>(condition.glance)];
  paste(bar_, condition.hurt ? art_->hurt_face[level] : face, face_left, 0);
  for (int row = 0; row < bar_rows; ++row) {
    const double down = (row + view_height + 0.5) * doom_height / screen_height - bar_top;
    const int from_row = std::clamp(static_cast<int>(down), 0, bar_height - 1);
    for (int column = 0; column < screen_width; ++column)
      indices_[static_cast<std::size_t>(row) * screen_width + column] =
          static_cast<std::uint8_t>(std::max<int>(0, bar_.at(column * bar_width / screen_width, from_row)));
  }
  return indices_;
}

}  // namespace iap::take_cover
