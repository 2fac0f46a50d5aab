#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "../core/temporary_folder.hpp"
#include "drive.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

const ObservationSpec frames{{{"pixels", {96, 96, 3, PixelType::uint8}}}, 0};

std::vector<float> published(const std::string& name) {
  const auto array = parse_npz(read_file(published_file(name)), name).at(0);
  return {array.values.begin(), array.values.end()};
}

/// AttentionAgent in double precision, straight from the flat vector in its published order.
class SlowAgent {
 public:
  explicit SlowAgent(const std::vector<float>& parameters) : next_(parameters.begin()) {
    query_bias_ = take(4);
    query_ = take(4 * 147);
    key_bias_ = take(4);
    key_ = take(4 * 147);
    bias_hh_ = take(64);
    bias_ih_ = take(64);
    weight_hh_ = take(64 * 16);
    weight_ih_ = take(64 * 20);
    actions_ = static_cast<std::size_t>(parameters.end() - next_) / 17;
    bias_ = take(actions_);
    weight_ = take(actions_ * 16);
  }

  std::vector<double> act(const Image& frame) {
    const auto features = look(frame);
    std::vector<double> gates(64);
    for (std::size_t g = 0; g < 64; ++g) {
      gates[g] = bias_ih_[g] + bias_hh_[g];
      for (std::size_t i = 0; i < 20; ++i) gates[g] += weight_ih_[g * 20 + i] * features[i];
      for (std::size_t i = 0; i < 16; ++i) gates[g] += weight_hh_[g * 16 + i] * hidden_[i];
    }
    const auto logistic = [](double x) { return 1 / (1 + std::exp(-x)); };
    for (std::size_t u = 0; u < 16; ++u) {
      cell_[u] = logistic(gates[16 + u]) * cell_[u] + logistic(gates[u]) * std::tanh(gates[32 + u]);
      hidden_[u] = logistic(gates[48 + u]) * std::tanh(cell_[u]);
    }
    std::vector<double> action(actions_);
    for (std::size_t a = 0; a < actions_; ++a) {
      action[a] = bias_[a];
      for (std::size_t u = 0; u < 16; ++u) action[a] += weight_[a * 16 + u] * hidden_[u];
      action[a] = std::tanh(action[a]);
    }
    return action;
  }

 private:
  std::vector<double> take(std::size_t count) {
    std::vector<double> values(next_, next_ + static_cast<std::ptrdiff_t>(count));
    next_ += static_cast<std::ptrdiff_t>(count);
    return values;
  }

  static std::array<double, 4> project(const std::vector<double>& patch, const std::vector<double>& weight,
                                       const std::vector<double>& bias) {
    std::array<double, 4> out;
    for (std::size_t o = 0; o < 4; ++o)
      out[o] = std::inner_product(patch.begin(), patch.end(), weight.begin() + static_cast<std::ptrdiff_t>(o * 147), bias[o]);
    return out;
  }

  std::vector<double> look(const Image& frame) const {
    std::vector<std::array<double, 4>> queries, keys;
    for (std::size_t row = 0; row + 7 <= 96; row += 4)
      for (std::size_t column = 0; column + 7 <= 96; column += 4) {
        std::vector<double> patch;
        for (std::size_t i = 0; i < 147; ++i)
          patch.push_back(frame.bytes()[((row + i / 21) * 96 + column + i / 3 % 7) * 3 + i % 3] / 255.0);
        queries.push_back(project(patch, query_, query_bias_));
        keys.push_back(project(patch, key_, key_bias_));
      }
    std::vector<double> importance(529);
    for (const auto& query : queries) {
      std::vector<double> row;
      for (const auto& key : keys)
        row.push_back(std::inner_product(query.begin(), query.end(), key.begin(), 0.0) / std::sqrt(147.0));
      const double most = std::ranges::max(row);
      double total = 0;
      for (double& value : row) total += value = std::exp(value - most);
      for (std::size_t i = 0; i < 529; ++i) importance[i] += row[i] / total;
    }
    std::vector<std::size_t> order(529);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
      return importance[a] > importance[b] || (importance[a] == importance[b] && a < b);
    });
    std::vector<double> features;
    for (std::size_t i = 0; i < 10; ++i) {
      features.push_back(static_cast<double>(3 + 4 * (order[i] / 23)) / 96);
      features.push_back(static_cast<double>(3 + 4 * (order[i] % 23)) / 96);
    }
    return features;
  }

  std::vector<float>::const_iterator next_;
  std::vector<double> query_bias_, query_, key_bias_, key_, bias_hh_, bias_ih_, weight_hh_, weight_ih_, bias_, weight_;
  std::size_t actions_ = 0;
  std::array<double, 16> hidden_{}, cell_{};
};

}  // namespace

