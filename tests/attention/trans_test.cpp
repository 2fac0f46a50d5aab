#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "reference.hpp"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

/// One head and its frame, and what is wanted of it by the definition: every pair of patches visited, all in double precision.
struct Head {
  Case c;
  TransShape shape;
  Config::Map options;
  std::vector<float> value, compression, encoding, given;  // given: V, L x dV, where it is not projected
  double offset = 0;

  double encoded(int patch, int v) const { return encoding.empty() ? 0.0 : encoding[patch * c.grid.values() + v]; }
  bool is(const char* key, bool fallback) const {
    const auto found = options.find(key);
    return found == options.end() ? fallback : *found->second.boolean();
  }
  std::string text_of(const char* key, const char* fallback) const {
    const auto found = options.find(key);
    return found == options.end() ? fallback : *found->second.string();
  }
  int number(const char* key, int fallback) const {
    const auto found = options.find(key);
    return found == options.end() ? fallback : static_cast<int>(*found->second.integer());
  }
};

/// X' W + b.
Rows project_encoded(const Head& h, const std::vector<float>& weights, const std::vector<float>& bias, int columns) {
  Rows rows;
  const auto& grid = h.c.grid;
  const ImageShape& shape = grid.image();
  for (int top = 0; top + grid.size() <= shape.height; top += grid.stride())
    for (int left = 0; left + grid.size() <= shape.width; left += grid.stride()) {
      const int patch = static_cast<int>(rows.size());
      std::vector<double> u(bias.begin(), bias.end());
      u.resize(columns);
      int v = 0;
      for (int y = top; y < top + grid.size(); ++y)
        for (int x = left; x < left + grid.size(); ++x)
          for (int channel = 0; channel < shape.channels; ++channel, ++v) {
            const int at = (y * shape.width + x) * shape.channels + channel;
            const double pixel = shape.type == PixelType::uint8 ? h.c.image.bytes()[at] / 255.0 : h.c.image.floats()[at];
            for (int o = 0; o < columns; ++o) u[o] += (pixel + h.offset + h.encoded(patch, v)) * weights[v * columns + o];
          }
      rows.push_back(u);
    }
  return rows;
}

struct Inputs {
  Rows q, k, v;
  Projections projections;
};

Inputs inputs_of(const Head& h) {
  Inputs in;
  in.q = project_encoded(h, h.c.query, h.c.query_bias, h.c.d);
  in.k = project_encoded(h, h.c.key, h.c.key_bias, h.c.d);
  if (h.shape.projected)
    in.v = project_encoded(h, h.value, {}, h.shape.values);
  else
    for (std::size_t i = 0; i < in.q.size(); ++i)
      in.v.emplace_back(h.given.begin() + i * h.shape.values, h.given.begin() + (i + 1) * h.shape.values);
  const std::string kernel = h.text_of("kernel", "relu");
  if (kernel == "relu") return in;
  const double root = std::pow(h.c.d, 0.25);
  for (Rows* rows : {&in.q, &in.k})
    if (h.text_of("input", "plain") == "normalised")
      to_length(*rows, root);
    else
      for (auto& row : *rows)
        for (double& u : row) u /= root;
  if (kernel != "softmax")
    in.projections = draw_projections(h.text_of("ensemble", "orthogonal") == "iid" ? Ensemble::iid : Ensemble::orthogonal, h.c.d,
                                      h.number("m", 0), kernel == "hybrid" ? h.number("r", 0) : 0, h.number("feature_seed", 0));
  return in;
}

double along(const std::vector<float>& rows, int row, const std::vector<double>& x) {
  double sum = 0;
  for (std::size_t k = 0; k < x.size(); ++k) sum += rows[row * x.size() + k] * x[k];
  return sum;
}

