// A policy brought to images of another size: what belongs to patches is resampled, everything else stays.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "helpers.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::WithinAbs;

namespace {

using Picture = std::function<double(double row, double column)>;

/// A frame that shows `picture`, a function of the place in [0, 1] x [0, 1], in float pixels.
ObservationSpec float_spec(int height, int width) { return {{{"pixels", {height, width, 1, PixelType::float32}}}, 0}; }

std::vector<float> act_on(Policy& policy, const Picture& picture) {
  const ImageShape shape = policy.observation().images.front().shape;
  Frame frame(policy.observation(), 0);
  for (int y = 0; y < shape.height; ++y)
    for (int x = 0; x < shape.width; ++x)
      frame.image().floats()[static_cast<std::size_t>(y * shape.width + x)] =
          static_cast<float>(picture((y + 0.5) / shape.height, (x + 0.5) / shape.width));
  policy.reset();
  return act(policy, frame);
}

double smooth(double row, double column) { return 0.5 + 0.3 * std::sin(2.5 * row + 0.4) * std::cos(2 * column - 0.3); }

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(double{a[i]} - b[i]));
  return largest;
}

double largest(const std::vector<float>& values) {
  double most = 0;
  for (const float value : values) most = std::max(most, std::abs(double{value}));
  return most;
}

const char* tokens = "{'kind': 'trans', 'patch': 4, 'd': 3, 'tokens': 4, 'dv': 2, 'kernel': 'relu'}";

}  // namespace

TEST_CASE("at equal size every bit of a resized policy stays, whatever its blocks") {
  for (const auto& entry : block_catalog()) {
    CAPTURE(entry.name);
    if (entry.name == "script") continue;  // built by the script layer
    Config architecture = parse_json(entry.example, "example");
    architecture["kind"] = entry.name;
    const Config chain = Config::Map{
        {"kind", "sequence"}, {"blocks", Config::List{architecture, Config::Map{{"kind", "linear"}, {"activation", "tanh"}}}}};
    Policy policy(chain, image_spec(24, 32, 3, 3), 2);
    randomise(policy, 5);
    std::vector<Moment> moments(policy.moments().size(), Moment{4, 0.5, 2});
    policy.set_moments(moments);
    Policy same = resized(policy, policy.observation());
    CHECK(std::ranges::equal(same.parameters(), policy.parameters()));
    CHECK(std::ranges::equal(same.moments(), policy.moments()));
    for (std::uint64_t seed = 1; seed < 4; ++seed) {
      const Frame frame(policy.observation(), seed);
      CHECK(act(same, frame) == act(policy, frame));
    }
  }
}

TEST_CASE("the tokens of a constant image keep their value at any size, those of a smooth one nearly") {
  Policy policy(config(tokens), float_spec(32, 48), 8);
  policy.initialise(3);
  const auto grey = [](double, double) { return 0.3; };
  const auto flat = act_on(policy, grey), curved = act_on(policy, smooth);
  REQUIRE(largest(flat) > 0.05);
  for (const auto& [height, width] : std::vector<std::pair<int, int>>{{64, 96}, {96, 144}, {48, 48}, {20, 80}, {16, 24}}) {
    CAPTURE(height, width);
    Policy other = resized(policy, float_spec(height, width));
    // The same but for rounding: R has rows that sum to 1.
    CHECK(largest_difference(act_on(other, grey), flat) < 1e-5 * largest(flat));
  }
  // A patch then shows half of the picture's slope, which is what is left of a difference.
  Policy twice = resized(policy, float_spec(64, 96));
  CHECK(largest_difference(act_on(twice, smooth), curved) < 0.1 * largest(curved));
  // Without a scale, or with one for properties of a patch, tokens would be 2 and 4 times as large.
  std::vector<float> unscaled(twice.parameters().begin(), twice.parameters().end());
  for (const auto& part : twice.layout().slices())
    if (part.name.ends_with("compression"))
      for (std::size_t i = 0; i < part.size; ++i) unscaled[part.offset + i] *= 2;
  twice.set_parameters(unscaled);
  CHECK(largest_difference(act_on(twice, smooth), curved) > 0.5 * largest(curved));
}

