#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>
import iap.core;
import iap.env;
import iap.envs;

using namespace iap;

namespace {

using Bytes = std::vector<std::uint8_t>;

std::unique_ptr<Env> env_with(const char* distraction) {
  return make_env(
      Config::Map{{"name", "walker-walk"}, {"pixels", Config::List{60, 80}}, {"distraction", parse_json(distraction, "test")}});
}

Bytes look(Env& env) {
  const auto image = env.observe().images[0];
  return {image.bytes(), image.bytes() + image.shape.count()};
}

void step(Env& env) { env.step(std::vector<float>(static_cast<std::size_t>(env.spec().action_size))); }

/// Of what noise adds to all values of pictures that it does not cut off at black or white.
struct Strays {
  double count = 0, mean = 0, variance = 0, twins = 0;  ///< `twins`: the mean product with those of the step before
};

Strays strays(const std::string& deviation) {
  const auto clean = env_with("false"), noisy = env_with(text(R"({"noise": {"dynamic": true, "std": )", deviation, "}}").c_str());
  clean->reset(3);
  noisy->reset(3);
  Strays all;
  std::vector<double> before;
  for (int moment = 0; moment < 10; ++moment) {
    const Bytes a = look(*clean), b = look(*noisy);
    std::vector<double> now(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      now[i] = b[i] - a[i];
      if (a[i] < 60 || a[i] > 195) continue;
      all.mean += now[i];
      all.variance += now[i] * now[i];
      if (!before.empty()) all.twins += now[i] * before[i];
      ++all.count;
    }
    before = now;
    step(*clean);
    step(*noisy);
  }
  for (double* sum : {&all.mean, &all.variance, &all.twins}) *sum /= all.count;
  return all;
}

}  // namespace

TEST_CASE("noise has the mean and the deviation that it was given") {
  const double wanted = 0.05 * 255;
  const Strays all = strays("0.05");
  REQUIRE(all.count > 20000);
  // Whole numbers add the variance of rounding, 1/12; five standard errors each.
  const double variance = wanted * wanted + 1.0 / 12;
  CHECK(std::abs(all.mean) < 5 * std::sqrt(variance / all.count));
  CHECK(std::abs(all.variance - variance) < 5 * variance * std::sqrt(2 / all.count));
  CHECK(std::abs(all.twins) < 5 * variance / std::sqrt(all.count));
}

TEST_CASE("noise of fractions of a level has the deviation that it was given") {
  for (const std::string deviation : {"0.0002", "0.0004", "0.0006", "0.001", "0.002", "0.0049"}) {
    INFO(deviation);
    const double wanted = std::stod(deviation) * 255, variance = wanted * wanted;
    const Strays all = strays(deviation);
    REQUIRE(all.count > 20000);
    CHECK(std::abs(all.mean) < 5 * std::sqrt(variance / all.count));
    // Of changes by one level, in a share of the values that is their variance; of more, that of a normal deviation.
    CHECK(std::abs(all.variance - variance) < 5 * std::sqrt((variance + 2 * variance * variance) / all.count));
  }
  CHECK(strays("0").variance == 0);
}

TEST_CASE("noise follows from seed and step alone") {
  const char* dynamic = R"({"noise": {"std": 0.1, "dynamic": true}})";
  const auto one = env_with(dynamic), other = env_with(dynamic);
  one->reset(5);
  other->reset(9);
  look(*other);
  other->reset(5);
  const Bytes first = look(*one);
  CHECK(look(*one) == first);
  CHECK(look(*other) == first);
  for (int i = 0; i < 3; ++i) {
    step(*one);
    look(*one);
    step(*other);
  }
  CHECK(look(*one) == look(*other));
  other->reset(6);
  CHECK(look(*other) != first);
  const auto still = env_with(R"({"noise": {"std": 0.1}})"), clean = env_with("false");
  still->reset(5);
  clean->reset(5);
  CHECK(look(*still) == first);
  // Without `dynamic` the same pixels stray by the same amount in every step, where nothing is cut off.
  step(*still);
  step(*clean);
  const auto env_first = env_with("false");
  env_first->reset(5);
  const Bytes a = look(*env_first), now = look(*still), below = look(*clean);
  int compared = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (std::min({first[i], now[i]}) == 0 || std::max({first[i], now[i]}) == 255) continue;
    CHECK(first[i] - a[i] == now[i] - below[i]);
    ++compared;
  }
  CHECK(compared > 5000);
}

TEST_CASE("no difficulty switches noise on") {
  for (const char* difficulty : {R"("easy")", R"("medium")", R"("hard")"})
    CHECK(*env_with(difficulty)->spec().config.find("distraction")->find("noise") == Config(false));
  const Config with = env_with(R"({"difficulty": "hard", "noise": true})")->spec().config;
  CHECK(*with.find("distraction")->find("noise")->find("std") == Config(0.5 * 0.3));
}
