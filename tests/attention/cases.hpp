// Random frames and heads, and their queries and keys in double precision by plain loops that share nothing with the module.
#pragma once
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>
import iap.core;
import iap.attention;

using namespace iap;

struct Case {
  Image image;
  PatchGrid grid;
  int d;
  std::vector<float> query, key, query_bias, key_bias, query_weights;

  HeadWeights head() const { return {query, key, query_bias, key_bias, query_weights}; }
};

inline Case make_case(ImageShape shape, int size, int stride, int d, bool bias, float spread, std::uint64_t seed) {
  Case made{Image(shape), PatchGrid(shape, size, stride, "test"), d, {}, {}, {}, {}, {}};
  Random random(seed);
  for (auto& byte : made.image.bytes()) byte = static_cast<std::uint8_t>(random.below(256));
  for (auto& value : made.image.floats()) value = static_cast<float>(random.uniform());
  made.query.resize(made.grid.values() * d);
  made.key.resize(made.query.size());
  made.query_bias.resize(bias ? d : 0);
  made.key_bias.resize(bias ? d : 0);
  for (auto* values : {&made.query, &made.key, &made.query_bias, &made.key_bias})
    for (float& value : *values) value = spread * static_cast<float>(random.normal());
  return made;
}

inline std::vector<float> scores_of(const Case& c, const Config& config, float offset) {
  Options options("test", config);
  const auto scorer = make_scorer(options, c.grid, c.d);
  options.finish();
  scorer->bind(c.head());
  std::vector<float> scores(c.grid.count());
  scorer->score(c.image.view(), offset, scores);
  return scores;
}

using Rows = std::vector<std::vector<double>>;

inline Rows project(const Case& c, const std::vector<float>& weights, const std::vector<float>& bias, double offset) {
  Rows rows;
  const ImageShape& shape = c.grid.image();
  for (int top = 0; top + c.grid.size() <= shape.height; top += c.grid.stride())
    for (int left = 0; left + c.grid.size() <= shape.width; left += c.grid.stride()) {
      std::vector<double> u(c.d);
      for (int o = 0; o < c.d; ++o) {
        double sum = bias.empty() ? 0 : bias[o];
        int v = 0;
        for (int y = top; y < top + c.grid.size(); ++y)
          for (int x = left; x < left + c.grid.size(); ++x)
            for (int channel = 0; channel < shape.channels; ++channel, ++v) {
              const int at = (y * shape.width + x) * shape.channels + channel;
              const double pixel = shape.type == PixelType::uint8 ? c.image.bytes()[at] / 255.0 : c.image.floats()[at];
              sum += (pixel + offset) * weights[v * c.d + o];
            }
        u[o] = sum;
      }
      rows.push_back(u);
    }
  return rows;
}

inline void to_length(Rows& rows, double length) {
  for (auto& row : rows) {
    double square = 0;
    for (const double u : row) square += u * u;
    for (double& u : row) u *= square == 0 ? 0 : length / std::sqrt(square);
  }
}

inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
