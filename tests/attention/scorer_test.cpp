#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "reference.hpp"

TEST_CASE("fast random features agree with the slow map on random shapes") {
  Random random(51);
  int compared = 0, skipped = 0;
  for (int round = 0; round < 300; ++round) {
    const auto pick = [&](int low, int high) { return low + static_cast<int>(random.below(high - low + 1)); };
    const int size = pick(1, 5), stride = pick(1, 7);
    const ImageShape shape{pick(size, 33), pick(size, 45), pick(1, 4), random.below(2) ? PixelType::uint8 : PixelType::float32};
    const Settings settings{static_cast<FeatureKind>(random.below(3)),
                            pick(1, 23),
                            pick(1, 14),
                            random.below(2) == 1,
                            random.below(2) == 1,
                            random.bits()};
    const Case c =
        make_case(shape, size, stride, pick(1, 12), random.below(2) == 1, 0.7F / static_cast<float>(size), random.bits());
    const double offset = random.below(2) ? -0.5 : 0;
    const Projections projections = settings.projections(c.d);
    const auto [q, k] = inputs(c, settings.normalised, offset);
    if (std::ranges::any_of(q, [&](const auto& x) { return ambiguous(projections, x); })) {
      ++skipped;
      continue;
    }
    const auto wanted = slow_scores(settings, projections, q, k);
    const auto got = scores_of(c, settings.config(), static_cast<float>(offset));
    const double tolerance = 1e-4 * largest(wanted);
    INFO("round " << round << ", image " << shape.height << " x " << shape.width << " x " << shape.channels << ", patch " << size
                  << ", stride " << stride << ", d " << c.d << ", kind " << static_cast<int>(settings.kind) << ", m " << settings.m
                  << ", r " << settings.r);
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (ambiguous(projections, k[i])) continue;
      REQUIRE(std::abs(got[i] - wanted[i]) <= (settings.kind == FeatureKind::exp ? 1e-4 * wanted[i] : tolerance));
      ++compared;
    }
  }
  CHECK(compared > 10000);
  CHECK(skipped < 60);
}

TEST_CASE("fast relu agrees with plain loops on random shapes") {
  Random random(52);
  for (int round = 0; round < 300; ++round) {
    const auto pick = [&](int low, int high) { return low + static_cast<int>(random.below(high - low + 1)); };
    const int size = pick(1, 8), stride = pick(1, 9);
    const ImageShape shape{pick(size, 40), pick(size, 70), pick(1, 4), random.below(2) ? PixelType::uint8 : PixelType::float32};
    const Case c = make_case(shape, size, stride, pick(1, 11), random.below(2) == 1, 0.5F, random.bits());
    const Rows q = project(c, c.query, c.query_bias, -0.5), k = project(c, c.key, c.key_bias, -0.5);
    std::vector<double> z(c.d);
    for (const auto& row : q)
      for (int o = 0; o < c.d; ++o) z[o] += std::max(row[o], 0.0) / static_cast<double>(q.size());
    std::vector<double> wanted;
    double scale = 0;
    for (const auto& row : k) {
      double sum = 0, bound = 0;
      for (int o = 0; o < c.d; ++o) {
        sum += z[o] * std::max(row[o], 0.0);
        bound += z[o] * std::abs(row[o]);
      }
      wanted.push_back(sum);
      scale = std::max(scale, bound);
    }
    const auto got = scores_of(c, Config::Map{{"kernel", "relu"}}, -0.5F);
    INFO("round " << round << ", image " << shape.height << " x " << shape.width << " x " << shape.channels << ", patch " << size
                  << ", stride " << stride << ", d " << c.d);
    for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(std::abs(got[i] - wanted[i]) <= 1e-4 * scale);
  }
}

// They are projected some rows of patches at a time, in chunks: heights end within blocks, with them, and in a second chunk.
TEST_CASE("every pixel of patches that touch is read from where it is") {
  const std::vector<std::pair<int, std::vector<int>>> cases{
      {1, {3, 24, 25, 26, 90}}, {2, {7, 49, 90}}, {3, {68, 80}}, {4, {33, 150}}};
  for (const auto& [size, heights] : cases)
    for (const auto& [channels, type] : std::vector<std::pair<int, PixelType>>{{1, PixelType::uint8},
                                                                               {2, PixelType::uint8},
                                                                               {3, PixelType::uint8},
                                                                               {4, PixelType::uint8},
                                                                               {1, PixelType::float32},
                                                                               {3, PixelType::float32}})
      for (const int height : heights) {
        const Case c = make_case({height, 23 * size, channels, type}, size, size, 3, true, 0.5F, 61 + channels);
        const auto got = scores_of(c, Config::Map{{"kernel", "relu"}}, -0.5F);
        const auto brute = scores_of(c, Config::Map{{"kernel", "relu"}, {"brute_force", true}}, -0.5F);
        const Rows q = project(c, c.query, c.query_bias, -0.5), k = project(c, c.key, c.key_bias, -0.5);
        std::vector<double> z(c.d);
        for (const auto& row : q)
          for (int o = 0; o < c.d; ++o) z[o] += std::max(row[o], 0.0) / static_cast<double>(q.size());
        for (std::size_t j = 0; j < k.size(); ++j) {
          double wanted = 0, scale = 0;
          for (int o = 0; o < c.d; ++o) {
            wanted += z[o] * std::max(k[j][o], 0.0);
            scale += z[o] * (1 + std::abs(k[j][o]));
          }
          REQUIRE(std::abs(got[j] - wanted) <= 1e-5 * scale);
          REQUIRE(std::abs(brute[j] - wanted) <= 1e-5 * scale);
        }
      }
}

