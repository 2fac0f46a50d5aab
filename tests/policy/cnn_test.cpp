#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "helpers.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;

namespace {

using Grid = std::vector<std::vector<std::vector<double>>>;  // [channel][row][column]

struct Layer {
  int channels, kernel = 3, stride = 1, pool = 1, pool_stride = 1;
  bool same = false, average = false, bias = true;
  std::string activation = "relu";
};

double activated(const std::string& name, double x) {
  return name == "relu" ? std::max(x, 0.0) : name == "tanh" ? std::tanh(x) : x;
}

/// As the definition has it, one output value after the other; what lies outside is 0.
Grid convolved(const Grid& in, const Layer& layer, const std::vector<double>& weight, const std::vector<double>& bias) {
  const int height = static_cast<int>(in[0].size()), width = static_cast<int>(in[0][0].size()), k = layer.kernel, s = layer.stride;
  const int rows = layer.same ? (height + s - 1) / s : (height - k) / s + 1,
            columns = layer.same ? (width + s - 1) / s : (width - k) / s + 1;
  const int top = layer.same ? std::max((rows - 1) * s + k - height, 0) / 2 : 0;
  const int left = layer.same ? std::max((columns - 1) * s + k - width, 0) / 2 : 0;
  Grid out(layer.channels, std::vector(rows, std::vector<double>(columns)));
  for (int o = 0; o < layer.channels; ++o)
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c) {
        double sum = bias.empty() ? 0 : bias[o];
        for (std::size_t i = 0; i < in.size(); ++i)
          for (int y = 0; y < k; ++y)
            for (int x = 0; x < k; ++x) {
              const int row = r * s + y - top, column = c * s + x - left;
              if (row >= 0 && row < height && column >= 0 && column < width)
                sum += weight[((o * in.size() + i) * k + y) * k + x] * in[i][row][column];
            }
        out[o][r][c] = activated(layer.activation, sum);
      }
  return out;
}

Grid pooled(const Grid& in, const Layer& layer) {
  const int rows = (static_cast<int>(in[0].size()) - layer.pool) / layer.pool_stride + 1;
  const int columns = (static_cast<int>(in[0][0].size()) - layer.pool) / layer.pool_stride + 1;
  Grid out(in.size(), std::vector(rows, std::vector<double>(columns)));
  for (std::size_t i = 0; i < in.size(); ++i)
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c) {
        std::vector<double> window;
        for (int y = 0; y < layer.pool; ++y)
          for (int x = 0; x < layer.pool; ++x) window.push_back(in[i][r * layer.pool_stride + y][c * layer.pool_stride + x]);
        double sum = 0;
        for (const double value : window) sum += value / static_cast<double>(window.size());
        out[i][r][c] = layer.average ? sum : *std::ranges::max_element(window);
      }
  return out;
}

std::string options_of(const std::vector<Layer>& layers) {
  std::string list;
  for (const auto& layer : layers) {
    list += list.empty() ? "" : ", ";
    list += "{'channels': " + std::to_string(layer.channels) + ", 'kernel': " + std::to_string(layer.kernel) +
            ", 'stride': " + std::to_string(layer.stride) + ", 'pool': " + std::to_string(layer.pool) +
            ", 'pool_stride': " + std::to_string(layer.pool_stride) + ", 'padding': '" + (layer.same ? "same" : "valid") +
            "', 'pooling': '" + (layer.average ? "average" : "max") + "', 'activation': '" + layer.activation +
            "', 'bias': " + (layer.bias ? "true" : "false") + "}";
  }
  return "[" + list + "]";
}

std::vector<double> expected(const Policy& policy, const Frame& frame, const std::vector<Layer>& layers, double offset) {
  const ImageShape shape = frame.image().shape();
  Grid planes(shape.channels, std::vector(shape.height, std::vector<double>(shape.width)));
  for (int y = 0; y < shape.height; ++y)
    for (int x = 0; x < shape.width; ++x)
      for (int c = 0; c < shape.channels; ++c) {
        const std::size_t at = (static_cast<std::size_t>(y) * shape.width + x) * shape.channels + c;
        planes[c][y][x] =
            offset + (shape.type == PixelType::uint8 ? frame.image().bytes()[at] / 255.0 : frame.image().floats()[at]);
      }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    planes = convolved(planes, layers[i], slice(policy, "policy.weight_" + number),
                       layers[i].bias ? slice(policy, "policy.bias_" + number) : std::vector<double>{});
    planes = pooled(planes, layers[i]);
  }
  std::vector<double> out;
  for (const auto& plane : planes)
    for (const auto& row : plane) out.insert(out.end(), row.begin(), row.end());
  return out;
}

