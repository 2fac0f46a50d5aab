module;
#include <cstdint>
#include <vector>
export module iap.envs.take_cover:text;
import :art;

export namespace iap::take_cover {

/// The sign that the modification "text" hangs before the scene, in pixels of the screen.
constexpr int sign_left = 150, sign_top = 30, sign_width = 360, sign_height = 80;
constexpr Rgb888 sign_ground{0, 0, 255}, sign_letters{0, 255, 255};

/// Row by row, not 0 where there are letters: "Attention Agent".
std::vector<std::uint8_t> draw_sign();

}  // namespace iap::take_cover
