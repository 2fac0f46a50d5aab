// What the blocks that look at images begin with.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>
#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

#include "helpers.hpp"

using namespace iap;
using Catch::Matchers::WithinAbs;

namespace {

/// The block, then a layer that makes an action of what it gives.
Policy initial(const std::string& block) {
  const ObservationSpec spec{{{"wide", {40, 60, 3, PixelType::uint8}}, {"grey", {40, 60, 1, PixelType::float32}}}, 10};
  Policy policy(config("{'kind': 'sequence', 'blocks': [{'name': 'eye', " + block + "}, {'kind': 'linear'}]}"), spec, 1);
  policy.initialise(1);
  return policy;
}

}  // namespace

TEST_CASE("what is learned of patches begins with the variance that its block states") {
  const std::string rank = "'kind': 'rank', 'patch': 5, 'top': 1, 'd': 8, ", trans = "'kind': 'trans', 'patch': 5, 'tokens': 4, ",
                    look = "'kind': 'look', 'patch': 5, 'd': 40, 'queries': 2, 'bias': true",
                    cross = "'kind': 'cross', 'image': 'wide', 'patch': 10, 'key_image': 'grey', 'key_patch': 4, 'top': 1, 'd': 32";
  const double c = 5 * 5 * 3;
  for (const auto& [block, array, variance] : std::vector<std::tuple<std::string, std::string, double>>{
           {rank + "'values': 'projection', 'dv': 3", "query", 1 / c},
           {rank + "'values': 'projection', 'dv': 3", "value", 1 / c},
           {rank + "'values': 'convolution', 'convolution_size': 7", "convolution", 1 / 147.0},
           {rank + "'encoding': 'learned'", "encoding", 0.02 * 0.02},
           {trans + "'dv': 3", "value", 1 / c},
           {trans + "'dv': 3", "compression", 1},
           {trans + "'values': ['position', 'projection'], 'dv': 3", "value", 1 / c},
           {cross, "query", 1 / 300.0},
           {cross, "key", 1 / 16.0},
           {look, "query", 1 / 10.0},
           {look, "key", 1 / (c + 4)}}) {
    CAPTURE(block, array);
    const auto values = slice(initial(block), "eye." + array);
    const auto n = static_cast<double>(values.size());
    double square = 0;
    for (const double x : values) square += x * x / variance / n;
    CHECK_THAT(square, WithinAbs(1, 4 * std::sqrt(2 / n)));
  }
  for (const char* bias : {"eye.query_bias", "eye.key_bias"})
    for (const double x : slice(initial(look), bias)) CHECK(x == 0);
}