TEST_CASE("a learned P at twice the size is its bilinear interpolation over two") {
  Policy policy(config("{'kind': 'trans', 'patch': 4, 'd': 1, 'tokens': 1, 'dv': 1}"), image_spec(16, 16, 1), 1);
  randomise(policy, 8);
  const auto small = slice(policy, "policy.compression");
  Policy twice = resized(policy, image_spec(32, 32, 1));
  const auto large = slice(twice, "policy.compression");
  REQUIRE(large.size() == 64);
  const auto at = [&](int row, int column) { return small[static_cast<std::size_t>(row * 4 + column)]; };
  // Between the borders: new patch (2i + 1 or 2i + 2) lies a quarter or three quarters of the way from old patch i to i + 1.
  for (int row = 1; row < 7; ++row)
    for (int column = 1; column < 7; ++column) {
      const int i = (row - 1) / 2, j = (column - 1) / 2;
      const double a = row % 2 ? 0.25 : 0.75, b = column % 2 ? 0.25 : 0.75;
      // Rows of R at the border have lost a part of their triangle: 7/8, which the others make up for.
      const auto share = [](int index) { return index == 0 || index == 3 ? 8.0 / 7 : 1.0; };
      double expected = 0;
      for (const int down : {0, 1})
        for (const int right : {0, 1})
          expected += (down ? a : 1 - a) * (right ? b : 1 - b) * share(i + down) * share(j + right) * at(i + down, j + right);
      CHECK_THAT(large[static_cast<std::size_t>(row * 8 + column)], WithinAbs(expected / 2, 1e-6));
    }
  // No weight is lost: sqrt(L') P' sums up to what sqrt(L) P does, in the sum over all patches.
  double before = 0, after = 0;
  for (const double value : small) before += value / 4;
  for (const double value : large) after += value / 8;
  CHECK_THAT(after, WithinAbs(before, 1e-5));
}

TEST_CASE("a learned encoding and learned weights of queries are interpolated, and averaged for a smaller image") {
  Policy policy(config("{'kind': 'sequence', 'blocks': [{'kind': 'rank', 'patch': 4, 'd': 1, 'top': 1, 'encoding': 'learned', "
                       "'query_weights': 'learned'}, {'kind': 'linear'}]}"),
                image_spec(16, 24, 1), 1);
  std::vector<float> values(policy.size(), 0.25F);
  const auto ramp = [&](const Policy& owner, int rows, int columns, auto check) {
    for (const auto& part : owner.layout().slices()) {
      const std::size_t each = part.size / static_cast<std::size_t>(rows * columns);
      if (!part.name.ends_with("encoding") && !part.name.ends_with("query_weights")) continue;
      for (std::size_t i = 0; i < part.size; ++i) {
        const auto patch = static_cast<int>(i / each);
        // Linear in the place of the patch's centre.
        check(part.offset + i, patch / columns, patch % columns,
              2.0 * (patch / columns + 0.5) / rows - (patch % columns + 0.5) / columns);
      }
    }
  };
  ramp(policy, 4, 6, [&](std::size_t index, int, int, double value) { values[index] = static_cast<float>(value); });
  policy.set_parameters(values);
  Policy twice = resized(policy, image_spec(32, 48, 1));
  ramp(twice, 8, 12, [&](std::size_t index, int row, int column, double value) {
    if (row > 0 && row < 7 && column > 0 && column < 11) CHECK_THAT(twice.parameters()[index], WithinAbs(value, 1e-5));
  });
  // Width by itself: rows stay, columns are interpolated.
  const Policy wide = resized(policy, image_spec(16, 48, 1));
  ramp(wide, 4, 12, [&](std::size_t index, int, int column, double value) {
    if (column > 0 && column < 11) CHECK_THAT(wide.parameters()[index], WithinAbs(value, 1e-5));
  });
  Policy half = resized(policy, image_spec(8, 12, 1));
  for (const auto& part : half.layout().slices())
    if (part.name.ends_with("query_weights")) {
      REQUIRE(part.size == 6);
      // Of the ramp's rows 1/4, 3/4, 5/4, 7/4 the upper triangle takes (3, 3, 1) / 7, the lower one (1, 3, 3) / 7: 17/28 and 39/28.
      CHECK_THAT(half.parameters()[part.offset + 1] - half.parameters()[part.offset + 4], WithinAbs(-22.0 / 28, 1e-5));
    }
  // Constant tables stay constant everywhere.
  std::vector<float> constant(policy.size(), 0.25F);
  policy.set_parameters(constant);
  for (const auto& spec : {image_spec(32, 48, 1), image_spec(12, 20, 1)}) {
    const Policy other = resized(policy, spec);
    for (const float value : other.parameters()) CHECK_THAT(value, WithinAbs(0.25, 1e-6));
  }
}