/// Exponential features phi(q) . phi(k), `epsilon` / sqrt(m) being added to each.
double raised_product(const Inputs& in, const std::vector<double>& q, const std::vector<double>& k, double epsilon) {
  const int m = in.projections.m;
  std::vector<double> f(m), g(m);
  feature_map(FeatureKind::exp, in.projections, Side::query, q, f);
  feature_map(FeatureKind::exp, in.projections, Side::key, k, g);
  double sum = 0;
  for (int i = 0; i < m; ++i) sum += (f[i] + epsilon / std::sqrt(m)) * (g[i] + epsilon / std::sqrt(m));
  return sum;
}

/// The kernel or its estimate, from one pair: without `epsilon`, no feature map is formed.
double kernel_value(const Head& h, const Inputs& in, const std::vector<double>& q, const std::vector<double>& k) {
  const std::string kernel = h.text_of("kernel", "relu");
  if (kernel == "relu") {
    double sum = 0;
    for (std::size_t o = 0; o < q.size(); ++o) sum += std::max(q[o], 0.0) * std::max(k[o], 0.0);
    return sum;
  }
  if (kernel == "softmax" || h.is("brute_force", false)) return std::exp(dot(q, k));
  if (const auto epsilon = h.options.find("epsilon"); epsilon != h.options.end())
    return raised_product(in, q, k, *epsilon->second.number());
  double exponential = 0, trigonometric = 0, angular = 0;
  const double squares = (dot(q, q) + dot(k, k)) / 2;
  for (int i = 0; i < in.projections.m; ++i) {
    const double a = along(in.projections.omega, i, q), b = along(in.projections.omega, i, k);
    exponential += std::exp(a + b - squares) / in.projections.m;
    trigonometric += std::cos(a - b) * std::exp(squares) / in.projections.m;
  }
  if (kernel == "exp") return exponential;
  if (kernel == "trig") return trigonometric;
  const auto sign = [](double value) { return value < 0 ? -1.0 : 1.0; };
  for (int j = 0; j < in.projections.r; ++j)
    angular += sign(along(in.projections.xi, j, q)) * sign(along(in.projections.xi, j, k)) / in.projections.r;
  return (trigonometric + exponential + angular * trigonometric - angular * exponential) / 2;
}

struct Wanted {
  std::vector<double> out, importance;
  double scale = 0, importance_scale = 0;  // the largest numbers if no term cancelled another
};

Wanted wanted_of(const Head& h, const Inputs& in) {
  const std::size_t patches = in.q.size(), tokens = h.shape.tokens, values = h.shape.values;
  const bool normalise = h.is("normalise_rows", h.text_of("kernel", "relu") == "softmax");
  Wanted wanted;
  wanted.out.resize(tokens * values);
  std::vector<double> sizes(wanted.out.size()), votes(tokens * patches), vote_sizes(votes.size());
  for (std::size_t i = 0; i < patches; ++i) {
    std::vector<double> row;
    double total = 0;
    for (const auto& k : in.k) row.push_back(kernel_value(h, in, in.q[i], k));
    for (const double a : row) total += a;
    if (!normalise) total = static_cast<double>(patches);
    for (std::size_t t = 0; t < tokens; ++t) {
      const double p = h.compression[t * patches + i];
      for (std::size_t j = 0; j < patches; ++j) {
        const double a = total == 0 ? 0 : row[j] / total;
        votes[t * patches + j] += p * a;
        vote_sizes[t * patches + j] += std::abs(p * a);
        const double weight = p * (a + (h.shape.residual && i == j ? 1 : 0));
        for (std::size_t v = 0; v < values; ++v) {
          wanted.out[t * values + v] += weight * in.v[j][v];
          sizes[t * values + v] += std::abs(weight * in.v[j][v]);
        }
      }
    }
  }
  wanted.scale = largest(sizes);
  wanted.importance_scale = largest(vote_sizes);
  wanted.importance.resize(patches);
  for (std::size_t j = 0; j < patches; ++j)
    for (std::size_t t = 0; t < tokens; ++t) wanted.importance[j] += std::abs(votes[t * patches + j]);
  return wanted;
}