TEST_CASE("long frames lose no digits") {
  const Case c = make_case({240, 320, 3}, 1, 1, 3, false, 0.8F, 53);
  const Settings settings{FeatureKind::exp, 4, 0, false, true, 8};
  const auto [q, k] = inputs(c, false, -0.5);
  const auto wanted = slow_scores(settings, settings.projections(3), q, k);
  const auto got = scores_of(c, settings.config(), -0.5F);
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) worst = std::max(worst, std::abs(got[i] / wanted[i] - 1));
  CHECK(worst < 2e-5);
}

TEST_CASE("scores are the same bits on every run, scorer and thread") {
  const Case c = make_case({60, 80, 3}, 2, 2, 4, true, 0.5F, 54);
  for (const auto& entry : kernel_catalog()) {
    const Config config = Config::Map{{"kernel", entry.name}};
    const auto first = scores_of(c, config, -0.5F);
    std::vector<std::vector<float>> others(4);
    {
      std::vector<std::jthread> threads;
      for (auto& other : others) threads.emplace_back([&] { other = scores_of(c, config, -0.5F); });
    }
    for (const auto& other : others) REQUIRE(std::memcmp(first.data(), other.data(), first.size() * sizeof(float)) == 0);
    Options options("test", config);
    const auto scorer = make_scorer(options, c.grid, c.d);
    scorer->bind({c.query, c.key, c.query_bias, c.key_bias});
    std::vector<float> again(first.size());
    for (int repeat = 0; repeat < 3; ++repeat) scorer->score(c.image.view(), -0.5F, again);
    REQUIRE(again == first);
  }
}

TEST_CASE("patches of equal content have equal scores wherever they are") {
  Case c = make_case({37, 43, 3}, 2, 2, 4, true, 0.5F, 55);
  std::ranges::fill(c.image.bytes(), std::uint8_t{77});
  for (const auto& entry : kernel_catalog()) {
    if (entry.name == "softmax") continue;
    const auto scores = scores_of(c, Config::Map{{"kernel", entry.name}}, 0);
    for (const float score : scores) REQUIRE(score == scores[0]);
  }
}

TEST_CASE("inputs whose features overflow or vanish in float keep the ranking of double precision") {
  for (const FeatureKind kind : {FeatureKind::exp, FeatureKind::trig, FeatureKind::hybrid})
    for (const float spread : {6.0F, 11.0F}) {
      const Case c = make_case({24, 24, 1}, 3, 3, 4, false, spread, 56);
      const Settings settings{kind, 6, 3, false, true, 4};
      const auto [q, k] = inputs(c, false, -0.5);
      const Projections projections = settings.projections(c.d);
      const auto wanted = slow_scores(settings, projections, q, k);
      const auto got = scores_of(c, settings.config(), -0.5F);
      const double scale = largest(wanted);
      REQUIRE(std::isfinite(scale));
      // Down to where a float next to the largest score becomes nothing, or where terms of both signs have cancelled.
      const double floor = (kind == FeatureKind::exp ? 1e-30 : 1e-4) * scale;
      std::vector<int> expected;
      for (std::size_t i = 0; i < wanted.size(); ++i)
        if (wanted[i] > floor) expected.push_back(static_cast<int>(i));
      std::ranges::sort(expected, [&](int i, int j) { return wanted[i] > wanted[j]; });
      std::vector<int> best(expected.size());
      select_top(got, best);
      INFO("kind " << static_cast<int>(kind) << ", spread " << spread << ", largest score " << scale);
      CHECK(best == expected);
      CHECK(std::ranges::all_of(got, [](float score) { return std::isfinite(score); }));
    }
}

TEST_CASE("a NaN pixel spoils no more than it must") {
  Case c = make_case({12, 12, 1, PixelType::float32}, 3, 3, 3, false, 0.5F, 57);
  c.image.floats()[0] = std::nanf("");
  for (const auto& entry : kernel_catalog()) {
    const auto scores = scores_of(c, Config::Map{{"kernel", entry.name}}, 0);
    CHECK(std::isnan(scores[0]));
  }
}