TEST_CASE("tables of cross follow the grids that they belong to") {
  const Policy policy(
      config("{'kind': 'sequence', 'blocks': [{'kind': 'cross', 'patch': 8, 'key_patch': 4, 'key_stride': 2, 'top': 1, 'encoding': "
             "'learned', 'query_weights': 'learned'}, {'kind': 'linear'}]}"),
      image_spec(16, 32, 1), 1);
  Policy constant = policy.clone();
  constant.set_parameters(std::vector<float>(policy.size(), 0.25F));
  const Policy twice = resized(constant, image_spec(32, 64, 1));
  CHECK(slice(twice, "1.cross.query_weights").size() == 4 * 8);
  CHECK(slice(twice, "1.cross.encoding").size() == 4 * 8 * 64);
  CHECK(slice(twice, "1.cross.keys.encoding").size() == 15 * 31 * 16);
  for (const float value : twice.parameters()) CHECK_THAT(value, WithinAbs(0.25, 1e-6));
}

TEST_CASE("pooling shows a policy the small image again, with the same parameters and bits") {
  const char* architecture =
      "{'kind': 'sequence', 'blocks': [{'kind': 'concat', 'blocks': [{'kind': 'trans', 'patch': 4, 'd': 3, "
      "'tokens': 4, 'dv': 2}, {'kind': 'rank', 'patch': 4, 'top': 3}]}, {'kind': 'linear'}]}";
  Policy policy(config(architecture), image_spec(24, 32), 2);
  randomise(policy, 4);
  Policy large = resized(policy, image_spec(72, 96), Fit::pool);
  CHECK(std::ranges::equal(large.parameters(), policy.parameters()));
  const Frame small(policy.observation(), 6);
  Frame enlarged(large.observation(), 0);
  for (std::size_t y = 0; y < 72; ++y)
    for (std::size_t x = 0; x < 96; ++x)
      for (std::size_t c = 0; c < 3; ++c)
        enlarged.image().bytes()[(y * 96 + x) * 3 + c] = small.image().bytes()[(y / 3 * 32 + x / 3) * 3 + c];
  CHECK(act(large, enlarged) == act(policy, small));
  // Once more, in two steps.
  Policy twice = resized(resized(policy, image_spec(48, 64), Fit::pool), image_spec(144, 192), Fit::pool);
  Policy whole = resized(policy, image_spec(144, 192), Fit::pool);
  CHECK(twice.architecture() == whole.architecture());
  CHECK_THROWS_WITH(resized(policy, image_spec(36, 48), Fit::pool),
                    ContainsSubstring("no whole multiple of the 24 x 32") &&
                        ContainsSubstring("such as 24 x 32 or 48 x 64, or fit \"resample\""));
  CHECK_THROWS_WITH(resized(policy, image_spec(48, 96), Fit::pool), ContainsSubstring("no whole multiple"));
  const Policy cross(config("{'kind': 'sequence', 'blocks': [{'kind': 'cross', 'patch': 4, 'top': 2}, {'kind': 'linear'}]}"),
                     image_spec(24, 32), 2);
  CHECK_THROWS_WITH(resized(cross, image_spec(48, 64), Fit::pool),
                    ContainsSubstring("block cross cannot pool") && ContainsSubstring(", or fit \"resample\""));
}

TEST_CASE("where pooling cannot bring a policy, resampling is offered only if it can") {
  const Policy flat(config("{'kind': 'sequence', 'blocks': [{'kind': 'cnn', 'layers': [{'channels': 2, 'stride': 2}]}, "
                           "{'kind': 'linear'}]}"),
                    image_spec(24, 32), 2);
  CHECK_THROWS_WITH(resized(flat, image_spec(60, 80)), ContainsSubstring("block '2.linear' does not fit"));
  CHECK_THROWS_WITH(resized(flat, image_spec(60, 80), Fit::pool),
                    EndsWith("take a whole multiple of it, such as 48 x 64 or 72 x 96"));
  for (const auto& [height, width] : {std::pair(48, 64), std::pair(72, 96)})
    CHECK_NOTHROW(resized(flat, image_spec(height, width), Fit::pool));
  CHECK_THROWS_WITH(resized(flat, image_spec(12, 16), Fit::pool), EndsWith("such as 24 x 32 or 48 x 64"));
  const Policy masked(
      config("{'kind': 'sequence', 'blocks': [{'kind': 'concat', 'blocks': [{'kind': 'cross', 'patch': 4, 'top': 2}, "
             "{'kind': 'rank', 'patch': 4, 'top': 2, 'masked': true}]}, {'kind': 'linear'}]}"),
      image_spec(16, 16), 2);
  CHECK_THROWS_WITH(resized(masked, image_spec(32, 32), Fit::pool),
                    EndsWith("cannot pool pixels; leave its image at the size that the policy was built for"));
}

