module;
#include <cmath>
#include <cstdint>
#include <iomanip>
#include <ostream>
#include <span>
#include <string>
#include <vector>
module iap.bench;
import iap.core;
import iap.attention;
#include "bench.hpp"

namespace iap {
namespace {

struct Case {
  int height, width, patch, stride;
};

Image random_frame(const Case& one, std::uint64_t seed) {
  Image image({one.height, one.width, 3, PixelType::uint8});
  Random random(seed);
  for (auto& byte : image.bytes()) byte = static_cast<std::uint8_t>(random.bits());
  return image;
}

Timing time_scorer(const Case& one, int d, const Config& options) {
  const Image image = random_frame(one, 1);
  const PatchGrid grid(image.shape(), one.patch, one.stride, "bench");
  Options reader("bench", options);
  const auto scorer = make_scorer(reader, grid, d);
  const std::size_t size = static_cast<std::size_t>(grid.values()) * d;
  std::vector<float> weights(2 * size), scores(static_cast<std::size_t>(grid.count()));
  Random random(2);
  random.fill_normal(weights);
  for (float& weight : weights) weight /= std::sqrt(static_cast<float>(grid.values()));
  scorer->bind({std::span(weights).first(size), std::span(weights).last(size), {}, {}});
  return measure(0.3, [&] { scorer->score(image.view(), -0.5f, scores); });
}

}  // namespace

void bench_attention(std::ostream& out) {
  // The quadratic kernel takes minutes a frame beyond this many patches.
  constexpr int largest_quadratic = 5000;
  out << std::left << std::setw(26) << "image, patch, stride" << std::right << std::setw(8) << "L" << std::setw(4) << "d"
      << std::setw(10) << "kernel" << std::setw(12) << "median ms" << std::setw(10) << "p99 ms" << "\n";
  for (const Case& one : {Case{96, 96, 7, 4}, Case{100, 100, 4, 4}, Case{32, 32, 1, 1}, Case{240, 320, 2, 2}})
    for (const int d : {4, 16})
      for (const auto& kernel : kernel_catalog()) {
        const PatchGrid grid({one.height, one.width, 3}, one.patch, one.stride, "bench");
        if (kernel.name == "softmax" && grid.count() > largest_quadratic) continue;
        const Timing timing = time_scorer(one, d, Config::Map{{"kernel", kernel.name}});
        out << std::left << std::setw(26) << text(one.height, " x ", one.width, ", ", one.patch, ", ", one.stride) << std::right
            << std::setw(8) << grid.count() << std::setw(4) << d << std::setw(10) << kernel.name << std::fixed
            << std::setprecision(4) << std::setw(12) << timing.median << std::setw(10) << timing.p99 << "\n";
      }
}

}  // namespace iap
