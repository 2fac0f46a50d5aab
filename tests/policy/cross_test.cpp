#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "helpers.hpp"
import iap.attention;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

using Rows = std::vector<std::vector<double>>;

struct Grid {
  int patch, stride;
};

/// Patches of an image, shifted by -0.5.
Rows patches_of(const Image& image, Grid grid) {
  const auto& shape = image.shape();
  Rows patches;
  for (int y = 0; y + grid.patch <= shape.height; y += grid.stride)
    for (int x = 0; x + grid.patch <= shape.width; x += grid.stride) {
      patches.emplace_back();
      for (int row = y; row < y + grid.patch; ++row)
        for (int column = x; column < x + grid.patch; ++column)
          for (int channel = 0; channel < shape.channels; ++channel) {
            const auto index = static_cast<std::size_t>((row * shape.width + column) * shape.channels + channel);
            patches.back().push_back((shape.type == PixelType::uint8 ? image.bytes()[index] / 255.0 : image.floats()[index]) - 0.5);
          }
    }
  return patches;
}

/// max(W^T p + b, 0)
Rows relu_features(const Rows& patches, const std::vector<double>& weight, const std::vector<double>& bias) {
  Rows rows;
  for (const auto& patch : patches) {
    std::vector<double> u(bias);
    for (std::size_t v = 0; v < patch.size(); ++v)
      for (std::size_t o = 0; o < u.size(); ++o) u[o] += patch[v] * weight[v * u.size() + o];
    for (double& x : u) x = std::max(x, 0.0);
    rows.push_back(u);
  }
  return rows;
}

/// r_j = (1/L) sum_i relu(q_i) . relu(k_j), every pair visited.
std::vector<double> slow_scores(const Policy& policy, const Rows& queries, const Rows& keys) {
  const auto q = relu_features(queries, slice(policy, "1.cross.query"), slice(policy, "1.cross.query_bias"));
  const auto k = relu_features(keys, slice(policy, "1.cross.key"), slice(policy, "1.cross.key_bias"));
  std::vector<double> scores;
  for (const auto& key : k) {
    double sum = 0;
    for (const auto& query : q) sum += std::inner_product(query.begin(), query.end(), key.begin(), 0.0);
    scores.push_back(sum / static_cast<double>(q.size()));
  }
  return scores;
}

std::vector<int> best(const std::vector<double>& scores, std::size_t top) {
  std::vector<int> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](int a, int b) { return scores[a] > scores[b] || (scores[a] == scores[b] && a < b); });
  order.resize(top);
  return order;
}

ObservationSpec two_images() { return {{{"fast", {12, 17, 3, PixelType::uint8}}, {"slow", {15, 20, 1, PixelType::float32}}}, 0}; }

/// The block, then nothing but its own outputs.
Policy with(const std::string& options, const ObservationSpec& spec, int outputs) {
  return Policy(config("{'kind': 'sequence', 'blocks': [{'kind': 'cross', " + options + "}]}"), spec, outputs);
}

std::vector<int> selected(const Policy& policy) {
  const auto view = policy.views().at(0);
  return {view.selected.begin(), view.selected.end()};
}

}  // namespace