std::vector<float> normals(Random& random, std::size_t count, float deviation) {
  std::vector<float> values(count);
  for (float& value : values) value = deviation * static_cast<float>(random.normal());
  return values;
}

Head random_head(Random& random, Config::Map options) {
  const auto pick = [&](int low, int high) { return low + static_cast<int>(random.below(high - low + 1)); };
  const int size = pick(1, 5), stride = pick(1, 7);
  const ImageShape shape{pick(size, 30), pick(size, 41), pick(1, 4), random.below(2) ? PixelType::uint8 : PixelType::float32};
  Head h{make_case(shape, size, stride, pick(1, 9), random.below(2) == 1, 0.7F / static_cast<float>(size), random.bits()),
         {},
         std::move(options),
         {},
         {},
         {},
         {}};
  h.offset = random.below(2) ? -0.5 : 0;
  const std::size_t patches = h.c.grid.count(), c = h.c.grid.values();
  h.shape = {h.c.d, pick(1, std::min(9, h.c.grid.count())), pick(1, 8), random.below(3) > 0, random.below(2) == 1};
  h.value = normals(random, h.shape.projected ? c * h.shape.values : 0, 1 / std::sqrt(static_cast<float>(c)));
  h.given = normals(random, h.shape.projected ? 0 : patches * h.shape.values, 1);
  h.compression = normals(random, patches * h.shape.tokens, 1);
  if (random.below(2)) h.encoding = normals(random, patches * c, 0.3F / static_cast<float>(size));
  return h;
}

std::unique_ptr<Trans> make(const Head& h, Config::Map more = {}) {
  Config options = h.options;
  for (auto& [key, value] : more) options[key] = value;
  Options reader("test", options);
  auto trans = make_trans(reader, h.c.grid, h.shape);
  reader.finish();
  HeadWeights weights = h.c.head();
  weights.encoding = h.encoding;
  trans->bind({weights, h.value, h.compression});
  if (!h.shape.projected)
    for (int v = 0; v < h.shape.values; ++v)
      for (int i = 0; i < h.c.grid.count(); ++i) trans->value_row(v)[i] = h.given[i * h.shape.values + v];
  return trans;
}

std::vector<float> apply(Trans& trans, const Head& h) {
  std::vector<float> out(h.shape.tokens * h.shape.values, std::numeric_limits<float>::quiet_NaN());
  trans.apply(h.c.image.view(), static_cast<float>(h.offset), out);
  return out;
}

std::vector<float> importance(Trans& trans, const Head& h) {
  std::vector<float> weights(h.c.grid.count());
  trans.importance(weights);
  return weights;
}

void check(Trans& trans, const Head& h, const Wanted& wanted, double tolerance) {
  const auto out = apply(trans, h), weights = importance(trans, h);
  for (std::size_t i = 0; i < out.size(); ++i) REQUIRE(std::abs(out[i] - wanted.out[i]) <= tolerance * wanted.scale);
  for (std::size_t j = 0; j < weights.size(); ++j)
    REQUIRE(std::abs(weights[j] - wanted.importance[j]) <= tolerance * wanted.importance_scale);
  REQUIRE(apply(trans, h) == out);
}

std::string about(const Head& h, int round) {
  return text("round ", round, ", ", to_json(h.options), ", L ", h.c.grid.count(), ", d ", h.c.d, ", tokens ", h.shape.tokens,
              ", values ", h.shape.values, ", projected ", h.shape.projected, ", residual ", h.shape.residual);
}

}  // namespace

