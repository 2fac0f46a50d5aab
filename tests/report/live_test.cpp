#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

import iap.core;
import iap.env;
import iap.envs;
import iap.policy;
import iap.report;
import iap.rollout;
import iap.train;
#include "../env/fake_env.hpp"
#include "small_runs.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::vector<PictureView> views{PictureView::overlay, PictureView::heatmap, PictureView::raw};

EnvSpec acting(int actions, const char* keys = nullptr) {
  EnvSpec spec{.name = "some", .config = Config::Map{}, .action_size = actions};
  if (keys) spec.config["keys"] = parse_json(keys, "keys");
  return spec;
}

LiveControls controls_of(const EnvSpec& spec) { return {views, PictureView::overlay, key_actions(spec)}; }

void press(LiveControls& controls, int key) { controls.handle({LiveEventKind::press, key}); }
void release(LiveControls& controls, int key) { controls.handle({LiveEventKind::release, key}); }

Policy some_policy(const Config& env) {
  const auto made = make_env(env);
  Policy policy(small_policy(), made->spec().observation, made->spec().action_size);
  policy.initialise(5);
  return policy;
}

/// A person without a window: what they press after so many pictures, on a clock that goes on only while they are waited for.
struct Person {
  using Script = std::map<int, std::vector<LiveEvent>>;  ///< by the number of pictures seen
  Script script;
  std::map<double, LiveEvent> later;  ///< by the time at which it happens
  std::map<int, double> hangs;        ///< for how many seconds nothing goes on, by the number of pictures seen
  std::vector<Image> seen;
  std::vector<double> times;
  double clock = 100;
  int taken = -1;

  class Window final : public LiveWindow {
   public:
    explicit Window(Person& person) : person_(person) {}
    void show(const Image& picture) override {
      person_.seen.push_back(picture);
      person_.times.push_back(person_.clock);
      if (const auto hang = person_.hangs.find(static_cast<int>(person_.seen.size())); hang != person_.hangs.end())
        person_.clock += hang->second;
    }
    std::optional<LiveEvent> wait(double seconds) override {
      const int now = static_cast<int>(person_.seen.size());
      if (auto due = person_.script.find(now); due != person_.script.end() && !due->second.empty()) {
        const LiveEvent event = due->second.front();
        due->second.erase(due->second.begin());
        return event;
      }
      if (const auto due = person_.later.begin(); due != person_.later.end() && due->first <= person_.clock) {
        const LiveEvent event = due->second;
        person_.later.erase(due);
        return event;
      }
      person_.clock += seconds;
      return {};
    }
    double now() override { return person_.clock; }

   private:
    Person& person_;
  };
};

std::vector<LiveEpisode> play(Person& person, const Config& env, VideoOptions video,
                              const std::function<void(const LiveEpisode&)>& told = {}) {
  std::vector<LiveEpisode> episodes;
  Policy policy = some_policy(env);
  play_live(policy, env,
            {.video = video,
             .open = [&](const std::string&, int, int) { return std::make_unique<Person::Window>(person); },
             .on_episode =
                 [&](const LiveEpisode& episode) {
                   episodes.push_back(episode);
                   if (told) told(episode);
                 }});
  return episodes;
}

LiveEvent key(int code) { return {LiveEventKind::press, code}; }

bool begins_with(const Image& whole, const Image& picture) {
  return whole.shape().width == picture.shape().width && whole.shape().height > picture.shape().height &&
         std::equal(picture.bytes().begin(), picture.bytes().end(), whole.bytes().begin());
}

}  // namespace

