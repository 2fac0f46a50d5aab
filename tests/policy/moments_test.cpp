// What blocks gather over training: moments of their inputs, and what they do with those of all episodes.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "helpers.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

constexpr int inputs = 3;

std::vector<float> seen(std::uint64_t step) { return Frame(vector_spec(inputs), 10 + step).vector(); }

std::vector<float> act_on(Policy& policy, std::uint64_t step) { return act(policy, Frame(policy.observation(), 10 + step)); }

Policy normaliser(const char* more = "") {
  return Policy(config(std::string("{'kind': 'normalise', 'over': 'training'") + more + "}"), vector_spec(inputs), inputs);
}

/// Mean and variance of input `i` over the steps in [begin, end), in two passes.
std::pair<double, double> two_passes(std::uint64_t begin, std::uint64_t end, int i) {
  double mean = 0, square = 0;
  const auto count = static_cast<double>(end - begin);
  for (auto step = begin; step < end; ++step) mean += seen(step)[i] / count;
  for (auto step = begin; step < end; ++step) square += std::pow(seen(step)[i] - mean, 2) / count;
  return {mean, square};
}

}  // namespace

TEST_CASE("normalise over training gathers its inputs, and works with the totals it was given") {
  Policy policy = normaliser(", 'minimum': 1e-3, 'clip': 1.5");
  REQUIRE(policy.moments().size() == inputs);
  // Before there are totals the input passes, clipped.
  for (std::uint64_t step = 0; step < 4; ++step) {
    const auto out = act_on(policy, step);
    for (int i = 0; i < inputs; ++i) CHECK(out[i] == std::clamp(seen(step)[i], -1.5F, 1.5F));
  }
  std::vector<Moment> totals(inputs);
  std::uint64_t begin = 0;
  for (const std::uint64_t steps : {7, 1, 30}) {
    policy.reset();
    for (auto step = begin; step < begin + steps; ++step) act_on(policy, step);
    begin += steps;
    const auto episode = policy.gathered();
    for (int i = 0; i < inputs; ++i) {
      const auto [mean, variance] = two_passes(begin - steps, begin, i);
      CHECK(episode[i].count == static_cast<double>(steps));
      CHECK_THAT(episode[i].mean, WithinAbs(mean, 1e-12));
      CHECK_THAT(episode[i].squares, WithinAbs(variance * static_cast<double>(steps), 1e-10));
      totals[i].merge(episode[i]);
    }
  }
  policy.set_moments(totals);
  CHECK(policy.clone().moments().size() == inputs);
  Policy read = load_policy(save_policy(policy, Config::Map{}), "test").policy;
  CHECK(std::ranges::equal(read.moments(), totals));
  for (Policy* one : {&policy, &read})
    for (std::uint64_t step = 0; step < 8; ++step) {
      const auto out = act_on(*one, step);
      for (int i = 0; i < inputs; ++i) {
        const auto [mean, variance] = two_passes(0, begin, i);
        CHECK_THAT(out[i], WithinAbs(std::clamp((seen(step)[i] - mean) / std::sqrt(variance), -1.5, 1.5), 1e-5));
      }
    }
}

TEST_CASE("each of several blocks gathers its own inputs and takes its own totals, in a clone too") {
  // One normalises the input, the other what comes of it: totals of (mean, deviation) are those of the blocks, in their order.
  Policy policy(config("{'kind': 'sequence', 'blocks': [{'kind': 'normalise', 'over': 'training'}, {'kind': 'product', 'squares': "
                       "true, 'keep': false, 'groups': [1]}, {'kind': 'normalise', 'over': 'training'}]}"),
                vector_spec(1), 1);
  REQUIRE(policy.moments().size() == 2);
  const std::vector<float> first{3}, second{5};
  policy.act({{}, first});
  policy.act({{}, second});
  CHECK(policy.gathered()[0].mean == 4);
  CHECK(policy.gathered()[1].mean == (9 + 25) / 2);
  policy.set_moments(std::vector<Moment>{{10, 1, 40}, {10, -1, 90}});  // deviations of 2 and 3
  Policy copy = policy.clone();
  CHECK(std::ranges::equal(copy.moments(), policy.moments()));
  for (Policy* one : {&policy, &copy}) CHECK_THAT(one->act({{}, second})[0], WithinAbs((4.0 + 1) / 3, 1e-6));
}

TEST_CASE("a value that is not finite is left out of what normalise gathers") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const char* over : {"training", "episode"}) {
    Policy policy(config(std::string("{'kind': 'normalise', 'over': '") + over + "'}"), vector_spec(inputs), inputs);
    const auto out_of = [&policy](std::vector<float> vector) {
      const auto out = policy.act({{}, vector});
      return std::vector<float>(out.begin(), out.end());
    };
    out_of({1, 2, 3});
    CHECK(out_of({infinity, 2, -infinity}) == std::vector<float>{10, over[0] == 't' ? 2.F : 0.F, -10});
    for (const float value : out_of({1, 2, 3})) CHECK(std::isfinite(value));
    for (const Moment& moment : policy.gathered()) {
      CHECK(std::isfinite(moment.mean));
      CHECK(std::isfinite(moment.squares));
    }
    if (over[0] == 't') CHECK(policy.gathered()[0].count == 2);
  }
}

TEST_CASE("moments merged from parts are those of the whole, however large their mean") {
  for (const double offset : {0.0, 1e8}) {
    Moment whole, merged;
    Random random(4);
    for (const int size : {1, 0, 5, 200}) {
      Moment part;
      for (int i = 0; i < size; ++i) {
        const double value = offset + random.normal();
        part.add(value);
        whole.add(value);
      }
      merged.merge(part);
    }
    CHECK(merged.count == whole.count);
    CHECK_THAT(merged.mean, WithinRel(whole.mean, 1e-14));
    CHECK_THAT(merged.squares, WithinRel(whole.squares, 1e-6));
  }
}

TEST_CASE("moments of another number, or not finite, are refused; policies without such blocks have none") {
  Policy policy = normaliser();
  CHECK_THROWS_WITH(policy.set_moments(std::vector<Moment>(2)), ContainsSubstring("got 2 moments, its blocks gather 3"));
  std::vector<Moment> bad(inputs);
  bad[1].squares = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH(policy.set_moments(bad), ContainsSubstring("moment 2") && ContainsSubstring("finite"));
  for (const Moment& negative : {Moment{-1, 0, 1}, Moment{1, 0, -1}}) {
    bad[1] = negative;
    CHECK_THROWS_WITH(policy.set_moments(bad), ContainsSubstring("moment 2") && ContainsSubstring("not negative"));
  }
  Policy episode(config("{'kind': 'normalise'}"), vector_spec(inputs), inputs);
  CHECK(episode.moments().empty());
  CHECK(save_policy(episode, Config::Map{}).find("moments") == std::string::npos);
}
