#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>
import iap.core;
import iap.envs;
import iap.envs.distraction;
import iap.render;

using namespace iap;

namespace {

Image painted(std::uint64_t seed, int frame) {
  Image image({PaintedVideo::edge, PaintedVideo::edge, 3, PixelType::uint8});
  PaintedVideo(seed).paint(frame, image.bytes());
  return image;
}

double mean_difference(const Image& a, const Image& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.bytes().size(); ++i) sum += std::abs(a.bytes()[i] - b.bytes()[i]);
  return sum / static_cast<double>(a.bytes().size());
}

// Statistics of the brightness differences between pixels `step` apart, along rows.
double contrast(const Image& image, int step) {
  const auto grey = [&](int y, int x) {
    const std::uint8_t* p = image.bytes().data() + (static_cast<std::size_t>(y) * PaintedVideo::edge + x) * 3;
    return (p[0] + p[1] + p[2]) / 3.0;
  };
  double sum = 0;
  int count = 0;
  for (int y = 0; y < PaintedVideo::edge; y += 3)
    for (int x = 0; x + step < PaintedVideo::edge; x += 3, ++count) sum += std::pow(grey(y, x + step) - grey(y, x), 2);
  return sum / count;
}

}  // namespace

TEST_CASE("a painted video is a function of its seed, and seeds differ") {
  const Image first = painted(3, 10);
  CHECK(std::ranges::equal(first.bytes(), painted(3, 10).bytes()));
  CHECK(mean_difference(first, painted(4, 10)) > 15);
  CHECK(mean_difference(first, painted(1003, 10)) > 15);
  Image image({PaintedVideo::edge, PaintedVideo::edge, 3, PixelType::uint8});
  CHECK_THROWS_AS(PaintedVideo(3).paint(PaintedVideo::frames, image.bytes()), Error);
  CHECK_THROWS_AS(PaintedVideo(3).paint(0, image.bytes().first(30)), Error);
}

TEST_CASE("a painted video moves smoothly") {
  const PaintedVideo scenery(5);
  Image before({PaintedVideo::edge, PaintedVideo::edge, 3, PixelType::uint8}), after(before.shape()), last(before.shape());
  scenery.paint(20, before.bytes());
  scenery.paint(21, after.bytes());
  scenery.paint(59, last.bytes());
  CHECK(mean_difference(before, after) > 1);
  CHECK(mean_difference(before, after) < 0.8 * mean_difference(before, last));
}

// Photographs have power at all scales, falling like one over the square of the frequency: differences grow with distance, unlike
// those of noise, and small ones remain, unlike in a gradient.
TEST_CASE("painted pictures have detail at every scale, as photographs do") {
  for (const std::uint64_t seed : {0, 1, 2, 3, 4, 5, 1000, 1001}) {
    const Image image = painted(seed, 0);
    CAPTURE(seed, contrast(image, 1), contrast(image, 4), contrast(image, 16), contrast(image, 64));
    CHECK(contrast(image, 1) > 15);
    CHECK(contrast(image, 4) > 1.3 * contrast(image, 1));
    CHECK(contrast(image, 16) > 1.2 * contrast(image, 4));
    CHECK(contrast(image, 64) > 500);
  }
}

// `IAP_PICTURES=folder test_distraction "[show]"` writes what the painted videos look like.
TEST_CASE("painted videos are written for a look at them", "[.][show]") {
  const char* folder = std::getenv("IAP_PICTURES");
  REQUIRE(folder);
  const char* first = std::getenv("IAP_FIRST_SEED");
  for (std::uint64_t row = 0; row < 3; ++row) {
    std::vector<Image> images;
    for (std::uint64_t i = 0; i < 3; ++i) images.push_back(painted((first ? std::stoul(first) : 0) + 3 * row + i, 20));
    write_png(std::string(folder) + "/scenery_" + std::to_string(row) + ".png", side_by_side(images, 4).view());
  }
}