TEST_CASE("IAP-trans over relu and exact kernels is what its definition says, in both orders") {
  Random random(81);
  int rounds = 0;
  for (int round = 0; round < 120; ++round) {
    Config::Map options{{"kernel", round % 3 == 0 ? "softmax" : "relu"}, {"normalise_rows", random.below(2) == 1}};
    if (round % 3 == 0 && random.below(2)) options["input"] = "normalised";
    const Head h = random_head(random, options);
    if (h.c.grid.count() > 350) continue;
    ++rounds;
    INFO(about(h, round));
    const Wanted wanted = wanted_of(h, inputs_of(h));
    check(*make(h), h, wanted, 1e-4);
    if (round % 3 == 0) continue;
    check(*make(h, {{"order", "values_first"}}), h, wanted, 1e-4);
    check(*make(h, {{"order", "queries_first"}}), h, wanted, 1e-4);
    check(*make(h, {{"brute_force", true}}), h, wanted, 1e-4);
  }
  CHECK(rounds > 60);
}

TEST_CASE("IAP-trans over random features is what their estimates say, in both orders") {
  Random random(82);
  int compared = 0;
  for (int round = 0; round < 150; ++round) {
    const char* kernels[] = {"exp", "trig", "hybrid"};
    const std::string kernel = kernels[round % 3];
    Config::Map options{{"kernel", kernel},
                        {"m", 1 + static_cast<int>(random.below(17))},
                        {"feature_seed", static_cast<int>(random.below(1000))},
                        {"input", random.below(2) ? "normalised" : "plain"},
                        {"ensemble", random.below(2) ? "iid" : "orthogonal"}};
    if (kernel == "exp") options["normalise_rows"] = random.below(2) == 1;
    if (kernel == "hybrid") options["r"] = 1 + static_cast<int>(random.below(8));
    const Head h = random_head(random, options);
    if (h.c.grid.count() > 350) continue;
    INFO(about(h, round));
    const Inputs in = inputs_of(h);
    const auto unclear = [&](const auto& x) { return ambiguous(in.projections, x); };
    if (std::ranges::any_of(in.q, unclear) || std::ranges::any_of(in.k, unclear)) continue;
    ++compared;
    const Wanted wanted = wanted_of(h, in);
    check(*make(h, {{"order", "values_first"}}), h, wanted, 1e-4);
    check(*make(h, {{"order", "queries_first"}}), h, wanted, 1e-4);
  }
  CHECK(compared > 50);
}

TEST_CASE("both orders of IAP-trans agree on a large frame, blocks and chunks included") {
  for (const char* kernel : {"relu", "exp", "trig", "hybrid"}) {
    Random random(83);
    Head h{make_case({61, 83, 3}, 2, 2, 6, true, 0.4F, 84), {6, 7, 5, true, true}, {{"kernel", kernel}}, {}, {}, {}, {}, -0.5};
    h.value = normals(random, 12 * 5, 0.3F);
    h.compression = normals(random, static_cast<std::size_t>(h.c.grid.count()) * 7, 1);
    const auto a = apply(*make(h, {{"order", "values_first"}}), h), b = apply(*make(h, {{"order", "queries_first"}}), h);
    float scale = 0;
    for (const float x : a) scale = std::max(scale, std::abs(x));
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(std::abs(a[i] - b[i]) <= 1e-5F * scale);
  }
}

TEST_CASE("brute force is what random features tend to") {
  Random random(85);
  Head h{make_case({20, 20, 3}, 4, 4, 4, false, 0.1F, 86), {4, 3, 2, true, false}, {}, {}, {}, {}, {}, -0.5};
  h.value = normals(random, 48 * 2, 0.1F);
  h.compression = normals(random, 25 * 3, 1);
  for (const char* kernel : {"exp", "trig", "hybrid"}) {
    const auto exact = apply(*make(h, {{"kernel", kernel}, {"brute_force", true}}), h);
    Config::Map many{{"kernel", kernel}, {"m", 4096}};
    if (std::string(kernel) == "hybrid") many["r"] = 64;
    const auto estimated = apply(*make(h, many), h);
    const auto softmax = apply(*make(h, {{"kernel", "softmax"}, {"normalise_rows", false}}), h);
    float scale = 0;
    for (const float x : exact) scale = std::max(scale, std::abs(x));
    for (std::size_t i = 0; i < exact.size(); ++i) {
      CHECK(std::abs(exact[i] - estimated[i]) < 0.03F * scale);
      CHECK(exact[i] == softmax[i]);
    }
  }
}

