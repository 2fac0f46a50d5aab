module;
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>
module iap.envs.take_cover;
import iap.core;

namespace iap::take_cover {
namespace {

constexpr int letter_width = 5, letter_height = 7, pixel = 4, advance = (letter_width + 1) * pixel;
using Letter = std::array<std::string_view, letter_height>;

constexpr std::array<std::pair<char, Letter>, 7> letters{{
    {'A', {" ### ", "#   #", "#   #", "#####", "#   #", "#   #", "#   #"}},
    {'t', {"  #  ", "  #  ", "#####", "  #  ", "  #  ", "  #  ", "   ##"}},
    {'e', {"     ", "     ", " ### ", "#   #", "#####", "#    ", " ####"}},
    {'n', {"     ", "     ", "# ## ", "##  #", "#   #", "#   #", "#   #"}},
    {'i', {"  #  ", "     ", " ##  ", "  #  ", "  #  ", "  #  ", " ### "}},
    {'o', {"     ", "     ", " ### ", "#   #", "#   #", "#   #", " ### "}},
    {'g', {"     ", " ####", "#   #", "#   #", " ####", "    #", " ### "}},
}};

}  // namespace

std::vector<std::uint8_t> draw_sign() {
  constexpr std::string_view words = "Attention Agent";
  constexpr int left = (sign_width - static_cast<int>(words.size()) * advance + pixel) / 2,
                top = (sign_height - letter_height * pixel) / 2;
  std::vector<std::uint8_t> sign(static_cast<std::size_t>(sign_width) * sign_height);
  for (std::size_t i = 0; i < words.size(); ++i)
    for (const auto& [name, shape] : letters)
      if (name == words[i])
        for (int y = 0; y < letter_height * pixel; ++y)
          for (int x = 0; x < letter_width * pixel; ++x)
            if (shape[static_cast<std::size_t>(y / pixel)][static_cast<std::size_t>(x / pixel)] == '#')
              sign[static_cast<std::size_t>(top + y) * sign_width + left + static_cast<int>(i) * advance + x] = 1;
  return sign;
}

}  // namespace iap::take_cover