int outputs_of(const std::string& block, const ObservationSpec& spec) {
  ParameterLayout layout;
  return make_block(config(block), {&spec, 1, spec.vector, false, "policy"}, layout)->outputs();
}

}  // namespace

TEST_CASE("a cnn does what the definition of convolution, activation and pooling says") {
  const std::vector<std::vector<Layer>> networks{
      {{.channels = 2}},
      {{.channels = 3, .kernel = 1, .activation = "tanh"}},
      {{.channels = 4, .pool = 2, .pool_stride = 2}, {.channels = 5, .kernel = 2, .activation = "none"}},
      {{.channels = 3, .kernel = 5, .stride = 2, .same = true}, {.channels = 2, .kernel = 4, .same = true, .activation = "tanh"}},
      {{.channels = 3, .stride = 3, .pool = 3, .pool_stride = 1, .average = true, .bias = false}},
      {{.channels = 2, .kernel = 2, .stride = 3, .pool_stride = 2, .same = true}},
      // The largest of negative values is negative.
      {{.channels = 2, .pool = 2, .pool_stride = 2, .activation = "none"}},
      // Frames of other sizes above and on the left.
      {{.channels = 2, .kernel = 5, .stride = 3, .same = true}},
      {{.channels = 2, .pool = 3, .pool_stride = 2},
       {.channels = 2, .pool = 2, .pool_stride = 2, .same = true, .average = true},
       {.channels = 3, .kernel = 2}},
  };
  for (const auto& layers : networks)
    for (const ImageShape shape : {ImageShape{13, 17, 3, PixelType::uint8}, ImageShape{16, 12, 1, PixelType::float32},
                                   ImageShape{14, 14, 4, PixelType::uint8}}) {
      const ObservationSpec spec{{{"pixels", shape}}, 0};
      for (const std::string offset : {"-0.5", "0.25"}) {
        const std::string block = "{'kind': 'cnn', 'pixel_offset': " + offset + ", 'layers': " + options_of(layers) + "}";
        INFO(block << ", " << describe(shape));
        Policy policy(config(block), spec, outputs_of(block, spec));
        randomise(policy, 3);
        for (std::uint64_t seed = 0; seed < 2; ++seed) {
          const Frame frame(spec, seed);
          const auto out = act(policy, frame);
          const auto wanted = expected(policy, frame, layers, std::stod(offset));
          REQUIRE(out.size() == wanted.size());
          for (std::size_t i = 0; i < out.size(); ++i) CHECK_THAT(out[i], WithinAbs(wanted[i], 1e-4 * (1 + std::abs(wanted[i]))));
        }
      }
    }
}

TEST_CASE("layers take what they do not say from the block, and a file holds it") {
  const Policy policy(
      config("{'kind': 'cnn', 'activation': 'tanh', 'padding': 'same', 'pooling': 'average', 'bias': false, 'layers': "
             "[{'channels': 2, 'pool': 2}, {'channels': 1, 'padding': 'valid', 'bias': true}]}"),
      image_spec(8, 10), 2 * 3);
  CHECK(policy.architecture() ==
        config(
            "{'kind': 'cnn', 'image': 'pixels', 'pool': 1, 'contrast': 'none', 'pixel_offset': -0.5, 'activation': 'tanh', "
            "'padding': 'same', "
            "'pooling': 'average', 'bias': false, 'layers': [{'channels': 2, 'kernel': 3, 'stride': 1, 'padding': 'same', "
            "'activation': 'tanh', 'pool': 2, 'pool_stride': 2, 'pooling': 'average', 'bias': false}, {'channels': 1, 'kernel': 3, "
            "'stride': 1, 'padding': 'valid', 'activation': 'tanh', 'pool': 1, 'pool_stride': 1, 'pooling': 'average', 'bias': "
            "true}]}"));
  CHECK(policy.size() == 2 * 27 + (18 + 1));
  CHECK_THAT(policy.summary(), ContainsSubstring("8 x 10 x 3 -> 4 x 5 x 2 -> 2 x 3 x 1"));
}