TEST_CASE("pooling takes each image by its own factor, and one that stays asks nothing of its block") {
  const auto spec = [](int factor) {
    return ObservationSpec{{{"pixels", {32 * factor, 32 * factor, 3, PixelType::uint8}}, {"depth", {8, 12, 1, PixelType::float32}}},
                           0};
  };
  Policy policy(config("{'kind': 'sequence', 'blocks': [{'kind': 'concat', 'blocks': [{'kind': 'rank', 'patch': 4, 'top': 3}, "
                       "{'kind': 'rank', 'image': 'depth', 'patch': 2, 'top': 2}, "
                       "{'kind': 'cross', 'image': 'depth', 'patch': 2, 'top': 2}]}, {'kind': 'linear'}]}"),
                spec(1), 2);
  randomise(policy, 7);
  Policy large = resized(policy, spec(2), Fit::pool);
  std::vector<std::uint8_t> small_pixels(32 * 32 * 3), large_pixels(64 * 64 * 3);
  std::vector<float> depth(8 * 12);
  Random random(2);
  for (auto& value : small_pixels) value = static_cast<std::uint8_t>(random.below(256));
  for (auto& value : depth) value = static_cast<float>(random.uniform());
  for (std::size_t y = 0; y < 64; ++y)
    for (std::size_t x = 0; x < 64; ++x)
      for (std::size_t c = 0; c < 3; ++c) large_pixels[(y * 64 + x) * 3 + c] = small_pixels[(y / 2 * 32 + x / 2) * 3 + c];
  const auto act_on_both = [&](Policy& actor, const std::vector<std::uint8_t>& pixels) {
    const auto& images = actor.observation().images;
    const std::vector<ImageView> views{{images[0].shape, pixels.data()}, {images[1].shape, depth.data()}};
    actor.reset();
    const auto action = actor.act({views, {}});
    return std::vector<float>(action.begin(), action.end());
  };
  CHECK(act_on_both(large, large_pixels) == act_on_both(policy, small_pixels));
}

TEST_CASE("what cannot follow to another size is refused by the name of its block") {
  const Policy masked(config("{'kind': 'sequence', 'blocks': [{'kind': 'rank', 'patch': 4, 'top': 2, 'masked': true}, "
                             "{'kind': 'linear'}]}"),
                      image_spec(16, 16), 2);
  CHECK_THROWS_WITH(
      resized(masked, image_spec(32, 32)),
      ContainsSubstring(
          "block '2.linear' does not fit: its parameters '2.linear.weight' (2 x 128) are '2.linear.weight' (2 x 32)") &&
          ContainsSubstring("it sees 32 x 32, the other 16 x 16"));
  const Policy top(config("{'kind': 'sequence', 'blocks': [{'kind': 'rank', 'patch': 4, 'top': 9}, {'kind': 'linear'}]}"),
                   image_spec(16, 16), 2);
  CHECK_THROWS_WITH(resized(top, image_spec(8, 8)), ContainsSubstring("1.rank") && ContainsSubstring("'top' is 9"));
  CHECK_THROWS_WITH(resized(top, image_spec(16, 16, 1)), ContainsSubstring("other image sizes alone"));
  CHECK_THROWS_WITH(resized(top, image_spec(16, 16, 3, 2)), ContainsSubstring("other image sizes alone"));
  CHECK_THROWS_WITH(resized(top, vector_spec(2)), ContainsSubstring("other image sizes alone"));
}