TEST_CASE("queries of every step choose patches of the key image as it was at the last update") {
  const Grid query_grid{3, 2}, key_grid{4, 3};
  const int top = 4, pixels = 16;
  Policy policy = with(
      "'image': 'fast', 'key_image': 'slow', 'patch': 3, 'stride': 2, 'key_patch': 4, 'key_stride': 3, 'd': 5,"
      "'top': 4, 'every': 3, 'bias': true, 'values': ['content', 'position']",
      two_images(), top * (2 + pixels));
  randomise(policy, 1, 0.3);
  CHECK(policy.size() == 27 * 5 + 16 * 5 + 5 + 5);
  for (const std::uint64_t episode : {1, 2}) {
    policy.reset(episode);
    CHECK(policy.views().empty());
    Frame keys(policy.observation(), 0);
    for (std::uint64_t step = 0; step < 8; ++step) {
      INFO("episode " << episode << " step " << step);
      const Frame frame(policy.observation(), 100 * episode + step);
      if (step % 3 == 0) keys = Frame(policy.observation(), 100 * episode + step);
      const auto key_patches = patches_of(keys.image(1), key_grid);
      const auto scores = slow_scores(policy, patches_of(frame.image(0), query_grid), key_patches);
      const auto expected = best(scores, top);
      const auto out = act(policy, frame);
      const auto view = policy.views().at(0);
      CHECK(view.block == "1.cross");
      CHECK(view.image == "slow");
      CHECK((view.frame.data == nullptr) == (step % 3 == 0));
      if (view.frame.data) {
        REQUIRE(view.frame.shape == keys.image(1).shape());
        CHECK(std::ranges::equal(std::span(view.frame.floats(), view.frame.shape.count()), keys.image(1).floats()));
      }
      CHECK((view.rows == 4 && view.columns == 6 && view.patch == 4 && view.stride == 3));
      CHECK(selected(policy) == expected);
      REQUIRE(view.scores.size() == scores.size());
      for (std::size_t i = 0; i < scores.size(); ++i) CHECK(std::abs(view.scores[i] - scores[i]) < 1e-4 * scores[expected[0]]);
      for (int rank = 0; rank < top; ++rank) {
        const int patch = expected[rank];
        CHECK(std::abs(out[2 * rank] - (2 * (patch / 6 * 3 + 2.0) / 15 - 1)) < 1e-5);
        CHECK(std::abs(out[2 * rank + 1] - (2 * (patch % 6 * 3 + 2.0) / 20 - 1)) < 1e-5);
        for (int v = 0; v < pixels; ++v) CHECK(std::abs(out[2 * top + rank * pixels + v] - key_patches[patch][v]) < 1e-5);
      }
    }
  }
}

TEST_CASE("updated every step, with one image, cross is rank") {
  for (const std::string kernel :
       {"'kernel': 'relu'", "'kernel': 'exp'", "'kernel': 'trig', 'input': 'normalised'", "'kernel': 'hybrid'"}) {
    INFO(kernel);
    const std::string shared = "'patch': 3, 'stride': 2, 'd': 4, 'top': 6, " + kernel;
    Policy cross = with("'every': 1, " + shared, image_spec(20, 27), 12);
    Policy rank(config("{'kind': 'sequence', 'blocks': [{'kind': 'rank', " + shared + "}]}"), image_spec(20, 27), 12);
    randomise(cross, 3, 0.2);
    rank.set_parameters(cross.parameters());
    for (std::uint64_t step = 0; step < 4; ++step) {
      const Frame frame(rank.observation(), step);
      CHECK(act(cross, frame) == act(rank, frame));
    }
  }
}

TEST_CASE("P and position encodings of both grids count") {
  const Grid query_grid{3, 2}, key_grid{4, 3};
  Policy policy = with(
      "'image': 'fast', 'key_image': 'slow', 'patch': 3, 'stride': 2, 'key_patch': 4, 'key_stride': 3, 'd': 5,"
      "'top': 4, 'every': 2, 'bias': true, 'query_weights': 'learned', 'encoding': 'learned'",
      two_images(), 8);
  randomise(policy, 8, 0.3);
  const auto votes = slice(policy, "1.cross.query_weights");
  const auto encoded = [&](Rows patches, const char* name) {
    const auto table = slice(policy, name);
    for (std::size_t i = 0; i < patches.size(); ++i)
      for (std::size_t v = 0; v < patches[i].size(); ++v) patches[i][v] += table[i * patches[i].size() + v];
    return patches;
  };
  const Frame first(policy.observation(), 1), second(policy.observation(), 2);
  act(policy, first);
  act(policy, second);
  const auto q = relu_features(encoded(patches_of(second.image(0), query_grid), "1.cross.encoding"), slice(policy, "1.cross.query"),
                               slice(policy, "1.cross.query_bias"));
  const auto k = relu_features(encoded(patches_of(first.image(1), key_grid), "1.cross.keys.encoding"), slice(policy, "1.cross.key"),
                               slice(policy, "1.cross.key_bias"));
  CHECK(votes.size() == q.size());
  std::vector<double> scores;
  double scale = 0;
  for (const auto& key : k) {
    double sum = 0;
    for (std::size_t i = 0; i < q.size(); ++i) sum += votes[i] * std::inner_product(q[i].begin(), q[i].end(), key.begin(), 0.0);
    scores.push_back(sum / static_cast<double>(q.size()));
    scale = std::max(scale, std::abs(scores.back()));
  }
  CHECK(selected(policy) == best(scores, 4));
  const auto view = policy.views().at(0);
  for (std::size_t i = 0; i < scores.size(); ++i) CHECK(std::abs(view.scores[i] - scores[i]) < 1e-4 * scale);
}

