#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "helpers.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;

namespace {

/// What the last of `frames` shows against the one before, or against the mean of all before: value by value in double.
Frame contrasted(const std::vector<Frame>& frames, const std::string& against) {
  Frame out(image_spec(24, 28, 3, 2), 0);
  out.vector() = frames.back().vector();
  const std::size_t last = frames.size() - 1, first = against == "episode" || last == 0 ? 0 : last - 1;
  for (std::size_t i = 0; i < out.image().bytes().size(); ++i) {
    double before = 0;
    for (std::size_t f = first; f < last; ++f) before += frames[f].image().bytes()[i] / static_cast<double>(last - first);
    const double change = last == 0 ? 0 : frames[last].image().bytes()[i] - std::floor(before + .5 + 1e-9);
    out.image().bytes()[i] = static_cast<std::uint8_t>(std::clamp(128 + change, 0., 255.));
  }
  return out;
}

std::string policy_of(const std::string& block, const std::string& more) {
  return "{'kind': 'sequence', 'blocks': [{" + block + more + "}, {'kind': 'linear'}]}";
}

}  // namespace

TEST_CASE("a block with contrast acts as one that is shown what changed") {
  for (const std::string against : {"frame", "episode"}) {
    for (const std::string block :
         {"'kind': 'rank', 'patch': 4, 'd': 4, 'heads': 2, 'top': 3, 'values': ['position', 'centroid', 'content']",
          "'kind': 'trans', 'patch': 4, 'tokens': 2", "'kind': 'cnn', 'layers': [{'channels': 2, 'stride': 3}]",
          "'kind': 'look', 'patch': 4, 'values': ['position', 'content']"}) {
      CAPTURE(against, block);
      Policy sees_change(config(policy_of(block, ", 'contrast': '" + against + "'")), image_spec(24, 28, 3, 2), 2);
      Policy plain(config(policy_of(block, "")), image_spec(24, 28, 3, 2), 2);
      randomise(sees_change, 3);
      plain.set_parameters(sees_change.parameters());
      // The second episode knows nothing of the first.
      for (const std::uint64_t episode : {0, 1}) {
        sees_change.reset(episode);
        std::vector<Frame> frames;
        for (std::uint64_t step = 0; step < 6; ++step) {
          frames.emplace_back(sees_change.observation(), 10 * episode + step);
          plain.reset(episode);
          CHECK(act(sees_change, frames.back()) == act(plain, contrasted(frames, against)));
        }
      }
    }
  }
}

TEST_CASE("what stands still has no contrast: its background does not matter") {
  const ObservationSpec spec = image_spec(16, 16);
  Policy policy(config(policy_of("'kind': 'rank', 'patch': 2, 'top': 4", ", 'contrast': 'episode'")), spec, 2);
  randomise(policy, 1);
  // A square of 4 x 4 pixels, 60 brighter than what is behind it, that moves across three backgrounds.
  std::vector<std::vector<float>> actions;
  for (const std::uint64_t background : {1, 2, 3}) {
    policy.reset(0);
    actions.emplace_back();
    for (int step = 0; step < 3; ++step) {
      Frame frame(spec, background);
      for (auto& byte : frame.image().bytes()) byte = static_cast<std::uint8_t>(50 + byte / 2);
      for (int y = 4; y < 8; ++y)
        for (int x = 4 * step; x < 4 * step + 4; ++x)
          for (int c = 0; c < 3; ++c) frame.image().bytes()[3 * (16 * y + x) + c] += 60;
      const auto action = act(policy, frame);
      actions.back().insert(actions.back().end(), action.begin(), action.end());
    }
  }
  CHECK(actions[0] == actions[1]);
  CHECK(actions[0] == actions[2]);
  CHECK(std::vector(actions[0].begin(), actions[0].begin() + 2) != std::vector(actions[0].begin() + 2, actions[0].begin() + 4));
}

