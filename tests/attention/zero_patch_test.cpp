#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "instruction_sets.hpp"
#include "reference.hpp"

namespace {

// Patches whose X is zero, though neither pixels nor offset are: every fourth, or all of them. One patch misses that by one grey
// level in one value.
struct Frame {
  Case c;
  double offset;
  bool all;
  static constexpr int near = 1;

  bool is_zero(int patch) const { return all || patch % 4 == 2; }
};

struct Level {
  PixelType type;
  double pixel, offset;
};

Frame make_frame(const Level& level, int d, bool all, std::uint64_t seed) {
  Frame frame{make_case({8, 12, 3, level.type}, 2, 2, d, false, 0.4F, seed), level.offset, all};
  const ImageShape shape = frame.c.grid.image();
  for (int y = 0; y < shape.height; ++y)
    for (int x = 0; x < shape.width; ++x)
      for (int channel = 0; channel < shape.channels; ++channel) {
        const int patch = y / 2 * 6 + x / 2, at = (y * shape.width + x) * shape.channels + channel;
        if (!frame.is_zero(patch) && patch != Frame::near) continue;
        const bool misses = !all && patch == Frame::near && y == 1 && x == 2 && channel == 1;
        const double pixel = level.pixel - (misses ? 1 / 255.0 : 0.0);
        if (level.type == PixelType::uint8)
          frame.c.image.bytes()[at] = static_cast<std::uint8_t>(std::lround(255 * pixel));
        else
          frame.c.image.floats()[at] = static_cast<float>(pixel);
      }
  return frame;
}

/// x of queries or keys, those of zero patches exactly zero.
Rows inputs_of(const Frame& frame, const std::vector<float>& weights, const std::string& kernel, bool normalised) {
  Rows rows = project(frame.c, weights, {}, static_cast<float>(frame.offset));
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (frame.is_zero(static_cast<int>(i))) std::ranges::fill(rows[i], 0.0);
  if (kernel == "relu") return rows;
  const double root = std::pow(frame.c.d, 0.25);
  if (normalised) to_length(rows, root);
  for (auto& row : rows)
    for (double& u : row) u /= normalised ? 1 : root;
  return rows;
}

/// K(q_i, k_j) as the kernel estimates it, row by row, in double precision.
Rows matrix_of(const KernelEntry& entry, bool brute_force, int d, const Rows& q, const Rows& k) {
  Rows matrix(q.size(), std::vector<double>(k.size()));
  if (entry.features && !brute_force) {
    const FeatureKind kind = entry.features->kind;
    const int m = entry.features->m, r = kind == FeatureKind::hybrid ? 5 : 0;
    Projections projections = draw_projections(Ensemble::orthogonal, d, m, r, 0);
    const Config none;
    Options options("test", none);
    if (entry.features->shape) entry.features->shape(options, d)(projections);
    std::vector<double> a(feature_count(kind, m, r)), b(a);
    for (std::size_t i = 0; i < q.size(); ++i)
      for (std::size_t j = 0; j < k.size(); ++j) {
        feature_map(kind, projections, Side::query, q[i], a);
        feature_map(kind, projections, Side::key, k[j], b);
        matrix[i][j] = dot(a, b);
      }
    return matrix;
  }
  for (std::size_t i = 0; i < q.size(); ++i)
    for (std::size_t j = 0; j < k.size(); ++j)
      if (entry.name == "relu")
        for (int o = 0; o < d; ++o) matrix[i][j] += std::max(q[i][o], 0.0) * std::max(k[j][o], 0.0);
      else
        matrix[i][j] = std::exp(dot(q[i], k[j]));
  if (entry.name != "softmax") return matrix;
  for (auto& row : matrix) {
    double sum = 0;
    for (const double value : row) sum += value;
    for (double& value : row) value /= sum;
  }
  return matrix;
}

template <class Body>
void on_every_instruction_set(const Body& body) {
  for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    const OnlyTarget only(left & -left);
    INFO(hwy::TargetName(left & -left));
    body();
  }
}

void compare(const std::vector<float>& got, const std::vector<double>& wanted) {
  // The patch that is nearly zero has few digits.
  const double tolerance = 2e-3 * largest(wanted);
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("number " << i << ": " << got[i] << ", wanted " << wanted[i]);
    REQUIRE(std::abs(got[i] - wanted[i]) <= tolerance);
  }
}

std::vector<float> mixed(const Frame& frame, const Config& config, const std::vector<float>& compression,
                         const std::vector<float>& values) {
  Options options("test", config);
  const int tokens = 2, width = 3, count = frame.c.grid.count();
  const auto trans = make_trans(options, frame.c.grid, {frame.c.d, tokens, width, false, false});
  options.finish();
  trans->bind({frame.c.head(), {}, compression});
  for (int v = 0; v < width; ++v)
    for (int i = 0; i < count; ++i) trans->value_row(v)[i] = values[i * width + v];
  std::vector<float> out(static_cast<std::size_t>(tokens) * width);
  trans->apply(frame.c.image.view(), static_cast<float>(frame.offset), out);
  return out;
}

