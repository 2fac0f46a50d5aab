#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "helpers.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;

namespace {

const std::string eye =
    "{'kind': 'sequence', 'blocks': [{'kind': 'concat', 'blocks': [{'kind': 'rank', 'patch': 4, 'stride': 3, 'd': 2, 'top': 3}, "
    "{'kind': 'observation'}]}, {'kind': 'linear', 'units': 3, 'activation': 'tanh'}]}";

ObservationSpec seen() { return image_spec(13, 22, 3, 2); }

/// The same picture flipped left to right, and the vector's second number with its sign changed.
Frame flipped(const Frame& frame, const ObservationSpec& spec) {
  Frame other(spec, 0);
  const auto& shape = spec.images[0].shape;
  for (int row = 0; row < shape.height; ++row)
    for (int column = 0; column < shape.width; ++column)
      for (int channel = 0; channel < shape.channels; ++channel) {
        const auto at = [&](int x) { return static_cast<std::size_t>((row * shape.width + x) * shape.channels + channel); };
        other.image().bytes()[at(column)] = frame.image().bytes()[at(shape.width - 1 - column)];
      }
  other.vector() = {frame.vector()[0], -frame.vector()[1]};
  return other;
}

}  // namespace

TEST_CASE("a mirror hands over the mean of a block's two views, and half the difference of odd numbers") {
  Policy plain(config(eye), seen(), 3);
  Policy mirror(config("{'kind': 'mirror', 'block': " + eye + ", 'odd': [2], 'odd_inputs': [2]}"), seen(), 3);
  REQUIRE(mirror.size() == plain.size());
  randomise(plain, 4);
  randomise(mirror, 4);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Frame frame(seen(), seed), other = flipped(frame, seen());
    const auto here = act(plain, frame), there = act(plain, other);
    const auto out = act(mirror, frame), back = act(mirror, other);
    for (std::size_t i = 0; i < 3; ++i) {
      const float sign = i == 1 ? -1.0F : 1.0F;
      CHECK_THAT(out[i], WithinAbs((here[i] + sign * there[i]) / 2, 1e-6));
      CHECK(back[i] == sign * out[i]);
    }
  }
}

TEST_CASE("what a mirror shows of its block is of the world as it is") {
  Policy plain(config(eye), seen(), 3), mirror(config("{'kind': 'mirror', 'block': " + eye + "}"), seen(), 3);
  randomise(plain, 5);
  randomise(mirror, 5);
  const Frame frame(seen(), 1);
  act(plain, frame);
  act(mirror, frame);
  REQUIRE(mirror.views().size() == 1);
  const auto expected = plain.views()[0].selected, shown = mirror.views()[0].selected;
  CHECK(std::vector<int>(shown.begin(), shown.end()) == std::vector<int>(expected.begin(), expected.end()));
}

TEST_CASE("a mirror flips pictures of depths, too") {
  const ObservationSpec spec{{{"depth", {3, 5, 1, PixelType::float32}}}, 0};
  Policy policy(config("{'kind': 'mirror', 'block': {'kind': 'sequence', 'blocks': [{'kind': 'rank', 'patch': 1, 'top': 15, "
                       "'masked': true, 'values': 'content', 'pixel_offset': 0}]}, 'odd': [1, 5, 6, 10, 11, 15]}"),
                spec, 15);
  const Frame frame(spec, 3);
  const auto out = act(policy, frame);
  const auto depth = frame.image().floats();
  for (std::size_t row = 0; row < 3; ++row) {
    CHECK_THAT(out[5 * row], WithinAbs((depth[5 * row] - depth[5 * row + 4]) / 2, 1e-6));
    CHECK_THAT(out[5 * row + 1], WithinAbs((depth[5 * row + 1] + depth[5 * row + 3]) / 2, 1e-6));
    CHECK_THAT(out[5 * row + 2], WithinAbs(depth[5 * row + 2], 1e-6));
  }
}

TEST_CASE("a mirror in a mirror is the mean over both, and the same mirror twice is that mirror") {
  const auto mirror_of = [](const std::string& block, const std::string& odd) {
    return "{'kind': 'mirror', 'block': " + block + ", 'odd': " + odd + ", 'odd_inputs': [2]}";
  };
  const std::string inner = mirror_of(eye, "[2]");
  Policy once(config(inner), seen(), 3), twice(config(mirror_of(inner, "[2]")), seen(), 3),
      mixed(config(mirror_of(inner, "[1]")), seen(), 3);
  for (Policy* policy : {&once, &twice, &mixed}) randomise(*policy, 6);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Frame frame(seen(), seed);
    const auto expected = act(once, frame), out = act(twice, frame), none = act(mixed, frame);
    for (std::size_t i = 0; i < 3; ++i) CHECK_THAT(out[i], WithinAbs(expected[i], 1e-6));
    // What is even inside has no odd part, and the other way round.
    CHECK(none[0] == 0);
    CHECK(none[1] == 0);
    CHECK_THAT(none[2], WithinAbs(expected[2], 1e-6));
    const auto chosen = once.views().at(0).selected, shown = twice.views().at(0).selected;
    CHECK(std::vector<int>(shown.begin(), shown.end()) == std::vector<int>(chosen.begin(), chosen.end()));
  }
}

