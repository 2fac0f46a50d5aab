module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numbers>
#include <ostream>
#include <string>
#include <vector>
module iap.bench;
import iap.core;
import iap.attention;
import iap.env;
import iap.envs;
#include "bench.hpp"

namespace iap {
namespace {

constexpr int d = 4, top = 10;
constexpr float pixel_offset = -0.5F;

/// Two frames of cheetah-run, the second four steps of random actions after the first.
struct FramePair {
  explicit FramePair(std::uint64_t seed) {
    const auto env = make_env(Config::Map{{"name", "cheetah-run"}, {"pixels", Config::List{240, 320}}, {"action_repeat", 4}});
    env->reset(seed);
    std::vector<float> action(static_cast<std::size_t>(env->spec().action_size));
    Random random(seed);
    for (int step = 0; step < 24; ++step) {
      for (float& value : action) value = static_cast<float>(random.uniform(-1, 1));
      env->step(action);
      if (step == 19) keys = copy(env->observe().images[0]);
    }
    queries = copy(env->observe().images[0]);
  }
  static Image copy(const ImageView& view) {
    Image image(view.shape);
    std::copy_n(view.bytes(), view.shape.count(), image.bytes().begin());
    return image;
  }
  Image keys, queries;
};

double least(const std::function<void()>& body) { return measure(0.15, body).processor; }

/// Both sides of a head with random weights.
struct Head {
  Head(const Config& config, const PatchGrid& grid, std::uint64_t seed)
      : map(read(config, grid)), query(map, Side::query, grid, d), key(map, Side::key, grid, d) {
    std::vector<float> weights(static_cast<std::size_t>(grid.values()) * d);
    Random random(seed);
    for (PatchFeatures* side : {&query, &key}) {
      random.fill_normal(weights);
      side->bind(weights, {});
    }
  }
  static MapOptions read(const Config& config, const PatchGrid& grid) {
    Options options("bench", config);
    return read_map(options, grid.values(), d);
  }
  MapOptions map;
  PatchFeatures query, key;
};

void print_times(const FramePair& frames, int patch, const char* kernel, int m, std::ostream& out) {
  const PatchGrid grid(frames.keys.shape(), patch, patch, "bench");
  Head head(Config::Map{{"kernel", kernel}, {"m", m}, {"input", "normalised"}}, grid, 1);
  std::vector<float> z(static_cast<std::size_t>(head.query.features()));
  head.query.pool(Pooling::features, frames.queries.view(), pixel_offset, z);
  std::vector<int> selected(top);
  Random random(1);
  const auto column = [&](double milliseconds) { out << right_text(fixed_text(milliseconds, 4), 10); };
  out << left_text(kernel, 6) << right_text(text(m), 5) << right_text(text(grid.count()), 8);
  const double features = least([&] { head.query.pool(Pooling::features, frames.queries.view(), pixel_offset, z); });
  column(features);
  for (const int bits : {0, 64, 256, 1024}) {
    KeyDatabase database(grid.count(), head.key.features(), {.bits = bits});
    head.key.rows(frames.keys.view(), pixel_offset, database.planes(), database.pitch());
    database.refresh(grid.count());
    const double time = least([&] { bits == 0 ? database.top(z, selected) : database.top_hashed(z, selected); });
    column(time);
    if (bits == 256) column(least([&] { database.refresh(grid.count()); }));
  }
  if (head.map.positive()) {
    KeyDatabase database(grid.count(), head.key.features(), {.tree = true});
    head.key.rows(frames.keys.view(), pixel_offset, database.planes(), database.pitch());
    column(least([&] { database.refresh(grid.count()); }));
    column(least([&] { database.draw(z, random, false, selected); }));
  }
  out << "\n";
}

void print_overlap(std::ostream& out) {
  constexpr int trials = 10, m = 10;
  constexpr double p = 0.05;
  out << "top " << top << " of 19200 keys (trig, m = " << m << ", normalised, d = " << d
      << ", patch 2) by sign codes against exact products: " << trials << " pairs of frames and heads\n"
      << "  share: of the exact top " << top
      << " that the codes find; score: mean r of the chosen over mean r of the exact top, 0 at the mean key\n"
      << "  error: largest |r by codes - r|; bound: that of Theorem 4.3 at p = " << p << "\n"
      << right_text("bits", 6) << right_text("share", 8) << right_text("score", 8) << right_text("error", 8)
      << right_text("bound", 8) << "\n";
  for (const int bits : {64, 256, 1024, 4096}) {
    double found = 0, worth = 0, worst = 0;
    int keys = 0;
    for (int trial = 0; trial < trials; ++trial) {
      check_interrupt();
      const FramePair frames(static_cast<std::uint64_t>(trial));
      const PatchGrid grid(frames.keys.shape(), 2, 2, "bench");
      Head head(Config::Map{{"kernel", "trig"}, {"m", m}, {"input", "normalised"}, {"feature_seed", trial}}, grid,
                static_cast<std::uint64_t>(trial));
      keys = grid.count();
      KeyDatabase database(keys, head.key.features(), {.bits = bits, .hash_seed = static_cast<std::uint64_t>(trial)});
      std::vector<float> z(static_cast<std::size_t>(head.query.features())), exact(static_cast<std::size_t>(keys)), hashed(exact);
      head.query.pool(Pooling::features, frames.queries.view(), pixel_offset, z);
      head.key.rows(frames.keys.view(), pixel_offset, database.planes(), database.pitch());
      database.refresh(keys);
      database.score(z, exact);
      database.score_hashed(z, hashed);
      std::vector<int> best(top), chosen(top);
      select_top(exact, best);
      select_top(hashed, chosen);
      double mean = 0, length = 0, of_best = 0, of_chosen = 0;
      for (const float value : z) length += static_cast<double>(value) * value;
      length = std::sqrt(length) * std::exp(std::sqrt(static_cast<double>(d)) / 2);
      for (int i = 0; i < keys; ++i) {
        mean += exact[i] / static_cast<double>(keys);
        worst = std::max(worst, std::abs(exact[i] - length * hashed[i]));
      }
      for (int i = 0; i < top; ++i) {
        found += static_cast<double>(std::ranges::count(best, chosen[i])) / top / trials;
        of_best += exact[best[i]] / top;
        of_chosen += exact[chosen[i]] / top;
      }
      worth += (of_chosen - mean) / (of_best - mean) / trials;
    }
    const double epsilon = std::sqrt(hash_bits(1, p, keys, trials) / bits);
    const double bound = std::exp(std::sqrt(static_cast<double>(d))) * std::numbers::pi / 2 * epsilon;
    out << right_text(text(bits), 6);
    for (const double value : {found, worth, worst, bound}) out << right_text(fixed_text(value, 2), 8);
    out << "\n";
  }
}

}  // namespace

void bench_database(std::ostream& out) {
  out << "least CPU milliseconds: z from a frame's queries, then the top " << top
      << " keys by exact products or by codes of so many bits, codes\n"
      << "of 256 bits for all keys, the tree of all keys, " << top << " draws without replacement\n"
      << left_text("kernel", 6) << right_text("m", 5) << right_text("L", 8);
  for (const char* name : {"queries", "exact", "64", "256", "encode", "1024", "tree", "draws"}) out << right_text(name, 10);
  out << "\n";
  const FramePair frames(1);
  for (const int patch : {2, 1})
    for (const int m : {10, 100}) print_times(frames, patch, "trig", m, out);
  for (const int patch : {2, 1})
    for (const int m : {15, 100}) print_times(frames, patch, "exp", m, out);
  print_overlap(out);
}

}  // namespace iap
