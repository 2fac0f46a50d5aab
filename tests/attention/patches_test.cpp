#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <string>
#include <vector>
import iap.core;
import iap.attention;

using namespace iap;

namespace {

Image random_image(ImageShape shape, std::uint64_t seed) {
  Image image(shape);
  Random random(seed);
  for (auto& byte : image.bytes()) byte = static_cast<std::uint8_t>(random.below(256));
  for (auto& value : image.floats()) value = static_cast<float>(random.uniform());
  return image;
}

}  // namespace

TEST_CASE("a patch holds the pixels of its square, row, column, channel") {
  for (const auto type : {PixelType::uint8, PixelType::float32})
    for (int channels = 1; channels <= 4; ++channels)
      for (const auto& [size, stride] : {std::pair{1, 1}, {2, 2}, {3, 1}, {2, 5}, {4, 3}, {5, 5}}) {
        const Image image = random_image({7, 11, channels, type}, 5);
        const PatchGrid grid(image.shape(), size, stride, "test");
        std::vector<float> patch(grid.values());
        int index = 0;
        for (int top = 0; top + size <= 7; top += stride)
          for (int left = 0; left + size <= 11; left += stride, ++index) {
            grid.copy(image.view(), index, -0.5F, patch);
            int v = 0;
            for (int y = top; y < top + size; ++y)
              for (int x = left; x < left + size; ++x)
                for (int channel = 0; channel < channels; ++channel, ++v) {
                  const int at = (y * 11 + x) * channels + channel;
                  const float pixel =
                      type == PixelType::uint8 ? static_cast<float>(image.bytes()[at]) / 255.0F : image.floats()[at];
                  REQUIRE(patch[v] == pixel - 0.5F);
                }
            REQUIRE(v == grid.values());
          }
        CHECK(index == grid.count());
      }
}

TEST_CASE("the papers' grids have the papers' numbers of patches") {
  CHECK(PatchGrid({96, 96, 3}, 7, 4, "test").count() == 529);
  CHECK(PatchGrid({100, 100, 3}, 4, 4, "test").count() == 625);
  CHECK(PatchGrid({240, 320, 3}, 2, 2, "test").count() == 19200);
  CHECK(PatchGrid({32, 32, 3}, 1, 1, "test").count() == 1024);
}

TEST_CASE("patch centres are relative to the image") {
  const PatchGrid grid({10, 20, 1}, 2, 2, "test");
  CHECK(grid.centre(0) == std::pair{0.1F, 0.05F});
  CHECK(grid.centre(grid.count() - 1) == std::pair{0.9F, 0.95F});
  CHECK(grid.centre(11) == std::pair{0.3F, 0.15F});
}

TEST_CASE("a grid that cannot be is refused by name") {
  const auto message = [](int size, int stride, int channels) {
    try {
      PatchGrid({8, 9, channels}, size, stride, "vision");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(message(9, 1, 3).find("vision: no patch of 9 x 9") == 0);
  CHECK(message(0, 1, 3).find("vision: patch size") == 0);
  CHECK(message(2, 0, 3).find("vision: patch stride") == 0);
  CHECK(message(2, 1, 5).find("vision: an image of 8 x 9 x 5") == 0);
  CHECK(message(8, 3, 3).empty());
}