TEST_CASE("the cheaper order is chosen by its counted multiplications") {
  const PatchGrid grid({20, 20, 3}, 4, 4, "test");
  const auto order = [&](int tokens, int values) {
    const Config options = Config::Map{{"kernel", "exp"}, {"m", 15}};
    Options reader("test", options);
    return make_trans(reader, grid, {4, tokens, values, true, true})->order();
  };
  CHECK(order(10, 4) == TransOrder::values_first);
  CHECK(order(4, 10) == TransOrder::queries_first);
  CHECK(order(1, 48) == TransOrder::queries_first);
  CHECK(order(25, 1) == TransOrder::values_first);
  // L = 7 patches, M = 5 features, l = 3, dV = 2: K'^T V and Q' (.) are 7 5 2 each, P (.) is 3 7 2.
  CHECK(trans_cost(TransOrder::values_first, {4, 3, 2, true, true}, false, 5, 7) == 2 * 70 + 42);
  // P Q' and (.) K'^T are 3 7 5 each, (.) V is 3 7 2.
  CHECK(trans_cost(TransOrder::queries_first, {4, 3, 2, true, true}, false, 5, 7) == 2 * 105 + 42);
}

TEST_CASE("large inputs keep normalised rows exact and other outputs finite") {
  Random random(87);
  for (const float spread : {2.0F, 6.0F})
    for (const char* kernel : {"exp", "softmax", "trig", "hybrid"}) {
      Head h{make_case({16, 16, 1}, 3, 2, 4, false, spread, 88), {4, 3, 2, true, true}, {{"kernel", kernel}}, {}, {}, {}, {}, -0.5};
      h.value = normals(random, 9 * 2, 0.5F);
      h.compression = normals(random, static_cast<std::size_t>(h.c.grid.count()) * 3, 1);
      const bool can_normalise = std::string(kernel) == "exp" || std::string(kernel) == "softmax";
      if (std::string(kernel) != "softmax") h.options["m"] = 6;
      INFO(kernel << ", spread " << spread);
      if (can_normalise) {
        h.options["normalise_rows"] = true;
        check(*make(h), h, wanted_of(h, inputs_of(h)), 2e-4);
        h.options["normalise_rows"] = false;
      }
      for (const float x : apply(*make(h), h)) CHECK(std::isfinite(x));
    }
}

TEST_CASE("epsilon is added to every query's features at their own size, where rows are normalised, too") {
  Random random(96);
  Head h{make_case({16, 16, 1}, 3, 2, 4, false, 2, 97), {4, 3, 2, true, true}, {{"kernel", "exp"}}, {}, {}, {}, {}, -0.5};
  h.value = normals(random, 9 * 2, 0.5F);
  h.compression = normals(random, static_cast<std::size_t>(h.c.grid.count()) * 3, 1);
  h.options.insert({{"m", 6}, {"epsilon", 0.05}, {"normalise_rows", true}});
  const Wanted wanted = wanted_of(h, inputs_of(h));
  for (const char* order : {"values_first", "queries_first"}) check(*make(h, {{"order", order}}), h, wanted, 2e-4);
}