TEST_CASE("a random P is of the patches that it was drawn for: other ones are refused, pooled pixels are not") {
  const std::string drawn = "{'kind': 'trans', 'patch': 4, 'd': 3, 'tokens': 2, 'dv': 2, 'heads': 2, 'compression': 'random'}";
  for (const std::string& blocks :
       {drawn,
        "{'kind': 'concat', 'blocks': [{'kind': 'rank', 'patch': 4, 'top': 2}, {'kind': 'trans', 'patch': 4, 'd': 3, "
        "'tokens': 2}, " +
            drawn + "]}"}) {
    CAPTURE(blocks);
    const Policy policy(config("{'kind': 'sequence', 'blocks': [" + blocks + ", {'kind': 'linear'}]}"), image_spec(16, 32), 2);
    // As many patches, but in other places, are other ones, too.
    for (const auto& [size, patches] :
         {std::pair(image_spec(32, 64), "8 x 16"), std::pair(image_spec(8, 16), "2 x 4"), std::pair(image_spec(32, 16), "8 x 4")})
      CHECK_THROWS_WITH(resized(policy, size),
                        ContainsSubstring("trans' does not fit: its random P was drawn for 4 x 8 patches and would be another one "
                                          "for " +
                                          std::string(patches) + "; pool the pixels (fit \"pool\""));
    CHECK_THROWS_WITH(resized(policy, image_spec(24, 48), Fit::pool), EndsWith("such as 16 x 32 or 32 x 64"));
    CHECK_NOTHROW(resized(policy, image_spec(32, 64), Fit::pool));
    // Less than a patch more is no other patch.
    CHECK_NOTHROW(resized(policy, image_spec(16, 34)));
  }
}

TEST_CASE("what two observations differ in is told in words") {
  const auto seen = image_spec(16, 16);
  CHECK(observation_difference(seen, seen).empty());
  CHECK(observation_difference(image_spec(8, 32), seen, ImageSizes::any).empty());
  CHECK(observation_difference(image_spec(8, 32), seen) == "the image 'pixels' of 8 x 32 x 3 uint8 instead of 16 x 16 x 3 uint8");
  CHECK(observation_difference(image_spec(8, 32, 1), seen, ImageSizes::any) ==
        "the image 'pixels' of 8 x 32 x 1 uint8 instead of 16 x 16 x 3 uint8");
  CHECK(observation_difference(image_spec(16, 16, 3, 5), seen) == "a vector of 5 values instead of none");
  CHECK(observation_difference(seen, image_spec(16, 16, 3, 1)) == "no vector instead of one of 1 value");
  CHECK(observation_difference(vector_spec(2), seen) == "0 images instead of 1 image, a vector of 2 values instead of none");
  auto renamed = seen;
  renamed.images[0].name = "eye";
  CHECK(observation_difference(renamed, seen) == "the image 'eye' instead of 'pixels'");
}

TEST_CASE("parameters are carried to the same blocks alone") {
  const auto made = [](const char* blocks) {
    return Policy(config(std::string("{'kind': 'sequence', 'blocks': [") + blocks + "]}"), vector_spec(3), 2);
  };
  const Policy from = made("{'kind': 'lstm', 'units': 4}, {'kind': 'linear'}");
  const auto refusal = [&](const char* blocks) {
    try {
      carried_parameters(from, from.parameters(), made(blocks));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  CHECK(refusal("{'kind': 'lstm', 'units': 4}, {'kind': 'linear', 'activation': 'tanh'}") == "none");
  CHECK_THAT(refusal("{'kind': 'lstm', 'units': 5}, {'kind': 'linear'}"), ContainsSubstring("block '1.lstm' does not fit"));
  CHECK_THAT(refusal("{'kind': 'rnn', 'units': 4}, {'kind': 'linear'}"), ContainsSubstring("block '1.rnn' does not fit"));
  CHECK_THAT(refusal("{'kind': 'lstm', 'units': 4}, {'kind': 'linear', 'units': 3}, {'kind': 'linear'}"),
             ContainsSubstring("block '2.linear' does not fit"));
  CHECK_THROWS_WITH(carried_parameters(from, from.parameters().first(3), from), ContainsSubstring("got 3 parameters"));
  // Other numbers of tables over patches do not fit, however many patches there are.
  const auto rows = [](int count, int width) {
    return Policy(config(text("{'kind': 'sequence', 'blocks': [{'kind': 'trans', 'patch': 4, 'd': 3, 'tokens': ", count,
                              ", 'dv': 2}, {'kind': 'linear'}]}")),
                  image_spec(16, width), 1);
  };
  for (const int width : {16, 32}) {
    const Policy four = rows(4, 16), five = rows(5, width);
    CHECK_THROWS_WITH(carried_parameters(four, four.parameters(), five), ContainsSubstring("1.trans.compression"));
  }
}
