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

}  // namespace

TEST_CASE("noise has the mean and the deviation that it was given") {
  const auto clean = env_with("false"), noisy = env_with(R"({"noise": {"std": 0.05, "dynamic": true}})");
  clean->reset(3);
  noisy->reset(3);
  const double wanted = 0.05 * 255;
  double sum = 0, squares = 0, count = 0, twins = 0;
  std::vector<double> before;
  for (int moment = 0; moment < 10; ++moment) {
    const Bytes a = look(*clean), b = look(*noisy);
    std::vector<double> now(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      now[i] = b[i] - a[i];
      if (a[i] < 60 || a[i] > 195) continue;  // where nothing is cut off at black or white
      sum += now[i];
      squares += now[i] * now[i];
      if (!before.empty()) twins += now[i] * before[i];
      ++count;
    }
    before = now;
    step(*clean);
    step(*noisy);
  }
  REQUIRE(count > 20000);
  // Whole numbers add the variance of rounding, 1/12; five standard errors each.
  const double variance = wanted * wanted + 1.0 / 12;
  CHECK(std::abs(sum / count) < 5 * std::sqrt(variance / count));
  CHECK(std::abs(squares / count - variance) < 5 * variance * std::sqrt(2 / count));
  CHECK(std::abs(twins / count) < 5 * variance / std::sqrt(count));
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