TEST_CASE("attention that floats cannot hold comes back in outputs that they can") {
  Random random(94);
  for (const double exponent : {60.0, 79.0, 85.0, 100.0})
    for (const char* kernel : {"softmax", "exp", "trig", "hybrid"}) {
      Head h{make_case({8, 8, 1}, 2, 2, 1, false, 1, 95), {1, 2, 2, true, true}, {{"kernel", kernel}}, {}, {}, {}, {}, -0.5};
      if (std::string(kernel) == "softmax") h.options["normalise_rows"] = false;
      if (std::string(kernel) == "exp") h.options["brute_force"] = true;
      if (h.options.size() == 1) h.options.insert({{"m", 6}, {"order", "values_first"}});
      if (std::string(kernel) == "hybrid") h.options["r"] = 3;
      // The longest x has x . x = exponent.
      double longest = 0;
      for (const auto& u : project(h.c, h.c.query, {}, h.offset)) longest = std::max(longest, std::abs(u[0]));
      for (float& weight : h.c.query) weight *= static_cast<float>(std::sqrt(exponent) / longest);
      h.c.key = h.c.query;
      h.value = normals(random, 4 * 2, 1e-20F);
      h.compression = normals(random, static_cast<std::size_t>(h.c.grid.count()) * 2, 1);
      const Wanted wanted = wanted_of(h, inputs_of(h));
      INFO(kernel << ", exponent " << exponent << ", " << wanted.scale);
      REQUIRE((wanted.scale > 1e-20 * std::exp(exponent) / 100 && wanted.scale < 1e30));
      const auto out = apply(*make(h), h);
      for (std::size_t i = 0; i < out.size(); ++i) CHECK(std::abs(out[i] - wanted.out[i]) < 1e-4 * wanted.scale);
    }
}

TEST_CASE("outputs are as large as P and V make them, importances as P does, far beyond what frames hold") {
  Random random(98);
  for (const char* kernel : {"relu", "exp", "softmax"})
    for (const bool projected : {false, true}) {
      Head h{make_case({12, 13, 3}, 3, 2, 4, false, 0.3F, 99), {4, 3, 2, projected, true}, {{"kernel", kernel}}, {}, {}, {}, {}};
      (projected ? h.value : h.given) = normals(random, (projected ? 27 : h.c.grid.count()) * 2, 0.3F);
      h.compression = normals(random, static_cast<std::size_t>(h.c.grid.count()) * 3, 1);
      const auto trans = make(h);
      const auto out = apply(*trans, h), weights = importance(*trans, h);
      for (const auto& [p, v] : {std::pair{20, 0}, std::pair{0, 20}, std::pair{60, 30}, std::pair{-60, 124}}) {
        CAPTURE(kernel, projected, p, v);
        Head large = h;
        for (float& value : large.compression) value = std::ldexp(value, p);
        for (float& value : projected ? large.value : large.given) value = std::ldexp(value, v);
        const auto scaled = make(large);
        const auto far = apply(*scaled, large), far_weights = importance(*scaled, large);
        for (std::size_t i = 0; i < out.size(); ++i) REQUIRE(std::abs(std::ldexp(far[i], -p - v) - out[i]) <= 1e-4);
        for (std::size_t j = 0; j < weights.size(); ++j)
          REQUIRE(std::abs(std::ldexp(far_weights[j], -p) - weights[j]) <= 1e-5F * weights[j]);
      }
      REQUIRE(largest({out.begin(), out.end()}) > 0.1);
    }
}

TEST_CASE("rows of relu attention that sum to zero stay zero") {
  Head h{make_case({6, 6, 1}, 2, 2, 2, false, 0, 89), {2, 2, 1, true, false}, {{"normalise_rows", true}}, {}, {}, {}, {}};
  h.value.assign(4, 1.0F);
  h.compression.assign(18, 1.0F);
  for (const char* order : {"values_first", "queries_first"})
    for (const float x : apply(*make(h, {{"order", order}}), h)) CHECK(x == 0);
  for (const float x : apply(*make(h, {{"brute_force", true}}), h)) CHECK(x == 0);
}