TEST_CASE("queries and keys of one grid share a learned encoding") {
  const auto spec = image_spec(12, 16);
  const auto encodings = [&](const std::string& options) {
    const Policy policy = with("'patch': 4, 'top': 1, 'encoding': 'learned'" + options, spec, 2);
    return std::ranges::count_if(policy.layout().slices(), [](const auto& slice) { return slice.name.ends_with("encoding"); });
  };
  CHECK(encodings("") == 1);
  CHECK(encodings(", 'key_stride': 2") == 2);
  // Places of another image are other places, whatever its size.
  const ObservationSpec pair{{{"left", spec.images[0].shape}, {"right", spec.images[0].shape}}, 0};
  const Policy two = with("'patch': 4, 'top': 1, 'encoding': 'learned', 'image': 'left', 'key_image': 'right'", pair, 2);
  CHECK_NOTHROW(slice(two, "1.cross.keys.encoding"));
}

TEST_CASE("a key grid follows the query grid unless it is given") {
  const auto spec = image_spec(24, 24);
  const auto rows = [&](const std::string& options) {
    Policy policy = with(options + ", 'top': 1", spec, 2);
    policy.initialise(1);
    act(policy, Frame(spec, 1));
    const auto view = policy.views().at(0);
    return std::pair(view.patch, view.stride);
  };
  CHECK(rows("'patch': 4, 'stride': 2") == std::pair(4, 2));
  CHECK(rows("'patch': 4") == std::pair(4, 4));
  CHECK(rows("'patch': 4, 'stride': 2, 'key_patch': 6") == std::pair(6, 6));
  CHECK(rows("'patch': 4, 'stride': 2, 'key_stride': 3") == std::pair(4, 3));
}

TEST_CASE("new parameters in the middle of an episode change the keys but not their frame") {
  const auto spec = image_spec(12, 16);
  Policy kept = with("'patch': 2, 'top': 5, 'every': 4, 'values': 'content'", spec, 5 * 12), fresh = kept.clone();
  randomise(kept, 1);
  const Frame first(spec, 1), second(spec, 2);
  act(kept, first);
  std::vector<float> parameters(kept.size());
  Random(5).fill_normal(parameters);
  kept.set_parameters(parameters);
  fresh.set_parameters(parameters);
  act(fresh, first);
  CHECK(act(kept, second) == act(fresh, second));
}

TEST_CASE("hashed cross-attention with many bits chooses nearly what exact does") {
  const auto spec = image_spec(32, 40);
  const std::string shared = "'patch': 4, 'stride': 2, 'd': 4, 'top': 10, 'kernel': 'trig', 'input': 'normalised', 'every': 2, ";
  Policy exact = with(shared + "'ranking': 'exact'", spec, 20);
  randomise(exact, 4, 0.3);
  const auto overlap = [&](int bits) {
    Policy hashed = with(shared + "'ranking': 'hash', 'bits': " + std::to_string(bits), spec, 20);
    hashed.set_parameters(exact.parameters());
    exact.reset(0);
    int found = 0;
    for (std::uint64_t step = 0; step < 10; ++step) {
      const Frame frame(spec, step);
      act(exact, frame);
      act(hashed, frame);
      const auto wanted = selected(exact);
      for (const int patch : selected(hashed)) found += static_cast<int>(std::ranges::count(wanted, patch));
    }
    return found;
  };
  const int few = overlap(16), many = overlap(16384);
  CHECK(few < many);
  CHECK(many > 75);
}

