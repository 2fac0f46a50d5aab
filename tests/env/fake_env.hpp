// A small environment whose every number is known: it counts steps and pays the sum of its clipped actions.
#pragma once

struct FakeOptions {
  int max_steps = 0;  // truncates itself
  int fall_at = 0;    // terminates at this step, 0: never
  int height = 4, width = 6, channels = 3;
  iap::PixelType type = iap::PixelType::uint8;
};

class FakeEnv : public iap::Env {
 public:
  explicit FakeEnv(FakeOptions options = {})
      : options_(options), image_({options.height, options.width, options.channels, options.type}) {
    spec_.name = "fake";
    spec_.config["name"] = "fake";
    spec_.action_size = 2;
    spec_.action_low = -2;
    spec_.action_high = 1;
    spec_.control_dt = 0.25;
    spec_.max_steps = options.max_steps;
    spec_.observation = {.images = {{"pixels", image_.shape()}}, .vector = 2};
  }

  const iap::EnvSpec& spec() const override { return spec_; }

  void reset(std::uint64_t seed) override {
    offset_ = static_cast<float>(iap::Random(seed).uniform());
    steps = 0;
    over = false;
  }

  iap::StepResult step(std::span<const float> action) override {
    float clipped[2];
    iap::clip_action(spec_, action, clipped);
    if (over) throw iap::Error("fake: the episode is over");
    ++steps;
    const iap::StepResult result{.reward = clipped[0] + clipped[1],
                                 .terminated = steps == options_.fall_at,
                                 .truncated = options_.max_steps > 0 && steps >= options_.max_steps};
    over = result.terminated || result.truncated;
    return result;
  }

  iap::Observation observe() override {
    ++looks;
    vector_[0] = offset_;
    vector_[1] = static_cast<float>(steps);
    if (options_.type == iap::PixelType::uint8)
      for (auto& value : image_.bytes()) value = static_cast<std::uint8_t>(steps + (&value - image_.bytes().data()));
    else
      for (auto& value : image_.floats())
        value = static_cast<float>(steps) + 0.25f * static_cast<float>(&value - image_.floats().data());
    view_ = image_.view();
    return {.images = {&view_, 1}, .vector = vector_};
  }

  int steps = 0, looks = 0;
  bool over = false;

 protected:
  iap::EnvSpec spec_;
  float vector_[2]{};

 private:
  FakeOptions options_;
  float offset_ = 0;
  iap::Image image_;
  iap::ImageView view_;
};
