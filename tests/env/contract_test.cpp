#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>
import iap.core;
import iap.env;
#include "fake_env.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

enum class Breach {
  none,
  spec,
  forgetful_reset,
  restless_look,
  nan_vector,
  nan_reward,
  wrong_vector,
  wrong_image,
  endless,
  unclipped,
  accepts_nan,
  accepts_any_size,
  unstable_goes_on
};

class BrokenEnv : public FakeEnv {
 public:
  explicit BrokenEnv(Breach breach) : FakeEnv({.max_steps = breach == Breach::endless ? 0 : 10}), breach_(breach) {
    if (breach == Breach::spec) spec_.control_dt = 0;
    if (breach == Breach::endless) spec_.max_steps = 10;
  }

  StepResult step(std::span<const float> action) override {
    ++total_;
    std::vector<float> copy(action.begin(), action.end());
    if (breach_ == Breach::accepts_nan)
      for (float& value : copy) value = std::isfinite(value) ? value : 0;
    if (breach_ == Breach::accepts_any_size) copy.resize(2);
    StepResult result = FakeEnv::step(copy);
    if (breach_ == Breach::unclipped) result.reward = action[0];
    if (breach_ == Breach::nan_reward && steps == 5) result.reward = NAN;
    if (breach_ == Breach::unstable_goes_on && steps == 5) result.unstable = true;
    return result;
  }

  Observation observe() override {
    Observation observation = FakeEnv::observe();
    if (breach_ == Breach::forgetful_reset) vector_[0] = static_cast<float>(total_);
    if (breach_ == Breach::restless_look) vector_[0] = static_cast<float>(looks);
    if (breach_ == Breach::nan_vector && steps == 5) vector_[1] = NAN;
    if (breach_ == Breach::wrong_vector) observation.vector = observation.vector.first(1);
    if (breach_ == Breach::wrong_image) {
      small_ = observation.images[0];
      small_.shape.width -= 1;
      observation.images = {&small_, 1};
    }
    return observation;
  }

 private:
  Breach breach_;
  int total_ = 0;
  ImageView small_;
};

}  // namespace

TEST_CASE("the contract check passes what keeps the contract") {
  BrokenEnv kept(Breach::none);
  CHECK_NOTHROW(check_contract(kept, 1, 50));
  FakeEnv falls({.fall_at = 4});
  CHECK_NOTHROW(check_contract(falls, 1, 50));
}

TEST_CASE("the contract check finds every breach and names it") {
  const std::vector<std::pair<Breach, std::string>> breaches{
      {Breach::spec, "control_dt"},
      {Breach::forgetful_reset, "same seed differ"},
      {Breach::restless_look, "two looks"},
      {Breach::nan_vector, "vector is not finite"},
      {Breach::nan_reward, "reward"},
      {Breach::wrong_vector, "has size 1, the spec says 2"},
      {Breach::wrong_image, "image 'pixels' differs"},
      {Breach::endless, "max_steps = 10"},
      {Breach::unclipped, "not clipped"},
      {Breach::accepts_nan, "nan was accepted"},
      {Breach::accepts_any_size, "too many was accepted"},
      {Breach::unstable_goes_on, "did not terminate"},
  };
  for (const auto& [breach, message] : breaches) {
    CAPTURE(message);
    BrokenEnv env(breach);
    CHECK_THROWS_MATCHES(check_contract(env, 1, 50), Error,
                         MessageMatches(ContainsSubstring("environment 'fake'") && ContainsSubstring(message)));
  }
}

TEST_CASE("names of the state are as many as its values, and fit for a table") {
  const auto flaw = [](std::vector<std::string> names) {
    EnvSpec spec;
    spec.observation.vector = 2;
    spec.state_names = std::move(names);
    return state_names_flaw(spec);
  };
  CHECK(flaw({}).empty());
  CHECK(flaw({"angle", "speed of joint_1 (m/s)"}).empty());
  CHECK(flaw({"angle"}) == "1 names for the 2 values of the vector");
  CHECK(flaw({"angle", "angle"}) == "the name 'angle' is used twice");
  for (const char* bad : {"", "a,b", "a\"b", "a\nb"})
    CHECK(flaw({"angle", bad}) == text("the name '", bad, "' is empty or has a comma, a quote or a control character"));
}