TEST_CASE("the papers' network without attention has 14,954 parameters with its low level") {
  const std::string layers = "'layers': [{'channels': 4}, {'channels': 8}, {'channels': 8, 'pool': 2}], 'bias': false";
  // 32 x 32 x 3 -> 30 -> 28 -> 26, pooled to 13 x 13 x 8 = 1352: weights 108 + 288 + 576.
  const Policy high(config("{'kind': 'sequence', 'blocks': [{'kind': 'cnn', " + layers +
                           "}, {'kind': 'linear', 'units': 10, 'activation': 'tanh', 'bias': false}, "
                           "{'kind': 'linear', 'units': 3, 'activation': 'tanh', 'bias': false}]}"),
                    image_spec(32, 32), 3);
  CHECK(high.size() == 108 + 288 + 576 + 13520 + 30);
  const Policy low(config("{'kind': 'linear'}"), vector_spec(26), 16);
  CHECK(high.size() + low.size() == 14954);
}

TEST_CASE("initial weights have the deviation that keeps values' size, and biases are 0") {
  for (const std::string activation : {"relu", "tanh"}) {
    Policy policy(config("{'kind': 'cnn', 'layers': [{'channels': 64, 'kernel': 9}], 'activation': '" + activation + "'}"),
                  image_spec(9, 9), 64);
    policy.initialise(1);
    double squares = 0;
    const auto weights = slice(policy, "policy.weight_1");
    for (const double weight : weights) squares += weight * weight;
    CHECK_THAT(squares / static_cast<double>(weights.size()) * 243, WithinAbs(activation == "relu" ? 2 : 1, 0.05));
    for (const double bias : slice(policy, "policy.bias_1")) CHECK(bias == 0);
  }
}

TEST_CASE("a cnn's averages before everything follow a policy to a larger image, its layers' pooling stays") {
  const std::string block = "{'kind': 'cnn', 'layers': [{'channels': 2, 'pool': 2}]}";
  Policy small(config(block), image_spec(8, 8), 18);
  randomise(small, 1);
  const Policy large = resized(small, image_spec(24, 24), Fit::pool);
  CHECK(large.architecture().find("pool")->integer().value() == 3);
  CHECK((*large.architecture().find("layers")->list())[0].find("pool")->integer().value() == 2);
  CHECK(std::ranges::equal(large.parameters(), small.parameters()));
  CHECK_THROWS_WITH(resized(small, image_spec(16, 8), Fit::pool), ContainsSubstring("no whole multiple"));
}

TEST_CASE("wrong layers say which one and what to do") {
  const auto build = [](const std::string& options) {
    return Policy(config("{'kind': 'cnn'" + options + "}"), image_spec(8, 8), 2);
  };
  CHECK_THROWS_WITH(build(""), ContainsSubstring("policy: option 'layers' must list at least one layer, such as {channels = 4"));
  CHECK_THROWS_WITH(build(", 'layers': [{'channels': 2, 'pool': 4}, {'channels': 3}]"),
                    ContainsSubstring("policy, layer 2: option 'kernel' is 3, but only 1 x 1 values come to this layer"));
  CHECK_THROWS_WITH(build(", 'layers': [{'channels': 2, 'pool': 7}]"),
                    ContainsSubstring("layer 1: option 'pool' is 7, but the convolution gives only 6 x 6 values"));
  CHECK_THROWS_WITH(build(", 'layers': [{'kernel': 2}]"), ContainsSubstring("layer 1: option 'channels' is missing"));
  CHECK_THROWS_WITH(build(", 'layers': [{'channels': 2, 'chanels': 2}]"),
                    ContainsSubstring("layer 1: unknown option 'chanels'; did you mean"));
  CHECK_THROWS_WITH(build(", 'layers': [{'channels': 0}]"), ContainsSubstring("'channels'"));
  CHECK_THROWS_WITH(build(", 'layers': [4]"), ContainsSubstring("layer 1"));
  CHECK_THROWS_WITH(build(", 'padding': 'full', 'layers': [{'channels': 1}]"), ContainsSubstring("unknown padding 'full'"));
  CHECK_THROWS_WITH(Policy(config("{'kind': 'cnn', 'layers': [{'channels': 1}]}"), vector_spec(3), 2),
                    ContainsSubstring("draws no images"));
}
