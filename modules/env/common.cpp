module;
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>
module iap.env;
import iap.core;

namespace iap {
namespace {

Config::Map entries_of(const Config& table) { return table.map() ? *table.map() : Config::Map{}; }

/// An environment that knows what it was made from, and whose turn it is.
class Made final : public EnvWrapper {
 public:
  /// `own`: what was given to the environment inside, before wrappers wrote their defaults there.
  Made(std::unique_ptr<Env> env, const Config& own, const Options& options) : EnvWrapper(std::move(env)) {
    Config::Map became = entries_of(spec_.config), given = entries_of(own);
    became.merge(entries_of(options.completed()));
    given.merge(entries_of(options.config()));
    std::erase_if(given, [](const auto& entry) { return entry.second.is_null(); });
    spec_.config = std::move(became);
    spec_.given = std::move(given);
  }

  void reset(std::uint64_t seed) override {
    begun_ = running_ = false;
    env_->reset(seed);
    begun_ = running_ = true;
  }

  StepResult step(std::span<const float> action) override {
    if (!running_) throw Error(text(spec_.name, ": the episode has not begun or is over; call reset before step"));
    const StepResult result = env_->step(action);
    running_ = !result.terminated && !result.truncated;
    return result;
  }

  Observation observe() override {
    if (!begun_) throw Error(text(spec_.name, ": nothing to see before the first reset"));
    return env_->observe();
  }

 private:
  bool begun_ = false, running_ = false;
};

}  // namespace

/// @lua options env.common
/// Options that every environment takes.
/// @option action_repeat integer 1..1000 = 1 - each action is held for so many control steps, whose rewards add up
/// @option time_limit integer 1.. = (the environment's own) - control steps, counted before `action_repeat`, after which an episode
/// ends; not above the environment's own
/// @option keys table ? - {KEY = action}: what a person's keys do in `iap play --live`; it changes nothing of the environment
/// @see training.md#options-that-every-environment-takes
std::unique_ptr<Env> with_common_wrappers(std::unique_ptr<Env> env, Options& options) {
  constexpr std::int64_t most_steps = 1'000'000'000, most_repeats = 1000;
  const int own = env->spec().max_steps;
  const auto standard = own > 0 ? std::optional<std::int64_t>(own) : std::nullopt;
  const bool limited = !options.value("time_limit").is_null() || standard;
  const int limit = limited ? static_cast<int>(options.integer_in("time_limit", 1, standard.value_or(most_steps), standard)) : 0;
  // Nothing of it changes the environment; who has a keyboard reads it.
  if (const Config& keys = options.value("keys"); !keys.is_null() && !keys.map())
    options.fail(text("option 'keys' must be a table of keys, { left = {-1}, right = {1} }, got ", keys.describe()));
  const Config given = env->spec().given;
  const int repeat = static_cast<int>(options.integer_in("action_repeat", 1, most_repeats, 1));
  if (limit > 0) env = time_limit(std::move(env), limit);
  if (repeat > 1) env = action_repeat(std::move(env), repeat);
  return std::make_unique<Made>(std::move(env), given, options);
}

Config env_table(const Config& named, const std::string& owner) {
  if (named.string()) return Config::Map{{"name", named}};
  if (!named.map())
    throw Error(text(owner, ": expected the name of an environment or a table with a name, got ", named.describe()));
  return named;
}

std::optional<PictureSize> read_pixels(Options& options, std::optional<PictureSize> fallback) {
  const Config& given = options.value("pixels");
  if (given.is_null()) {
    if (fallback) options.complete("pixels", Config::List{fallback->height, fallback->width});
    return fallback;
  }
  // What { height, width } is where a script has nothing under these names.
  if ((given.list() && given.list()->empty()) || (given.map() && given.map()->empty()))
    options.fail(
        text("option 'pixels' must be {height, width}, got an empty table, as names that stand for nothing make it; leave it out "
             "(null) for ",
             fallback ? text("{", fallback->height, ", ", fallback->width, "}") : "no picture"));
  const auto size = options.integers("pixels");
  if (size.size() != 2 || size[0] < 1 || size[0] > largest_side || size[1] < 1 || size[1] > largest_side)
    options.fail(text("option 'pixels' must be {height, width}, at least {1, 1} and at most {", largest_side, ", ", largest_side,
                      "}, got ", given.describe()));
  constexpr double copies = 4, pixel = 4;  // here, in the policy, and between them; bytes of a colour or a depth
  check_memory(text(options.owner(), ": option 'pixels'"),
               copies * pixel * static_cast<double>(size[0]) * static_cast<double>(size[1]));
  return PictureSize{static_cast<int>(size[0]), static_cast<int>(size[1])};
}

}  // namespace iap