TEST_CASE("heads that are zero or depend on few pixel values still score") {
  for (const int d : {2, 16}) {
    Case c = make_case({9, 10, 1}, 1, 1, d, false, 0.0F, 59);
    for (const char* kernel : {"exp", "trig", "hybrid"})
      for (const char* input : {"plain", "normalised"}) {
        const auto scores = scores_of(c, Config::Map{{"kernel", kernel}, {"input", input}}, -0.5F);
        for (const float score : scores) REQUIRE(std::abs(score - 1) < 1e-5F);  // exp(0 . 0)
      }
  }
}

TEST_CASE("epsilon is added to every feature of relu and exp") {
  const Case c = make_case({20, 23, 3}, 3, 2, 5, true, 0.3F, 60);
  const double epsilon = 0.05;
  {
    const Rows q = project(c, c.query, c.query_bias, 0), k = project(c, c.key, c.key_bias, 0);
    std::vector<double> wanted(k.size());
    for (const auto& a : q)
      for (std::size_t j = 0; j < k.size(); ++j)
        for (int o = 0; o < c.d; ++o)
          wanted[j] += (std::max(a[o], 0.0) + epsilon) * (std::max(k[j][o], 0.0) + epsilon) / static_cast<double>(q.size());
    for (const bool brute_force : {false, true}) {
      const auto got = scores_of(c, Config::Map{{"kernel", "relu"}, {"epsilon", epsilon}, {"brute_force", brute_force}}, 0);
      for (std::size_t j = 0; j < got.size(); ++j) REQUIRE(std::abs(got[j] / wanted[j] - 1) < 1e-5);
    }
  }
  const Settings settings{FeatureKind::exp, 7, 0, false, true, 12};
  const auto [q, k] = inputs(c, false, 0);
  std::vector<double> a(7), b(7), z(7);
  const auto add = [&](std::vector<double>& phi) {
    for (double& value : phi) value += epsilon / std::sqrt(7.0);
  };
  const Projections projections = settings.projections(c.d);
  for (const auto& x : q) {
    feature_map(FeatureKind::exp, projections, Side::query, x, a);
    add(a);
    for (int i = 0; i < 7; ++i) z[i] += a[i] / static_cast<double>(q.size());
  }
  Config config = settings.config();
  config["epsilon"] = epsilon;
  const auto got = scores_of(c, config, 0);
  for (std::size_t j = 0; j < got.size(); ++j) {
    feature_map(FeatureKind::exp, projections, Side::key, k[j], b);
    add(b);
    REQUIRE(std::abs(got[j] / dot(z, b) - 1) < 1e-4);
  }
}

TEST_CASE("epsilon keeps its part where features are beyond floats") {
  // In many dimensions projections are long: an input that is one of them has an exponent of about d / 2 there.
  constexpr int m = 3;
  const Settings settings{FeatureKind::exp, m, 0, false, true, 13};
  for (const int d : {140, 200}) {
    const Projections drawn = settings.projections(d);
    const auto along = [&](int projection) {
      std::vector<float> weights(d);
      for (int k = 0; k < d && projection >= 0; ++k)
        weights[k] = static_cast<float>(std::pow(d, 0.25)) * drawn.omega[projection * d + k];
      return weights;
    };
    for (const auto& [query, key] : {std::pair{0, 0}, std::pair{-1, 0}, std::pair{1, -1}})
      for (const double epsilon : {0.0, 0.05}) {
        CAPTURE(d, query, key, epsilon);
        Case c = make_case({6, 7, 1, PixelType::float32}, 1, 1, d, false, 0, 61);
        c.query = along(query);
        c.key = along(key);
        c.image.floats()[0] = 1;
        c.image.floats()[1] = 0;
        const auto [q, k] = inputs(c, false, 0);
        const auto features = [&](Side side, const std::vector<double>& x) {
          std::vector<double> phi(m);
          feature_map(FeatureKind::exp, drawn, side, x, phi);
          for (double& value : phi) value += epsilon / std::sqrt(m);
          return phi;
        };
        std::vector<double> z(m), wanted;
        for (const auto& x : q) {
          const auto phi = features(Side::query, x);
          for (int i = 0; i < m; ++i) z[i] += phi[i];
        }
        for (const auto& x : k) wanted.push_back(dot(z, features(Side::key, x)));
        Config config = settings.config();
        config["epsilon"] = epsilon;
        const auto got = scores_of(c, config, 0);
        const double largest_wanted = largest(wanted), largest_got = *std::ranges::max_element(got);
        for (std::size_t j = 0; j < wanted.size(); ++j) {
          const double ratio = wanted[j] / largest_wanted;
          REQUIRE(std::abs(got[j] / largest_got - ratio) <= 1e-2 * ratio + 1e-36);
        }
      }
  }
}