std::vector<double> mixed_slowly(const Rows& matrix, bool shares, const std::vector<float>& compression,
                                 const std::vector<float>& values) {
  const std::size_t count = matrix.size(), width = 3;
  std::vector<double> out(2 * width);
  for (std::size_t token = 0; token < 2; ++token)
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = 0; j < count; ++j)
        for (std::size_t v = 0; v < width; ++v)
          out[token * width + v] +=
              compression[token * count + i] * matrix[i][j] * values[j * width + v] / (shares ? 1.0 : static_cast<double>(count));
  return out;
}

std::vector<float> crossed(const Frame& frame, const Config& config) {
  Options options("test", config);
  CrossAttention attention(options, Ranking::exact, frame.c.grid, frame.c.grid, frame.c.d);
  options.finish();
  attention.bind(frame.c.head());
  attention.set_keys(frame.c.image.view(), static_cast<float>(frame.offset));
  Random random(1);
  std::vector<int> selected(3);
  attention.choose(frame.c.image.view(), static_cast<float>(frame.offset), random, selected);
  std::vector<float> scores(frame.c.grid.count());
  attention.score(scores);
  return scores;
}

}  // namespace

TEST_CASE("a patch of pixels that are minus the offset has x = 0, in every kernel, use and instruction set") {
  const std::vector<Level> levels = {
      {PixelType::uint8, 1, -1}, {PixelType::uint8, 0.2, -0.2}, {PixelType::float32, 0.5, -0.5}, {PixelType::float32, 0.3, -0.3}};
  int seed = 200, compared = 0;
  for (const Level& level : levels)
    for (const int d : {4, 16})  // with 16, heads of 12 values are reduced
      for (const bool all : {false, true}) {
        const Frame frame = make_frame(level, d, all, ++seed);
        Random random(seed);
        std::vector<float> compression(2 * frame.c.grid.count()), values(3 * frame.c.grid.count());
        for (auto* numbers : {&compression, &values})
          for (float& value : *numbers) value = static_cast<float>(random.uniform());
        for (const auto& entry : kernel_catalog())
          for (const bool normalised : {false, true})
            for (const bool brute_force : {false, true}) {
              if ((entry.name == "relu" && normalised) || (entry.name == "softmax" && brute_force)) continue;
              Config config = Config::Map{{"kernel", entry.name}};
              if (normalised) config["input"] = "normalised";
              if (brute_force) config["brute_force"] = true;
              INFO(to_json(config) << ", pixels " << level.pixel << ", d " << d << ", all " << all);
              const Rows q = inputs_of(frame, frame.c.query, entry.name, normalised),
                         k = inputs_of(frame, frame.c.key, entry.name, normalised);
              const Rows matrix = matrix_of(entry, brute_force, d, q, k);
              std::vector<double> wanted(k.size());
              for (const auto& row : matrix)
                for (std::size_t j = 0; j < row.size(); ++j) wanted[j] += row[j] / static_cast<double>(matrix.size());
              // exp(q . 0) of every query.
              if (brute_force && entry.name != "relu") REQUIRE(std::abs(wanted[2] - 1) < 1e-12);
              const auto tokens = mixed_slowly(matrix, entry.name == "softmax", compression, values);
              on_every_instruction_set([&] {
                compare(scores_of(frame.c, config, static_cast<float>(level.offset)), wanted);
                compare(mixed(frame, config, compression, values), tokens);
                if (entry.map && !brute_force) compare(crossed(frame, config), wanted);
              });
              ++compared;
            }
      }
  CHECK(compared == 16 * 20);
}

TEST_CASE("zero patches with a bias or an encoding of their own project to that") {
  const Frame frame = make_frame({PixelType::uint8, 1, -1}, 4, true, 301);
  Random random(302);
  std::vector<float> query_bias(4), key_bias(4), encoding(frame.c.grid.count() * frame.c.grid.values());
  for (auto* numbers : {&query_bias, &key_bias, &encoding})
    for (float& value : *numbers) value = 0.3F * static_cast<float>(random.normal());
  for (const bool encoded : {false, true}) {
    Rows q(frame.c.grid.count()), k(q);
    for (std::size_t i = 0; i < q.size(); ++i)
      for (int o = 0; o < 4; ++o)
        for (auto& [rows, weights, bias] : {std::tie(q, frame.c.query, query_bias), std::tie(k, frame.c.key, key_bias)}) {
          double sum = bias[o];
          for (int v = 0; v < frame.c.grid.values() && encoded; ++v)
            sum += static_cast<double>(encoding[i * frame.c.grid.values() + v]) * weights[v * 4 + o];
          rows[i].push_back(sum);
        }
    to_length(q, std::pow(4, 0.25));
    to_length(k, std::pow(4, 0.25));
    const Config config = Config::Map{{"kernel", "exp"}, {"input", "normalised"}, {"brute_force", true}};
    std::vector<double> wanted(k.size());
    for (const auto& x : q)
      for (std::size_t j = 0; j < k.size(); ++j) wanted[j] += std::exp(dot(x, k[j])) / static_cast<double>(q.size());
    Options options("test", config);
    const auto scorer = make_scorer(options, frame.c.grid, 4);
    HeadWeights head{frame.c.query, frame.c.key, query_bias, key_bias};
    if (encoded) head.encoding = encoding;
    scorer->bind(head);
    std::vector<float> scores(k.size());
    scorer->score(frame.c.image.view(), -1, scores);
    for (std::size_t j = 0; j < scores.size(); ++j) CHECK(std::abs(scores[j] - wanted[j]) < 1e-5 * wanted[j]);
  }
}