TEST_CASE("projections of IAP-trans change with the episode only where asked for") {
  Random random(90);
  Head h{make_case({12, 12, 3}, 3, 3, 4, false, 0.3F, 91), {4, 2, 2, true, true}, {{"kernel", "hybrid"}}, {}, {}, {}, {}};
  h.value = normals(random, 27 * 2, 0.2F);
  h.compression = normals(random, 16 * 2, 1);
  const auto after = [&](const char* redraw, std::vector<std::uint64_t> episodes) {
    const auto trans = make(h, {{"redraw", redraw}});
    for (const auto episode : episodes) trans->new_episode(episode);
    return apply(*trans, h);
  };
  CHECK(after("never", {}) == after("never", {1, 2}));
  CHECK(after("episode", {5}) == after("episode", {1, 2, 5}));
  CHECK(after("episode", {5}) != after("episode", {6}));
  // And within it every so many frames, the same for the same episode.
  const auto trans = make(h, {{"redraw", 2}});
  const auto episode = [&](std::uint64_t seed) {
    trans->new_episode(seed);
    std::vector<std::vector<float>> frames(6);
    for (auto& frame : frames) frame = apply(*trans, h);
    return frames;
  };
  const auto seen = episode(5);
  CHECK(seen[0] == after("episode", {5}));
  for (int frame = 0; frame < 6; ++frame)
    for (int other = 0; other < frame; ++other) CHECK((seen[frame] == seen[other]) == (frame / 2 == other / 2));
  CHECK(episode(6)[2] != seen[2]);
  CHECK(episode(5) == seen);
}

TEST_CASE("an interrupt ends exact IAP-trans") {
  Random random(93);
  const Head h = random_head(random, {{"kernel", "softmax"}});
  const auto trans = make(h);
  const auto before = apply(*trans, h);
  request_interrupt();
  CHECK_THROWS_AS(apply(*trans, h), Interrupted);
  CHECK_THROWS_AS(importance(*trans, h), Interrupted);
  clear_interrupt();
  CHECK(apply(*make(h), h) == before);
}

TEST_CASE("what IAP-trans cannot do is an error that says why") {
  const PatchGrid grid({20, 20, 3}, 4, 4, "test");
  const auto build = [&](Config::Map map) {
    const Config options = std::move(map);
    Options reader("policy.1.trans", options);
    make_trans(reader, grid, {});
    reader.finish();
  };
  CHECK_THROWS_MATCHES(build({{"kernel", "hybrid"}, {"normalise_rows", true}}), Error,
                       MessageMatches(ContainsSubstring("policy.1.trans: option 'normalise_rows' needs positive features") &&
                                      ContainsSubstring("use kernel relu, exp, favor++ or softmax")));
  CHECK_NOTHROW(build({{"kernel", "favor++"}, {"normalise_rows", true}}));
  CHECK_THROWS_MATCHES(build({{"kernel", "softmax"}, {"order", "auto"}}), Error,
                       MessageMatches(ContainsSubstring("option 'order' goes with the kernels relu, exp, favor++, trig, hybrid")));
  CHECK_THROWS_MATCHES(build({{"kernel", "hybrid"}, {"m", 4096}, {"r", 1024}}), Error,
                       MessageMatches(ContainsSubstring("smaller m")));
  Head h{make_case({20, 20, 3}, 4, 4, 4, false, 0.3F, 92), {4, 2, 2, true, true}, {}, {}, {}, {}, {}};
  h.value.resize(48 * 2);
  h.compression.resize(25 * 2 - 1);
  CHECK_THROWS_MATCHES(make(h), Error, MessageMatches(ContainsSubstring("compression P holds 49 values where 50")));
  h.compression.resize(50);
  h.value.resize(1);
  CHECK_THROWS_MATCHES(make(h), Error, MessageMatches(ContainsSubstring("value matrix holds 1 values where 96")));
  h.value.resize(96);
  h.encoding.resize(3);
  CHECK_THROWS_MATCHES(make(h), Error, MessageMatches(ContainsSubstring("position encoding (L x c) holds 3 values where 1200")));
  h.encoding.clear();
  std::vector<float> out(3);
  CHECK_THROWS_MATCHES(make(h)->apply(h.c.image.view(), 0, out), Error, MessageMatches(ContainsSubstring("room for 3 outputs")));
}