TEST_CASE("keys pause, step, switch views, change the speed and end") {
  LiveControls controls = controls_of(acting(2));
  CHECK_FALSE(controls.paused());
  press(controls, ' ');
  CHECK(controls.paused());
  CHECK_FALSE(controls.take_step());
  press(controls, '.');
  CHECK(controls.take_step());
  CHECK_FALSE(controls.take_step());
  controls.handle({LiveEventKind::repeat, '.'});
  CHECK(controls.take_step());
  controls.handle({LiveEventKind::repeat, ' '});
  CHECK(controls.paused());
  press(controls, ' ');
  CHECK_FALSE(controls.paused());

  CHECK(controls.view() == PictureView::overlay);
  press(controls, 'v');
  CHECK(controls.view() == PictureView::heatmap);
  press(controls, 'v');
  press(controls, 'v');
  CHECK(controls.view() == PictureView::overlay);

  CHECK(controls.speed() == 1);
  press(controls, '+');
  press(controls, '=');
  CHECK(controls.speed() == 4);
  for (int i = 0; i < 20; ++i) press(controls, '-');
  CHECK(controls.speed() == 1.0 / 32);
  press(controls, '0');
  CHECK(controls.speed() == 1);

  press(controls, 'n');
  CHECK(controls.leaves());
  CHECK_FALSE(controls.quits());
  controls.begin();
  CHECK_FALSE(controls.leaves());
  controls.handle(GENERATE(LiveEvent{LiveEventKind::press, 'q'}, LiveEvent{LiveEventKind::press, escape_key},
                           LiveEvent{LiveEventKind::close, no_key}));
  CHECK(controls.quits());
  CHECK(controls.leaves());
}

TEST_CASE("arrows take over the first two actions") {
  LiveControls controls = controls_of(acting(3));
  CHECK_FALSE(controls.steers());
  CHECK(controls.outputs() == std::vector<float>{0, 0, 0});
  press(controls, left_key);
  CHECK(controls.steers());
  CHECK(controls.outputs() == std::vector<float>{-1, 0, 0});
  press(controls, up_key);
  CHECK(controls.outputs() == std::vector<float>{-1, 1, 0});
  press(controls, right_key);
  CHECK(controls.outputs() == std::vector<float>{0, 1, 0});
  release(controls, left_key);
  release(controls, up_key);
  press(controls, down_key);
  CHECK(controls.outputs() == std::vector<float>{1, -1, 0});
  // Whoever turns to another window cannot let go of keys in this one.
  controls.handle({LiveEventKind::unfocus, no_key});
  CHECK(controls.outputs() == std::vector<float>{0, 0, 0});
  CHECK(controls.steers());
  press(controls, 't');
  CHECK_FALSE(controls.steers());
  press(controls, 't');
  CHECK(controls.steers());

  LiveControls single = controls_of(acting(1));
  press(single, up_key);
  CHECK_FALSE(single.steers());
}

TEST_CASE("an environment says what keys do") {
  LiveControls controls = controls_of(acting(2, R"({"rest": [0, -1], "a": [-0.5], "up": [0, 2], "d": [0.75, 0.25]})"));
  CHECK(controls.outputs() == std::vector<float>{0, -1});
  press(controls, 'a');
  press(controls, 'd');
  CHECK(controls.outputs() == std::vector<float>{0.25F, -0.75F});
  press(controls, up_key);
  CHECK(controls.outputs() == std::vector<float>{0.25F, 1});
  release(controls, 'a');
  release(controls, 'd');
  press(controls, left_key);
  CHECK(controls.outputs() == std::vector<float>{0, 1});

  // Who drives: nothing held means neither gas nor brake.
  const auto car = make_env(Config::Map{{"name", "car-racing"}});
  LiveControls driver = controls_of(car->spec());
  CHECK(driver.outputs() == std::vector<float>{0, -1, -1});
  press(driver, up_key);
  CHECK(driver.outputs() == std::vector<float>{0, 1, -1});

  const auto refused = [](const char* keys) { return key_actions(acting(2, keys)); };
  CHECK_THROWS_WITH(refused(R"({"lefft": [1]})"), ContainsSubstring("there is no key 'lefft'"));
  CHECK_THROWS_WITH(refused(R"({"q": [1]})"), ContainsSubstring("the key 'q' does something else (space pause"));
  CHECK_THROWS_WITH(refused(R"({"a": [1, 2, 3]})"), ContainsSubstring("option 'keys'.a must be a list of up to 2 numbers"));
  CHECK_THROWS_WITH(refused(R"({"a": ["b"]})"), ContainsSubstring("must be a list of up to 2 numbers"));
  CHECK_THROWS_WITH(refused(R"({"a": 1})"), ContainsSubstring("must be a list of up to 2 numbers"));
}