TEST_CASE("floats that stand still count as 0 unless pixel_offset says otherwise") {
  const ObservationSpec depth{{{"pixels", {8, 8, 1, PixelType::float32}}}, 2}, bytes = image_spec(8, 8, 1, 2);
  for (const std::string block :
       {"'kind': 'rank', 'patch': 2, 'top': 4, 'values': 'content'", "'kind': 'trans', 'patch': 2, 'tokens': 2",
        "'kind': 'look', 'patch': 2, 'values': 'content'", "'kind': 'cnn', 'layers': [{'channels': 2, 'stride': 3}]"}) {
    CAPTURE(block);
    const auto make = [&](const std::string& more, const ObservationSpec& spec) {
      return Policy(config("{'kind': 'sequence', 'blocks': [{'kind': 'observation'}, {" + block + more + "}, {'kind': 'linear'}]}"),
                    spec, 2);
    };
    const auto offset = [](const Policy& policy) {
      return (*policy.architecture().find("blocks")->list())[1].find("pixel_offset")->number();
    };
    Policy usual = make(", 'contrast': 'frame'", depth), zero = make(", 'contrast': 'frame', 'pixel_offset': 0.0", depth),
           half = make(", 'contrast': 'frame', 'pixel_offset': -0.5", depth);
    CHECK(offset(usual) == 0);
    CHECK(offset(half) == -0.5);
    CHECK(offset(make("", depth)) == -0.5);
    CHECK(offset(make(", 'contrast': 'episode'", bytes)) == -0.5);
    CHECK(usual.architecture() == zero.architecture());
    randomise(usual, 3);
    half.set_parameters(usual.parameters());
    // What a file holds is kept, as its policy was trained with it.
    Policy stored = load_policy(save_policy(half, Config::Map{}), "test").policy;
    CHECK(offset(stored) == -0.5);
    for (Policy* policy : {&usual, &half, &stored}) policy->reset(0);
    for (std::uint64_t step = 0; step < 3; ++step) {
      const Frame frame(depth, step);
      const auto seen = act(half, frame);
      CHECK(act(usual, frame) != seen);
      CHECK(act(stored, frame) == seen);
    }
  }
  // Nothing moved: without a bias all values are 0.
  Policy still(config("{'kind': 'cnn', 'layers': [{'channels': 2, 'stride': 3, 'bias': false}], 'contrast': 'frame'}"), depth, 8);
  randomise(still, 4);
  still.reset(0);
  CHECK(act(still, Frame(depth, 1)) == std::vector<float>(8, 0.0F));
}

TEST_CASE("contrast comes after pooling, takes depth in metres, and is one of three") {
  const ObservationSpec spec = image_spec(12, 16);
  Policy pooled(config(policy_of("'kind': 'rank', 'patch': 2, 'top': 4", ", 'contrast': 'frame', 'pool': 2")), spec, 2);
  randomise(pooled, 1);
  // Pixels that trade places within each average change nothing.
  const Frame frame(spec, 1);
  Frame traded(spec, 1);
  for (int y = 0; y < 12; ++y)
    for (int x = 0; x < 16; ++x)
      for (int c = 0; c < 3; ++c) traded.image().bytes()[3 * (16 * y + x) + c] = frame.image().bytes()[3 * (16 * y + (x ^ 1)) + c];
  pooled.reset(0);
  const auto still = act(pooled, frame);
  CHECK(act(pooled, traded) == still);

  const ObservationSpec depth{{{"depth", {3, 3, 1, PixelType::float32}}}, 0};
  for (const std::string against : {"frame", "episode"}) {
    Policy one(
        config(
            "{'kind': 'sequence', 'blocks': [{'kind': 'cnn', 'layers': [{'channels': 1, 'kernel': 1, 'activation': 'none', 'bias': "
            "false}], 'pixel_offset': 0, 'contrast': '" +
            against + "'}]}"),
        depth, 9);
    one.set_parameters(std::vector<float>{1});
    one.reset(0);
    const Frame first(depth, 1), second(depth, 2), third(depth, 3);
    act(one, first);
    act(one, second);
    const auto seen = act(one, third);
    for (std::size_t i = 0; i < 9; ++i) {
      const double a = first.image().floats()[i], b = second.image().floats()[i], c = third.image().floats()[i];
      CHECK_THAT(seen[i], WithinAbs(against == "frame" ? c - b : c - (a + b) / 2, 1e-6));
    }
  }
  CHECK_THROWS_WITH(Policy(config("{'kind': 'rank', 'patch': 2, 'top': 1, 'contrast': 'frames'}"), spec, 2),
                    ContainsSubstring("did you mean 'frame'"));
}