TEST_CASE("draws are a function of the episode's seed, the step and the block") {
  const auto spec = image_spec(24, 24);
  const std::string block = "'kind': 'cross', 'patch': 3, 'top': 6, 'kernel': 'exp', 'ranking': 'sample', 'every': 5";
  Policy policy(config("{'kind': 'concat', 'blocks': [{" + block + "}, {" + block + "}]}"), spec, 24);
  randomise(policy, 1, 0.01);
  std::vector<float> parameters(policy.parameters().begin(), policy.parameters().end());
  std::copy_n(parameters.begin(), parameters.size() / 2, parameters.begin() + static_cast<std::ptrdiff_t>(parameters.size() / 2));
  policy.set_parameters(parameters);
  const Frame frame(spec, 1);
  const auto episode = [&](std::uint64_t seed) {
    policy.reset(seed);
    std::vector<std::vector<int>> draws;
    for (int step = 0; step < 6; ++step) {
      act(policy, frame);
      for (const auto& view : policy.views()) {
        draws.emplace_back(view.selected.begin(), view.selected.end());
        CHECK(std::set<int>(view.selected.begin(), view.selected.end()).size() == 6);
      }
    }
    return draws;
  };
  const auto one = episode(1), two = episode(2);
  CHECK(one == episode(1));
  // Weights are nearly equal, so that equal draws would be a wonder: between steps, blocks or seeds.
  std::set<std::vector<int>> different(one.begin(), one.end());
  different.insert(two.begin(), two.end());
  CHECK(different.size() == 24);
}

TEST_CASE("first draws over many episodes follow the probabilities that the view shows") {
  const auto spec = image_spec(8, 12);
  Policy policy = with("'patch': 4, 'top': 2, 'kernel': 'exp', 'm': 30, 'ranking': 'sample'", spec, 4);
  randomise(policy, 6, 0.7);
  const Frame frame(spec, 2);
  std::vector<double> counts(6), p;
  const int episodes = 20000;
  for (int seed = 0; seed < episodes; ++seed) {
    policy.reset(static_cast<std::uint64_t>(seed));
    act(policy, frame);
    ++counts[selected(policy)[0]];
  }
  const auto scores = policy.views().at(0).scores;
  CHECK(std::abs(std::accumulate(scores.begin(), scores.end(), 0.0) - 1) < 1e-5);
  double chi = 0;
  for (int i = 0; i < 6; ++i) chi += std::pow(counts[i] - episodes * scores[i], 2) / (episodes * scores[i]);
  INFO("chi^2 " << chi << " of 5 degrees");
  CHECK(chi < 5 + 4 * std::sqrt(10.0));
  CHECK(*std::ranges::max_element(scores) > 1.2 * *std::ranges::min_element(scores));
}

TEST_CASE("cross says what does not fit") {
  const auto spec = image_spec(12, 16);
  const auto fails = [&](const std::string& options, const char* message) {
    INFO(options);
    CHECK_THROWS_MATCHES(with(options, spec, 2), Error, MessageMatches(ContainsSubstring(message)));
  };
  fails("'patch': 4, 'top': 13", "policy.1.cross: option 'top' is 13, but a 12 x 16 image has only 12 patches");
  fails("'patch': 4, 'key_image': 'depth'", "unknown key_image 'depth'");
  fails("'patch': 4, 'every': 0", "option 'every'");
  fails("'patch': 4, 'bits': 8", "option 'bits' goes with ranking = \"hash\"");
  fails("'patch': 4, 'ranking': 'hash', 'bits': 0", "option 'bits'");
  fails("'patch': 4, 'kernel': 'softmax'", "kernel");
  fails("'patch': 4, 'ranking': 'sample', 'kernel': 'trig'", "kernel 'trig' cannot draw patches");
  fails("'patch': 4, 'ranking': 'sample', 'kernel': 'exp', 'pooling': 'features', 'query_weights': 'learned'",
        "learned query weights can be negative");
  fails("'patch': 4, 'kernel': 'exp', 'redraw': 5", "cross and drawn patches keep their projections throughout an episode");
  fails("'patch': 4, 'kernel': 'exp', 'brute_force': true, 'm': 3", "option 'brute_force' forms the attention matrix");
  fails("'patch': 4, 'values': 'motion'", "option 'values'");
  fails("'stride': 4", "option 'patch' is missing");
  CHECK_THROWS_MATCHES(with("'patch': 4", vector_spec(3), 2), Error, MessageMatches(ContainsSubstring("draws no images")));
}