TEST_CASE("a live episode is the one that is evaluated, in real time, and shows what a film shows") {
  const Config env = small_env();
  Policy policy = some_policy(env);
  const auto made = make_env(env);
  const Episode truth = run_episode(*made, policy, 8);
  Person person;
  // The episode's pictures, then its end, then the first picture of the next one.
  person.script[truth.steps + 2] = {key('q')};
  const auto episodes = play(person, env, {.view = PictureView::raw, .seed = 8, .scale = 3});
  REQUIRE(episodes.size() == 2);
  CHECK(episodes[0].total == truth.total);
  CHECK(episodes[0].steps == truth.steps);
  CHECK(episodes[0].seed == 8);
  CHECK(episodes[0].steered == 0);
  CHECK(episodes[0].ended);
  CHECK(episodes[1].seed == 9);
  CHECK(episodes[1].steps == 0);
  CHECK_FALSE(episodes[1].ended);

  const auto [height, width] = std::pair(person.seen[0].shape().height, person.seen[0].shape().width);
  Config large = env;
  large["pixels"] = Config::List{height - 48, width};
  const auto shown = make_env(large);
  shown->reset(8);
  int same = 0;
  run_episode(*made, policy, 8, [&](const Observation&, std::span<const float> action, const Policy&) {
    Image image({height - 48, width, 3, PixelType::uint8});
    std::copy_n(shown->observe().images[0].bytes(), image.shape().count(), image.bytes().begin());
    same += begins_with(person.seen[static_cast<std::size_t>(same)], image);
    shown->step(action);
  });
  CHECK(same == truth.steps);
  const double dt = made->spec().control_dt;
  for (int i = 2; i < truth.steps; ++i)
    CHECK(std::abs(person.times[static_cast<std::size_t>(i)] - person.times[1] - (i - 1) * dt) < 1e-6);
}

TEST_CASE("at an episode's end the window shows what the last step led to, in the view that the bar names, at any speed") {
  const Config env = small_env();
  Policy policy = some_policy(env);
  const int steps = run_episode(*make_env(env), policy, 8).steps;
  const bool fast = GENERATE(false, true);
  Person person;
  std::size_t end = 0;
  // At a thousand steps a second most are not drawn.
  play(person, env, {.view = PictureView::raw, .seed = 8, .scale = 3, .fps = fast ? 1000.0 : 0.0}, [&](const LiveEpisode& episode) {
    if (!episode.ended) return;
    end = person.seen.size();
    const int first = static_cast<int>(end) + 1;
    person.script[first] = {key(' ')};
    for (int i = 1; i < 5; ++i) person.script[first + i] = {key('v')};
    person.script[first + 5] = {key('q')};
  });
  CHECK(end == static_cast<std::size_t>(fast ? 1 : steps));
  REQUIRE(person.seen.size() >= end + 6);

  // An episode that goes on shows the same there.
  Config longer = env;
  longer["time_limit"] = 100;
  const std::vector<PictureView> shown{PictureView::raw,     PictureView::raw,          PictureView::overlay,
                                       PictureView::heatmap, PictureView::side_by_side, PictureView::raw};
  for (std::size_t i = 0; i < shown.size(); ++i) {
    INFO("picture " << i);
    Person other;
    other.script[steps + 1] = {key('q')};
    play(other, longer, {.view = shown[i], .seed = 8, .scale = 3});
    REQUIRE(other.seen.size() > static_cast<std::size_t>(steps));
    const Image& there = other.seen[static_cast<std::size_t>(steps)];
    Image picture({there.shape().height - 48, there.shape().width, 3, PixelType::uint8});
    std::copy_n(there.bytes().begin(), picture.bytes().size(), picture.bytes().begin());
    CHECK(begins_with(person.seen[end + i], picture));
  }
}

TEST_CASE("a paused episode goes on step by step, redrawn as often as its view changes") {
  Person person;
  person.script[1] = {key(' ')};
  person.script[2] = {key('v')};
  person.script[3] = {key('.')};
  person.script[4] = {key('v')};
  person.script[5] = {key('q')};
  const auto episodes = play(person, small_env(), {.view = PictureView::overlay, .seed = 8, .scale = 3});
  REQUIRE(episodes.size() == 1);
  // The first picture stands for the step that is due at once.
  CHECK(episodes[0].steps == 1);
  CHECK(person.seen.size() >= 5);
  CHECK_FALSE(std::ranges::equal(person.seen[1].bytes(), person.seen[2].bytes()));
}

