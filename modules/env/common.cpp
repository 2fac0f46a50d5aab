module;
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
module iap.env;
import iap.core;

namespace iap {

std::unique_ptr<Env> with_common_wrappers(std::unique_ptr<Env> env, Options& options) {
  constexpr std::int64_t most_steps = 1'000'000'000, most_repeats = 1000;
  const int own = env->spec().max_steps;
  const int limit = static_cast<int>(options.integer_in("time_limit", 1, own > 0 ? own : most_steps, own));
  const int repeat = static_cast<int>(options.integer_in("action_repeat", 1, most_repeats, 1));
  if (limit > 0) env = time_limit(std::move(env), limit);
  return action_repeat(std::move(env), repeat);
}

}  // namespace iap
