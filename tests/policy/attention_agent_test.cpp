#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "helpers.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

TEST_CASE("attention_agent is rank by softmax, an LSTM and a linear layer, with AttentionAgent's settings") {
  Policy preset(config("{'kind': 'attention_agent'}"), image_spec(96, 96), 3);
  Policy written(config("{'kind': 'sequence', 'blocks': ["
                        "{'kind': 'rank', 'patch': 7, 'stride': 4, 'd': 4, 'top': 10, 'bias': true, 'pixel_offset': 0,"
                        " 'kernel': 'softmax', 'scale': 'c', 'centre': 'pixel', 'position_range': 'unit'},"
                        "{'kind': 'lstm', 'units': 16}, {'kind': 'linear', 'activation': 'tanh'}]}"),
                 image_spec(96, 96), 3);
  REQUIRE(preset.size() == 3667);
  REQUIRE(written.size() == 3667);
  randomise(preset, 1, 0.3);
  written.set_parameters(preset.parameters());
  for (std::uint64_t step = 0; step < 5; ++step) {
    const Frame frame(preset.observation(), step);
    CHECK(act(preset, frame) == act(written, frame));
  }
}

TEST_CASE("another kernel, and other sizes, can take the place of AttentionAgent's") {
  const Policy hybrid(config("{'kind': 'attention_agent', 'rank': {'kernel': 'hybrid', 'm': 10, 'r': 5}}"), image_spec(96, 96), 3);
  CHECK(hybrid.size() == 3667);
  CHECK(hybrid.summary().find("kernel hybrid") != std::string::npos);
  const Policy relu(config("{'kind': 'attention_agent', 'lstm_units': 8, 'rank': {'kernel': 'relu', 'bias': false, 'top': 5}}"),
                    image_spec(96, 96), 2);
  CHECK(relu.size() == 2 * 4 * 147 + 4 * 8 * (10 + 8 + 2) + 2 * (8 + 1));
}

TEST_CASE("AttentionAgent's scale of softmax is a default like the others") {
  const auto scale = [](const std::string& rank) {
    const Policy policy(config("{'kind': 'attention_agent', 'rank': {" + rank + "}}"), image_spec(96, 96), 3);
    const Config* own = policy.architecture().find("rank")->find("scale");
    return own ? *own : Config();
  };
  CHECK(scale("") == Config("c"));
  CHECK(scale("'scale': 'd'") == Config("d"));
  CHECK(scale("'kernel': 'exp'") == Config("d"));
}

TEST_CASE("wrong options of attention_agent are errors that name them") {
  const auto build = [](const std::string& options) {
    Policy(config("{'kind': 'attention_agent', " + options + "}"), image_spec(96, 96), 3);
  };
  CHECK_THROWS_MATCHES(build("'rank': 3"), Error, MessageMatches(ContainsSubstring("option 'rank' must be a table")));
  CHECK_THROWS_MATCHES(build("'rank': {'stryde': 3}"), Error,
                       MessageMatches(ContainsSubstring("1.rank") && ContainsSubstring("did you mean 'stride'?")));
  CHECK_THROWS_MATCHES(build("'lstm_units': 0"), Error, MessageMatches(ContainsSubstring("lstm_units")));
  CHECK_THROWS_MATCHES(build("'patch': 7"), Error, MessageMatches(ContainsSubstring("unknown option 'patch'")));
}

TEST_CASE("centre = pixel gives the index of a patch's middle pixel, which odd patches have half a pixel before their centre") {
  for (const int patch : {3, 4}) {
    const std::string options =
        "{'kind': 'rank', 'patch': " + std::to_string(patch) + ", 'top': 4, 'position_range': 'unit', 'centre': '";
    Policy exact(config(options + "exact'}"), image_spec(12, 24), 8), pixel(config(options + "pixel'}"), image_spec(12, 24), 8);
    randomise(exact, 3);
    pixel.set_parameters(exact.parameters());
    const Frame frame(exact.observation(), 4);
    const auto centres = act(exact, frame), indices = act(pixel, frame);
    for (std::size_t i = 0; i < 8; ++i) {
      const float size = i % 2 == 0 ? 12 : 24, index = indices[i] * size;
      CHECK(std::abs(index - std::round(index)) < 1e-5F);
      CHECK(std::abs(centres[i] * size - index - (patch == 3 ? 0.5F : 0.0F)) < 1e-5F);
    }
  }
}