TEST_CASE("what a person does counts instead, and the picture and the episode say so") {
  const Config env = small_env();
  Person person;
  person.script[1] = {key(' '), key(right_key)};
  person.script[2] = {key('.')};
  person.script[3] = {key('.')};
  person.script[4] = {key('t')};
  person.script[5] = {key('.')};
  person.script[6] = {key('n')};
  person.script[7] = {key('q')};
  const auto episodes = play(person, env, {.view = PictureView::raw, .seed = 8, .scale = 3});
  REQUIRE(episodes.size() == 2);
  CHECK(episodes[1].steered == 0);
  CHECK(episodes[0].steps == 3);
  CHECK(episodes[0].steered == 2);

  const auto made = make_env(env);
  Policy policy = some_policy(env);
  std::vector<float> own(static_cast<std::size_t>(made->spec().action_size));
  own[0] = made->spec().action_high;
  double total = 0;
  made->reset(8);
  policy.reset(8);
  for (int i = 0; i < 2; ++i) {
    policy.act(made->observe());
    total += made->step(own).reward;
  }
  const auto outputs = policy.act(made->observe());
  std::vector<float> action(outputs.begin(), outputs.end());
  for (float& value : action) value = std::clamp(value, -1.0F, 1.0F);
  total += made->step(action).reward;
  CHECK(episodes[0].total == total);

  const auto corner = [&](std::size_t i) {
    const auto bytes = person.seen[i].bytes();
    return std::vector<int>{bytes[0], bytes[1], bytes[2]};
  };
  CHECK(corner(2) == std::vector<int>{200, 30, 30});
  CHECK(corner(5) != std::vector<int>{200, 30, 30});
  // The red frame is as thick below as above.
  const int width = person.seen[2].shape().width, below = person.seen[2].shape().height - 48;
  const auto is_red = [&](int row) {
    const auto* p = person.seen[2].bytes().data() + 3 * (static_cast<std::size_t>(row) * width + width / 2);
    return p[0] == 200 && p[1] == 30 && p[2] == 30;
  };
  CHECK((is_red(3) && !is_red(4)));
  CHECK((is_red(below - 4) && !is_red(below - 5)));
}

TEST_CASE("keys move actions from the middle of their range to its ends, wherever these are") {
  register_script_envs([](Options&) -> std::unique_ptr<Env> {
    return std::make_unique<FakeEnv>(FakeOptions{.max_steps = 10, .height = 8, .width = 8});
  });
  Person person;
  person.script[1] = {key(' '), key(right_key)};
  person.script[2] = {key('.')};
  person.script[3] = {key('q')};
  const auto episodes = play(person, Config::Map{{"name", "fake.lua"}}, {.seed = 8, .scale = 30});
  REQUIRE(episodes.size() == 1);
  CHECK(episodes[0].steered == 1);
  CHECK(episodes[0].total == 1 - 0.5);  // of -2 to 1
}

TEST_CASE("what was missed beyond a quarter of a second is not made up for, and nothing of a pause") {
  Config env = small_env();
  env["time_limit"] = 150;
  const auto made = make_env(env);
  Policy policy = some_policy(env);
  const double length = run_episode(*made, policy, 8).steps * made->spec().control_dt;
  REQUIRE(length > 1);
  const auto end = [&](Person& person) {
    double over = 0;
    play(person, env, {.view = PictureView::raw, .seed = 8, .scale = 3}, [&](const LiveEpisode& episode) {
      if (!episode.ended) return;
      over = person.clock - 100;
      person.script[static_cast<int>(person.seen.size()) + 1] = {key('q')};
    });
    return over;
  };
  Person steady, stuck, paused;
  CHECK(std::abs(end(steady) - length) < 0.05);
  stuck.hangs[5] = 10;
  CHECK(std::abs(end(stuck) - (length + 10 - 0.25)) < 0.05);
  paused.script[5] = {key(' ')};
  paused.later.emplace(110, key(' '));
  const double begun = 4 * made->spec().control_dt;
  CHECK(std::abs(end(paused) - (10 + length - begun)) < 0.1);
}

TEST_CASE("a new episode has the next seed; the view must be one that there is") {
  Person person;
  person.script[1] = {key('n')};
  person.script[2] = {key('n')};
  person.script[3] = {key('q')};
  const auto episodes = play(person, small_env(), {.seed = 8, .scale = 3});
  REQUIRE(episodes.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(episodes[i].seed == 8 + i);
  CHECK_THROWS_WITH(play(person, small_env(), {.view = PictureView::outside}),
                    ContainsSubstring("there is no view 'outside' of this environment"));
}