TEST_CASE("a mirror refuses what it cannot ask twice, and numbers that are not there") {
  const auto made = [](const std::string& block, const std::string& more = "") {
    return Policy(config("{'kind': 'mirror', 'block': " + block + more + "}"), image_spec(8, 8, 3, 2), 2);
  };
  const auto refused = [&](const std::string& block, const std::string& why) {
    CHECK_THROWS_WITH(made(block),
                      ContainsSubstring(why + ", and a mirror asks its block twice a step; put it outside the mirror"));
  };
  const std::string linear = "{'kind': 'linear', 'units': 2}", last = "{'kind': 'linear'}";
  const auto chain = [](const std::string& one, const std::string& other) {
    return "{'kind': 'sequence', 'blocks': [" + one + ", " + other + "]}";
  };
  refused(chain("{'kind': 'clock', 'dt': 0.1}", last), "'1.sequence.1.clock' counts decisions");
  refused(chain("{'kind': 'cross', 'patch': 4, 'top': 1}", last), "'1.sequence.1.cross' counts decisions");
  refused("{'kind': 'hierarchy', 'high': {'kind': 'linear'}, 'low': {'kind': 'linear'}}", "'1.hierarchy' counts decisions");
  refused(chain("{'kind': 'rank', 'patch': 4, 'top': 1, 'kernel': 'exp', 'selection': 'sample'}", last),
          "'1.sequence.1.rank' draws its patches anew each time (selection = \"sample\")");
  refused("{'kind': 'attention_agent', 'rank': {'patch': 4, 'top': 1}}", "lstm' remembers what it was shown before");
  refused("{'kind': 'mirror', 'block': {'kind': 'lstm', 'units': 2}}", "lstm' remembers what it was shown before");
  refused("{'kind': 'mirror', 'block': {'kind': 'normalise'}}", "normalise' remembers what it was shown before");
  CHECK_NOTHROW(made("{'kind': 'mirror', 'block': " + linear + "}"));
  CHECK_NOTHROW(made(chain("{'kind': 'product'}", last)));
  for (const std::string block :
       {"{'kind': 'lstm', 'units': 2}", "{'kind': 'sequence', 'blocks': [{'kind': 'linear', 'units': 1}, {'kind': 'delta'}]}",
        "{'kind': 'normalise'}", "{'kind': 'rank', 'patch': 4, 'top': 1, 'values': 'position', 'contrast': 'frame'}",
        "{'kind': 'sequence', 'blocks': [{'kind': 'rank', 'patch': 4, 'top': 1, 'motion': true}, {'kind': 'linear', 'units': 2}]}"})
    CHECK_THROWS_WITH(made(block), ContainsSubstring("remembers what it was shown before, and a mirror asks its block twice"));
  for (const std::string kind : {"'rank', 'top': 1, 'values': 'position'", "'trans', 'tokens': 1"}) {
    const auto drawn = [&](const std::string& redraw) {
      return "{'kind': 'sequence', 'blocks': [{'kind': " + kind + ", 'patch': 4, 'kernel': 'exp', 'm': 3, 'redraw': " + redraw +
             "}, {'kind': 'linear', 'units': 2}]}";
    };
    CHECK_THROWS_WITH(made(drawn("3")),
                      ContainsSubstring("counts frames (redraw = 3; \"episode\" counts none), and a mirror asks its block twice"));
    CHECK_NOTHROW(made(drawn("'episode'")));
  }
  CHECK_NOTHROW(made("{'kind': 'normalise', 'over': 'training'}"));
  CHECK_THROWS_WITH(made("{'kind': 'linear', 'units': 2}", ", 'odd': [3]"),
                    ContainsSubstring("option 'odd' takes numbers of what the block hands over, 1 to 2, got 3"));
  CHECK_THROWS_WITH(made("{'kind': 'linear', 'units': 2}", ", 'odd_inputs': [0]"), ContainsSubstring("1 to 2, got 0"));
  CHECK_THROWS_WITH(made("3"), ContainsSubstring("option 'block' must be a block"));
}