TEST_CASE("the preset has AttentionAgent's number of parameters") {
  const Config preset = Config::Map{{"kind", "attention_agent"}};
  CHECK(Policy(preset, frames, 3).size() == 3667);
  CHECK(Policy(preset, frames, 1).size() == 3633);
}

TEST_CASE("imported agents act as the published vector says, computed slowly") {
  for (const std::string name : {"car_racing", "take_cover"}) {
    const auto parameters = published(name);
    const int actions = static_cast<int>(parameters.size() - 3616) / 17;
    SlowAgent slow(parameters);
    auto policy = attention_agent_policy(parameters, frames, actions);
    Random random(3);
    for (int step = 0; step < 12; ++step) {
      // All pixels differ, so that no two patches tie.
      Image frame(frames.images[0].shape);
      for (auto& byte : frame.bytes()) byte = static_cast<std::uint8_t>(random.below(256));
      const ImageView view = frame.view();
      const auto action = policy.act({.images = {&view, 1}, .vector = {}});
      const auto expected = slow.act(frame);
      CAPTURE(name, step);
      for (std::size_t a = 0; a < expected.size(); ++a) CHECK(std::abs(action[a] - expected[a]) < 1e-5);
    }
  }
}

TEST_CASE("equal scores go to the lower patch") {
  auto policy = attention_agent_policy(published("car_racing"), frames, 3);
  const Image grey(frames.images[0].shape);
  const ImageView view = grey.view();
  policy.act({.images = {&view, 1}, .vector = {}});
  const auto selected = policy.views().at(0).selected;
  for (int i = 0; i < 10; ++i) CHECK(selected[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("published weights survive import and export byte for byte") {
  for (const std::string name : {"car_racing", "take_cover"}) {
    const auto original = read_file(published_file(name));
    const auto parameters = published(name);
    const auto policy = attention_agent_policy(parameters, frames, static_cast<int>(parameters.size() - 3616) / 17);
    CHECK(attention_agent_parameters(policy) == parameters);
    const auto exported = export_attention_agent(policy);
    const auto entry = format_npy(parse_npz(exported, "exported").at(0));
    CHECK(entry == format_npy(parse_npz(original, "original").at(0)));
    // Both files store the array as it is.
    CHECK(original.find(entry) != std::string::npos);
    CHECK(exported.find(entry) != std::string::npos);
  }
}

TEST_CASE("an imported policy knows its environment and survives its own file") {
  const auto imported = import_attention_agent(published_file("car_racing"), "car-racing");
  CHECK(make_env(*imported.metadata.find("env"))->spec().name == "car-racing");
  const auto again = load_policy(save_policy(imported.policy, imported.metadata), "x.iap");
  CHECK(attention_agent_parameters(again.policy) == published("car_racing"));
  CHECK(again.metadata == imported.metadata);
}

TEST_CASE("the number of weights says which environment they were trained for") {
  const auto name_of = [](const PolicyFile& file) { return *file.metadata.find("env")->find("name")->string(); };
  CHECK(name_of(import_attention_agent(published_file("car_racing"))) == "car-racing");
  const Config::Map cover{{"name", "take-cover"}, {"art", "procedural"}, {"modification", "walls"}};
  const auto imported = import_attention_agent(published_file("take_cover"), cover);
  CHECK(*imported.metadata.find("env")->find("modification")->string() == "walls");
  CHECK(name_of(import_attention_agent(published_file("take_cover"))) == "take-cover");
  const TemporaryFolder folder;
  const auto path = folder.path() / "few.npz";
  const NpyArray few{"params", {12}, NpyType::float32, std::vector<double>(12)};
  write_file_atomic(path, format_npz({&few, 1}));
  CHECK_THROWS_MATCHES(import_attention_agent(path), Error,
                       MessageMatches(ContainsSubstring("few.npz: holds 12 parameters; AttentionAgent has 3667 for car-racing")));
}

TEST_CASE("weights of another agent, environment or kind are refused with the reason") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "weights.npz";
  const auto refused = [&](const std::vector<NpyArray>& arrays, const std::string& env, const std::string& reason) {
    write_file_atomic(path, format_npz(arrays));
    CHECK_THROWS_MATCHES(import_attention_agent(path, env), Error,
                         MessageMatches(ContainsSubstring("weights.npz") && ContainsSubstring(reason)));
  };
  const NpyArray good{"params", {3667}, NpyType::float64, std::vector<double>(3667, 0.5)};
  write_file_atomic(path, format_npz({&good, 1}));
  CHECK(import_attention_agent(path, "car-racing").policy.parameters()[0] == 0.5F);
  auto bad = good;
  bad.values[7] = std::numeric_limits<double>::quiet_NaN();
  refused({bad}, "car-racing", "must be finite");
  refused({{"params", {3633}, NpyType::float32, std::vector<double>(3633)}}, "car-racing",
          "got 3633 parameters; with 3 actions it has 3667");
  refused({{"params", {19, 193}, NpyType::float32, std::vector<double>(3667)}}, "car-racing", "2 dimensions");
  refused({{"weights", {3667}, NpyType::float32, std::vector<double>(3667)}}, "car-racing", "no array 'params'");
  refused({good}, "cheetah-run", "96 x 96 RGB images");
  CHECK_THROWS_MATCHES(import_attention_agent(path, "car-racer"), Error,
                       MessageMatches(ContainsSubstring("did you mean 'car-racing'")));
  CHECK_THROWS_MATCHES(import_attention_agent(folder.path() / "none.npz", "car-racing"), Error,
                       MessageMatches(ContainsSubstring("none.npz")));
}

TEST_CASE("a policy is exported where an import of its weights acts as it does") {
  const Config::Map rank{{"kind", "rank"},
                         {"patch", 7},
                         {"stride", 4},
                         {"d", 4},
                         {"top", 10},
                         {"bias", true},
                         {"pixel_offset", 0.0},
                         {"kernel", "softmax"},
                         {"scale", "c"},
                         {"centre", "pixel"},
                         {"position_range", "unit"}};
  Config::Map eye = rank;
  eye["name"] = "eye";
  const Config::Map lstm{{"kind", "lstm"}, {"units", 16}}, linear{{"kind", "linear"}, {"activation", "tanh"}};
  const auto chain = [](Config::List blocks) { return Config::Map{{"kind", "sequence"}, {"blocks", std::move(blocks)}}; };
  const auto agent = [](Config::Map changes) { return Config::Map{{"kind", "attention_agent"}, {"rank", std::move(changes)}}; };
  // Pictures and numbers beside the one that it looks at.
  const ObservationSpec more{{frames.images[0], {"depth", {8, 8, 1, PixelType::float32}}}, 3};
  const std::vector<Config> acting_alike{
      agent({}),
      agent({{"threads", 2}}),
      agent({{"values", Config::List{"position"}}}),
      agent({{"pixel_offset", -0.0}, {"name", "eye"}}),
      chain({agent({})}),
      chain({rank, lstm, linear}),
      chain({chain({eye, lstm}), Config::Map{{"kind", "linear"}, {"activation", "tanh"}, {"scale", 1}, {"name", "query"}}})};
  for (const auto& observation : {frames, more})
    for (const Config& architecture : acting_alike) {
      CAPTURE(to_json(architecture));
      Policy policy(architecture, observation, 3);
      policy.initialise(5);
      auto again = attention_agent_policy(attention_agent_parameters(policy), observation, 3);
      Image frame(frames.images[0].shape), depth({8, 8, 1, PixelType::float32});
      Random random(3);
      for (auto& byte : frame.bytes()) byte = static_cast<std::uint8_t>(random.below(256));
      std::vector<ImageView> images{frame.view(), depth.view()};
      images.resize(observation.images.size());
      const std::vector<float> vector(static_cast<std::size_t>(observation.vector));
      for (int step = 0; step < 3; ++step) CHECK(std::ranges::equal(policy.act({images, vector}), again.act({images, vector})));
    }
}

TEST_CASE("a policy that weights alone do not bring back is not exported, and what differs is named") {
  const auto refused = [](const std::string& architecture, const ObservationSpec& observation, const std::string& reason) {
    const Policy policy(parse_json(architecture, "test"), observation, 3);
    CHECK_THROWS_MATCHES(export_attention_agent(policy), Error, MessageMatches(ContainsSubstring(reason)));
    CHECK_THROWS_AS(attention_agent_parameters(policy), Error);
  };
  const auto agent = [](const std::string& rank) { return R"({"kind": "attention_agent", "rank": {)" + rank + "}}"; };
  refused(
      agent(R"("kernel": "hybrid", "input": "normalised")"), frames,
      "block '1.rank' has kernel = \"hybrid\" where the published agent has \"softmax\", which weights alone do not tell; hand on "
      "the policy file itself");
  refused(agent(R"("pixel_offset": -0.5, "position_range": "signed")"), frames,
          "block '1.rank' has pixel_offset = -0.5 where the published agent has 0");
  refused(agent(R"("position_range": "signed")"), frames, "has position_range = \"signed\" where the published agent has \"unit\"");
  refused(agent(R"("temperature": 2)"), frames, "has temperature = 2 where the published agent has 1");
  refused(agent(R"("centre": "exact")"), frames, "has centre = \"exact\"");
  refused(agent(R"("query_weights": "learned")"), frames, "has query_weights = \"learned\"");
  refused(agent(R"("top": 2, "values": "projection", "dv": 10)"), frames,
          "has dv = 10 where the published agent has no such option");
  refused(R"({"kind": "attention_agent", "lstm_units": 8})", frames,
          "block '2.lstm' has units = 8 where the published agent has 16");
  const std::string blocks = R"({"kind": "sequence", "blocks": [{"kind": "rank", "patch": 7, "stride": 4, "d": 4, "top": 10,)"
                             R"( "bias": true, "pixel_offset": 0, "kernel": "softmax", "scale": "c", "centre": "pixel",)"
                             R"( "position_range": "unit"}, )";
  refused(blocks + R"({"kind": "lstm", "units": 16}, {"kind": "linear"}]})", frames,
          "block '3.linear' has activation = \"none\" where the published agent has \"tanh\"");
  refused(blocks + R"({"kind": "rnn", "units": 16}, {"kind": "linear", "activation": "tanh"}]})", frames,
          "has block '2.rnn' where AttentionAgent has a block lstm; only policies of kind attention_agent can be exported");
  refused(blocks + R"({"kind": "lstm", "units": 3}]})", frames, "has no more blocks where AttentionAgent has a block linear");
  refused(R"({"kind": "sequence", "blocks": [{"kind": "attention_agent", "units": 4}, {"kind": "normalise", "over": "training"},)"
          R"( {"kind": "linear"}]})",
          frames, "has block '2.normalise' where AttentionAgent has no more");
  refused(R"({"kind": "linear"})", {{}, 4}, "has block 'policy' where AttentionAgent has a block rank");
  refused(agent(""), {{{"pixels", {64, 64, 3, PixelType::uint8}}}, 0}, "looks at 96 x 96 RGB images, got 64 x 64 x 3 uint8");
  refused(agent(R"("image": "side")"), {{frames.images[0], {"side", frames.images[0].shape}}, 0},
          "has image = \"side\" where the published agent has \"pixels\"");
}
