#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>
import iap.contract;
import iap.core;
import iap.env;
#include "fake_env.hpp"

using namespace iap;

namespace {

float value(const ImageView& image, int y, int x, int c) {
  const int index = (y * image.shape.width + x) * image.shape.channels + c;
  return image.shape.type == PixelType::uint8 ? image.bytes()[index] : image.floats()[index];
}

// Cuts every input pixel into height x width parts, so that each output pixel covers whole parts only.
double slow_mean(const ImageView& image, int height, int width, int y, int x, int c) {
  const auto& from = image.shape;
  double sum = 0;
  for (int v = y * from.height; v < (y + 1) * from.height; ++v)
    for (int u = x * from.width; u < (x + 1) * from.width; ++u) sum += value(image, v / height, u / width, c);
  return sum / (from.height * from.width);
}

}  // namespace

TEST_CASE("images are resized by area averaging") {
  for (const auto type : {PixelType::uint8, PixelType::float32}) {
    for (const auto& [height, width] : {std::pair{4, 6}, {2, 3}, {1, 1}, {3, 4}, {5, 5}, {8, 12}, {2, 7}}) {
      for (const int channels : {1, 3}) {
        CAPTURE(height, width, channels);
        const FakeOptions options{.channels = channels, .type = type};
        FakeEnv plain(options);
        auto env = resize_images(std::make_unique<FakeEnv>(options), height, width);
        const ImageShape expected{height, width, channels, type};
        CHECK(env->spec().observation.images.at(0) == ImageSpec{"pixels", expected});
        CHECK(env->spec().config == plain.spec().config);
        env->reset(3);
        plain.reset(3);
        const auto from = plain.observe().images[0], to = env->observe().images[0];
        REQUIRE(to.shape == expected);
        double worst = 0;
        for (int y = 0; y < height; ++y)
          for (int x = 0; x < width; ++x)
            for (int c = 0; c < channels; ++c)
              worst = std::max(worst, std::abs(value(to, y, x, c) - slow_mean(from, height, width, y, x, c)));
        CHECK(worst <= (type == PixelType::uint8 ? 0.5001 : 1e-4));
      }
    }
  }
  CHECK_THROWS_AS(resize_images(std::make_unique<FakeEnv>(), 0, 3), Error);
}

TEST_CASE("a resized environment keeps its contract and its vector") {
  const auto make = [] { return resize_images(std::make_unique<FakeEnv>(FakeOptions{.max_steps = 7}), 3, 3); };
  CHECK(breaches(check_contract(make, {.seed = 5, .steps = 20})).empty());
  auto env = make();
  env->reset(5);
  env->step(std::vector<float>{0, 0});
  CHECK(env->observe().vector[1] == 1);
}

TEST_CASE("pictures that are not those of the spec are refused before they are resized") {
  class Other final : public FakeEnv {
   public:
    explicit Other(int height, std::size_t images) {
      spec_.observation.images[0].shape.height = height;
      spec_.observation.images.resize(images, {"second", {4, 6, 3}});
    }
  };
  const auto complaint = [](int height, std::size_t images) {
    const auto env = resize_images(std::make_unique<Other>(height, images), 2, 2);
    env->reset(1);
    try {
      env->observe();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  CHECK(complaint(4, 1) == "no error");
  CHECK(complaint(4000, 1) == "fake: the observed image 'pixels' is 4 x 6 x 3 uint8, the spec says 4000 x 6 x 3 uint8");
  CHECK(complaint(2, 1) == "fake: the observed image 'pixels' is 4 x 6 x 3 uint8, the spec says 2 x 6 x 3 uint8");
  CHECK(complaint(4, 2) == "fake: the number of observed images is 1, the spec says 2");
}
