module;
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>
module iap.env;
import iap.core;

namespace iap {
namespace {

// What one step showed; two runs with the same seed must agree in every field.
struct Moment {
  std::uint32_t observation = 0;
  double reward = 0;
  bool terminated = false, truncated = false, unstable = false;
  bool operator==(const Moment&) const = default;
};

class Contract {
 public:
  explicit Contract(Env& env) : env_(env), spec_(env.spec()), action_(spec_.action_size) {}

  void check_spec() const {
    require(!spec_.name.empty(), "spec().name is empty");
    require(spec_.action_size > 0, text("spec().action_size is ", spec_.action_size));
    require(std::isfinite(spec_.action_low) && std::isfinite(spec_.action_high) && spec_.action_low < spec_.action_high,
            text("the action range is [", spec_.action_low, ", ", spec_.action_high, "]"));
    require(std::isfinite(spec_.control_dt) && spec_.control_dt > 0, text("spec().control_dt is ", spec_.control_dt));
    require(spec_.max_steps >= 0, text("spec().max_steps is ", spec_.max_steps));
    require(spec_.observation.vector >= 0, text("the observed vector has size ", spec_.observation.vector));
    require(spec_.observation.vector > 0 || !spec_.observation.images.empty(), "nothing is observed");
    const std::string flaw = state_names_flaw(spec_);
    require(flaw.empty(), text("spec().state_names: ", flaw));
    std::set<std::string> names;
    for (const auto& image : spec_.observation.images) {
      require(!image.name.empty() && names.insert(image.name).second, text("image name '", image.name, "' is empty or used twice"));
      require(image.shape.height > 0 && image.shape.width > 0, text("image '", image.name, "' is empty"));
      require(image.shape.channels == 1 || image.shape.channels == 3 || image.shape.channels == 4,
              text("image '", image.name, "' has ", image.shape.channels, " channels"));
    }
  }

  void check_bad_actions(std::uint64_t seed) {
    env_.reset(seed);
    require(refuses(std::vector<float>(spec_.action_size + 1)), "an action with one value too many was accepted");
    require(refuses(std::vector<float>(spec_.action_size - 1)), "an action with one value too few was accepted");
    for (const float bad : {NAN, INFINITY}) {
      std::vector<float> action(spec_.action_size);
      action.back() = bad;
      require(refuses(action), text("an action of ", bad, " was accepted"));
    }
  }

  void check_clipping(std::uint64_t seed) {
    const float range = spec_.action_high - spec_.action_low;
    require(extreme(seed, spec_.action_high) == extreme(seed, spec_.action_high + range),
            "actions above the range are not clipped");
    require(extreme(seed, spec_.action_low) == extreme(seed, spec_.action_low - range), "actions below the range are not clipped");
  }

  std::vector<Moment> run(std::uint64_t seed, int steps) {
    Random random({.seed = seed, .purpose = Purpose::user});
    std::vector<Moment> moments;
    int age = 0;
    env_.reset(seed);
    moments.push_back({.observation = look()});
    for (int i = 0; i < steps; ++i) {
      for (float& value : action_) value = static_cast<float>(random.uniform(spec_.action_low, spec_.action_high));
      moments.push_back(advance());
      const bool ended = moments.back().terminated || moments.back().truncated;
      ++age;
      require(spec_.max_steps == 0 || ended || age < spec_.max_steps,
              text("an episode runs on after spec().max_steps = ", spec_.max_steps, " steps"));
      if (!ended) continue;
      age = 0;
      env_.reset(seed + 1 + i);
      moments.push_back({.observation = look()});
    }
    return moments;
  }

  void require(bool kept, std::string_view promise) const {
    if (!kept) throw Error(text("environment '", spec_.name, "' breaks its contract: ", promise));
  }

 private:
  bool refuses(const std::vector<float>& action) {
    try {
      env_.step(action);
    } catch (const Error&) {
      return true;
    }
    return false;
  }

  Moment extreme(std::uint64_t seed, float value) {
    env_.reset(seed);
    std::ranges::fill(action_, value);
    return advance();
  }

  Moment advance() {
    const StepResult result = env_.step(action_);
    require(std::isfinite(result.reward), text("a reward is ", result.reward));
    require(!result.unstable || result.terminated, "an unstable simulation did not terminate the episode");
    return {look(), result.reward, result.terminated, result.truncated, result.unstable};
  }

  std::uint32_t look() {
    const std::uint32_t first = checksum(env_.observe());
    require(first == checksum(env_.observe()), "two looks at the same state differ");
    return first;
  }

  std::uint32_t checksum(const Observation& observation) {
    const auto& expected = spec_.observation;
    require(observation.vector.size() == static_cast<std::size_t>(expected.vector),
            text("the observed vector has size ", observation.vector.size(), ", the spec says ", expected.vector));
    require(observation.images.size() == expected.images.size(),
            text(observation.images.size(), " images are observed, the spec says ", expected.images.size()));
    std::string bytes;
    const auto add = [&](std::span<const float> values, std::string_view owner) {
      require(std::ranges::all_of(values, [](float value) { return std::isfinite(value); }), text(owner, " is not finite"));
      bytes.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
    };
    add(observation.vector, "the observed vector");
    for (std::size_t i = 0; i < expected.images.size(); ++i) {
      const auto& [name, shape] = expected.images[i];
      const auto& image = observation.images[i];
      require(image.shape == shape && image.data, text("image '", name, "' differs from the spec in size or type"));
      if (shape.type == PixelType::float32)
        add({image.floats(), shape.count()}, text("image '", name, "'"));
      else
        bytes.append(reinterpret_cast<const char*>(image.bytes()), shape.count());
    }
    return crc32(bytes);
  }

  Env& env_;
  const EnvSpec spec_;
  std::vector<float> action_;
};

}  // namespace

void check_contract(Env& env, std::uint64_t seed, int steps) {
  Contract contract(env);
  contract.check_spec();
  contract.check_bad_actions(seed);
  const auto first = contract.run(seed, steps), second = contract.run(seed, steps);
  contract.require(first.size() == second.size(), "two runs with the same seed end differently");
  for (std::size_t i = 0; i < first.size(); ++i)
    contract.require(first[i] == second[i], text("two runs with the same seed differ at moment ", i));
  contract.check_clipping(seed);
}

}  // namespace iap
